"""Claim 2, order: if adjacent actions are modified alike, the regret depends on the switches between rows.

Remark on relabelling and Theorem 3 of Lu, Sun and Zhang: the bound is of order √(RowSwitch(φ) T). RowSwitch depends on
the order of the actions, which encodes prior knowledge; the main theorem holds for every order.
"""

from pathlib import Path

import numpy as np

from gamesim.figures.style import styled, write
from gamesim.figures.surface import canvas
from gamesim.players.wavelet import Wavelet
from gamesim.study.results import Results
from gamesim.wavelet_theorem.drivers import play_alone
from gamesim.wavelet_theorem.findings import (
    COMPARED,
    Finding,
    Section,
    describe,
    direction,
    draw_line,
    mean_text,
    rival_finding,
    table,
)
from gamesim.wavelet_theorem.instances import ADAPTIVE, FIRST_ORDER, LEARNERS, OURS, PAPER, favouring, rule, seed_of
from gamesim.wavelet_theorem.points import Labels, Point, Values

NAME = "order"
RULES = {"two blocks": ("blocks", 2), "four blocks": ("blocks", 4), "permutation": ("permutation", 1)}
ORDERS = ("right", "reverse", "shuffled")
FULL = {16: (20_000, 10), 64: (20_000, 6)}
SMALL = {32: (8000, 3)}


def points(small: bool) -> list[Point]:
    """Return all points: the wavelet learners in each order, and learners that ignore the order."""
    orders = ("right", "shuffled") if small else ORDERS
    chosen = [*((name, order) for name in (PAPER, OURS) for order in orders)]
    chosen += [(name, "any") for name in ((FIRST_ORDER,) if small else (FIRST_ORDER, ADAPTIVE))]
    return [
        Point(NAME, {"d": d, "T": rounds, "rule": name, "learner": learner, "order": order}, seed)
        for d, (rounds, seeds) in (SMALL if small else FULL).items()
        for seed in range(seeds)
        for name in (("two blocks", "permutation") if small else RULES)
        for learner, order in chosen
    ]


def measure(labels: Labels, seed: int) -> Values:
    """Run one learner alone, with uniform contexts and the given order of the actions."""
    d, rounds = labels["d"], labels["T"]
    family, k = RULES[labels["rule"]]
    phi = rule(family, d, k, seed)
    player = LEARNERS[labels["learner"]]()
    if isinstance(player, Wavelet):
        orders = {
            "right": range(d),
            "reverse": range(d)[::-1],
            "shuffled": np.random.default_rng(seed_of(seed, "order")).permutation(d).tolist(),
        }
        player = type(player)(order=tuple(orders[labels["order"]]))
    played = play_alone(player, favouring(phi, rounds), rounds, seed_of(seed, family, d, k, rounds))
    return {"regret": played.mean_regret(phi), "drawn": played.regret(phi)}


def section(results: Results) -> Section:
    """Report the benefit of the right order and the cost of a wrong one."""
    findings = []
    for d in results.labels("d"):
        for learner in (PAPER, OURS):
            for name in results.labels("rule", d=d):
                findings += _findings(results, {"d": d, "rule": name}, learner)
    return Section(
        "Order",
        "Does it help to specify which actions are adjacent? φ\\* maps each of two or four blocks of adjacent actions "
        "to a different target, or is a random permutation, for which no order is informative. The learner is given "
        "the right order, its reverse (which preserves the blocks) or a shuffled order. Setting: alone, with uniform "
        "contexts.",
        findings,
        [_table(results, d) for d in results.labels("d")],
        ["order"],
    )


def _findings(results: Results, cell: Labels, learner: str) -> list[Finding]:
    right = {**cell, "learner": learner, "order": "right"}
    shuffled, rival = {**right, "order": "shuffled"}, {**cell, "learner": FIRST_ORDER, "order": "any"}
    means = [results.mean("regret", **labels) for labels in (right, shuffled, rival)]
    gain, lead = (results.difference("regret", right, other) for other in (shuffled, rival))
    ordered = cell["rule"] != "permutation"
    return [
        Finding(
            f"{describe(cell)}: {mean_text(means[0])} versus {mean_text(means[1])}, difference {mean_text(gain)}",
            held=direction(gain) == 0 if not ordered else None if direction(gain) == 0 else direction(gain) < 0,
            under=f"The regret of `{learner}` with the right order is {COMPARED[direction(gain)]} that with a shuffled "
            "order",
        ),
        rival_finding(
            f"{describe(cell)}: {mean_text(means[0])} versus {mean_text(means[2])}, difference {mean_text(lead)}",
            direction(lead),
            f"The regret of `{learner}` with the right order is {COMPARED[direction(lead)]} that of `{FIRST_ORDER}`",
        ),
    ]


def _series(results: Results, d: int) -> list[tuple[str, str]]:
    pairs = ((row.labels["learner"], row.labels["order"]) for row in results.select(d=d))
    return list(dict.fromkeys(pairs))


def _table(results: Results, d: int) -> str:
    rows = [
        [f"{learner}, {order} order" if order != "any" else learner]
        + [mean_text(results.mean("regret", d=d, rule=name, learner=learner, order=order)) for name in RULES]
        for learner, order in _series(results, d)
    ]
    rounds = results.labels("T", d=d)[0]
    return table(f"d = {d}, T = {rounds:,}: regret, mean and 95 % interval", ["", *RULES], rows)


@styled
def draw(results: Results, folder: Path) -> None:
    """Draw regret by rule and order."""
    sizes = results.labels("d")
    figure, panels = canvas("Regret by modification rule and order of the actions", len(sizes))
    for panel, d in zip(panels, sizes, strict=True):
        for index, (learner, order) in enumerate(_series(results, d)):
            found = [results.mean("regret", d=d, rule=name, learner=learner, order=order) for name in RULES]
            draw_line(panel, range(len(RULES)), found, index, f"{learner}, {order}")
        panel.set_xticks(range(len(RULES)), list(RULES))
        panel.set(title=f"d = {d}", ylabel="regret", ylim=(0, None))
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=7.5)
    write(figure, folder / "order")
