"""Claim 3, rates: how regret grows with the rounds and with the actions."""

from pathlib import Path

import numpy as np

from gamesim.figures.style import canvas, styled, write
from gamesim.fits import mean
from gamesim.theorem.drivers import play_alone, play_game
from gamesim.theorem.findings import (
    WORDS,
    Finding,
    Section,
    beside_rival,
    draw_line,
    exponents,
    log_axes,
    said,
    table,
    told_apart,
)
from gamesim.theorem.instances import (
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
)
from gamesim.theorem.points import Labels, Point, Results, Values

NAME = "rates"
ACTIONS = 8  # of the runs along T
ROUNDS = 4000  # of the runs along d
FULL = {"T": (100, 1000, 10_000, 100_000, 1_000_000), "d": (4, 8, 16, 32, 64, 128, 256)}
SMALL = {"T": (100, 1000, 10_000), "d": (4, 8, 16)}
FEW = (PAPER, OURS, FIRST_ORDER, HEDGE)  # learners of the small version


def points(small: bool) -> list[Point]:
    """Return all runs along T and along d: a constant φ* (external regret) in both settings."""
    plan = SMALL if small else FULL
    chosen = [("T", ACTIONS, T) for T in plan["T"]] + [("d", d, ROUNDS) for d in plan["d"]]
    return [
        Point(NAME, {"along": along, "setting": setting, "d": d, "T": T, "learner": learner}, seed)
        for along, d, T in sorted(chosen, key=lambda one: one[1] ** 2 * one[2])
        for seed in range(3 if small else _seeds(d, T))
        for setting in ("alone", "game")
        for learner in (FEW if small else ALONE if setting == "alone" else LEARNERS)
    ]


def _seeds(actions: int, rounds: int) -> int:
    """Fewer where a run takes long."""
    return 8 if actions**2 * rounds <= 10**7 else 5


def measure(labels: Labels, seed: int) -> Values:
    """Run one learner against one constant φ*."""
    d, rounds = labels["d"], labels["T"]
    phi = rule("unif", d, 1, seed)
    play = play_alone if labels["setting"] == "alone" else play_game
    played = play(LEARNERS[labels["learner"]](), favouring(phi, rounds), rounds, seed_of(seed, "rates", d, rounds))
    return {"regret": played.mean_regret(phi), "drawn": played.regret(phi)}


def slopes(results: Results, along: str, setting: str, learner: str) -> dict[int, float]:
    """Return the exponents of regret along T (from 1000 rounds on) or along d, by seed."""
    values = sorted(results.labels(along, along=along, setting=setting, learner=learner))
    kept = [value for value in values if along == "d" or value >= 1000]
    return exponents(results, "regret", along, kept, {"along": along, "setting": setting, "learner": learner})


def section(results: Results) -> Section:
    """Tell how regret grows."""
    findings = []
    for setting in ("alone", "game"):
        for learner in (PAPER, OURS):
            found = mean(slopes(results, "T", setting, learner).values())
            if found is not None:
                held = found.value - np.nan_to_num(found.half) <= 0.5
                findings.append(
                    Finding(
                        f"{setting}, d = {ACTIONS}: `{learner}` has s = {said(found)}",
                        held,
                        under="From 1,000 rounds on, regret against a constant φ\\* grows like T^s, "
                        + (
                            "in keeping with the square root"
                            if held
                            else "over these rounds faster than the square root, which a bound of that form allows as "
                            "long as its constant is larger"
                        ),
                    )
                )
        own = slopes(results, "d", setting, PAPER)
        for name in (FIRST_ORDER, ADAPTIVE, PRIOR, HEDGE):
            rival = slopes(results, "d", setting, name)
            apart = told_apart(mean(own[seed] - rival[seed] for seed in own if seed in rival))
            if own and rival:
                findings.append(
                    beside_rival(
                        f"{setting}, T = {ROUNDS:,}: {said(mean(own.values()))} against the "
                        f"{said(mean(rival.values()))} of `{name}`",
                        apart,
                        f"Along d, the fitted exponent of the regret of `{PAPER}` is {WORDS[apart]} that of a rival",
                    )
                )
    return Section(
        "Rates",
        "How does regret against a constant φ\\* (external regret) grow with the rounds T and with the actions d? The "
        "edge of the better action is √(d ln d / T), at most 1, so that each T and d has its own hard instance. Slopes "
        "are fitted seed by seed, and say little where regret follows no power: see the tables. The random "
        "numbers are others than those of the first claim.",
        findings,
        [_table(results, along, setting) for along in ("T", "d") for setting in ("alone", "game")],
        ["rates"],
    )


def _table(results: Results, along: str, setting: str) -> str:
    values = sorted(results.labels(along, along=along, setting=setting))
    rows = [
        [learner]
        + [said(results.mean("regret", setting=setting, learner=learner, along=along, **{along: v})) for v in values]
        + [said(mean(slopes(results, along, setting, learner).values()))]
        for learner in (ALONE if setting == "alone" else LEARNERS)
    ]
    fixed = f"d = {ACTIONS}" if along == "T" else f"T = {ROUNDS:,}"
    headings = ["", *(f"{along} = {value:,}" for value in values), f"slope in {along}"]
    return table(f"{setting.capitalize()}, {fixed}: regret, mean and 95 % interval", headings, rows)


@styled
def draw(results: Results, folder: Path) -> None:
    """Draw regret along T and along d."""
    figure, panels = canvas(
        "Regret against a constant φ* along the rounds and along the actions", 2, 2, size=(8.5, 7.5)
    )
    chosen = [(along, setting) for along in ("T", "d") for setting in ("alone", "game")]
    for panel, (along, setting) in zip(panels, chosen, strict=True):
        values = sorted(results.labels(along, along=along, setting=setting))
        for index, learner in enumerate(LEARNERS):
            found = [
                results.mean("regret", setting=setting, learner=learner, along=along, **{along: v}) for v in values
            ]
            draw_line(panel, values, found, index, learner)
        log_axes(panel, ticks=values)
        panel.set(xlabel=along, ylabel="regret", title=setting)
    handles, labels = panels[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7.5)
    write(figure, folder / "rates")
