"""What the projector shows of play: the data of the lab's views, and what learners would have done."""

from dataclasses import asdict
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim import equilibrium
from gamesim.classroom import devices, payoffs, results
from gamesim.classroom.room import Room
from gamesim.engine.sums import Sums
from gamesim.game import Game, Table
from gamesim.measure import find, regrets
from gamesim.measure.distance import why_left_out
from gamesim.measure.moments import Moments
from gamesim.observation.recording import sums_of
from gamesim.views import equilibria
from gamesim.views.frames import game_data

CELLS = 512  # action profiles of the largest joint distribution that is shown
FEW = 6  # players whose strategies are shown one by one
ROWS = 80  # of a curve
IN_ROW = {
    "gap_ce": "ce-gap",
    "gap_cce": "cce-gap",
    "payoffs": "payoffs",
    "external": "external-regret",
    "swap": "swap-regret",
}


def of_game(game: Game) -> dict[str, Any]:
    """Return what the views need of a game: its data, its equilibria, and devices to choose from."""
    small = isinstance(game, Table) and game.cells <= CELLS
    found = game_data(game)
    return {
        "game": found if small else found | {"payoffs": None},
        "small": small,
        "no_distance": why_left_out(game),
        "sets": equilibria.sets(game) if small else None,
        "devices": devices.offered(game),
        "curve": found_curve if (found_curve := payoffs.of_role(game, 0)) and found_curve["kind"] == "curve" else None,
        "welfare": list(equilibrium.welfare_range(game, "ce")) if small else None,
    }


def of_play(room: Room) -> dict[str, Any] | None:
    """Return the measures of what was played, all groups together; None before the end of the first round."""
    if not room.played:
        return None
    game, moments = room.game, _moments(room)
    last = moments[-1]
    per_round = last.rounds / len(room.played)  # groups, on average
    shown = np.unique(np.linspace(0, len(moments) - 1, min(len(moments), ROWS)).astype(int))
    measured = {name: find(measure).along(moments)[shown] for name, measure in IN_ROW.items()}
    # The views divide regrets by rounds. So they are scaled from all groups together to the mean of a group.
    for name in ("external", "swap"):
        measured[name] = measured[name] / per_round
    shares = _shares(moments)
    joint = last.joint if game.cells <= CELLS else None
    profiles = [regrets.profile(matrix) for matrix in last.matrices]
    state: dict[str, Any] = {name: values[-1].tolist() for name, values in measured.items()}
    state |= {"rounds": len(room.played), "joint": None if joint is None else joint.ravel().tolist()}
    state |= {"average": last.profile.tolist(), "strategy": shares[-1].tolist()}
    for k, name in enumerate(("together", "alone")):
        parts = [scale * one[k] / per_round for scale, one in zip(game.scale, profiles, strict=True)]
        state[name] = np.concatenate(parts).tolist()
    curve: dict[str, Any] = {name: values.tolist() for name, values in measured.items()}
    curve["round"] = (shown + 1).tolist()
    if joint is not None:
        curve["joint"] = (moments.sums.joint[shown] / moments.rounds[shown, None]).tolist()
    return {
        "state": state,
        "curve": curve,
        "path": shares[shown].tolist() if len(game.players) <= FEW else [],
        "choices": _choices(room),
        "nearest": None if joint is None or why_left_out(game) is not None else equilibria.nearest(game, joint),
        "learners": [None if one is None else asdict(one) for one in results.learners_in_seats(room)],
        "obedience": [_without_nan(asdict(one)) for one in results.obedience(room)],
    }


def _moments(room: Room) -> Moments:
    """Return the moments of play at the end of every round, all groups together."""
    actions = np.concatenate([one.actions for one in room.played]).astype(np.int64)
    stops = np.cumsum([len(one.actions) for one in room.played])
    sums = sums_of(room.game, actions, stops)
    return Moments(
        room.game,
        stops,
        lambda k: Sums(**{name: sums[name][k] if name in sums else np.zeros(0) for name in Sums._fields}),
        lambda name: sums.get(name, np.zeros((len(stops), 0))),
    )


def _shares(moments: Moments) -> NDArray[np.float64]:
    """Return the share of groups in which each player played each action, one row per round."""
    counts = np.diff(moments.sums.average, axis=0, prepend=0)
    found: NDArray[np.float64] = counts / np.diff(moments.rounds, prepend=0)[:, None]
    return found


def _choices(room: Room) -> list[list[float]]:
    """Return the share of students who chose each action, one row per round, if all have the same actions."""
    if len(set(room.game.actions)) > 1:
        return []
    counts = [np.bincount(one.actions[~one.by_learner], minlength=room.game.sizes[0]) for one in room.played]
    return [(one / max(1, one.sum())).tolist() for one in counts]


def _without_nan(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as JSON can write it."""

    def known(value: Any) -> Any:
        if isinstance(value, tuple):
            return [known(one) for one in value]
        return None if isinstance(value, float) and not isfinite(value) else value

    return {key: known(value) for key, value in row.items()}
