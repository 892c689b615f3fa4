"""Equilibrium sets of small, degenerate and badly scaled games, against exact and textbook answers."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import linprog

import gamesim
from gamesim import equilibrium, games
from gamesim.game import Table
from gamesim.measure.elimination import live_profiles
from gamesim.measure.incentives import EquilibriumKind

pytestmark = pytest.mark.slow

KINDS: tuple[EquilibriumKind, ...] = ("ce", "cce")
Array = NDArray[np.float64]


def constraints(game: Table, kind: EquilibriumKind) -> list[list[Fraction]]:
    """Return the gains of every deviation as linear functions of the probabilities, from the definition."""
    found = []
    for i, size in enumerate(game.sizes):
        for recommended, to in product(range(size), repeat=2) if kind == "ce" else ((None, b) for b in range(size)):
            row = []
            for profile in product(*map(range, game.sizes)):
                deviating = (*profile[:i], to, *profile[i + 1 :])
                gain = Fraction(game.payoffs[(i, *deviating)]) - Fraction(game.payoffs[(i, *profile)])
                row.append(gain if recommended in (None, profile[i]) else Fraction(0))
            found.append(row)
    return found


def textbook_distance(game: Table, joint: Array, kind: EquilibriumKind) -> float:
    """Return the distance by the linear program over q and t ≥ |joint - q| / 2, with rows scaled."""
    rows = np.array(constraints(game, kind), dtype=np.float64)
    rows = rows[np.abs(rows).max(axis=1) > 0]
    rows /= np.abs(rows).max(axis=1, keepdims=True)
    n = joint.size
    eye = np.eye(n)
    a = np.block([[rows, np.zeros((len(rows), n))], [-eye, -eye]])
    b = np.concatenate([np.zeros(len(rows)), -joint.ravel()])
    cost = np.concatenate([np.zeros(n), np.ones(n)])
    solve: Any = linprog
    result = solve(cost, A_ub=a, b_ub=b, A_eq=[[*np.ones(n), *np.zeros(n)]], b_eq=[1], method="highs")
    assert result.status == 0
    return float(result.fun)


def small_games() -> list[Table]:
    """Return games of many shapes: random, with ties and duplicates, dominated, constant, and unevenly scaled."""
    found = []
    for seed in range(100):
        random = np.random.default_rng(seed)
        sizes = [(2, 2), (2, 3), (3, 3), (3, 2), (2, 2, 2)][seed % 5]
        shape = (len(sizes), *sizes)
        kinds = [
            random.normal(size=shape),
            random.integers(0, 3, shape).astype(float),  # many ties
            np.round(random.normal(size=shape), 1) * 10.0 ** random.integers(-2, 3, (len(sizes), *[1] * len(sizes))),
        ]
        found.append(Table.from_payoffs(kinds[seed % 3]))
    found += [Table.from_payoffs(np.zeros((2, 2, 3))), games.make("prisoners-dilemma"), games.make("matching-pennies")]
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_vertices_satisfy_the_constraints_exactly_tight_and_span_the_set(kind: EquilibriumKind) -> None:
    for game in small_games():
        polytope = equilibrium.polytope(game, kind)
        vertices = polytope.vertices().reshape(-1, game.cells)
        rows = np.array(constraints(game, kind), dtype=np.float64)
        scale = np.maximum(np.abs(rows).max(axis=1), 1e-300)
        assert (vertices @ rows.T / scale).max() <= 1e-12
        for vertex in vertices:  # as many independent tight constraints as a point needs
            tight = [row / s for row, s in zip(rows, scale, strict=True) if abs(row @ vertex) <= 1e-12 * s]
            tight += [unit for unit, mass in zip(np.eye(game.cells), vertex, strict=True) if mass == 0]
            assert np.linalg.matrix_rank(np.array([*tight, np.ones(game.cells)]), tol=1e-9) == game.cells
        spanned = np.linalg.matrix_rank(vertices - vertices[0], tol=1e-7) if len(vertices) > 1 else 0
        assert polytope.dimension == spanned
        for sign in (1.0, -1.0):  # a linear function is largest at a vertex
            value = polytope.payoffs(polytope.optimum(np.full(len(game.players), sign))).sum()
            best = max(sign * polytope.payoffs(one.reshape(game.sizes)).sum() for one in vertices)
            assert sign * value == pytest.approx(best, abs=1e-9 * max(1, np.abs(game.payoffs).max()))


@pytest.mark.parametrize("kind", KINDS)
def test_distances_agree_with_the_textbook_program(kind: EquilibriumKind) -> None:
    for seed, game in enumerate(small_games()):
        joint = np.random.default_rng(seed).dirichlet(np.ones(game.cells)).reshape(game.sizes)
        assert equilibrium.distance(game, joint, kind) == pytest.approx(textbook_distance(game, joint, kind), abs=1e-9)


def test_profiles_that_are_eliminated_carry_no_mass_in_any_vertex() -> None:
    for game in small_games():
        for kind in KINDS:
            live = live_profiles(game, coarse=kind == "cce")
            assert equilibrium.polytope(game, kind).vertices()[:, ~live].sum() == 0
    assert live_profiles(games.make("dominance-solvable", actions=10), coarse=False).sum() == 1


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("centipede", {"moves": 14}),
        ("centipede", {"moves": 20}),
        ("centipede", {"moves": 30}),
        ("dominance-solvable", {"actions": 10}),
        ("dominance-solvable", {"actions": 14}),
        ("dominance-solvable", {"players": 3, "actions": 5}),
    ],
)
def test_degenerate_games_are_measured(name: str, settings: dict[str, Any]) -> None:
    game = games.make(name, **settings)
    assert isinstance(game, Table)
    record = gamesim.simulate(game, "hedge", rounds=500, perturb=0.3)
    joint = record.joint
    assert joint is not None
    for kind in KINDS:
        found = record.distance(kind)
        assert 0 <= found <= 1
        if settings.get("moves", 0) < 30:  # beyond, floating point cannot decide
            assert found == pytest.approx(textbook_distance(game, joint, kind), abs=1e-7)
        low, high = equilibrium.welfare_range(game, kind)
        assert low <= high + 1e-9
    if name == "centipede":  # the first player stops at once in every correlated equilibrium
        assert record.distance("ce") >= joint[1:].sum() - 1e-12


@pytest.mark.parametrize("penalty", [-1e3, -1e9, -1e10, -1e14])
def test_a_dominated_action_with_extreme_payoffs_changes_nothing(penalty: float) -> None:
    row: Array = np.array([[3, 0, 1], [5, 1, 1], [penalty] * 3], dtype=np.float64)
    game = Table.from_payoffs(np.stack([row, row.T]))
    polytope = equilibrium.polytope(game, "ce")
    both_cooperate = np.zeros((3, 3))
    both_cooperate[0, 0] = 1
    assert equilibrium.welfare_range(game, "ce") == pytest.approx((2, 2))
    assert equilibrium.distance(game, both_cooperate, "ce") == pytest.approx(1)
    assert polytope.dimension == 0 and len(polytope.vertices()) == 1


def test_vertices_that_are_close_are_all_found() -> None:
    game = Table.from_payoffs(np.array([[[-500, 9300], [370, 260]], [[-2, 0.01], [8500, 0.31]]]))
    assert len(equilibrium.polytope(game, "ce").vertices()) == 5
