"""The equilibria that a page shows beside play: the sets of a game, and the equilibrium nearest to play."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.game import Game, Table
from gamesim.measure.incentives import EQUILIBRIUM_KINDS, EquilibriumKind, written_out
from gamesim.measure.polytope import Polytope

OUTLINED = 144  # maximum number of action profiles for outlining the equilibrium payoffs
DIRECTIONS = 32  # number of directions sampled for the outline
KEPT = 32  # games whose sets are kept: in class, many pages show the same game


def sets(game: Game) -> dict[str, Any] | None:
    """Return the CE and CCE sets of a game: their vertices and the payoffs in them; None if it is too large."""
    if game.cells > OUTLINED:
        return None
    payoffs = written_out(game).payoffs
    return {kind: _set(payoffs.tobytes(), payoffs.shape, kind) for kind in EQUILIBRIUM_KINDS}


@lru_cache(maxsize=2 * KEPT)
def _set(payoffs: bytes, shape: tuple[int, ...], kind: EquilibriumKind) -> dict[str, Any]:
    """Return the vertices of an equilibrium set if the game is 2×2, and its payoff outline for two players."""
    game = Table.from_payoffs(np.frombuffer(payoffs).reshape(shape))
    equilibria = Polytope.from_game(game, kind)
    found: dict[str, Any] = {}
    if game.sizes == (2, 2):
        found["vertices"] = equilibria.vertices().reshape(-1, 4).tolist()
    if len(game.players) == 2:
        turns = np.linspace(0, 2 * np.pi, DIRECTIONS, endpoint=False)
        weights = np.column_stack([np.cos(turns), np.sin(turns)]) / np.where(game.scale > 0, game.scale, 1)
        found["payoffs"] = [equilibria.payoffs(equilibria.optimum(weight)).tolist() for weight in weights]
    return found


def nearest(game: Game, joint: NDArray[np.float64]) -> dict[str, Any]:
    """Return the distances of a joint distribution to the CE and CCE, and the nearest CE in total variation."""
    found = Polytope.from_game(game, "ce").nearest(joint)
    distance = float(np.abs(found - joint).sum() / 2)
    cce = Polytope.from_game(game, "cce").distance(joint)
    return {"distance": {"ce": distance, "cce": cce}, "joint": found.ravel().tolist()}
