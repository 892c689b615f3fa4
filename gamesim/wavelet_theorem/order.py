"""Claim 3, order: the wavelet learners profit from an order of the actions in which φ* has few switches.

The theorem behind Theorem 1: the regret is of order at most √(RowSwitch(φ*) T), with the number of adjacent rows that
differ. For a map with two or four blocks of equal rows this is small in the right order and not in a shuffled one.
"""

from pathlib import Path

import numpy as np

from gamesim.figures.style import styled, write
from gamesim.figures.surface import canvas
from gamesim.players.wavelet import Wavelet
from gamesim.study.results import Results
from gamesim.wavelet_theorem.comparisons import Comparison, compare, holm, p_value
from gamesim.wavelet_theorem.drivers import play_alone
from gamesim.wavelet_theorem.instances import (
    ALONE,
    LEARNERS,
    OPTIMISTIC,
    RIVALS,
    SEEDS,
    SMALL_SEEDS,
    WAVELETS,
    rule,
    seed_of,
)
from gamesim.wavelet_theorem.interpolation import GAP, ROUNDS
from gamesim.wavelet_theorem.points import Labels, Point, Values
from gamesim.wavelet_theorem.presentation import LOOKS, SMALLEST, listed, median_ratio, said, table

NAME = "order"
TITLE = "The right order of the actions lowers regret"
CRITERION = "the right order significantly helps all wavelet learners with blocks, and none with permutations"
RULES = {"two blocks": ("blocks", 2), "four blocks": ("blocks", 4), "permutation": ("permutation", 1)}
ACTIONS = 16


def points(small: bool) -> list[Point]:
    """Return all points."""
    rounds = ROUNDS // 2 if small else ROUNDS
    return [
        Point(NAME, {"rule": one, "d": ACTIONS, "T": rounds}, seed)
        for one in RULES
        for seed in (SMALL_SEEDS if small else SEEDS)
    ]


def measure(labels: Labels, seed: int) -> Values:
    """Run every learner alone; wavelet learners also with a shuffled order."""
    d, rounds = labels["d"], labels["T"]
    family, k = RULES[labels["rule"]]
    phi = rule(family, d, k, seed)
    chance = seed_of(seed, labels["rule"], d, rounds)
    shuffled = tuple(np.random.default_rng(seed_of(seed, "order")).permutation(d).tolist())
    measured = {}
    for name in ALONE:
        player = LEARNERS[name]()
        measured[name] = play_alone(player, -GAP * phi, rounds, chance).mean_regret(phi)
        if isinstance(player, Wavelet):
            other = type(player)(order=shuffled)
            measured[f"shuffled {name}"] = play_alone(other, -GAP * phi, rounds, chance).mean_regret(phi)
    return measured


def cells(results: Results) -> list[Labels]:
    """Return the cells of this claim."""
    return [{"rule": one} for one in results.labels("rule")]


def compared(results: Results) -> list[Comparison]:
    """Compare the flagship, in the right order, with its rivals."""
    return compare(results, OPTIMISTIC, RIVALS, cells(results))


def verdicts(results: Results) -> dict[tuple[str, str], int]:
    """Return for each rule and wavelet learner the sign of right minus shuffled, if significant, or 0."""
    found = {}
    for one in results.labels("rule"):
        for name in WAVELETS:
            right, shuffled = (results.values(measure, rule=one) for measure in (name, f"shuffled {name}"))
            found[one, name] = [right[seed] - shuffled[seed] for seed in right]
    decided = holm([p_value(values) for values in found.values()])
    return {
        key: int(np.sign(np.mean(values))) if one else 0
        for (key, values), one in zip(found.items(), decided, strict=True)
    }


def holds(results: Results) -> bool:
    """Return whether the right order is better for blocks and makes no difference for permutations."""
    return all(sign == (0 if one == "permutation" else -1) for (one, _), sign in verdicts(results).items())


def finding(results: Results) -> str:
    """Summarise the claim in a clause."""
    right, shuffled = (results.mean(name, rule="two blocks") for name in (OPTIMISTIC, f"shuffled {OPTIMISTIC}"))
    ratio = right.value / shuffled.value if right is not None and shuffled is not None else float("nan")
    return f"the right order of the actions multiplies its regret by {said(ratio)} if φ has two blocks of equal rows"


def paragraph(results: Results) -> str:
    """State what was found."""
    d, rounds = results.labels("d")[0], results.labels("T")[0]
    signs = verdicts(results)
    helped = [f"`{name}`" for name in WAVELETS if signs["two blocks", name] < 0 and signs["four blocks", name] < 0]
    different = [f"`{name}`" for name in WAVELETS if signs["permutation", name]]
    told = f"Helped with blocks: {listed(helped)}; changed with permutations: {listed(different)}. "
    exceptions = "" if holds(results) else told

    def pair(one: str) -> str:
        both = (said(results.mean(name, rule=one)) for name in (OPTIMISTIC, f"shuffled {OPTIMISTIC}"))
        return " against ".join(both)

    blocks = ("two blocks", "four blocks")
    ratios = [said(median_ratio(results, OPTIMISTIC, RIVALS, [{"rule": one}])) for one in blocks]
    return (
        f"φ\\* maps two or four blocks of adjacent actions to one target each (d = {d}, T = {rounds:,}). "
        f"`{OPTIMISTIC}` has regret {pair('two blocks')} in a shuffled order with two blocks, and "
        f"{pair('four blocks')} with four. {exceptions}In the right order, it is {ratios[0]} and {ratios[1]} times the "
        "best rival's, which knows no order."
    )


def tables(results: Results) -> list[str]:
    """Return the tables of the appendix."""
    names = [*ALONE, *(f"shuffled {name}" for name in WAVELETS)]
    d, rounds = results.labels("d")[0], results.labels("T")[0]
    return [
        table(
            f"Alone, d = {d}, T = {rounds:,}: regret against φ\\* by its shape",
            ["", *RULES],
            [[name, *(said(results.mean(name, rule=one)) for one in RULES)] for name in names],
        )
    ]


CAPTION = "Regret by the shape of φ\\*; open markers: wavelet learners with the actions shuffled."


@styled
def draw(results: Results, folder: Path) -> None:
    """Draw the regret of each learner by rule, with and without the right order."""
    names = list(ALONE)
    figure, panels = canvas("Regret with the right and with a shuffled order", 3, size=(7.2, 3.1), sharey=True)
    for panel, one in zip(panels, RULES, strict=True):
        for at, name in enumerate(names):
            found = results.mean(name, rule=one)
            if found is None:
                continue
            colour, marker = LOOKS[name]["color"], LOOKS[name]["marker"]
            look = {"color": colour, "fmt": marker, "capsize": 2, "markersize": 6}
            panel.errorbar([found.value], [at], xerr=[found.half], markerfacecolor=colour, **look)
            other = results.mean(f"shuffled {name}", rule=one)
            if other is not None:
                panel.errorbar([other.value], [at + 0.35], xerr=[other.half], markerfacecolor="white", **look)
        panel.set(title=one, xlabel="regret", xlim=(0, None))
        panel.set_yticks(range(len(names)), names, fontsize=SMALLEST)
        panel.set_ylim(len(names) - 0.5, -0.5)
    write(figure, folder / NAME)
