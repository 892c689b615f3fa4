"""Whether a scenario is that of an earlier run but for its rounds, so that the run can go on to them.

Learners that are tuned to a number of rounds keep the one they started with when a run goes on for longer: their
scenario then says it, as the setting `horizon`.
"""

import numpy as np

from gamesim.game import Game
from gamesim.learner import Learner
from gamesim.record import Record
from gamesim.scenario import Scenario
from gamesim.scenario.parts import EveryonePart
from gamesim.user_learners import UserLearner


def differs_in_rounds_only(scenario: Scenario, before: Scenario, record: Record) -> bool:
    """Whether a scenario differs from that of a record in its rounds only (and in what is measured at the end)."""
    parts = scenario.player_parts
    return (
        (scenario.seed, scenario.feedback, scenario.replicas, scenario.measure.checkpoints)
        == (before.seed, before.feedback, before.replicas, before.measure.checkpoints)
        and _same_game(scenario.played_game, record.game)
        and [(one.start, one.perturb) for one in parts] == [(one.start, one.perturb) for one in before.player_parts]
        and tuple(map(_tuned_alike, parts, record.learners)) == record.learners
    )


def with_horizons(scenario: Scenario, record: Record) -> Scenario:
    """Return the scenario with the horizons that the record's learners were tuned to, so that it repeats the run."""
    if scenario.everyone is not None:
        return scenario.model_copy(update={"everyone": _with_horizon(scenario.everyone, record.learners[0])})
    return scenario.model_copy(update={"players": [*map(_with_horizon, scenario.player_parts, record.learners)]})


def _same_game(game: Game, other: Game) -> bool:
    return (type(game), game.players, game.actions) == (type(other), other.players, other.actions) and all(
        np.array_equal(part, other.arrays()[name]) for name, part in game.arrays().items()
    )


def _tuned_alike(part: EveryonePart, played: Learner) -> Learner | UserLearner:
    """Return the learner of a player's table, tuned as the one that played."""
    learner, horizon = part.make(), getattr(played, "horizon", None)
    return learner.with_horizon(horizon) if isinstance(learner, Learner) and horizon is not None else learner


def _with_horizon(part: EveryonePart, played: Learner) -> EveryonePart:
    """Return a player's table with the horizon of the learner that played, if it needs one and does not say it."""
    if getattr(part.make(), "horizon", 0) is not None:
        return part
    return part.model_copy(update={"settings": {**part.settings, "horizon": played.required_horizon()}})
