"""Claim 4, quantile regret: the regret to the ⌈εd⌉-th best action is of order at most √(T log(1 + 1/ε)).

Theorem 2 of Lu, Sun and Zhang is printed with √(T log(1/ε)), which is 0 at ε = 1. No learner that learns at all can
satisfy this. `excess` shows it for two actions: an adversary that sees the strategy makes the learner lose more than
both actions.
"""

from math import ceil, log, sqrt
from pathlib import Path

import numpy as np

from gamesim import players
from gamesim.figures.style import DARK, number, styled, write
from gamesim.figures.surface import canvas
from gamesim.learner import Learner
from gamesim.study.results import Results
from gamesim.wavelet_theorem.drivers import play_game
from gamesim.wavelet_theorem.findings import Finding, Section, compare, draw_line, log_axes, mean_text, table
from gamesim.wavelet_theorem.instances import ADAHEDGE, ADAPTIVE, FIRST_ORDER, HEDGE, LEARNERS, OURS, PAPER, seed_of
from gamesim.wavelet_theorem.points import Labels, Point, Values

NAME = "quantile"
CHOSEN = (PAPER, OURS, FIRST_ORDER, ADAPTIVE, HEDGE, ADAHEDGE, "normal-hedge", "squint")
FULL = (64, 5000, 8)  # actions, rounds, seeds
SMALL = (16, 4000, 3)
ENOUGH = 400  # rounds of the counterexample


def points(small: bool) -> list[Point]:
    """Return the runs for every ε = 1/d, 2/d, 4/d … 1, and the counterexample at ε = 1."""
    d, rounds, seeds = SMALL if small else FULL
    counterexample = [Point(NAME, {"part": "counterexample", "learner": name}, 0) for name in CHOSEN]
    goods = [2**k for k in range(d.bit_length())]
    return counterexample + [
        Point(NAME, {"part": "bound", "d": d, "T": rounds, "good": good, "learner": name}, seed)
        for seed in range(seeds)
        for good in goods
        for name in CHOSEN
    ]


def measure(labels: Labels, seed: int) -> Values:
    """Run one learner where `good` of d actions are better by 2 √(log(1 + 1/ε) / T), ε = good / d."""
    player = LEARNERS[labels["learner"]]() if labels["learner"] in LEARNERS else players.make(labels["learner"])
    if labels["part"] == "counterexample":
        return {"excess": excess(player)}
    d, rounds, good = labels["d"], labels["T"], labels["good"]
    bound = sqrt(rounds * log(1 + d / good))
    means = np.zeros((d, d))
    means[:, np.random.default_rng(seed_of(seed, d, good)).permutation(d)[:good]] = -2 * bound / rounds
    played = play_game(player, means, rounds, seed_of(seed, "quantile", d, good, rounds))
    totals = np.sort(played.suffered.sum(axis=0))
    regrets = played.own[0] - totals
    ranks = [ceil(2**k) for k in range(d.bit_length())]
    return {
        "regret": float(regrets[good - 1]),
        "constant": max(float(regrets[rank - 1]) / sqrt(rounds * log(1 + d / rank)) for rank in ranks),
    }


def excess(player: Learner, rounds: int = ENOUGH) -> float:
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


def section(results: Results) -> Section:
    """Report how quantile regret depends on ε, and test the theorem as printed."""
    findings = []
    for learner in (PAPER, OURS):
        found = results.values("excess", part="counterexample", learner=learner)
        if found:
            most = max(found.values())
            findings.append(
                Finding(
                    f"At ε = 1, the theorem as printed permits no excess, since √(T log 1) = 0. Within {ENOUGH} "
                    f"rounds, `{learner}` loses {number(most)} more than the worse of two actions (one deterministic "
                    f"run): {'a counterexample' if most > 0 else 'no counterexample was found'}.",
                    held=most <= 0,
                )
            )
    cells = _cells(results)
    for learner in (PAPER, OURS):
        constants = [
            (results.mean("constant", **cell, learner=learner), cell)
            for cell in cells
            if results.mean("constant", **cell, learner=learner) is not None
        ]
        if constants:
            worst, cell = max(constants, key=lambda one: one[0].value if one[0] else 0.0)
            findings.append(
                Finding(
                    f"With log(1 + 1/ε) in place of log(1/ε), the bound c √(T log(1 + 1/ε)) on the regret of "
                    f"`{learner}` requires c of at least {mean_text(worst)} over all ε; the worst instance has "
                    f"{cell['good']} good actions out of {cell['d']}.",
                    held=None,
                )
            )
        rivals = [name for name in CHOSEN if name not in (PAPER, OURS)]
        findings += compare(results, cells, learner, rivals, "Over all ε")
    rows = [
        [
            learner,
            *(mean_text(results.mean("regret", **cell, learner=learner)) for cell in cells),
            mean_text(results.mean("excess", part="counterexample", learner=learner)),
        ]
        for learner in CHOSEN
    ]
    about = f"d = {cells[0]['d']}, T = {cells[0]['T']:,}" if cells else ""
    headings = [
        "",
        *(f"ε = {cell['good']}/{cell['d']}" for cell in cells),
        f"ε = 1, 2 actions, {ENOUGH} rounds: excess over the worse action",
    ]
    return Section(
        "Quantile regret",
        "How much more does a learner lose than the ⌈εd⌉-th best action? For each ε, ⌈εd⌉ of the actions are better by "
        "2 √(log(1 + 1/ε) / T) on average. The regret is to the ⌈εd⌉-th best action under the sampled losses. At ε = 1 "
        "this is the worst action, which every learner beats by far under sampled losses; the last column therefore "
        "uses an adversary that sees the strategy.",
        findings,
        [table(f"{about}: quantile regret, mean and 95 % interval", headings, rows)],
        ["quantile"],
    )


def _cells(results: Results) -> list[Labels]:
    return [
        {"part": "bound", "d": d, "T": rounds, "good": good}
        for d in results.labels("d", part="bound")
        for rounds in results.labels("T", part="bound", d=d)
        for good in results.labels("good", part="bound", d=d)
    ]


@styled
def draw(results: Results, folder: Path) -> None:
    """Draw quantile regret against ε."""
    figure, panels = canvas("Quantile regret against ε, with √(T log(1 + 1/ε)) for reference")
    cells = _cells(results)
    shares = [cell["good"] / cell["d"] for cell in cells]
    for index, learner in enumerate(CHOSEN):
        found = [results.mean("regret", **cell, learner=learner) for cell in cells]
        draw_line(panels[0], shares, found, index, learner, above=-np.inf)
    guide = [sqrt(cell["T"] * log(1 + cell["d"] / cell["good"])) for cell in cells]
    panels[0].plot(shares, guide, color=DARK, linewidth=0.8, label="√(T log(1 + 1/ε))")
    log_axes(panels[0], "x")
    panels[0].set(xlabel="ε", ylabel="quantile regret")
    panels[0].legend(fontsize=7)
    write(figure, folder / "quantile")
