"""Swap regret: what it protects from, and learners that bound it along with other regrets."""

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gamesim
from gamesim.figures.style import COLOURS, styled
from gamesim.figures.surface import canvas
from gamesim.literature.entry import Reference, Result, at_least, at_most, entry, equal, scaled


@entry(
    "deng-2019",
    Reference(
        "Deng, Schneider and Sivan",
        2019,
        "Strategizing against no-regret learners",
        "theorems on mean-based and on no-swap-regret learners",
    ),
    "In a game of Stackelberg value 0, an optimiser earns 1 - √γ per round from mean-based learners with three "
    "actions, but nothing from learners without swap regret.",
)
def strategizing(size: float) -> Result:
    """Let the optimiser play its first action in the first half of the rounds, and its second action then."""
    gamma, half = 0.01, scaled(25_000, size, 2500)
    learning = np.array([[np.sqrt(gamma), -1, 0], [-1, 1, 0]])  # payoffs of the learner
    optimising = np.repeat([[0, -1, -2], [0, -2, 2]], half, axis=0)  # payoffs of the optimiser in each round
    earned = {}
    for name in ("fictitious-play", "regret-matching", "hedge", "blum-mansour", "internal-regret-matching"):
        record = gamesim.face(name, -np.repeat(learning, half, axis=0), trajectory="every")
        earned[name] = (optimising * record.trajectory[1][0]).sum(axis=1).cumsum() / (2 * half)
    last = {name: float(values[-1]) for name, values in earned.items()}
    mean_based, swap = list(earned)[:2], list(earned)[3:]
    return Result(
        [
            *(equal(f"per round, against {name}", 1 - np.sqrt(gamma), last[name], 0.03) for name in mean_based),
            at_least("per round, against hedge, which is mean-based in the limit", 0.8, last["hedge"]),
            *(at_most(f"per round, against {name}", 0.0, last[name]) for name in swap),
        ],
        lambda: _earnings("An optimiser exploits mean-based learners, not swap learners", earned),
        "γ = 0.01. The payoffs of the optimiser against the learner's second action, -1 and -2, are our choice; they "
        "keep the Stackelberg value at 0. Against swap learners only this one plan of the optimiser was tried.",
    )


@styled
def _earnings(title: str, earned: Mapping[str, NDArray[np.float64]]) -> Figure:
    figure, (panel,) = canvas(title, 1, size=(7, 3.6))
    for (name, values), colour in zip(earned.items(), COLOURS, strict=False):
        panel.plot(np.linspace(0, 1, len(values)), values, color=colour, label=name)
    panel.set(xlabel="share of the rounds", ylabel="optimiser's earnings / T")
    panel.legend()
    return figure
