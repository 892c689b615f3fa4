"""Calibrated forecasts of what the other player does, and best responses to them."""

import numpy as np
from numpy.typing import NDArray

import gamesim
from gamesim import equilibrium, games, players
from gamesim.literature.drawing import curves
from gamesim.literature.entry import Reference, Result, at_least, at_most, entry, scaled

Vector = NDArray[np.float64]


class _Forecaster:
    """Forecast the other player's action on a grid, without internal regret of the squared error.

    If replacing one forecast by another never helps, then the frequencies of actions after each forecast are closest to
    this forecast, among all on the grid: the forecasts are calibrated up to the grid.
    """

    def __init__(self, actions: int, parts: int, seed: int) -> None:
        counts = [one for one in np.ndindex(*[parts + 1] * actions) if sum(one) == parts]
        self.grid = np.array(counts) / parts
        self.learner = players.make("internal-regret-matching").start(len(self.grid), seed=seed)
        self.seen = np.zeros((len(self.grid), actions))  # the actions after each forecast

    def forecast(self) -> Vector:
        self.current = self.learner.draw()
        return np.asarray(self.grid[self.current])

    def observe(self, action: int) -> None:
        self.seen[self.current, action] += 1
        outcome = np.eye(self.grid.shape[1])[action]
        self.learner.observe(((self.grid - outcome) ** 2).sum(axis=1) - 1)  # in [-1, 1]

    def error(self) -> float:
        """Return the mean distance of a forecast from the frequencies after it."""
        counts = self.seen.sum(axis=1)
        used = counts > 0
        apart = np.abs(self.seen[used] / counts[used, None] - self.grid[used]).sum(axis=1)
        return float(counts[used] @ apart / counts.sum())


@entry(
    "foster-vohra-1997",
    Reference(
        "Foster and Vohra",
        1997,
        "Calibrated learning and correlated equilibrium",
        "the theorem on calibrated forecasts (abstract)",
    ),
    "If each player plays a best response to a calibrated forecast of the other's actions, the empirical distribution "
    "of play converges to the set of correlated equilibria.",
)
def calibrated_forecasts(size: float) -> Result:
    """Play Shapley's game with best responses to forecasts, and compare with fictitious play."""
    rounds, game = scaled(50_000, size, 5000), games.make("shapley")
    forecasters = [_Forecaster(3, 10, seed) for seed in (1, 2)]
    payoffs = game.payoffs[0], game.payoffs[1].T
    joint = np.zeros(game.sizes)
    marks = np.unique(np.geomspace(100, rounds, 40).astype(int))
    gaps = []
    for now in range(1, rounds + 1):
        row, column = (int((pay @ one.forecast()).argmax()) for pay, one in zip(payoffs, forecasters, strict=True))
        joint[row, column] += 1
        forecasters[0].observe(column)
        forecasters[1].observe(row)
        if now in marks:
            gaps.append(equilibrium.gap(game, joint / now, "ce"))
    play = gamesim.simulate("shapley", "fictitious-play", rounds, perturb=0.2).curve
    late = play.rounds >= 100
    naive = np.asarray(play.gap("ce"))[late]
    return Result(
        [
            at_most(
                "calibration error at the end, larger of both players", 0.2, max(one.error() for one in forecasters)
            ),
            at_most("CE gap at the end", 0.02, gaps[-1]),
            at_least("for comparison, CE gap of fictitious play at the end", 0.1, float(naive[-1])),
        ],
        lambda: curves(
            "Shapley's game: best responses to calibrated forecasts lead to correlated equilibria",
            {
                "calibrated forecasts": (marks, gaps),
                "fictitious play: forecasts are averages": (play.rounds[late], naive),
            },
            "round",
            "CE gap",
            log="xy",
        ),
        "The theorem is about the limit, so that all limits are ours. The forecasts are constructed here: internal "
        "regret matching over the 66 forecasts in tenths, with the squared error as loss. They are calibrated up to "
        "this grid, whose points are up to 0.133 apart from a frequency, and so play is a correlated equilibrium up "
        "to the grid. That matters: with forecasts in eighths, the CE gap stays at 0.07 after 30,000 rounds; with "
        "quarters and sixteenths it falls to 0.004 and 0.006.",
    )
