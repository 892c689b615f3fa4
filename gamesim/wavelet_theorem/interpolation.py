"""Claim 1, interpolation: regret against φ* grows with the number of special rows of φ*, not with d.

Theorem 1 of Lu, Sun and Zhang: the regret against φ is of order at most √(k T), up to logarithms, where
k is the smaller of d - unif(φ) + 1 and d - self(φ); swap-regret learners guarantee √(d T).
"""

from pathlib import Path

from matplotlib.axes import Axes

from gamesim.figures.style import DARK, number, styled, write
from gamesim.figures.surface import canvas
from gamesim.players.wavelet import Wavelet
from gamesim.study.results import Results
from gamesim.study.statistics import mean
from gamesim.wavelet_theorem.drivers import play_alone, play_game
from gamesim.wavelet_theorem.findings import (
    COMPARED,
    LINE_COLOURS,
    Finding,
    Section,
    compare,
    describe,
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
    ALONE,
    FIRST_ORDER,
    HEDGE,
    LEARNERS,
    OURS,
    PAPER,
    edge,
    favouring,
    rule,
    seed_of,
    uniform_regret,
)
from gamesim.wavelet_theorem.points import Labels, Point, Values

NAME = "interpolation"
SETTINGS = {"alone": "The matrix learner alone", "game": "The full game"}
FAMILIES = {"unif": "d - unif(φ\\*) + 1 = k", "self": "d - self(φ\\*) = k"}

# setting -> d -> rounds, seeds, values of k
FULL = {
    "alone": {16: (20_000, 10, (1, 2, 4, 8, 16)), 64: (20_000, 6, (1, 4, 16, 64)), 256: (4000, 4, (1, 16, 256))},
    "game": {16: (20_000, 10, (1, 2, 4, 8, 16)), 64: (20_000, 6, (1, 4, 16)), 256: (4000, 4, (1, 16))},
}
GROWTH = {-1: "decreases", 0: "does not grow significantly", 1: "grows"}
SMALL = {"alone": {32: (8000, 4, (1, 16))}, "game": {8: (2000, 3, (1, 4))}}
FEW = (PAPER, OURS, FIRST_ORDER, HEDGE)  # learners in the small version


def points(small: bool) -> list[Point]:
    """Return all points, the cheapest first."""
    plan = SMALL if small else FULL
    sizes = sorted({d for setting in plan.values() for d in setting})
    return [
        Point(NAME, {"setting": setting, "d": d, "T": rounds, "family": family, "k": k, "learner": learner}, seed)
        for d in sizes
        for k in sorted({k for setting in plan.values() if d in setting for k in setting[d][2]})
        for setting in SETTINGS
        if d in plan[setting]
        for rounds, seeds, ks in [plan[setting][d]]
        if k in ks
        for seed in range(seeds)
        for family in FAMILIES
        for learner in (FEW if small else ALONE if setting == "alone" else LEARNERS)
    ]


def measure(labels: Labels, seed: int) -> Values:
    """Run one learner against one comparator; wavelet learners also certify a bound for the run."""
    d, rounds, family, k = (labels[name] for name in ("d", "T", "family", "k"))
    phi = rule(family, d, k, seed)
    player = LEARNERS[labels["learner"]]()
    play = play_alone if labels["setting"] == "alone" else play_game
    played = play(player, favouring(phi, rounds), rounds, seed_of(seed, family, d, k, rounds))
    measured = {"regret": played.mean_regret(phi), "drawn": played.regret(phi)}
    if isinstance(player, Wavelet):
        measured["certificate"] = player.certificate(played.state, phi)
    return measured


def holds(results: Results, flagship: str = PAPER) -> list[Finding]:
    """Test interpolation for the matrix learner alone; replacing the learner by another must break it."""
    findings = []
    for d in results.labels("d", setting="alone"):
        for family in FAMILIES:
            cell = {"setting": "alone", "d": d, "family": family, "k": 1}
            difference = results.difference(
                "regret", {**cell, "learner": flagship}, {**cell, "learner": FIRST_ORDER}
            )  # fmt: skip
            if difference is None or difference.count < 2:  # no interval
                continue
            own, rival = (results.mean("regret", **cell, learner=name) for name in (flagship, FIRST_ORDER))
            apart = direction(difference)
            kind = "a constant φ\\*" if family == "unif" else "a φ\\* that moves one action"
            rounds = results.labels("T", **cell)[0]
            findings.append(
                rival_finding(
                    f"d = {d}, T = {rounds:,}, {kind}: {mean_text(own)} versus {mean_text(rival)}, difference "
                    f"{mean_text(difference)}",
                    apart,
                    f"Alone, against the simplest φ\\*, k = 1, the regret of `{flagship}` is {COMPARED[apart]} that of "
                    f"`{FIRST_ORDER}`",
                )
            )
            ks = results.labels("k", setting="alone", d=d, family=family)
            first, last = min(ks), max(ks)
            if first == last:
                continue
            wide = {**cell, "k": last}
            growth = results.difference("regret", {**wide, "learner": flagship}, {**cell, "learner": flagship})
            if growth is None or growth.count < 2:
                continue
            grown = direction(growth)
            still = mean(exponents(results, "regret", "k", ks, {**cell, "learner": FIRST_ORDER}).values())
            findings.append(
                Finding(
                    f"d = {d}, family {family}, from k = {first} to {last}: change {mean_text(growth)}; the exponent "
                    f"of `{FIRST_ORDER}` in k is {mean_text(still)}",
                    held=None if grown == 0 else grown > 0,
                    under=f"Alone, the regret of `{flagship}` {GROWTH[grown]} with k, whereas the bound of "
                    f"`{FIRST_ORDER}` depends on d",
                )
            )
    return findings


def powers(results: Results) -> list[Finding]:
    """Fit the growth of the regret of the paper's learner in k, in both settings; the bound grows as √k.

    k = d is excluded: there the regret is close to that of uniform play and follows no power of k.
    """
    findings = []
    for setting, where in SETTINGS.items():
        for d in results.labels("d", setting=setting):
            for family in FAMILIES:
                cell = {"setting": setting, "d": d, "family": family}
                ks = [k for k in sorted(results.labels("k", **cell)) if k < d]
                power = mean(exponents(results, "regret", "k", ks, {**cell, "learner": PAPER}).values())
                if len(ks) < 2 or power is None or power.count < 2:
                    continue
                against = direction_from(power, 0), direction_from(power, 0.5)
                held, words = _growth(*against)
                findings.append(
                    Finding(
                        f"{where}, d = {d}, family {family}, from k = {ks[0]} to {ks[-1]}: exponent {mean_text(power)}",
                        held=held,
                        under=f"The regret of `{PAPER}` {words}",
                    )
                )
    return findings


def _growth(zero: int, half: int) -> tuple[bool | None, str]:
    """Classify an exponent in k by its directions from 0 and from 1/2."""
    if half > 0:
        return (
            False,
            "grows faster than √k over this range, which the bound permits if its constant is large enough",
        )
    if zero < 0:
        return False, "decreases with k"
    if zero > 0 and half < 0:
        return True, "grows with k, but more slowly than √k"
    return None, "has an exponent in k that is not significantly different from 0 or from 1/2"


def staying_regret(actions: int, rounds: int, k: int) -> float:
    """Return the mean regret of φ = identity, alone, against a φ* of the family self: k rows are wrong."""
    return k / actions * rounds * edge(actions, rounds)


def no_better(results: Results) -> list[Finding]:
    """List where the wavelet learners, alone, do not beat uniform play or the identity."""
    findings = []
    for cell in _cells(results, "alone"):
        rounds = results.labels("T", **cell)[0]
        fixed = {"uniform play": uniform_regret(cell["d"], rounds)}
        if cell["family"] == "self":
            fixed["φ = identity"] = staying_regret(cell["d"], rounds, cell["k"])
        for learner in (PAPER, OURS):
            own = results.mean("regret", **cell, learner=learner)
            for what, regret in fixed.items():
                if own is not None and own.count > 1 and (apart := direction_from(own, regret)) >= 0:
                    findings.append(
                        Finding(
                            f"{describe(cell)}, T = {rounds:,}: {mean_text(own)} versus {number(regret)}",
                            held=False,
                            loss=True,
                            under=f"Alone, the regret of `{learner}` is {COMPARED[apart]} that of {what}",
                        )
                    )
    return findings


def summary(results: Results) -> str:
    """Return the table of cells lost and won against each rival."""
    rows = []
    for rival in (name for name in LEARNERS if name not in (PAPER, OURS)):
        row = [rival]
        for flagship in (PAPER, OURS):
            for setting in SETTINGS:
                found = [
                    results.difference("regret", {**cell, "learner": flagship}, {**cell, "learner": rival})
                    for cell in _cells(results, setting)
                ]
                signs = [direction(one) for one in found if one is not None]
                row.append(f"{signs.count(1)} lost, {signs.count(-1)} won of {len(signs)}" if signs else "–")
        rows.append(row)
    headings = ["", *(f"{flagship}, {setting}" for flagship in (PAPER, OURS) for setting in SETTINGS)]
    return table(
        "Interpolation: number of cells that the wavelet learners lose and win against each rival", headings, rows
    )


def certificates(results: Results) -> list[Finding]:
    """Report whether the regret with sampled losses stayed below the certificate of the run."""
    findings = []
    for learner in (PAPER, OURS):
        runs = [
            (drawn, proved, uniform_regret(row.labels["d"], row.labels["T"]))
            for row in results.select(learner=learner)
            if (drawn := row.measures.get("drawn")) is not None
            and (proved := row.measures.get("certificate")) is not None
        ]
        if runs:
            over = sum(regret > proved for regret, proved, _ in runs)
            sharp = sum(proved < uniform for _, proved, uniform in runs)
            share = max(regret / proved for regret, proved, _ in runs)
            findings.append(
                Finding(
                    f"In {over} of {len(runs)} runs of `{learner}`, the regret with sampled losses exceeded the "
                    f"certificate; the largest ratio of regret to certificate was {number(share)}. In {sharp} of the "
                    "runs the certificate is below the regret of uniform play alone; only there is it informative.",
                    held=over == 0,
                )
            )
    return findings


def section(results: Results) -> Section:
    """Report how regret depends on k and d."""
    findings = no_better(results) + holds(results) + powers(results)
    for setting, where in SETTINGS.items():
        cells = _cells(results, setting)
        for flagship in (PAPER, OURS):
            rivals = [name for name in (ALONE if setting == "alone" else LEARNERS) if name not in (PAPER, OURS)]
            findings += compare(results, cells, flagship, rivals, where)
    findings += certificates(results)
    return Section(
        "Interpolation",
        "Does the regret against φ\\* depend on the number k of its special rows rather than on d? In the family "
        "*unif*, d - k + 1 rows of φ\\* share one target and the other k - 1 rows have distinct targets; in *self*, "
        "all but k rows stay. Losses are ±1 with mean 0, except that the action to which φ\\* maps the context is "
        "better by √(d ln d / T) on average. *Alone*, contexts are drawn uniformly and row i of φ is played. In *the "
        "full game*, the context is drawn from the learner's strategy, the fixed point. Hedge and AdaHedge have no "
        "matrix; alone, they ignore the context. The matrix of internal regret matching is defined only up to scaling, "
        "so it is excluded there. We report the regret with every loss replaced by its mean, which has the same "
        "expectation and less noise. Two baselines do not learn: uniform play and, in *self*, the identity. The "
        "identity is wrong in k rows only, so its regret is proportional to k; a learner with more regret "
        "has not found φ\\*.",
        findings,
        [_table(results, setting, d) for setting in SETTINGS for d in results.labels("d", setting=setting)],
        ["interpolation"],
        summary(results),
    )


def _cells(results: Results, setting: str) -> list[Labels]:
    return [
        {"setting": setting, "d": d, "family": family, "k": k}
        for d in results.labels("d", setting=setting)
        for family in FAMILIES
        for k in results.labels("k", setting=setting, d=d, family=family)
    ]


def _table(results: Results, setting: str, d: int) -> str:
    learners = ALONE if setting == "alone" else tuple(LEARNERS)
    rounds = results.labels("T", setting=setting, d=d)[0]
    rows = []
    for cell in _cells(results, setting):
        if cell["d"] == d:
            means = [results.mean("regret", **cell, learner=learner) for learner in learners]
            proofs = [results.mean("certificate", **cell, learner=learner) for learner in (PAPER, OURS)]
            rows.append([f"{cell['family']},\u00a0k\u00a0=\u00a0{cell['k']}", *map(mean_text, [*means, *proofs])])
            if setting == "alone":
                stays = staying_regret(d, rounds, cell["k"]) if cell["family"] == "self" else None
                rows[-1] += [number(uniform_regret(d, rounds)), "–" if stays is None else number(stays)]
    headings = ["φ\\*", *learners, *(f"certificate of {name}" for name in (PAPER, OURS))]
    headings += ["uniform play", "identity"] if setting == "alone" else []
    return table(f"{SETTINGS[setting]}, d = {d}, T = {rounds:,}: regret, mean and 95 % interval", headings, rows)


@styled
def draw(results: Results, folder: Path) -> None:
    """Draw regret against k for every d, family and setting."""
    sizes = results.labels("d")
    rows = [(setting, family) for setting in SETTINGS for family in FAMILIES]
    figure, panels = canvas(
        "Regret against φ* with k special rows, with √k and √d for reference",
        len(sizes), len(rows), size=(max(3.2 * len(sizes) + 1, 7.2), 2.6 * len(rows)),
    )  # fmt: skip
    for at, (setting, family) in enumerate(rows):
        for column, d in enumerate(sizes):
            _panel(panels[at * len(sizes) + column], results, {"setting": setting, "d": d, "family": family})
    handles, labels = panels[len(sizes) * 2].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7.5)
    write(figure, folder / "interpolation")


def _panel(panel: Axes, results: Results, cell: Labels) -> None:
    ks = sorted(results.labels("k", **cell))
    for index, learner in enumerate(LEARNERS):
        draw_line(panel, ks, [results.mean("regret", **cell, k=k, learner=learner) for k in ks], index, learner)
    first = results.mean("regret", **cell, k=1, learner=PAPER)
    if first is not None and first.value > 0:
        ends = [1, cell["d"]]
        panel.plot(ends, [first.value * k**0.5 for k in ends], color=DARK, linewidth=0.8, label="√k guide")
        panel.plot(
            ends, [first.value * cell["d"] ** 0.5] * 2, color=DARK, linewidth=0.8, linestyle=":", label="√d guide"
        )
        for name in (PAPER, OURS):
            proofs = [results.mean("certificate", **cell, k=k, learner=name) for k in ks]
            panel.plot(
                ks,
                [one.value if one else float("nan") for one in proofs],
                "_",
                color=LINE_COLOURS[list(LEARNERS).index(name)],
                markeredgewidth=1.6,
                label=f"certificate, {name}",
            )
    log_axes(panel, ticks=sorted({*ks, cell["d"]}))
    panel.set(title=f"{cell['setting']}, {cell['family']}, d = {cell['d']}")
    panel.set_xlabel("k")
    panel.set_ylabel("regret")
