"""Detect whether a scenario differs from an earlier run only in its rounds, so that the run can be extended.

Learners that are tuned to a horizon keep it when the run is extended; the scenario then states it as the setting
`horizon`.
"""

import numpy as np

from gamesim.game import Game
from gamesim.learner import Learner
from gamesim.record import Record
from gamesim.scenario import Scenario
from gamesim.scenario.parts import EveryonePart
from gamesim.simulation.ordering import with_order
from gamesim.user_learners import StoredLearner, UserLearner, described


def differs_in_rounds_only(scenario: Scenario, before: Scenario, record: Record) -> bool:
    """Whether a scenario differs from that of a record only in its rounds and in the final measures."""
    parts = scenario.player_parts
    return (
        _protocol(scenario) == _protocol(before)
        and _same_game(scenario.played_game, record.game)
        and [
            described(with_order(_tuned_alike(part, played), record.game, player))
            for player, (part, played) in enumerate(zip(parts, record.learners, strict=True))
        ]
        == list(map(described, record.learners))
    )


def _protocol(scenario: Scenario) -> tuple[object, ...]:
    """Return everything that determines a run except its rounds, its game and its learners."""
    measure = scenario.measure
    return (
        *(scenario.seed, scenario.replicas, scenario.feedbacks, scenario.order, scenario.delay, scenario.noise),
        *(measure.checkpoints, measure.trajectory, measure.all_observers()),
        *((one.start, one.opening, one.perturb) for one in scenario.player_parts),
    )


def same_scenario(scenario: Scenario, other: Scenario) -> bool:
    """Whether two scenarios are equal, including games that they read from files."""
    return (
        scenario.to_toml() == other.to_toml()
        and scenario.references == other.references
        and _same_game(scenario.played_game, other.played_game)
    )


def with_horizons(scenario: Scenario, record: Record) -> Scenario:
    """Return the scenario with the horizons of the record's learners, so that it reproduces the run."""
    if scenario.everyone is not None:
        return scenario.model_copy(update={"everyone": _with_horizon(scenario.everyone, record.learners[0])})
    return scenario.model_copy(update={"players": [*map(_with_horizon, scenario.player_parts, record.learners)]})


def _same_game(game: Game, other: Game) -> bool:
    return (type(game), game.players, game.actions) == (type(other), other.players, other.actions) and all(
        np.array_equal(part, other.arrays()[name]) for name, part in game.arrays().items()
    )


def _horizon(played: Learner | StoredLearner) -> int | None:
    found: int | None = (
        played.settings.get("horizon") if isinstance(played, StoredLearner) else getattr(played, "horizon", None)
    )
    return found


def _tuned_alike(part: EveryonePart, played: Learner | StoredLearner) -> Learner | UserLearner:
    """Return the learner of a player's table, tuned to the horizon of the learner that played."""
    learner, horizon = part.make(), _horizon(played)
    return learner.with_horizon(horizon) if isinstance(learner, Learner) and horizon is not None else learner


def _with_horizon(part: EveryonePart, played: Learner | StoredLearner) -> EveryonePart:
    """Return a player's table with the horizon of the learner that played, if required and unset."""
    if getattr(part.make(), "horizon", 0) is not None:
        return part
    return part.model_copy(update={"settings": {**part.settings, "horizon": _horizon(played)}})
