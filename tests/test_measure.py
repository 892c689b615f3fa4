"""Test that a measure is available everywhere once registered, and that sums are declared once."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from gamesim import InputError, Simulation, games, simulate
from gamesim.engine.sums import Sums, lengths
from gamesim.game import Game, Table
from gamesim.learner import Feedback
from gamesim.measure import Moment, Moments, available, measure, numbers
from gamesim.measure.registry import Measure
from gamesim.measure.rounding import gap_rounding
from gamesim.report.summary import summarise
from gamesim.study import schema, worker
from gamesim.study.jobs import Job
from gamesim.study.model import Study

GAME = games.make("uniform", players=3, actions=[3, 2, 4], seed=2)
BASE: dict[str, Any] = {
    "rounds": 60,
    "game": {"name": "uniform", "settings": {"actions": [2, 3]}},
    "everyone": {"learner": "hedge", "perturb": 0.5},
}


def test_one_function_is_a_measure_everywhere() -> None:
    @measure("first-action", unit="probability")
    def first_action(moment: Moment) -> float:
        return float(moment.sums.average[0] / moment.rounds)

    simulation = Simulation(GAME, "hedge", replicas=3, perturb=0.5)
    record = simulation.run(70)
    expected = record.average[0][:, 0]
    np.testing.assert_array_equal(record.measure("first-action"), expected)
    assert record[1].measure("first-action") == expected[1]
    assert isinstance(record[1].measure("first-action"), float)
    along = record.curve.measure("first-action")
    assert along.shape == (3, len(record.curve.rounds))
    np.testing.assert_array_equal(along[:, -1], expected)
    for k in (0, 5):
        shorter = simulate(GAME, "hedge", int(record.curve.rounds[k]), replicas=3, perturb=0.5)
        np.testing.assert_array_equal(along[:, k], shorter.measure("first-action"))
    assert simulation.measure("first-action") == pytest.approx(expected.mean(), rel=1e-15)
    assert summarise(record).as_full_json()["measures"]["first-action"] == pytest.approx(expected.mean(), rel=1e-15)

    study = Study.from_dict({"base": BASE, "seeds": 2, "measures": ["first-action"]})
    jobs = [Job(one.key, one.text, one.seed) for one in study.points()]
    alone = [simulate(games.make("uniform", actions=[2, 3]), "hedge", 60, seed=s, perturb=0.5) for s in (0, 1)]
    outcomes = worker.run(jobs, study.measures)
    assert [one.measures for one in outcomes] == [{"first-action": record.average[0][0]} for record in alone]
    assert "first-action" in schema.study_schema()["properties"]["measures"]["items"]["anyOf"][0]["enum"]


def test_measures_of_stacks_and_of_paths() -> None:
    seen = []

    @measure("rounds-stacked", unit="rounds", of="stack")
    def rounds_stacked(moment: Moment | Moments) -> NDArray[np.float64]:
        seen.append(type(moment))
        return 1.0 * np.asarray(moment.rounds)

    @measure("checkpoints", unit="number of checkpoints", of="path")
    def checkpoints(moments: Moments) -> float:
        return float(len(moments))

    record = simulate(GAME, "hedge", 50)
    assert record.measure("rounds-stacked") == 50.0
    np.testing.assert_array_equal(record.curve_from(10).measure("rounds-stacked"), record.curve_from(10).rounds)
    assert seen == [Moment, Moments]
    everything = len(record.curve.rounds)
    assert record.measure("checkpoints") == everything
    assert record.curve_from(40).measure("checkpoints").tolist() == [everything - 1, everything]


def test_several_numbers_are_one_where_one_is_asked_for() -> None:
    @measure("least-action", unit="probability", per="player", reduce=np.min)
    def least_action(moment: Moment) -> NDArray[np.float64]:
        return np.array([strategy.min() for strategy in np.split(moment.profile, np.cumsum(moment.game.sizes)[:-1])])

    record = simulate(GAME, "hedge", 50, perturb=0.5)
    found = record.measure("least-action")
    assert found.tolist() == [strategy.min() for strategy in record.average]  # type: ignore[union-attr]
    assert available()["least-action"].number(found) == np.min(found)
    assert "least-action" in numbers() and "payoffs" not in numbers() and "quantile-regret" not in numbers()
    with pytest.raises(InputError, match="payoffs has one number per player"):
        available()["payoffs"].number(record.payoffs)


def test_the_words_are_the_names() -> None:
    record = simulate(GAME, "hedge", 120, replicas=2, perturb=0.5)
    for given in (record, record.curve):
        for kind in ("ce", "cce"):
            np.testing.assert_array_equal(given.gap(kind), given.measure(f"{kind}-gap"))
            np.testing.assert_array_equal(given.distance(kind), given.measure(f"{kind}-distance"))
        np.testing.assert_array_equal(
            given.regret("quantile", epsilon=0.5), given.measure("quantile-regret", epsilon=0.5)
        )
        np.testing.assert_array_equal(given.nash_gap(), given.measure("nash-gap"))
    np.testing.assert_array_equal(record.welfare, record.payoffs.sum(axis=-1))
    np.testing.assert_array_equal(np.concatenate(record.average, axis=-1), record.measure("average-strategies"))
    low, high = GAME.range
    share = record.gap("ce") / (high.max() - low.min())
    np.testing.assert_array_equal(record.measure("ce-gap-share"), share)


def test_a_slope_that_there_is_not_is_no_number() -> None:
    record = simulate(GAME, "hedge", 2)
    assert np.isnan(record.measure("ce-gap-slope"))
    falling = simulate("prisoners-dilemma", "hedge", 5000)
    slopes = falling.curve.measure("ce-gap-slope")
    assert slopes[-1] == falling.measure("ce-gap-slope") == pytest.approx(-1, abs=0.01)
    assert np.isnan(slopes[:4]).all()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("ce-gab", {}, "unknown measure 'ce-gab'; did you mean 'ce-gap'?"),
        ("quantile-regret", {}, "quantile-regret needs epsilon="),
        ("quantile-regret", {"epsilom": 0.5}, "unknown option 'epsilom' of quantile-regret; did you mean 'epsilon'?"),
        ("ce-gap", {"epsilon": 0.5}, "unknown option 'epsilon' of ce-gap; ce-gap has no options"),
    ],
)
def test_invalid_requests_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    simulation = Simulation("chicken", "hedge")
    record = simulation.run(5)
    for thing in (simulation, record, record.curve):
        with pytest.raises(InputError) as refused:
            thing.measure(name, **options)
        assert message in str(refused.value)


def test_a_name_is_taken_once() -> None:
    with pytest.raises(InputError, match="a measure named 'ce-gap' already exists"):

        @measure("ce-gap", unit="nothing")
        def other(moment: Moment) -> float:
            return 0.0


def test_every_measure_says_what_it_is() -> None:
    for one in available().values():
        assert one.unit and one.description.startswith("Return ") and one.description.endswith(".")


NETWORK = games.make("polymatrix", graph="path", graph_settings={"n": 3})


@pytest.mark.parametrize("game", [GAME, NETWORK])
@pytest.mark.parametrize("feedback", ["expected", "sampled"])
def test_every_sum_is_kept_in_every_form(feedback: Feedback, game: Game) -> None:
    record = simulate(game, "hedge", 50, replicas=2, feedback=feedback)
    sizes = lengths(game.sizes, drawn=feedback != "expected", tabled=game is GAME)
    left_out = {"observed"} | ({"strategy_counterfactuals"} if feedback == "expected" else set())
    left_out |= {"counterfactuals"} if game is GAME else set()  # a product of the others
    assert set(sizes) == set(Sums._fields) - left_out
    assert not any(f"{form}{name}" in record.arrays for name in left_out for form in ("", "checkpoint_", "continue_"))
    for name, length in sizes.items():
        assert record.arrays[name].shape == record.arrays[f"continue_{name}"].shape == (2, length)
        assert record.arrays[f"checkpoint_{name}"].shape == (2, len(record.arrays["checkpoints"]), length)


def test_a_measure_of_any_shape_is_reduced_if_it_can_be() -> None:
    plain = Measure("mine", "", "any", lambda moment: 0.0)
    assert plain.number(2.5) == 2.5
    with pytest.raises(InputError, match="mine"):
        plain.number(np.array([1.0, 2.0]))
    assert replace(plain, reduce=np.max).number(np.array([1.0, 2.0])) == 2.0


@pytest.mark.parametrize("rounds", [1, 100, 120])  # the second is a checkpoint
def test_a_simulation_and_its_record_have_the_same_moments(rounds: int) -> None:
    simulation = Simulation(GAME, "hedge", replicas=2, perturb=0.5)
    simulation.advance(rounds)
    now, then = simulation.moments(1), simulation.record().moments(1)
    assert now.rounds.tolist() == then.rounds.tolist()
    for name in ("average", "joint", "path"):
        assert now._stacked(name).tobytes() == then._stacked(name).tobytes()


def test_a_joint_distribution_too_large_to_store_is_refused_with_its_size() -> None:
    record = simulate(games.make("polymatrix", graph="path", graph_settings={"n": 40}), "hedge", 5)
    with pytest.raises(InputError, match=r"about 10\^24 action profiles, above the limit"):
        record.measure("joint")


def test_a_game_without_positive_welfare_has_no_price_of_anarchy() -> None:
    """The welfare of play is 0 in every zero-sum game, and its rounding error may be positive."""
    for seed in range(8):
        record = simulate(games.make("zero-sum", seed=seed), "hedge", 50, perturb=0.3)
        assert record.welfare == pytest.approx(0, abs=1e-15)
        assert np.isnan(record.measure("price-of-anarchy"))


def test_the_rounding_error_of_a_gap_grows_with_the_payoff_range_and_the_rounds() -> None:
    game = Table.from_payoffs([[[100, 101, 102], [103, 104, 105]], [[3, 7, -1], [3, 3, 3]]])  # ranges 5 and 8
    assert gap_rounding(game, 12) == np.finfo(np.float64).eps * 8 * (12 / 4 + 5)
    assert gap_rounding(Table.from_payoffs(np.full((2, 2, 2), 7.0)), 12) == 0
