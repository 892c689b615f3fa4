"""Claim 4, quantile regret: the regret to the ⌈εd⌉-th best action is of order at most √(T log(1 + 1/ε)).

Theorem 2 of Lu, Sun and Zhang is printed with √(T log(1/ε)), which is 0 at ε = 1: a boundary slip, since no learner
that learns at all can satisfy it. `excess` shows this for two actions: an adversary that sees the strategy makes the
learner lose more than both actions.
"""

from collections.abc import Callable
from math import log, sqrt
from pathlib import Path

import numpy as np

from gamesim.figures.style import styled, write
from gamesim.figures.surface import canvas
from gamesim.learner import Learner
from gamesim.players.adanormal_hedge import AdaNormalHedge
from gamesim.players.normal_hedge import NormalHedge
from gamesim.players.squint import Squint
from gamesim.study.results import Results
from gamesim.wavelet_theorem.comparisons import Comparison, compare
from gamesim.wavelet_theorem.drivers import play_game
from gamesim.wavelet_theorem.instances import (
    ADANORMAL,
    ADAPTIVE,
    AGGREGATE,
    EXTERNAL,
    LEARNERS,
    NORMAL,
    OPTIMISTIC,
    PREDICTIVE,
    PRIOR,
    SEEDS,
    SMALL_SEEDS,
    SQUINT,
    SUBSEQUENCE,
    WAVELETS,
    YARDSTICKS,
    seed_of,
)
from gamesim.wavelet_theorem.points import Labels, Point, Values
from gamesim.wavelet_theorem.presentation import draw_line, legend_below, listed, log_axes, median_ratio, said, table

NAME = "quantile"
TITLE = "Regret to the ε-quantile falls as ε grows, within the bound of Hedge"
CRITERION = "regret falls as ε grows and never exceeds √(2 T ln(1 + 1/ε)), for all wavelet learners"
SPECIALISTS: dict[str, Callable[[], Learner]] = {
    EXTERNAL: YARDSTICKS[EXTERNAL],
    NORMAL: NormalHedge,
    ADANORMAL: AdaNormalHedge,
    SQUINT: Squint,
}
RIVALS = (PREDICTIVE, ADAPTIVE, PRIOR, AGGREGATE, SUBSEQUENCE, *SPECIALISTS)
EVERYONE = {**LEARNERS, **SPECIALISTS}
CHOSEN = (*WAVELETS, *RIVALS)
GOOD = (1, 2, 8)  # numbers of good actions
GAP = 0.1  # mean advantage of the good actions
ACTIONS = 16
FULL, SMALL = 4096, 2048  # rounds
EXCESS_ROUNDS = 400


def points(small: bool) -> list[Point]:
    """Return the points for ε = 1/d, 2/d, 8/d, and the run at ε = 1."""
    d, rounds = ACTIONS, SMALL if small else FULL
    return [Point(NAME, {"part": "slip"}, 0)] + [
        Point(NAME, {"part": "quantile", "d": d, "T": rounds, "good": good}, seed)
        for good in GOOD
        for seed in (SMALL_SEEDS if small else SEEDS)
    ]


def measure(labels: Labels, seed: int) -> Values:
    """Run every learner where `good` of d actions have mean -`GAP`."""
    if labels["part"] == "slip":
        return {name: excess(EVERYONE[name]()) for name in CHOSEN}
    d, rounds, good = labels["d"], labels["T"], labels["good"]
    means = np.zeros((d, d))
    means[:, np.random.default_rng(seed_of(seed, d, good)).permutation(d)[:good]] = -GAP
    measured = {}
    for name in CHOSEN:
        played = play_game(EVERYONE[name](), means, rounds, seed_of(seed, NAME, d, good, rounds))
        totals = np.sort(played.suffered.sum(axis=0))
        measured[name] = float(played.own[0] - totals[good - 1])
    return measured


def excess(player: Learner, rounds: int = EXCESS_ROUNDS) -> float:
    """Return the maximum loss in excess of the worse of two actions, against an adversary that sees p.

    The action with the larger probability loses 1 and the other gains 1, so every round costs |p_1 - p_2|. At a tie,
    one action loses until it has lost 2 in total, then the other, because the paper's learner learns nothing before a
    block of its clock is full. The adversary also decides when the game ends.
    """
    learner = player.with_horizon(rounds).start(actions=2)
    lost = largest = 0.0
    total, turn = 0.0, 1.0  # total loss of the first action (minus that of the second), and which action loses at a tie
    for _ in range(rounds):
        strategy = learner.play()
        lead = strategy[0] - strategy[1]
        sign = np.sign(lead) if abs(lead) > 1e-12 else turn
        lost += abs(lead)
        total += sign
        turn = -turn if total * turn >= 2 else turn
        largest = max(largest, lost - abs(total))
        learner.observe([sign, -sign])
    return float(largest)


def cells(results: Results) -> list[Labels]:
    """Return the cells of this claim."""
    return [{"part": "quantile", "good": good} for good in results.labels("good", part="quantile")]


def compared(results: Results) -> list[Comparison]:
    """Compare the flagship with its rivals."""
    return compare(results, OPTIMISTIC, RIVALS, cells(results))


def constant(results: Results, learner: str) -> float:
    """Return the largest regret over all ε, divided by √(2 T ln(1 + 1/ε)), Hedge's bound at ε = 1/d."""
    d, rounds = results.labels("d")[0], results.labels("T")[0]
    found = ((cell["good"], results.mean(learner, **cell)) for cell in cells(results))
    return max(one.value / sqrt(2 * rounds * log(1 + d / good)) for good, one in found if one is not None)


def holds(results: Results) -> bool:
    """Return whether the regrets of all wavelet learners fall with ε, with a constant of at most that of Hedge."""
    goods = sorted(results.labels("good", part="quantile"))
    for name in WAVELETS:
        first, last = (results.mean(name, part="quantile", good=good) for good in (goods[0], goods[-1]))
        if first is None or last is None or first.value - first.half <= last.value + last.half:
            return False
    return all(constant(results, name) <= 1 for name in WAVELETS)


def finding(results: Results) -> str:
    """Summarise the claim in a clause."""
    first, d = cells(results)[0], results.labels("d")[0]
    ratio = median_ratio(results, OPTIMISTIC, RIVALS, [first])
    return (
        f"its regret to an ε-quantile of the actions is at most {said(constant(results, OPTIMISTIC))} "
        f"√(2 T ln(1 + 1/ε)), and {said(ratio)} times that of the best rival at ε = {first['good']}/{d}"
    )


def paragraph(results: Results) -> str:
    """State what was found."""
    d, rounds = results.labels("d")[0], results.labels("T", part="quantile")[0]
    goods = sorted(results.labels("good", part="quantile"))
    ends = [said(results.mean(OPTIMISTIC, part="quantile", good=good)) for good in (goods[0], goods[-1])]
    first = {"part": "quantile", "good": goods[0]}
    best = min(RIVALS, key=lambda name: getattr(results.mean(name, **first), "value", np.inf))
    constants = listed([said(constant(results, name)) for name in WAVELETS])
    over = [f"`{name}`" for name in WAVELETS if constant(results, name) > 1]
    return (
        f"Of d = {d} actions, a share ε is better by {GAP} on average (T = {rounds:,}). From ε = "
        f"{goods[0]}/{d} to {goods[-1]}/{d}, the regret of `{OPTIMISTIC}` to the ⌈εd⌉-th best action falls from "
        f"{ends[0]} to {ends[1]}. At ε = {goods[0]}/{d} the best rival, {best}, has "
        f"{said(results.mean(best, **first))}. In units of this bound, the largest regrets of `wavelet`, "
        f"`wavelet-continuous` and `{OPTIMISTIC}` are {constants}; {listed(over)} "
        f"{'exceed' if len(over) > 1 else 'exceeds'} 1. The paper prints log(1/ε), by which "
        "nobody could lose more than the worst action, a boundary "
        f"slip at ε = 1: with two actions, an adversary that sees p makes `{OPTIMISTIC}` lose "
        f"{said(results.mean(OPTIMISTIC, part='slip'))} more than the worse of them in {EXCESS_ROUNDS} rounds."
    )


def tables(results: Results) -> list[str]:
    """Return the tables of the appendix."""
    d, rounds = results.labels("d")[0], results.labels("T")[0]
    return [
        table(
            f"Full game, d = {d}, T = {rounds:,}: regret to the ⌈εd⌉-th best action; last column: ε = 1, two actions, "
            f"{EXCESS_ROUNDS} rounds, loss in excess of the worse action",
            ["", *(f"ε = {cell['good']}/{d}" for cell in cells(results)), "slip"],
            [
                [
                    name,
                    *(said(results.mean(name, **cell)) for cell in cells(results)),
                    said(results.mean(name, part="slip")),
                ]
                for name in CHOSEN
            ],
        )
    ]


CAPTION = "Regret to the ⌈εd⌉-th best action; the grey line is the criterion, √(2 T ln(1 + 1/ε))."


@styled
def draw(results: Results, folder: Path) -> None:
    """Draw quantile regret against ε."""
    figure, (panel,) = canvas("Quantile regret against ε", size=(7.2, 4.2))
    d, rounds = results.labels("d")[0], results.labels("T")[0]
    shares = [cell["good"] / d for cell in cells(results)]
    guide = [sqrt(2 * rounds * log(1 + 1 / share)) for share in shares]
    panel.plot(shares, guide, color="#BBBBBB", linewidth=5, alpha=0.6, label="√(2 T ln(1 + 1/ε))", zorder=0)
    for name in CHOSEN:
        draw_line(panel, shares, [results.mean(name, **cell) for cell in cells(results)], name, linear=True)
    log_axes(panel, "x", ticks=shares, text=lambda share: f"{round(share * d)}/{d}")
    panel.set(xlabel="ε", ylabel="regret")
    legend_below(figure, panel)
    write(figure, folder / NAME)
