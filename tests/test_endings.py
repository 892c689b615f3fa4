"""Where runs end, against equilibria solved by hand."""

import numpy as np
import pytest
from numpy.typing import NDArray

from gamesim import games
from gamesim.game import Table
from gamesim.measure.endings import endings, in_words

PENNIES: NDArray[np.float64] = np.array([[1.0, -1.0], [-1.0, 1.0]])


def pennies_and_dominated(columns: int) -> Table:
    """Return matching pennies in which the second player also has dominated actions."""
    first = np.hstack([PENNIES, np.full((2, columns - 2), 5.0)])
    second = np.hstack([-PENNIES, np.full((2, columns - 2), -5.0)])
    return Table.from_payoffs([first, second])


@pytest.mark.parametrize(("columns", "is_found"), [(3, True), (12, True), (13, False)])
def test_mixed_equilibria_are_looked_for_in_games_of_up_to_25_profiles(columns: int, is_found: bool) -> None:
    mixed = np.zeros((1, 2 + columns))
    mixed[0, :4] = 0.5
    (place,) = endings(pennies_and_dominated(columns), mixed)
    assert (place == "mixed equilibrium (50% action 1, 50% action 1 + 50% action 2)") is is_found
    assert (place == "elsewhere") is not is_found


def test_places_are_listed_by_frequency_and_the_others_last() -> None:
    chicken_out, dare, between = [1.0, 0.0], [0.0, 1.0], [0.5, 0.5]
    rows = [[*between, *dare]] * 4 + [[*chicken_out, *dare]] + [[*dare, *chicken_out]] * 2
    assert list(endings(games.make("chicken"), np.array(rows)).items()) == [
        ("(dare, chicken out)", 2),
        ("(chicken out, dare)", 1),
        ("elsewhere", 4),
    ]


def test_actions_with_half_a_percent_are_named() -> None:
    game = Table.from_payoffs(np.zeros((2, 3, 2)), actions=[["a", "b", "c"], ["d", "e"]])
    assert in_words(game, [np.array([0.9, 0.094, 0.006]), np.array([0.2, 0.8])]) == "(90% a + 9% b + 1% c, 20% d)"
    assert in_words(game, [np.array([0.9, 0.096, 0.004]), np.array([0.2, 0.8])]) == "(90% a + 10% b, 20% d)"
