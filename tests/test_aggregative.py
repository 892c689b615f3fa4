"""Aggregative games: their kernel against tables and brute force, records, and crowds."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import games
from gamesim.errors import InputError
from gamesim.games.aggregative import Aggregative, guess_two_thirds_crowd

CROWDS: list[tuple[str, dict[str, Any]]] = [
    ("el-farol", {"players": 2, "capacity": 1}),
    ("el-farol", {"players": 7, "capacity": 3}),
    ("el-farol", {"players": 5, "capacity": 9}),
    ("minority", {"players": 9}),
    ("pigou", {"players": 6}),
    ("braess", {"players": 5}),
    ("braess", {"players": 2}),
    ("braess", {"players": 4, "shortcut": False}),
]


def own() -> Aggregative:
    """Weights in no order, with a gap and a tie: sums of 1 are impossible, and pay more than any other."""
    payoffs = np.random.default_rng(3).normal(size=(4, 3 * 5 + 1))
    payoffs[:, 1] = 100
    labels = (("a", "b", "c", "d"),) * 4
    return Aggregative("own", ("A", "B", "C", "D"), labels, np.array([3, 0, 5, 3]), payoffs)


def profiles(sizes: tuple[int, ...], count: int) -> list[Any]:
    """Return strategies that differ between players: pure ones, mixed ones, and all shares of both."""
    random = np.random.default_rng(0)
    shares = np.linspace(0, 1, count)
    return [
        [np.eye(d)[random.integers(d)] if random.random() < pure else random.dirichlet(np.ones(d)) for d in sizes]
        for pure in shares
    ]


def expected_by_brute_force(game: Aggregative, strategies: Any, player: int) -> Any:
    """Return the expected payoff of each action: a sum over all actions of the others, from the definition."""
    others = [k for k in range(len(game.players)) if k != player]
    found = np.zeros(game.sizes[player])
    for choices in product(*(range(game.sizes[k]) for k in others)):
        chance = np.prod([strategies[k][a] for k, a in zip(others, choices, strict=True)])
        found += chance * game.payoffs[:, sum(game.weights[a] for a in choices)]
    return found


@pytest.mark.parametrize(("name", "settings"), CROWDS)
def test_crowds_are_the_games_with_a_table(name: str, settings: dict[str, Any]) -> None:
    table, crowd = games.make(name, **settings), games.make(f"{name}-crowd", **settings)
    assert crowd.players == table.players and crowd.actions == table.actions
    np.testing.assert_array_equal(crowd.range, table.range)
    for strategies in profiles(table.sizes, 20):
        profile = np.concatenate(strategies)
        np.testing.assert_allclose(crowd.expected_losses(profile), table.expected_losses(profile), rtol=0, atol=1e-12)


@pytest.mark.parametrize("game", [own(), guess_two_thirds_crowd(players=4, top=3, fraction=0.7)], ids=lambda g: g.name)
def test_losses_by_brute_force(game: Aggregative) -> None:
    assert game.range[1][0] < 100
    for strategies in profiles(game.sizes, 8):
        losses = game.expected_losses(np.concatenate(strategies)).reshape(4, -1)
        for player in range(4):
            payoffs = game.middle[player] - game.scale[player] * losses[player]
            np.testing.assert_allclose(
                payoffs,
                expected_by_brute_force(game, strategies, player),
                rtol=0,
                atol=1e-12 * game.scale[player] + 1e-14,
            )


def test_guesses_by_hand() -> None:
    """Guesses of 6, 3 and 9: two thirds of the average are 4. The winner does not take all."""
    game = guess_two_thirds_crowd(players=3, top=10)
    losses = game.expected_losses(np.concatenate([np.eye(11)[k] for k in (6, 3, 9)])).reshape(3, 11)
    payoffs = game.middle[:, None] - game.scale[:, None] * losses
    assert [payoffs[k, guess] for k, guess in enumerate((6, 3, 9))] == pytest.approx([-2, -1, -5])
    for players in (3, 30):
        rows = guess_two_thirds_crowd(players=players).payoffs
        common = [k for k in range(21) if rows[k, (players - 1) * k] >= rows[:, (players - 1) * k].max() - 1e-12]
        assert common == [0, 1]  # common guesses that are equilibria


def test_nearly_pure_crowds() -> None:
    """Binomial tails far below the smallest number do no harm: 299 others go with probability 1e-9 or 1 - 1e-9."""
    game = games.make("el-farol-crowd", players=300, capacity=150)
    for go, loss in ((1e-9, -1.0), (1 - 1e-9, 1.0)):
        losses = game.expected_losses(np.tile([1 - go, go], 300)).reshape(300, 2)
        np.testing.assert_allclose(losses, np.tile([0.0, loss], (300, 1)), rtol=0, atol=1e-12)


def test_a_crowd_of_a_hundred_fills_the_bar() -> None:
    record = gamesim.simulate("el-farol-crowd", "hedge", 500, feedback="sampled", seed=1)
    assert record.joint is None and len(record.average) == 100
    assert sum(float(one[1]) for one in record.average) == pytest.approx(60, abs=1)
    assert 0 <= record.gap("cce") <= record.gap("ce") < 0.2


def test_records_continue_with_the_same_numbers(tmp_path: Path) -> None:
    whole = gamesim.simulate(own(), "hedge", 60, seed=4, feedback="sampled")
    gamesim.Simulation(own(), "hedge", seed=4, feedback="sampled", horizon=60).run(25).save(tmp_path / "part")
    again = gamesim.Simulation.resume(gamesim.load(tmp_path / "part")).run(35)
    assert (again.regret("swap") == whole.regret("swap")).all() and (again.payoffs == whole.payoffs).all()
    whole.save(tmp_path / "record")
    read: Any = gamesim.load(tmp_path / "record").game
    assert isinstance(read, Aggregative)
    assert (read.weights == own().weights).all() and (read.payoffs == own().payoffs).all()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"weights": np.array([0, -1])}, "not negative"),
        ({"weights": np.array([0, 1, 2])}, "2 entries"),
        ({"payoffs": np.zeros((2, 4))}, r"shape \(2, 3\), got \(2, 4\)"),
        ({"payoffs": np.full((2, 3), np.nan)}, "within"),
        ({"actions": (("x", "y"), ("x", "y"), ("x",))}, "same number of actions"),
    ],
)
def test_what_does_not_fit_is_refused(change: dict[str, Any], why: str) -> None:
    given: dict[str, Any] = {"actions": (("x", "y"),) * 3, "weights": np.array([0, 1]), "payoffs": np.zeros((2, 3))}
    with pytest.raises(InputError, match=why):
        Aggregative("wrong", ("A", "B", "C"), **(given | change))


@pytest.mark.parametrize(
    ("name", "settings", "why"),
    [
        ("el-farol-crowd", {"players": 10**9}, "steps of arithmetic|payoffs"),
        ("guess-two-thirds-crowd", {"top": 10**6}, "actions of one player"),
        ("guess-two-thirds-crowd", {"fraction": 1.0}, "between 0 and 1"),
        ("minority-crowd", {"players": 100}, "odd"),
        ("pigou-crowd", {"players": 1}, "at least 2"),
    ],
)
def test_settings_that_do_not_fit_are_refused(name: str, settings: dict[str, Any], why: str) -> None:
    with pytest.raises(InputError, match=why):
        games.make(name, **settings)
