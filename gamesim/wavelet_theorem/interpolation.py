"""Claim 1, interpolation: regret against φ* depends on the number k of its special rows rather than on d.

Theorem 1 of Lu, Sun and Zhang: the regret against φ is of order at most √(k T), up to logarithms, where k is the
smaller of d - unif(φ) + 1 and d - self(φ).
"""

from pathlib import Path

from gamesim.figures.style import styled, write
from gamesim.figures.surface import canvas
from gamesim.players.wavelet import Wavelet
from gamesim.study.results import Results
from gamesim.study.statistics import Mean
from gamesim.wavelet_theorem.comparisons import LOST, TIED, WON, Comparison, compare, count
from gamesim.wavelet_theorem.drivers import play_alone, play_game
from gamesim.wavelet_theorem.instances import (
    ADAPTIVE,
    ALONE,
    LEARNERS,
    OPTIMISTIC,
    RIVALS,
    ROWS,
    SEEDS,
    SMALL_SEEDS,
    WAVELETS,
    rule,
    seed_of,
)
from gamesim.wavelet_theorem.points import Labels, Point, Values
from gamesim.wavelet_theorem.presentation import (
    draw_line,
    exponent,
    legend_below,
    log_axes,
    median_ratio,
    said,
    said_power,
    table,
)

NAME = "interpolation"
TITLE = "Regret depends on k more than on d"
CRITERION = "at k = 1 and for every d, the flagship beats BM with any rows, and its regret grows with k"
GAP = 0.3  # mean advantage of the action to which φ* maps the context
ROUNDS = 4096
FAMILIES = {"unif": "k = d − unif(φ*) + 1", "self": "k = d − self(φ*)"}
Plan = dict[str, dict[int, tuple[int, ...]]]  # setting -> d -> values of k
FULL: Plan = {"alone": {4: (1, 4), 8: (1, 2, 8), 16: (1, 4, 16)}, "game": {8: (1, 8)}}
SMALL: Plan = {"alone": {8: (1, 8), 16: (1, 16)}, "game": {8: (1, 8)}}
SETTINGS = {"alone": "Matrix learner alone", "game": "Full game"}


def points(small: bool) -> list[Point]:
    """Return all points."""
    return [
        Point(NAME, {"setting": setting, "d": d, "T": ROUNDS // 2 if small else ROUNDS, "family": family, "k": k}, seed)
        for setting, sizes in (SMALL if small else FULL).items()
        for d, ks in sizes.items()
        for k in ks
        for family in FAMILIES
        for seed in (SMALL_SEEDS if small else SEEDS)
    ]


def measure(labels: Labels, seed: int) -> Values:
    """Run every learner against one comparator; wavelet learners also certify a bound for the sampled losses."""
    d, rounds, family, k = (labels[name] for name in ("d", "T", "family", "k"))
    phi = rule(family, d, k, seed)
    alone = labels["setting"] == "alone"
    play = play_alone if alone else play_game
    measured = {}
    for name in ALONE if alone else LEARNERS:
        player = LEARNERS[name]()
        played = play(player, -GAP * phi, rounds, seed_of(seed, family, d, k, rounds))
        measured[name] = played.mean_regret(phi)
        if isinstance(player, Wavelet):
            measured[f"drawn {name}"] = played.regret(phi)
            measured[f"certificate {name}"] = player.certificate(played.state, phi)
    return measured


def cells(results: Results, **fixed: object) -> list[Labels]:
    """Return the cells of a claim, in the order of the points."""
    found = {str(row.labels): row.labels for row in results.select(**fixed)}
    return list(found.values())


def compared(results: Results) -> list[Comparison]:
    """Compare the flagship with its rivals in all cells."""
    return compare(results, OPTIMISTIC, RIVALS, cells(results))


def simplest(results: Results) -> list[Comparison]:
    """Compare the flagship alone, against the simplest φ*, with learners whose bounds do not depend on k."""
    return compare(results, OPTIMISTIC, ROWS, cells(results, setting="alone", k=1))


def holds(results: Results) -> bool:
    """Return whether the flagship beats all of them there, and its regret grows with k."""
    largest = max(results.labels("d", setting="alone"))
    grown = [_growth(results, OPTIMISTIC, family, largest) for family in FAMILIES]
    return all(one.verdict == WON for one in simplest(results)) and all(
        one is not None and one.value > one.half for one in grown
    )


def _growth(results: Results, learner: str, family: str, d: int) -> Mean | None:
    ks = sorted(k for k in results.labels("k", setting="alone", d=d))
    return exponent(results, learner, "k", ks, {"setting": "alone", "family": family, "d": d})


def exceeded(results: Results) -> tuple[int, int]:
    """Return in how many runs sampled regret exceeded the certificate, and the number of runs."""
    runs = [
        row.measures[f"drawn {name}"] > row.measures[f"certificate {name}"]  # type: ignore[operator]
        for row in results.done
        for name in WAVELETS
    ]
    return sum(runs), len(runs)


def finding(results: Results) -> str:
    """Summarise the claim in a clause."""
    d = max(results.labels("d", setting="alone"))
    own, other = (
        results.mean(name, setting="alone", d=d, k=1, family="unif") for name in (OPTIMISTIC, ADAPTIVE)
    )  # fmt: skip
    ratio = own.value / other.value if own is not None and other is not None else float("nan")
    simple = median_ratio(results, OPTIMISTIC, RIVALS, cells(results, setting="alone", d=d, k=1, family="unif"))
    return (
        f"its regret against a constant φ is {said(ratio)} times that of {ADAPTIVE}, whose bound ignores k, but "
        f"{said(simple)} times that of the best rival, and {said(_dense(results, d))} times at k = d"
    )


def _dense(results: Results, d: int) -> float:
    return median_ratio(results, OPTIMISTIC, RIVALS, cells(results, setting="alone", d=d, k=d))


def _best(results: Results, cell: Labels) -> tuple[str, Mean | None]:
    """Return the rival with the least regret in a cell."""
    best = min(RIVALS, key=lambda name: getattr(results.mean(name, **cell), "value", float("inf")))
    return best, results.mean(best, **cell)


def paragraph(results: Results) -> str:
    """State what was found."""
    sizes = sorted(results.labels("d", setting="alone"))
    d, rounds = sizes[-1], results.labels("T")[0]
    first = {"setting": "alone", "d": d, "k": 1}
    constant, moved = (
        [said(results.mean(name, **first, family=family)) for name in (OPTIMISTIC, ADAPTIVE)] for family in FAMILIES
    )
    decided = simplest(results)
    verdicts = count(decided)
    best, least = _best(results, {**first, "family": "unif"})
    stay = GAP * rounds / d
    worse = results.mean(OPTIMISTIC, **first, family="self")
    idle = "more than" if worse is not None and worse.value > stay else "less than"
    growth = [said_power(_growth(results, OPTIMISTIC, family, d)) for family in FAMILIES]
    along_d = [
        said_power(exponent(results, name, "d", sizes, {"setting": "alone", "family": "unif", "k": 1}))
        for name in (OPTIMISTIC, ADAPTIVE)
    ]
    over, runs = exceeded(results)
    return (
        f"At d = {d}, T = {rounds:,} and k = 1, `{OPTIMISTIC}` has regret {constant[0]} for a constant map and "
        f"{moved[0]} for a map that moves one action ({idle} the {said(stay)} that never moving costs); {ADAPTIVE} has "
        f"{constant[1]} and {moved[1]}, and {best} is best on the constant map, with {said(least)}. Of "
        f"{said(len(decided))} comparisons with BM at k = 1, it wins {said(verdicts[WON])}, ties "
        f"{said(verdicts[TIED])} and loses {said(verdicts[LOST])}. Its regret grows as k to the power {growth[0]} "
        f"(unif) and {growth[1]} (self; the bound has √k), and for constant maps as d to the power {along_d[0]}, "
        f"against {along_d[1]} for {ADAPTIVE}. At k = d = {d}, it is {said(_dense(results, d))} times the best "
        f"rival's; uniform play has {said(GAP * rounds * (1 - 1 / d))}. Regret exceeded its certified bound in "
        f"{said(over)} of {said(runs)} runs."
    )


def tables(results: Results) -> list[str]:
    """Return the tables of the appendix."""
    made = []
    for setting, title in SETTINGS.items():
        for d in results.labels("d", setting=setting):
            names = [name for name in LEARNERS if setting == "game" or name in ALONE]
            rows = [
                [f"{cell['family']}, k = {cell['k']}", *(said(results.mean(name, **cell)) for name in names)]
                for cell in cells(results, setting=setting, d=d)
            ]
            rounds = results.labels("T", setting=setting)[0]
            made.append(table(f"{title}, d = {d}, T = {rounds:,}: regret against φ\\*", ["φ\\*", *names], rows))
    return made


CAPTION = "Regret against φ\\*, matrix learners alone."


@styled
def draw(results: Results, folder: Path) -> None:
    """Draw regret against k at the largest d, alone."""
    d = max(results.labels("d", setting="alone"))
    figure, panels = canvas(f"Regret against φ*, d = {d}", 2, size=(7.2, 4.1), sharey=True)
    for panel, (family, title) in zip(panels, FAMILIES.items(), strict=True):
        cell = {"setting": "alone", "d": d, "family": family}
        ks = sorted(results.labels("k", **cell))
        for name in ALONE:
            draw_line(panel, ks, [results.mean(name, **cell, k=k) for k in ks], name)
        log_axes(panel, ticks=ks)
        panel.set(title=f"{family}: {title}", xlabel="k")
    panels[0].set_ylabel("regret")
    legend_below(figure, panels[0], 3)
    write(figure, folder / NAME)
