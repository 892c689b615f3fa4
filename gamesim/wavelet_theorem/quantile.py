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
    ADAPTIVE,
    AGGREGATE,
    EXTERNAL,
    LEARNERS,
    OPTIMISTIC,
    PREDICTIVE,
    PRIOR,
    SEEDS,
    SMALL_SEEDS,
    SUBSEQUENCE,
    WAVELETS,
    YARDSTICKS,
    seed_of,
)
from gamesim.wavelet_theorem.points import Labels, Point, Values
from gamesim.wavelet_theorem.presentation import draw_line, legend_below, log_axes, median_ratio, said, table

NAME = "quantile"
TITLE = "Regret to the ε-quantile falls with ε"
SPECIALISTS: dict[str, Callable[[], Learner]] = {
    EXTERNAL: YARDSTICKS[EXTERNAL],
    "NormalHedge": NormalHedge,
    "AdaNormalHedge": AdaNormalHedge,
    "Squint": Squint,
}
RIVALS = (PREDICTIVE, ADAPTIVE, PRIOR, AGGREGATE, SUBSEQUENCE, *SPECIALISTS)
EVERYONE = {**LEARNERS, **SPECIALISTS}
CHOSEN = (*WAVELETS, *RIVALS)
GAP = 0.1  # mean advantage of the good actions
FULL = (32, 8192)  # actions, rounds
SMALL = (16, 2048)
HEDGE = sqrt(2)  # the constant of Hedge at ε = 1/d, for losses in [-1, 1]
EXCESS_ROUNDS = 400


def points(small: bool) -> list[Point]:
    """Return the points for ε = 1/d, 4/d, 16/d …, 1/2 at most, and the run at ε = 1."""
    d, rounds = SMALL if small else FULL
    return [Point(NAME, {"part": "slip"}, 0)] + [
        Point(NAME, {"part": "quantile", "d": d, "T": rounds, "good": 2**k}, seed)
        for k in range(0, d.bit_length() - 1, 2)
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
    """Return the largest regret over all ε, divided by √(T ln(1 + 1/ε))."""
    d, rounds = results.labels("d")[0], results.labels("T")[0]
    found = ((cell["good"], results.mean(learner, **cell)) for cell in cells(results))
    return max(one.value / sqrt(rounds * log(1 + d / good)) for good, one in found if one is not None)


def holds(results: Results) -> bool:
    """Return whether the regrets of all wavelet learners fall with ε, with a constant of at most that of Hedge."""
    goods = sorted(results.labels("good", part="quantile"))
    for name in WAVELETS:
        first, last = (results.mean(name, part="quantile", good=good) for good in (goods[0], goods[-1]))
        if first is None or last is None or first.value - first.half <= last.value + last.half:
            return False
    return all(constant(results, name) <= HEDGE for name in WAVELETS)


def paragraph(results: Results) -> str:
    """State what was found."""
    d, rounds = results.labels("d")[0], results.labels("T")[0]
    goods = sorted(results.labels("good", part="quantile"))
    ends = [said(results.mean(OPTIMISTIC, part="quantile", good=good)) for good in (goods[0], goods[-1])]
    best = {
        good: min(RIVALS, key=lambda name: getattr(results.mean(name, part="quantile", good=good), "value", np.inf))
        for good in (goods[0], goods[-1])
    }
    others = [f"{said(results.mean(name, part='quantile', good=good))} ({name})" for good, name in best.items()]
    constants = ", ".join(said(constant(results, name)) for name in WAVELETS)
    slip = {name: said(results.mean(name, part="slip")) for name in WAVELETS}
    ratio = median_ratio(results, OPTIMISTIC, RIVALS, cells(results))
    return (
        f"Of d = {d} actions, a share ε is better by {GAP} on average (T = {rounds:,}, in the full game). From "
        f"ε = 1/{d} to ε = 1/2, the regret of `{OPTIMISTIC}` to the ⌈εd⌉-th best action falls from {ends[0]} to "
        f"{ends[1]}. The best rivals have {others[0]} and {others[1]}; the median ratio to the best rival is "
        f"{said(ratio)}. In units of √(T ln(1 + 1/ε)), the largest regret of the three wavelet learners (in the order "
        f"of the setting) is {constants}; Hedge guarantees {said(HEDGE)} at ε = 1/d. The paper prints log(1/ε), which is "
        f"0 at ε = 1. That is a boundary slip: an adversary that sees p makes `{OPTIMISTIC}` lose {slip[OPTIMISTIC]} "
        f"more than the worse of two actions within {EXCESS_ROUNDS} rounds, where the formula permits 0."
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


CAPTION = "Regret to the ⌈εd⌉-th best action; the grey line is √(T ln(1 + 1/ε))."


@styled
def draw(results: Results, folder: Path) -> None:
    """Draw quantile regret against ε."""
    figure, (panel,) = canvas("Quantile regret against ε", size=(7.2, 4.2))
    d, rounds = results.labels("d")[0], results.labels("T")[0]
    shares = [cell["good"] / d for cell in cells(results)]
    guide = [sqrt(rounds * log(1 + 1 / share)) for share in shares]
    panel.plot(shares, guide, color="#BBBBBB", linewidth=5, alpha=0.6, label="√(T ln(1 + 1/ε))", zorder=0)
    dashes = {"NormalHedge": "1", "AdaNormalHedge": "2", "Squint": "+"}
    for name in CHOSEN:
        found = [results.mean(name, **cell) for cell in cells(results)]
        more = {"color": "#8C6BB1", "marker": dashes[name], "linestyle": "-"} if name in dashes else {}
        draw_line(panel, shares, found, name, **more)
    log_axes(panel, ticks=shares, text=lambda share: f"{round(share * d)}/{d}")
    panel.set(xlabel="ε", ylabel="regret")
    legend_below(figure, panel)
    write(figure, folder / NAME)
