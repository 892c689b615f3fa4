"""Binary frames sent to a page: little-endian Float32, with the layout announced once in JSON.

A frame is a sequence of parts, one per run. A part is

    shape, status, curve_start, curve_rows, path_stride, path_start, path_rows    the header: seven numbers
    state                                                 the fields in the order of `fields`
    curve_rows × one row of `row_fields`                  measures at checkpoints, starting at row `curve_start`
    path_rows × one number per action of every player     strategies of every path_stride-th round, from path_start

`shape` numbers the message that announced the layout, so that a page can discard frames of an earlier game. Rows are
sent once; when path_stride changes, the whole path is sent again. A field stored as two numbers is their sum: 48 bits
of precision, enough for every digit of rounds and gaps that the page shows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.game import Game
from gamesim.learner import PLAIN_REGRETS, Learner
from gamesim.measure import find, regrets
from gamesim.measure.bounds import bound
from gamesim.measure.moments import Moment, Moments
from gamesim.simulation import Simulation

Numbers = NDArray[np.float32]

PAUSED, PLAYING, DONE, SEEKING = 0, 1, 2, 3
JOINT_CELLS = 16  # maximum for including the joint distribution in every curve row
PATH_ACTIONS = 48  # maximum total number of actions for sending the strategies as a path
BOUND_POINTS = 41

# The measures in a state and in a row of the curve, by their names in the page.
IN_STATE: dict[str, str] = {
    "gap_ce": "ce-gap",
    "gap_cce": "cce-gap",
    "gap_nash": "nash-gap",
    "payoffs": "payoffs",
    "moved": "path-length",
    **{kind: f"{kind}-regret" for kind in PLAIN_REGRETS},
}
IN_ROW = {name: measure for name, measure in IN_STATE.items() if name not in ("gap_nash", "moved")}


def fields(game: Game) -> list[tuple[str, int]]:
    """Return the names and lengths of the fields in a state.

    >>> from gamesim import games
    >>> fields(games.make("chicken"))[:3]
    [('rounds', 2), ('speed', 1), ('gap_ce', 2)]
    """
    players, actions = len(game.players), sum(game.sizes)
    return [
        ("rounds", 2),
        ("speed", 1),
        *((name, 2 if _is_number(measure) else players) for name, measure in IN_STATE.items()),
        ("strategy", actions),
        ("average", actions),
        ("together", actions),
        ("alone", actions),
        ("joint", game.cells),
    ]


def row_fields(game: Game) -> list[tuple[str, int]]:
    """Return the names and lengths of the fields in a row of the curve."""
    players = len(game.players)
    measured = [(name, 1 if _is_number(measure) else players) for name, measure in IN_ROW.items()]
    return [("round", 1), *measured, *([("joint", game.cells)] if game.cells <= JOINT_CELLS else [])]


def _is_number(measure: str) -> bool:
    """Whether a measure is a single number rather than one number per player."""
    return find(measure).per == "run"


def pair(value: float) -> list[np.float32]:
    """Split a number into two float32 numbers whose sum has 48 bits of precision."""
    high = np.float32(value)
    return [high, np.float32(value - float(high)) if np.isfinite(high) else np.float32(0)]


def state(simulation: Simulation, moment: Moment | None, speed: float) -> Numbers:
    """Return the numbers of a state; before the first round, all but the round and the speed are NaN."""
    game = simulation.game
    if moment is None:
        empty = np.full(sum(length for _, length in fields(game)), np.nan, dtype=np.float32)
        empty[:3] = 0
        return empty
    profiles = [regrets.profile(matrix) for matrix in moment.matrices]
    joint = moment.joint
    parts: list[Any] = [
        pair(moment.rounds),
        [speed],
        *_measured(moment),
        simulation.strategies(),
        moment.profile,
        *(scale * together for scale, (together, _) in zip(game.scale, profiles, strict=True)),
        *(scale * alone for scale, (_, alone) in zip(game.scale, profiles, strict=True)),
        np.full(game.cells, np.nan) if joint is None else joint.ravel(),
    ]
    return np.concatenate(parts, dtype=np.float32, casting="same_kind")


def _measured(moment: Moment) -> Iterator[list[np.float32] | NDArray[np.float64]]:
    """Yield the measures of a state: single numbers as pairs, the others as one number per player."""
    for name in IN_STATE.values():
        value = find(name).function(moment)
        yield value if isinstance(value, np.ndarray) and value.ndim else pair(float(value))


def bounds(simulation: Simulation, player: int, started: bool, rounds: int) -> dict[str, Any] | None:
    """Return the bound on the regret of a player's play over the rounds of a run, in payoff units."""
    learner, game = simulation.learners[player], simulation.game
    promise = learner.guarantee() if isinstance(learner, Learner) else None
    if promise is None:
        return None
    at = np.unique(np.round(np.geomspace(1, rounds, BOUND_POINTS)).astype(np.int64))
    found = [
        bound(
            simulation.learners,
            player,
            promise.regret,
            int(t),
            game.sizes[player],
            started=started,
            feedback=simulation.feedback,
        )
        for t in at
    ]
    values = [float(game.scale[player] * value) for value in found if value is not None]
    if len(values) < len(at) or not np.isfinite(values).all():
        return None
    return {"regret": promise.regret, "rounds": at.tolist(), "values": values}


@dataclass
class Feed:
    """The data of one run sent to one page so far, which determines what to send next."""

    shape: int
    sent_rows: int = 0
    stride: int = 0
    sent_path: int = 0

    def frame(self, simulation: Simulation, moments: Moments | None, status: int, speed: float) -> Numbers:
        """Return the next part of a frame: the state and the new rows of the curve and the path."""
        rows = self._new_rows(simulation, moments)
        stride, path = simulation.trajectory()
        if path.shape[1] > PATH_ACTIONS:
            path = path[:0]
        if stride != self.stride:
            self.stride, self.sent_path = stride, 0
        steps = path[self.sent_path :]
        head = [self.shape, status, self.sent_rows, len(rows), stride, self.sent_path, len(steps)]
        self.sent_rows, self.sent_path = self.sent_rows + len(rows), len(path)
        now = state(simulation, moments[-1] if moments else None, speed)
        return np.concatenate([head, now, rows.ravel(), steps.ravel()], dtype=np.float32, casting="same_kind")

    def _new_rows(self, simulation: Simulation, moments: Moments | None) -> NDArray[np.float64]:
        """Return the rows of the curve for the checkpoints since the last frame; earlier ones do not change."""
        count = len(simulation.checkpoint_rounds) - self.sent_rows
        if moments is None or count == 0:
            return np.zeros((0, 0))
        new = moments[self.sent_rows : self.sent_rows + count]
        columns: list[Any] = [new.rounds, *(find(name).along(new) for name in IN_ROW.values())]
        if simulation.game.cells <= JOINT_CELLS:
            columns.append(new.sums.joint / new.rounds[:, None])
        return np.concatenate([np.asarray(column).reshape(count, -1) for column in columns], axis=1)
