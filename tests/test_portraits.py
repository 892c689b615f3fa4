"""Phase portraits against formulas written out by hand, on games that are neither square nor symmetric in play."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import InputError, Table, equilibrium, figures, games
from gamesim.cli.main import main
from gamesim.figures import cloud, phase_space, portrait, title_of
from gamesim.flows import flow, velocity
from gamesim.measure.endings import SHOWN, _strategy, endings
from gamesim.portraits import Dynamics, stability
from gamesim.report.summary import summarise

pytestmark = pytest.mark.slow

UNEVEN = Table.from_payoffs([[[3.0, -1.0], [0.5, 2.0]], [[1.0, 4.0], [2.5, -2.0]]], name="uneven")
THREE = games.make("uniform", players=3, actions=[2, 2, 2], seed=11)
MEMORYLESS = ("replicator:step=0.2", "hedge:rate=0.3", "gradient:rate=0.1", "logit", "q-learning")


def states(sizes: tuple[int, ...], count: int = 20) -> list[np.ndarray]:
    random = np.random.default_rng(5)
    return [np.concatenate([random.dirichlet(np.ones(size)) for size in sizes]) for _ in range(count)]


def replicator(game: Any, state: np.ndarray) -> list[float]:
    """The replicator equation with every sum written out."""
    ends = np.cumsum([0, *game.sizes])
    parts = [state[a:b] for a, b in pairwise(ends)]
    found: list[float] = []
    for i, own in enumerate(parts):
        pay = []
        for a in range(len(own)):
            total = 0.0
            for cell in np.ndindex(*game.sizes):
                if cell[i] == a:
                    chance = 1.0
                    for k, b in enumerate(cell):
                        chance *= 1.0 if k == i else parts[k][b]
                    total += chance * game.payoffs[(i, *cell)]
            pay.append(total)
        mean = sum(p * u for p, u in zip(own, pay, strict=True))
        found += [p * (u - mean) for p, u in zip(own, pay, strict=True)]
    return found


@pytest.mark.parametrize("game", [UNEVEN, THREE, games.make("uniform", players=2, actions=[2, 4], seed=3)], ids=str)
def test_the_limit_of_hedge_is_the_replicator_field(game: Any) -> None:
    for state in states(game.sizes):
        assert np.abs(velocity(game, state) - replicator(game, state)).max() < 1e-9


def test_portraits_use_the_replicator_field_for_hedge_with_memory() -> None:
    for game in (UNEVEN, THREE):
        dynamics = Dynamics(game, "hedge")
        assert dynamics.kind == "limit"
        for state in states(game.sizes):
            assert np.abs(dynamics.velocity(state) - replicator(game, state)).max() < 1e-9


def test_one_step_of_the_replicator_learner_is_an_euler_step_of_the_field() -> None:
    dynamics, step = Dynamics(UNEVEN, "replicator:step=0.05"), 0.05
    for state in states((2, 2)):
        field = np.array(replicator(UNEVEN, state)) / np.repeat([2.0, 3.0], 2)  # losses are payoffs / half their range
        assert np.abs(dynamics.velocity(state) / step - field).max() < 1e-9


@pytest.mark.parametrize("regulariser", ["entropic", "euclidean", "log-barrier"])
def test_velocities_are_the_slopes_of_flows(regulariser: Any) -> None:
    game = games.make("uniform", players=2, actions=[3, 2], seed=8)
    for state in states(game.sizes, 5):
        start = [0.8 * state[:3] + 0.2 / 3, 0.8 * state[3:] + 0.1]
        path = flow(game, 2e-4, start=start, regulariser=regulariser, points=3, tolerance=1e-13)
        slope = np.concatenate([(one[2] - one[0]) / 2e-4 for one in path.strategies])
        middle = np.concatenate([one[1] for one in path.strategies])
        assert np.allclose(velocity(game, middle, regulariser), slope, atol=1e-6)


def test_the_projection_dynamic_brings_back_unplayed_actions_that_pay_more() -> None:
    game = Table.from_payoffs([[[1.0], [4.0], [2.0]], [[0.0], [0.0], [0.0]]])
    assert np.allclose(velocity(game, np.array([1.0, 0, 0, 1.0]), "euclidean")[:3], [-1.5, 1.5, 0])
    assert np.allclose(velocity(game, np.array([0, 1.0, 0, 1.0]), "euclidean")[:3], 0)


@pytest.mark.parametrize("learner", MEMORYLESS)
def test_the_field_of_a_memoryless_learner_is_its_next_round(learner: str) -> None:
    for game in (UNEVEN, THREE):
        dynamics = Dynamics(game, learner)
        assert dynamics.kind == "step"
        for state in states(game.sizes, 6):
            start = list(np.split(state, np.cumsum(game.sizes)[:-1]))
            record = gamesim.simulate(game, learner, rounds=2, start=start)
            following = np.concatenate(record.last)
            assert np.abs(state + dynamics.velocity(state) - following).max() < 1e-12


def test_hedge_by_hand() -> None:
    dynamics = Dynamics(UNEVEN, "hedge:rate=0.3")
    p, q = np.array([0.25, 0.75]), np.array([0.6, 0.4])
    row = p * np.exp(0.3 / 2.0 * (UNEVEN.payoffs[0] @ q))
    column = q * np.exp(0.3 / 3.0 * (p @ UNEVEN.payoffs[1]))
    following = dynamics.next_state(np.concatenate([p, q]))
    assert np.abs(following - np.concatenate([row / row.sum(), column / column.sum()])).max() < 1e-12


def test_learners_with_memory_are_recognised_and_named() -> None:
    assert Dynamics(UNEVEN, "optimistic-hedge").description.startswith("mean field of the continuous-time limit")
    assert Dynamics(UNEVEN, "optimistic-gradient").description.endswith("the projection dynamic")
    assert Dynamics(UNEVEN, ["hedge", "gradient"]).kind == "first step"  # their limits differ
    assert "it has memory" in Dynamics(UNEVEN, "regret-matching").description


def test_rest_points_of_a_coordination_game_by_hand() -> None:
    # Rows pay 2 and 1, columns 1 and 3: mixed where 2 q = 1 (1 - q) and p = 3 (1 - p).
    game = Table.from_payoffs([[[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 3.0]]])
    found = gamesim.portrait(game, "hedge", lines=0)
    at = {tuple(point.state[[0, 2]].round(6)): point for point in found.rest}
    assert set(at) == {(0, 0), (0, 1), (1, 0), (1, 1), (0.75, 0.333333)}
    assert [at[place].stability for place in [(0, 0), (1, 1), (0, 1), (1, 0)]] == ["sink", "sink", "source", "source"]
    mixed = at[0.75, 0.333333]
    assert mixed.stability == "saddle" and mixed.is_nash and not at[0, 1].is_nash
    # At (p, q) the Jacobian is [[0, p (1-p) 3], [q (1-q) 4, 0]].
    growth = np.sqrt(0.75 * 0.25 * 3 * (1 / 3) * (2 / 3) * 4)
    assert np.allclose(sorted(mixed.eigenvalues.real), [-growth, growth], atol=1e-8)
    assert sorted(np.linalg.norm(found.nash - at[place].state, axis=1).min() for place in [(0, 0), (1, 1)])[1] < 1e-7


@pytest.mark.parametrize(
    ("game", "learner", "kind"),
    [
        ("rock-paper-scissors", "hedge", "centre"),
        ("rock-paper-scissors", "hedge:rate=0.1", "spiral source"),
        ("bad-rps", "hedge", "spiral source"),
        ("good-rps", "hedge", "spiral sink"),
        ("zeeman", "hedge", "spiral sink"),
    ],
)
def test_the_interior_equilibria_of_cyclic_games_are_those_of_the_books(game: str, learner: str, kind: str) -> None:
    inside = [point for point in gamesim.portrait(game, learner, lines=0).rest if point.state.min() > 0.01]
    assert len(inside) == 1 and np.allclose(inside[0].state, 1 / 3) and inside[0].stability == kind


def test_zeemans_game_has_its_rest_points_on_the_edges() -> None:
    found = gamesim.portrait("zeeman", "replicator:step=0.2")
    edges = [point.state.round(6).tolist() for point in found.rest if np.sum(point.state > 1e-6) == 2]
    assert edges == [[0, 0.625, 0.375], [0.8, 0, 0.2]]  # 5 (1 - x) = 3 x, and -4 (1 - x) = -x
    ended = {tuple(found.rest[place].state.round(3)) for place in found.attractors}
    assert ended == {(0.333, 0.333, 0.333), (1.0, 0.0, 0.0)} and (found.ends >= 0).all()


def test_jordans_game_has_one_equilibrium_which_repels_all_but_a_line() -> None:
    found = gamesim.portrait("jordan", "hedge", lines=0)
    assert found.nash.shape == (1, 6) and np.allclose(found.nash, 0.5)
    (middle,) = [point for point in found.rest if point.state.min() > 0.01]
    cube_roots = [-1.0, 0.5 + np.sqrt(3) / 2 * 1j, 0.5 - np.sqrt(3) / 2 * 1j]  # of -1: each drives the next
    assert np.allclose(sorted(middle.eigenvalues, key=lambda v: (v.real, v.imag)),
                       sorted(cube_roots, key=lambda v: (v.real, v.imag)), atol=1e-8)  # fmt: skip
    assert middle.stability == "saddle"


def test_runs_start_where_asked_and_are_those_of_the_learner() -> None:
    starts = [[0.9, 0.1, 0.2, 0.8], [0.3, 0.7, 0.6, 0.4]]
    found = gamesim.portrait(UNEVEN, "gradient:rate=0.05", starts=starts, rounds=40)
    for start, line in zip(starts, found.lines, strict=True):
        record = gamesim.simulate(UNEVEN, "gradient:rate=0.05", rounds=40, start=[start[:2], start[2:]])
        assert np.array_equal(line[0], start) and np.array_equal(line[-1], np.concatenate(record.last))


def test_stability_depends_on_whether_time_is_discrete() -> None:
    assert stability(np.array([-2.5, -2.5]), continuous=False) == "source"  # the factor per round is -1.5
    assert stability(np.array([-2.5, -2.5]), continuous=True) == "sink"
    assert stability(np.array([0.0, -1.0]), continuous=True) == "degenerate"


@pytest.mark.parametrize(
    ("game", "learners", "message"),
    [
        ("shapley", "replicator", "3×3 and not symmetric"),
        ("zeeman", ["hedge", "gradient"], "same learner for both"),
        ("chicken", "fictitious-play", "cannot start at a given strategy"),
    ],
)
def test_portraits_that_cannot_be_drawn_are_refused(game: str, learners: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gamesim.portrait(game, learners)
    with pytest.raises(InputError, match="starts must have one row of 4 probabilities"):
        gamesim.portrait("chicken", starts=[[0.5, 0.5]])


def test_titles_report_where_runs_end() -> None:
    found = gamesim.portrait(UNEVEN, "hedge", lines=5)
    assert title_of(portrait(found)).startswith("hedge (limit of small rates) in uneven: ")
    cycle = gamesim.portrait("rock-paper-scissors", "hedge", lines=4)
    assert title_of(portrait(cycle)).endswith("play circles the equilibrium")
    record = gamesim.simulate("battle-of-the-sexes", "hedge", rounds=2000, replicas=6, start="random")
    ended = record.endings()
    drawn = phase_space(record)
    assert drawn is not None and sum(ended.values()) == 6 and len(ended) == 2
    assert title_of(drawn).startswith("Of 6 runs of battle-of-the-sexes, ")


def test_the_command_prints_rest_points_and_writes_pictures(tmp_path: Path, capsys: Any) -> None:
    to = ["--out", str(tmp_path / "picture.png")]
    assert main(["portrait", "chicken", "--learner", "hedge:rate=0.2", "--rounds", "50", *to]) == 0
    printed = capsys.readouterr().out
    assert "saddle" in printed and "one round of hedge" in printed
    assert {path.name for path in tmp_path.iterdir()} == {"picture.svg", "picture.png"}
    assert main(["portrait", "chicken", *to]) == 2 and "exists" in capsys.readouterr().err


def test_runs_that_pass_a_pure_profile_have_not_ended_there() -> None:
    pure = np.array([[1.0, 0, 0, 0, 1.0, 0], [0.99, 0.01, 0, 0, 0.99, 0.01]])
    assert endings(games.make("shapley"), pure) == {"elsewhere": 2}
    battle = games.make("battle-of-the-sexes")  # its mixed equilibrium by hand: 3 q = 2 (1 - q), 2 p = 3 (1 - p)
    rows = np.array([[1.0, 0, 1, 0], [0.0, 1, 0, 1], [0.6, 0.4, 0.4, 0.6], [0.4, 0.6, 0.6, 0.4], [1.0, 0, 0, 1]])
    assert endings(battle, rows) == {
        "(opera, opera)": 1,
        "(fight, fight)": 1,
        "mixed equilibrium (60% opera, 40% opera)": 1,
        "elsewhere": 2,
    }


def test_reports_of_replicas_count_where_runs_end() -> None:
    record = gamesim.simulate("battle-of-the-sexes", "hedge", rounds=500, replicas=12, start="random")
    operas = int(((record.last[0][:, 0] > 0.98) & (record.last[1][:, 0] > 0.98)).sum())
    assert record.endings() == {"(opera, opera)": operas, "(fight, fight)": 12 - operas} and 0 < operas < 12
    words = f"Of 12 runs of battle-of-the-sexes, {operas} end at (opera, opera) and {12 - operas} at (fight, fight)"
    drawn = cloud(record)
    assert drawn is not None and title_of(drawn) == words and cloud(record[0]) is None
    assert summarise(record, title="t", distance="never").verdict.endswith(words + ".")


def test_obedience_is_counted_by_hand_in_an_asymmetric_game() -> None:
    game = Table.from_payoffs(
        [[[3.0, 1.0, 0.0], [0.0, 2.0, 5.0]], [[1.0, 2.0, 4.0], [3.0, 0.0, 1.0]]], players=["R", "C"]
    )
    joint = np.array([[0.2, 0.1, 0.05], [0.25, 0.3, 0.1]])
    found = equilibrium.obedience(game, joint)
    for a in range(2):
        for b in range(2):
            gain = sum(joint[a, c] * (game.payoffs[0, b, c] - game.payoffs[0, a, c]) for c in range(3))
            assert found.gains[0][a, b] == pytest.approx(gain, abs=1e-15)
    for a in range(3):
        for b in range(3):
            gain = sum(joint[r, a] * (game.payoffs[1, r, b] - game.payoffs[1, r, a]) for r in range(2))
            assert found.gains[1][a, b] == pytest.approx(gain, abs=1e-15)
            given = gain / (joint[0, a] + joint[1, a])
            assert found.gains_if_recommended[1][a, b] == pytest.approx(given, abs=1e-15)
    assert found.gap == pytest.approx(equilibrium.gap(game, joint, "ce"))
    polytope = equilibrium.polytope(game, "ce")
    assert str(found.broken()[0]) == str(polytope.deviations(joint, 1)[0])
    for vertex in polytope.vertices():
        assert equilibrium.obedience(game, vertex).is_equilibrium
    assert title_of(figures.obedience(found)).startswith("In ")


def test_obedience_with_three_players_and_unused_recommendations() -> None:
    joint = np.zeros((2, 2, 2))
    joint[0, 0, 1] = 1.0
    found = equilibrium.obedience(games.make("jordan"), joint)
    assert [str(one) for one in found.broken()] == ["Second gains 2 by playing tails when heads is recommended"]
    assert np.isnan(found.gains_if_recommended[2][0]).all() and found.recommended[2].tolist() == [0.0, 1.0]
    assert title_of(figures.obedience(found)) == (
        "In jordan, Second gains 2 per round by playing tails when heads is recommended"
    )


def test_four_actions_are_named_and_more_are_cut_off() -> None:
    labels = "abcdefg"
    assert _strategy(np.full(SHOWN, 1 / SHOWN), labels[:SHOWN]) == "25% a + 25% b + 25% c + 25% d"
    assert _strategy(np.full(5, 0.2), labels[:5]) == "20% a + 20% b + 20% c + 20% d + …"
