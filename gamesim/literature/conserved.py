"""Zero-sum games: what is conserved in continuous time, and grows in discrete time."""

import numpy as np
from matplotlib.figure import Figure

import gamesim
from gamesim.figures.style import COLOURS, styled
from gamesim.figures.surface import canvas
from gamesim.literature.entry import Reference, Result, at_least, at_most, entry, scaled

MIDDLE = [[1 / 3] * 3] * 2
START = [[0.6, 0.2, 0.2], [0.25, 0.35, 0.4]]


@entry(
    "hofbauer-1996",
    Reference("Hofbauer", 1996, "Evolutionary dynamics for bimatrix games: a Hamiltonian system?", "Theorem 4.1"),
    "In zero-sum games with an interior equilibrium, the sum of relative entropies to it is constant along the "
    "replicator equation, so that play never converges.",
)
def constant_divergence(size: float) -> Result:
    """Integrate the replicator equation in rock-paper-scissors."""
    path = gamesim.flow("rock-paper-scissors", 500.0 * max(size, 0.1), start=START, points=scaled(2000, size, 200))
    divergence = path.divergence(MIDDLE)
    change = float(np.abs(divergence / divergence[0] - 1).max())
    away = float(np.abs(path.strategies[0][-1] - 1 / 3).max())
    return Result(
        [
            at_most("largest relative change of the divergence", 1e-6, change),
            at_least("distance of the last strategy from the equilibrium", 0.02, away),
        ],
        lambda: _energy(
            {"continuous time": (path.times, divergence)}, "The divergence from equilibrium stays constant"
        ),
    )


@entry(
    "bailey-piliouras-2018",
    Reference(
        "Bailey and Piliouras", 2018, "Multiplicative weights update in zero-sum games", "Theorem 3.2 and Corollary 4.1"
    ),
    "With a fixed rate, multiplicative weights move away from an interior equilibrium of a zero-sum game: the sum of "
    "relative entropies to it rises in every round.",
)
def divergence_rises(size: float) -> Result:
    """Play Hedge with a fixed rate in rock-paper-scissors, and follow the divergence in every round."""
    rounds = scaled(4000, size, 200)
    learner = gamesim.players.make("hedge", rate=0.1)
    record = gamesim.simulate("rock-paper-scissors", [learner, learner], rounds, start=START, trajectory="every")
    at, strategies = record.trajectory
    divergence = np.sum([-np.log(3 * one).mean(axis=1) for one in strategies], axis=0)
    steps = np.diff(divergence)
    return Result(
        [
            at_least("share of rounds in which the divergence rises", 1.0, float((steps > 0).mean())),
            at_least("divergence at the end, relative to the start", 1.0, float(divergence[-1] / divergence[0])),
        ],
        lambda: _energy({"Hedge, rate 0.1": (at, divergence)}, "The divergence from equilibrium rises in every round"),
    )


@styled
def _energy(curves: dict[str, tuple[np.ndarray, np.ndarray]], title: str) -> Figure:
    figure, (panel,) = canvas(title, 1, size=(7, 3.6))
    for (name, (at, values)), colour in zip(curves.items(), COLOURS, strict=False):
        panel.plot(at, values, color=colour, label=name)
    panel.set(
        xlabel="round" if len(curves) == 1 and "Hedge" in next(iter(curves)) else "time",
        ylabel="Σ KL to equilibrium",
        ylim=(0, None),
    )
    panel.legend()
    return figure
