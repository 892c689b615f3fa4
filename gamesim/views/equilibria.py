"""The equilibria that a page shows beside play: those of a game, and the equilibrium nearest to play."""

from collections.abc import Iterator, Sequence
from functools import lru_cache, reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.game import Game, Table
from gamesim.games.nash import nash_equilibria, pure_equilibria
from gamesim.measure.incentives import EQUILIBRIUM_KINDS, EquilibriumKind, written_out
from gamesim.measure.polytope import Polytope

OUTLINED = 144  # maximum number of action profiles for outlining the equilibrium payoffs
DIRECTIONS = 32  # number of directions sampled for the outline
MIXED = 25  # maximum number of action profiles for finding mixed equilibria
SHOWN = 12  # Nash equilibria, at most
KEPT = 32  # games whose sets are kept: in class, many pages show the same game


def sets(game: Game) -> dict[str, Any] | None:
    """Return the CE and CCE sets of a game, with their vertices and payoffs, and Nash equilibria; None if too large."""
    if game.cells > OUTLINED:
        return None
    payoffs = written_out(game).payoffs
    key = payoffs.tobytes(), payoffs.shape
    return {**{kind: _set(*key, kind) for kind in EQUILIBRIUM_KINDS}, "nash": _nash(*key)}


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
        found["range"] = [
            [min(own), max(own)] for own in zip(*found["payoffs"], strict=True)
        ]  # has all four directions
    else:
        best = [[equilibria.payoffs(equilibria.optimum(sign * one))[i] for sign in (-1, 1)] for i, one in _axes(game)]
        found["range"] = [[float(low), float(high)] for low, high in best]
    return found


def _axes(game: Table) -> Iterator[tuple[int, NDArray[np.float64]]]:
    return enumerate(np.eye(len(game.players)))


@lru_cache(maxsize=KEPT)
def _nash(payoffs: bytes, shape: tuple[int, ...]) -> dict[str, Any]:
    """Return Nash equilibria with their payoffs: all of a small two-player game, pure ones of others; and a note."""
    game = Table.from_payoffs(np.frombuffer(payoffs).reshape(shape))
    profiles: Sequence[Sequence[NDArray[np.float64]]]
    if len(game.players) == 2 and game.cells <= MIXED:
        found = nash_equilibria(game)
        profiles, note = found.profiles, found.note
    else:
        pure = pure_equilibria(game).tolist()
        profiles = [[np.eye(size)[a] for a, size in zip(one, game.sizes, strict=True)] for one in pure]
        note = "only pure equilibria are looked for"
    shown = [
        {"strategies": [one.tolist() for one in each], "payoffs": _payoffs(game, each)} for each in profiles[:SHOWN]
    ]
    return {"profiles": shown, "note": note if len(profiles) <= SHOWN else f"the first {SHOWN} of {len(profiles)}"}


def _payoffs(game: Table, strategies: Sequence[NDArray[np.float64]]) -> list[float]:
    """Return the expected payoffs of independent strategies."""
    return [float(reduce(np.matmul, reversed(strategies), table)) for table in game.payoffs]


def nearest(game: Game, joint: NDArray[np.float64]) -> dict[str, Any]:
    """Return the distances of a joint distribution to the CE and CCE, and the nearest CE in total variation."""
    found = Polytope.from_game(game, "ce").nearest(joint)
    distance = float(np.abs(found - joint).sum() / 2)
    cce = Polytope.from_game(game, "cce").distance(joint)
    return {"distance": {"ce": distance, "cce": cce}, "joint": found.ravel().tolist()}
