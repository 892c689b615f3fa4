"""What a class has played: as plays and a record, and the regrets of each student in words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.classroom.room import Room, Round, Student
from gamesim.formatting import number
from gamesim.game import Table
from gamesim.measure import regrets
from gamesim.observation.plays import NONE, Plays
from gamesim.observation.recording import observed
from gamesim.record import Record


@dataclass(frozen=True)
class Results:
    """A student's payoff and regrets per round, and the best deviation in words."""

    rounds: int
    payoff: float
    external: float
    internal: float
    swap: float
    deviation: str


def of_student(room: Room, student: int) -> Results | None:
    """Return the results of a student, or None before the first round in which the student moved."""
    one = room.students[student]
    if one.payoffs is None or one.counts is None:
        return None
    labels = room.game.actions[room.role_of(student)]
    return _results(one.payoffs, int(one.counts.sum()), _deviation(one, labels))


def of_opponents(room: Room, student: int) -> dict[str, Results]:
    """Return the results of the learners in the group of a student, by player; of those who play all rounds there."""
    place = room.place_of(student)
    if place is None or room.settings.matching != "learner":
        return {}
    group, mine = place
    others = [(role, room.seats.get((group, role))) for role in range(len(room.game.players)) if role != mine]
    return {
        room.game.players[role]: _results(seat.payoffs, seat.rounds, "") for role, seat in others if seat is not None
    }


def _results(payoffs: NDArray[np.float64], rounds: int, deviation: str) -> Results:
    kinds = (regrets.external, regrets.internal, regrets.swap)
    external, internal, swap = (float(kind(-payoffs)) / rounds for kind in kinds)
    return Results(rounds, float(np.trace(payoffs)) / rounds, external, internal, swap, deviation)


def _deviation(student: Student, labels: Sequence[str]) -> str:
    """Return the most profitable replacement of one action by another, in words."""
    assert student.payoffs is not None and student.counts is not None
    gains = student.payoffs - np.diag(student.payoffs)[:, None]
    played, instead = divmod(int(gains.argmax()), len(gains))
    if gains[played, instead] <= 1e-9:
        return "No other action would have paid more in place of any that you played."
    more = number(float(gains[played, instead] / student.counts[played]))
    times = int(student.counts[played])
    rounds = "1 round" if times == 1 else f"{times} rounds"
    return f"Whenever you played {labels[played]} ({rounds}), {labels[instead]} would have paid {more} more."


def plays_of(room: Room) -> Plays | None:
    """Return what was played, by group, or None before the end of the first round.

    Groups are the seats that play together; a group that began later has fewer rounds.
    """
    most = max((len(one.groups) for one in room.played), default=0)
    if most == 0:
        return None
    rounds = [[one for one in room.played if k < len(one.groups)] for k in range(most)]
    advised = any(one.advice is not None for one in room.played)
    return Plays(
        tuple(str(k + 1) for k in range(most)),
        tuple(np.array([one.actions[k] for one in some], dtype=np.int64) for k, some in enumerate(rounds)),
        tuple(np.array([_advice(one, k) for one in some], dtype=np.int64) for k, some in enumerate(rounds))
        if advised
        else None,
    )


def _advice(one: Round, group: int) -> NDArray[np.int32]:
    return np.full_like(one.actions[group], NONE) if one.advice is None else one.advice[group]


def record_of(room: Room) -> Record[Any] | None:
    """Return the record of the class, all groups together, or None before the end of the first round."""
    found = plays_of(room)
    return None if found is None else observed(room.game, found, pool=True)


@dataclass(frozen=True)
class InSeats:
    """What the learner would have done in the seats of students with one role, against the same moves of the others."""

    payoff: float  # expected, per round
    strategy: tuple[float, ...]  # mean over seats and rounds


def learners_in_seats(room: Room) -> list[InSeats | None]:
    """Return what the learner would have done in the seats of students, for each role."""
    found: list[InSeats | None] = []
    for role in range(len(room.game.players)):
        seats = [room.seats[seat] for seat in room.taken if seat[1] == role and seat in room.seats]
        rounds = sum(seat.rounds for seat in seats)
        if rounds == 0:
            found.append(None)
            continue
        strategy = np.sum([seat.strategies for seat in seats], axis=0) / rounds
        found.append(InSeats(sum(seat.earned for seat in seats) / rounds, tuple(strategy.tolist())))
    return found


@dataclass(frozen=True)
class Obedience:
    """How a recommendation to a role was followed, and what each choice paid; NaN if nobody chose it."""

    role: int
    recommended: int
    times: int
    obeyed: int
    paid_obeying: float
    paid_disobeying: float
    would_pay: tuple[float, ...]  # mean payoff of each action against what the others played
    promised: tuple[float, ...]  # mean payoff of each action if the others follow their recommendations


def obedience(room: Room) -> list[Obedience]:
    """Return how students followed the recommendations of the device now in use, by role and recommended action."""
    rounds = [one for one in room.played[room.device_since :] if one.advice is not None]
    if not rounds or not isinstance(room.game, Table):
        return []
    actions, advice = (np.concatenate([getattr(one, part) for one in rounds]) for part in ("actions", "advice"))
    payoffs, absent = (np.concatenate([getattr(one, part) for one in rounds]) for part in ("payoffs", "by_learner"))
    found = []
    for role, size in enumerate(room.game.sizes):
        table = np.moveaxis(room.game.payoffs[role], role, 0)
        joint = np.moveaxis(np.array(room.device).reshape(room.game.sizes), role, 0) if room.device else None
        others = tuple(np.delete(actions, role, axis=1).T)
        would = table[(slice(None), *others)]  # one row per action of this role
        for recommended in range(size):
            rows = ~absent[:, role] & (advice[:, role] == recommended)
            if not rows.any():
                continue
            obeyed = rows & (actions[:, role] == recommended)
            promised = (math.nan,) * size
            if joint is not None and (mass := joint[recommended].sum()) > 0:
                promised = tuple(float((one * joint[recommended]).sum() / mass) for one in table)
            found.append(
                Obedience(
                    role,
                    recommended,
                    int(rows.sum()),
                    int(obeyed.sum()),
                    _mean(payoffs[obeyed, role]),
                    _mean(payoffs[rows & ~obeyed, role]),
                    tuple(would[:, rows].mean(axis=1).tolist()),
                    promised,
                )
            )
    return found


def _mean(values: NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else math.nan
