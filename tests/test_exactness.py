"""Gaps, distances, dimensions, vertices and welfare of small games, against exact rational arithmetic.

The payoffs of the reference are the numbers that a user writes: integers, decimals, thirds, or floating-point numbers
taken as they are. A sample of the games is tested by default; `make exact` tests all of them, in about two minutes.
"""

import os
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.random import Generator
from numpy.typing import NDArray

from gamesim import equilibrium, games
from gamesim.game import Table
from gamesim.measure.incentives import EQUILIBRIUM_KINDS, EquilibriumKind
from tests.exact_reference import Equilibria, as_fractions

pytestmark = pytest.mark.slow

TOLERANCE = 1e-9
SIZES = [(2, 2), (2, 3), (3, 2), (2, 2, 2), (3, 3)]
EVERYTHING = os.environ.get("GAMESIM_EXACT") == "all"
SEEDS = 10 if EVERYTHING else 1  # of each family and size
LARGE = ("floats", "mixtures")  # the families with a game of the largest size, unless there is everything

Payoffs = NDArray[np.object_]  # of fractions


class Case(NamedTuple):
    """A game with its payoffs as fractions."""

    name: str
    payoffs: Payoffs

    @property
    def game(self) -> Table:
        return Table.from_payoffs(self.payoffs.astype(np.float64))


def fractions(numbers: Any, divisor: int = 1) -> Payoffs:
    divided = np.vectorize(lambda value: Fraction(value) / divisor, otypes=[object])
    found: Payoffs = divided(np.asarray(numbers).tolist())
    return found


def with_mixture(random: Generator, sizes: tuple[int, ...], divisor: int) -> Payoffs:
    """Return a game in which one player's last action is a mixture of others, with equal or slightly lower payoffs."""
    payoffs = fractions(2 * random.integers(-4, 5, (len(sizes), *sizes)), divisor)
    player = int(np.argmax(sizes))
    own = np.moveaxis(payoffs[player], player, 0)
    own[-1] = (own[0] + own[len(own) - 2]) / 2 - Fraction(int(random.integers(0, 2)), divisor)
    return payoffs


def with_twins(random: Generator, sizes: tuple[int, ...]) -> Payoffs:
    """Return a game in which two actions of a player are equal for all."""
    payoffs = random.integers(0, 5, (len(sizes), *sizes))
    axis = 1 + int(random.integers(len(sizes)))
    np.moveaxis(payoffs, axis, 0)[-1] = np.moveaxis(payoffs, axis, 0)[0]
    return fractions(payoffs)


def opposed(numbers: Any, players: int) -> Payoffs:
    """Return a zero-sum game; a third player has a constant payoff."""
    table = fractions(numbers)
    return np.stack([table, -table, *[0 * table] * (players - 2)])


def rank_one(random: Generator, sizes: tuple[int, ...]) -> Payoffs:
    tables = [np.multiply.outer(random.integers(-2, 4, sizes[0]), random.integers(-2, 3, sizes[1:])) for _ in sizes]
    return fractions(np.stack(tables))


def uneven(random: Generator, sizes: tuple[int, ...]) -> Payoffs:
    payoffs = fractions(random.integers(-9, 10, (len(sizes), *sizes)))
    for k, power in enumerate(random.integers(-3, 4, len(sizes)).tolist()):
        payoffs[k] = payoffs[k] * Fraction(10) ** power
    return payoffs


FAMILIES: dict[str, Callable[[Generator, tuple[int, ...]], Payoffs]] = {
    "ties": lambda random, sizes: fractions(random.integers(0, 3, (len(sizes), *sizes))),
    "integers": lambda random, sizes: fractions(random.integers(-9, 10, (len(sizes), *sizes))),
    "twins": with_twins,
    "one constant": lambda random, sizes: fractions(
        random.integers(0, 4, (len(sizes), *sizes)) * np.arange(len(sizes)).reshape(-1, *[1] * len(sizes))
    ),
    "zero-sum": lambda random, sizes: opposed(random.integers(-2, 3, sizes), len(sizes)),
    "zero-sum floats": lambda random, sizes: opposed(random.normal(size=sizes), len(sizes)),
    "mixtures": lambda random, sizes: with_mixture(random, sizes, 1),
    "decimals": lambda random, sizes: fractions(random.integers(-9, 10, (len(sizes), *sizes)), 10),
    "decimal mixtures": lambda random, sizes: with_mixture(random, sizes, 20),
    "thirds": lambda random, sizes: fractions(random.integers(-2, 3, (len(sizes), *sizes)), 3),
    "rank one": rank_one,
    "floats": lambda random, sizes: fractions(random.normal(size=(len(sizes), *sizes))),
    "uneven": uneven,
}


def cases() -> Iterator[Case]:
    """Yield the games: every family in every size, constant ones, and the small ones that ship with gamesim."""
    for number, (family, make) in enumerate(FAMILIES.items()):
        for k, sizes in enumerate(SIZES if EVERYTHING or family in LARGE else SIZES[:-1]):
            for seed in range(SEEDS):
                random = np.random.default_rng([number, k, seed])
                yield Case(f"{family} {'x'.join(map(str, sizes))} {seed}", make(random, sizes))
    for sizes in SIZES[: len(SIZES) if EVERYTHING else 2]:
        yield Case(f"constant {sizes}", fractions(np.zeros((len(sizes), *sizes), dtype=int)))
    for name in sorted(games.available()) if EVERYTHING else ("chicken", "shapley", "matching-pennies"):
        shipped = small_game(name)
        if shipped is not None:
            yield Case(name, np.vectorize(lambda u: Fraction(str(u)), otypes=[object])(shipped.payoffs.tolist()))


def small_game(name: str) -> Table | None:
    try:
        found: Any = games.make(name)
    except TypeError:  # a setting has no default
        return None
    return found if isinstance(found, Table) and found.cells <= 9 else None


CASES = {case.name: case for case in cases()}


@pytest.mark.parametrize("kind", EQUILIBRIUM_KINDS)
@pytest.mark.parametrize("name", CASES)
def test_measures_equal_exact_arithmetic(name: str, kind: EquilibriumKind) -> None:
    case = CASES[name]
    game, exact = case.game, Equilibria(as_fractions(case.payoffs), case.game.sizes, kind)
    scale = max(1.0, float(np.abs(game.payoffs).max()))
    random = np.random.default_rng(len(name))
    joints = [random.multinomial(64, random.dirichlet(np.ones(game.cells))) for _ in range(2)]
    for weights in [*joints, 64 * np.eye(game.cells, dtype=int)[0]]:  # a pure profile as well
        joint = (weights / 64).reshape(game.sizes)
        masses = [Fraction(int(weight), 64) for weight in weights]
        assert equilibrium.gap(game, joint, kind) == pytest.approx(float(exact.gap(masses)), abs=TOLERANCE * scale)
        assert equilibrium.distance(game, joint, kind) == pytest.approx(float(exact.distance(masses)), abs=TOLERANCE)
    polytope = equilibrium.polytope(game, kind)
    vertices = np.array(exact.vertices, dtype=np.float64)
    assert polytope.vertices().reshape(-1, game.cells) == pytest.approx(vertices, abs=TOLERANCE)
    assert polytope.dimension == exact.dimension
    ends = [float(exact.welfare(sign)) for sign in (-1, 1)]
    assert equilibrium.welfare_range(game, kind) == pytest.approx(ends, abs=TOLERANCE * scale)
    total = case.payoffs.sum(axis=0)
    assert equilibrium.optimum(game) == pytest.approx(float(total.max()), abs=TOLERANCE * scale)
