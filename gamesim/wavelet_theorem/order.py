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
RULES = {"two blocks": ("blocks", 2), "four blocks": ("blocks", 4), "permutation": ("permutation", 1)}
FULL, SMALL = 32, 16  # actions


def points(small: bool) -> list[Point]:
    """Return all points."""
    d, rounds = (SMALL, ROUNDS // 4) if small else (FULL, ROUNDS)
    return [
        Point(NAME, {"rule": one, "d": d, "T": rounds}, seed)
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


def paragraph(results: Results) -> str:
    """State what was found."""
    d, rounds = results.labels("d")[0], results.labels("T")[0]
    signs = verdicts(results)
    helped = [name for name in WAVELETS if all(signs[one, name] < 0 for one in ("two blocks", "four blocks"))]

    def pair(name: str, one: str) -> str:
        return f"{said(results.mean(name, rule=one))} against {said(results.mean(f'shuffled {name}', rule=one))}"

    blocks = [{"rule": one} for one in ("two blocks", "four blocks")]
    best = min(RIVALS, key=lambda name: getattr(results.mean(name, rule="two blocks"), "value", np.inf))
    different = [name for name in WAVELETS if signs["permutation", name]]
    return (
        f"φ\\* maps two or four blocks of adjacent actions to one target each (d = {d}, T = {rounds:,}, alone, same gap "
        f"as above). With two blocks, `{OPTIMISTIC}` has regret {pair(OPTIMISTIC, 'two blocks')} in a shuffled order; "
        f"with four, {pair(OPTIMISTIC, 'four blocks')}. The right order helps significantly for both with "
        f"{listed([f'`{name}`' for name in helped])}. For a random permutation, which no order simplifies, the order "
        f"makes a significant difference with {listed([f'`{name}`' for name in different])}. The best rival on two "
        f"blocks, {best}, ignores the order and has {said(results.mean(best, rule='two blocks'))}; in the right order, "
        f"the median ratio of `{OPTIMISTIC}` to the best rival on blocks is "
        f"{said(median_ratio(results, OPTIMISTIC, RIVALS, blocks))}."
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


CAPTION = "Regret by the shape of φ\\*. Wavelet learners: filled in the right order, open in a shuffled order."


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
            filled = colour if name in WAVELETS else "white"
            look = {"color": colour, "fmt": marker, "capsize": 2, "markersize": 6}
            panel.errorbar([found.value], [at], xerr=[found.half], markerfacecolor=filled, **look)
            other = results.mean(f"shuffled {name}", rule=one)
            if other is not None:
                panel.errorbar([other.value], [at], xerr=[other.half], markerfacecolor="white", **look)
        panel.set(title=one, xlabel="regret", xlim=(0, None))
        panel.set_yticks(range(len(names)), names, fontsize=SMALLEST)
        panel.set_ylim(len(names) - 0.5, -0.5)
    write(figure, folder / NAME)
