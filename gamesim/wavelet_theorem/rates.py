"""Claim 3, rates: the growth of regret with the number of rounds and the number of actions."""

from collections.abc import Sequence
from pathlib import Path

from gamesim.figures.style import number, styled, write
from gamesim.figures.surface import canvas
from gamesim.study.results import Results
from gamesim.study.statistics import mean
from gamesim.wavelet_theorem.drivers import play_alone, play_game
from gamesim.wavelet_theorem.findings import (
    COMPARED,
    Finding,
    Section,
    compare,
    direction,
    direction_from,
    draw_line,
    exponents,
    log_axes,
    mean_text,
    rival_finding,
    table,
)
from gamesim.wavelet_theorem.instances import (
    ADAPTIVE,
    ALONE,
    FIRST_ORDER,
    HEDGE,
    LEARNERS,
    OURS,
    PAPER,
    PRIOR,
    favouring,
    rule,
    seed_of,
    uniform_regret,
)
from gamesim.wavelet_theorem.points import Labels, Point, Values

NAME = "rates"
ACTIONS = 8  # of the runs along T
ROUNDS = 4000  # of the runs along d
ONE_ROW = "d, one row"  # runs along d with the edge at which a single row, rather than d rows, is hard to learn
LABEL = {"T": "T", "d": "d", ONE_ROW: "d"}  # the quantity varied
EDGES = {"T": "√(d ln d / T)", "d": "√(d ln d / T)", ONE_ROW: "√(ln d / T)"}
FULL = {"T": (100, 1000, 10_000, 100_000, 1_000_000), "d": (4, 8, 16, 32, 64, 128, 256)}
SMALL = {"T": (100, 1000, 10_000), "d": (4, 8, 16)}
FEW = (PAPER, OURS, FIRST_ORDER, HEDGE)  # learners in the small version


def points(small: bool) -> list[Point]:
    """Return all points along T and along d, against a constant φ*, in both settings."""
    plan = SMALL if small else FULL
    chosen = [("T", ACTIONS, T) for T in plan["T"]]
    chosen += [(along, d, ROUNDS) for along in ("d", ONE_ROW) for d in plan["d"]]
    return [
        Point(NAME, {"along": along, "setting": setting, "d": d, "T": T, "learner": learner}, seed)
        for along, d, T in sorted(chosen, key=lambda one: one[1] ** 2 * one[2])
        for seed in range(3 if small else _seeds(d, T))
        for setting in ("alone", "game")
        for learner in (FEW if small else ALONE if setting == "alone" else LEARNERS)
    ]


def _seeds(actions: int, rounds: int) -> int:
    """Return the number of seeds, smaller for long runs."""
    return 8 if actions**2 * rounds <= 10**7 else 5


def measure(labels: Labels, seed: int) -> Values:
    """Run one learner against one constant φ*."""
    d, rounds = labels["d"], labels["T"]
    phi = rule("unif", d, 1, seed)
    play = play_alone if labels["setting"] == "alone" else play_game
    means = favouring(phi, rounds, _rows(labels["along"]))
    played = play(LEARNERS[labels["learner"]](), means, rounds, seed_of(seed, "rates", d, rounds))
    return {"regret": played.mean_regret(phi), "drawn": played.regret(phi)}


def _rows(along: str) -> int | None:
    return 1 if along == ONE_ROW else None


def slopes(results: Results, along: str, setting: str, learner: str) -> dict[int, float]:
    """Return the exponents of regret in T (from 1000 rounds) or in d, by seed."""
    label = LABEL[along]
    values = sorted(results.labels(label, along=along, setting=setting, learner=learner))
    kept = [value for value in values if label == "d" or value >= 1000]
    return exponents(results, "regret", label, kept, {"along": along, "setting": setting, "learner": learner})


def section(results: Results) -> Section:
    """Report how regret grows."""
    findings = []
    for setting in ("alone", "game"):
        for learner in (PAPER, OURS):
            found = mean(slopes(results, "T", setting, learner).values())
            if found is not None:
                held = direction_from(found, 0.5) <= 0
                findings.append(
                    Finding(
                        f"{setting}, d = {ACTIONS}: `{learner}` has s = {mean_text(found)}",
                        held,
                        under="From 1,000 rounds, regret against a constant φ\\* grows as T^s, "
                        + (
                            "consistent with the square root"
                            if held
                            else "faster than the square root over this range, which the bound permits if its "
                            "constant is large enough"
                        ),
                    )
                )
        for along in ("d", ONE_ROW):
            findings += _along_d(results, along, setting)
    for setting in ("alone", "game"):
        cells = [{"along": ONE_ROW, "setting": setting, "d": d} for d in results.labels("d", along=ONE_ROW)]
        for flagship in (PAPER, OURS):
            findings += _beside_uniform(results, cells, flagship)
            rivals = [name for name in (ALONE if setting == "alone" else LEARNERS) if name not in (PAPER, OURS)]
            where = f"{setting.capitalize()}, T = {ROUNDS:,}, edge {EDGES[ONE_ROW]}"
            findings += compare(results, cells, flagship, rivals, where)
    return Section(
        "Rates",
        "How does the regret against a constant φ\\* grow with the number of rounds T and the number of actions d? "
        "Since φ\\* is planted, this regret is at most the external regret on average. If the better action has the "
        "edge √(d ln d / T), capped at 1, a row of φ\\* can just be learnt in its T / d rounds: this is hard for "
        "learners with separate rows and easy for learners that pool all rows, whose regret then need not grow with d. "
        "With the edge √(ln d / T) the problem is hard for the latter too, and hopeless for the former. Slopes are "
        "fitted seed by seed and mean little where regret follows no power law; see the tables. The random numbers "
        "differ from those of the first claim.",
        findings,
        [_table(results, along, setting) for along in LABEL for setting in ("alone", "game")],
        ["rates"],
    )


def _along_d(results: Results, along: str, setting: str) -> list[Finding]:
    """Compare the exponent in d of the paper's learner with those of its rivals."""
    findings = []
    own = slopes(results, along, setting, PAPER)
    for name in (FIRST_ORDER, ADAPTIVE, PRIOR, HEDGE):
        rival = slopes(results, along, setting, name)
        apart = direction(mean(own[seed] - rival[seed] for seed in own if seed in rival))
        if own and rival:
            findings.append(
                rival_finding(
                    f"{setting}, T = {ROUNDS:,}, edge {EDGES[along]}: {mean_text(mean(own.values()))} versus "
                    f"{mean_text(mean(rival.values()))} for `{name}`",
                    apart,
                    f"The fitted exponent in d of the regret of `{PAPER}` is {COMPARED[apart]} that of a rival",
                )
            )
    return findings


def _beside_uniform(results: Results, cells: Sequence[Labels], learner: str) -> list[Finding]:
    """Report where, with the smaller edge, a wavelet learner beats uniform play."""
    findings = []
    for cell in cells:
        own = results.mean("regret", **cell, learner=learner)
        if own is not None and own.count > 1:
            uniform = uniform_regret(cell["d"], ROUNDS, _rows(cell["along"]))
            apart = direction_from(own, uniform)
            findings.append(
                Finding(
                    f"{cell['setting']}, d = {cell['d']}: {mean_text(own)} versus {number(uniform)}",
                    held=apart < 0,
                    loss=apart >= 0,
                    under=f"With the edge {EDGES[ONE_ROW]}, T = {ROUNDS:,}, the regret of `{learner}` is "
                    f"{COMPARED[apart]} that of uniform play",
                )
            )
    return findings


def _table(results: Results, along: str, setting: str) -> str:
    label = LABEL[along]
    values = sorted(results.labels(label, along=along, setting=setting))
    rows = [
        [learner]
        + [
            mean_text(results.mean("regret", setting=setting, learner=learner, along=along, **{label: v}))
            for v in values
        ]
        + [mean_text(mean(slopes(results, along, setting, learner).values()))]
        for learner in (ALONE if setting == "alone" else LEARNERS)
    ]
    sizes = [(ACTIONS, value) if label == "T" else (value, ROUNDS) for value in values]
    rows.append(["uniform play", *(number(uniform_regret(d, rounds, _rows(along))) for d, rounds in sizes), "–"])
    fixed = f"d = {ACTIONS}" if label == "T" else f"T = {ROUNDS:,}"
    headings = ["", *(f"{label} = {value:,}" for value in values), f"slope in {label}"]
    title = f"{setting.capitalize()}, {fixed}, edge {EDGES[along]}: regret, mean and 95 % interval"
    return table(title, headings, rows)


@styled
def draw(results: Results, folder: Path) -> None:
    """Draw regret against T and against d."""
    figure, panels = canvas(
        "Regret against a constant φ* by number of rounds and number of actions", 2, 3, size=(8.5, 10.5)
    )
    chosen = [(along, setting) for along in LABEL for setting in ("alone", "game")]
    for panel, (along, setting) in zip(panels, chosen, strict=True):
        label = LABEL[along]
        values = sorted(results.labels(label, along=along, setting=setting))
        for index, learner in enumerate(LEARNERS):
            found = [
                results.mean("regret", setting=setting, learner=learner, along=along, **{label: v}) for v in values
            ]
            draw_line(panel, values, found, index, learner)
        log_axes(panel, ticks=values)
        panel.set(xlabel=label, ylabel="regret", title=f"{setting}, edge {EDGES[along]}")
    handles, labels = panels[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7.5)
    write(figure, folder / "rates")
