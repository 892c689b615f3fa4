"""Binary frames sent to a page: little-endian Float32, with the layout announced once in JSON.

A frame is a sequence of parts, one per run. A part is

    shape, status, curve_start, curve_rows, path_stride, path_start, path_rows    the header: seven numbers
    state                                                 the fields in the order of `fields`
    curve_rows × one row of `row_fields`                  measures at checkpoints, starting at row `curve_start`
    path_rows × one number per action of every player     strategies of every path_stride-th round, from path_start

`shape` numbers the message that announced the layout, so that a page can discard frames of an earlier game. Rows are
sent once; when path_stride changes, the whole path is sent again. A field stored as two numbers is their sum: 48 bits
of precision, enough for every digit of rounds and gaps that the page shows.

The lab sends frames as it plays; a report contains those of a record, one per checkpoint, for its replay.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.game import Game, Table
from gamesim.learner import PLAIN_REGRETS, Learner, PlainRegret
from gamesim.measure import find, regrets
from gamesim.measure.bounds import bound
from gamesim.measure.moments import Moment, Moments
from gamesim.record import Record
from gamesim.simulation import Simulation
from gamesim.user_learners import name_of

Numbers = NDArray[np.float32]

PAUSED, PLAYING, DONE, SEEKING = 0, 1, 2, 3
STATUS = 1  # its place in the header
PLAYERS = 12  # limits of the games that pages show
ACTIONS = 64  # per player
CELLS = 4096  # action profiles
JOINT_CELLS = 16  # maximum for including the joint distribution in every curve row
PATH_ACTIONS = 48  # maximum total number of actions for sending the strategies as a path
BOUND_POINTS = 41
PATH_ROWS = 1024  # of a record
TOGETHER = 4  # frames of a page that plays share the new rows of the curve
NUMBERS = 2**18  # in all states of a record, about

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
_GAPS: dict[str, PlainRegret] = {"gap_ce": "swap", "gap_cce": "external"}  # the largest of these regrets, per round
_OTHERS = {name: find(IN_STATE[name]).function for name in ("gap_nash", "payoffs", "moved")}  # than regrets and gaps


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


def game_data(game: Game) -> dict[str, Any]:
    """Return the game data that a page draws."""
    low, high = game.range
    return {
        "name": game.name,
        "players": list(game.players),
        "actions": [list(labels) for labels in game.actions],
        "payoffs": game.payoffs.tolist() if isinstance(game, Table) else None,
        "low": low.tolist(),
        "high": high.tolist(),
    }


def state(game: Game, moment: Moment | None, speed: float) -> Numbers:
    """Return the numbers of a state; before the first round, all but the round and the speed are NaN."""
    if moment is None:
        empty = np.full(sum(length for _, length in fields(game)), np.nan, dtype=np.float32)
        empty[:3] = 0
        return empty
    profiles = [regrets.profile(matrix) for matrix in moment.matrices]
    measured = _measured(moment, profiles)
    joint = moment.joint
    parts: list[Any] = [
        pair(moment.rounds),
        [speed],
        *(measured[name] if np.ndim(measured[name]) else pair(float(measured[name])) for name in IN_STATE),
        moment.sums.last,
        moment.profile,
        *(scale * together for scale, (together, _) in zip(game.scale, profiles, strict=True)),
        *(scale * alone for scale, (_, alone) in zip(game.scale, profiles, strict=True)),
        np.full(game.cells, np.nan) if joint is None else joint.ravel(),
    ]
    return np.concatenate(parts, dtype=np.float32, casting="same_kind")


def _measured(moment: Moment, profiles: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]) -> dict[str, Any]:
    """Return the measures of a state; regrets and gaps are read from the regret profiles, which costs far less."""
    ends = [(together[0], alone[0], alone[-1]) for together, alone in profiles]
    external, internal, swap = np.array(ends).T * moment.game.scale
    found: dict[str, Any] = {"external": external, "internal": internal, "swap": swap}
    found |= {name: max(0.0, found[kind].max() / moment.rounds) for name, kind in _GAPS.items()}
    return found | {name: function(moment) for name, function in _OTHERS.items()}


def bounds(simulation: Simulation, player: int, started: bool, rounds: int) -> dict[str, Any] | None:
    """Return the bound on the regret of a player's play over the rounds of a run, in payoff units."""
    learners, game, feedback = tuple(simulation.learners), simulation.game, simulation.feedback
    compiled = all(isinstance(one, Learner) for one in learners)
    at_round = _loss_bound if compiled else _loss_bound.__wrapped__  # those of other learners cannot be remembered

    def losses(kind: PlainRegret, t: int) -> float | None:
        found = at_round(learners, player, kind, t, game.sizes[player], started, feedback)
        return None if found is None else float(game.scale[player] * found)

    return _bounds(learners[player], rounds, losses)


@lru_cache(maxsize=2**14)  # in class, many pages show the same learners
def _loss_bound(
    learners: tuple[Any, ...], player: int, kind: PlainRegret, rounds: int, actions: int, started: bool, feedback: Any
) -> float | None:
    return bound(learners, player, kind, rounds, actions, started=started, feedback=feedback)


def _bounds(learner: Any, rounds: int, bound_at: Callable[[PlainRegret, int], float | None]) -> dict[str, Any] | None:
    """Return the bound that a learner's guarantee gives, at some rounds."""
    promise = learner.guarantee() if isinstance(learner, Learner) else None
    if promise is None:
        return None
    at = np.unique(np.round(np.geomspace(1, rounds, BOUND_POINTS)).astype(np.int64))
    found = [bound_at(promise.regret, int(t)) for t in at]
    values = [value for value in found if value is not None]
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
    waited: int = 0  # frames since rows were sent

    def frame(self, simulation: Simulation, moments: Moments | None, speed: float, *, passing: bool = False) -> Numbers:
        """Return the next part of a frame, as if paused: the state and the new rows of the curve and the path.

        Rows take as long as the state, however few they are. If the frame is only `passing`, because others follow,
        they are sent with every `TOGETHER`-th frame.
        """
        self.waited = (self.waited + 1) % TOGETHER
        count = len(simulation.checkpoint_rounds) - self.sent_rows if self.waited == 0 or not passing else 0
        new = (
            np.zeros((0, 0))
            if moments is None or count == 0
            else rows(moments[self.sent_rows : self.sent_rows + count])
        )
        stride, path = simulation.trajectory()
        if path.shape[1] > PATH_ACTIONS:
            path = path[:0]
        if stride != self.stride:
            self.stride, self.sent_path = stride, 0
        steps = path[self.sent_path :]
        head = [self.shape, PAUSED, self.sent_rows, len(new), stride, self.sent_path, len(steps)]
        self.sent_rows, self.sent_path = self.sent_rows + len(new), len(path)
        now = state(simulation.game, moments[-1] if moments else None, speed)
        return np.concatenate([head, now, new.ravel(), steps.ravel()], dtype=np.float32, casting="same_kind")


def rows(moments: Moments) -> NDArray[np.float64]:
    """Return the rows of the curve at checkpoints."""
    found = {name: find(measure).along(moments) for name, measure in IN_ROW.items() if name not in _GAPS}
    found |= {name: np.maximum(0.0, found[kind].max(axis=1) / moments.rounds) for name, kind in _GAPS.items()}
    columns: list[Any] = [moments.rounds, *(found[name] for name in IN_ROW)]
    if moments.game.cells <= JOINT_CELLS:
        columns.append(moments.sums.joint / moments.rounds[:, None])
    return np.concatenate([np.asarray(column).reshape(len(moments.rounds), -1) for column in columns], axis=1)


def of_record(record: Record, shape: int) -> Numbers:
    """Return the frames of a record's first run, one after the other: before the first round, and at checkpoints."""
    game, moments = record.game, record.moments()
    stride, path = _path(record)
    curve = rows(moments)
    step = -(-len(curve) * sum(length for _, length in fields(game)) // NUMBERS)  # leaves out states if they are large
    parts: list[Any] = [[shape, PAUSED, 0, 0, stride, 0, len(path)], state(game, None, 0.0), path.ravel()]
    for k in range((len(curve) - 1) % step, len(curve), step):  # up to the last round
        sent = max(0, k + 1 - step)
        head = [shape, PAUSED, sent, k + 1 - sent, stride, len(path), 0]
        parts += [head, state(game, moments[k], 0.0), curve[sent : k + 1].ravel()]
    return np.concatenate(parts, dtype=np.float32, casting="same_kind")


def _path(record: Record) -> tuple[int, NDArray[np.float64]]:
    """Return the length of a stretch of rounds, and the strategies of one round of each stretch, if these are kept."""
    kept, rounds = record.arrays["trajectory"][0], record.arrays["trajectory_rounds"]
    mean = -(-record.rounds // max(1, len(rounds)))
    for stride in (mean, 1 << mean.bit_length() >> 1):  # every stride-th round, or thinned by a power of two
        if len(rounds) and kept.shape[1] <= PATH_ACTIONS and ((rounds - 1) // stride == np.arange(len(rounds))).all():
            fewer = -(-len(rounds) // PATH_ROWS)
            return stride * fewer, kept[::fewer]
    return 1, kept[:0]


def description(record: Record) -> dict[str, Any]:
    """Return the description of a record's first run that a page needs before its frames."""
    learners = record.learners
    return {
        "learners": [name_of(one) for one in learners],
        "bounds": [_bounds(one, record.rounds, partial(record.bound, i)) for i, one in enumerate(learners)],
    }
