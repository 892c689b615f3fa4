"""What a class has played: as plays and a record, and the regrets of each student in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.classroom.room import Room, Student
from gamesim.classroom.seats import LEARNER
from gamesim.formatting import number
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
    return (
        f"In the {times} round{'' if times == 1 else 's'} in which you played {labels[played]}, {labels[instead]} "
        f"would have paid {more} more per round."
    )


def plays_of(room: Room) -> Plays | None:
    """Return what was played, by group, or None before the end of the first round.

    Groups are the seats that play together; a group that began later has fewer rounds.
    """
    most = max((len(one.groups) for one in room.played), default=0)
    if most == 0:
        return None
    names = tuple(str(k + 1) for k in range(most))
    rows = [[one.actions[k] for one in room.played if k < len(one.actions)] for k in range(most)]
    advice = [
        [_advice(one.advice, k, len(room.game.players)) for one in room.played if k < len(one.actions)]
        for k in range(most)
    ]
    return Plays(
        names,
        tuple(np.array(one, dtype=np.int64) for one in rows),
        tuple(np.array(one, dtype=np.int64) for one in advice) if room.settings.device else None,
    )


def _advice(advice: list[list[int]] | None, group: int, count: int) -> list[int]:
    return [NONE] * count if advice is None else advice[group]


def record_of(room: Room) -> Record[Any] | None:
    """Return the record of the class, all groups together, or None before the end of the first round."""
    found = plays_of(room)
    return None if found is None else observed(room.game, found, pool=True)


def learner_payoffs(room: Room) -> list[float]:
    """Return what the learner would have earned per round in the seats of students, for each role."""
    found = []
    for role in range(len(room.game.players)):
        seats = {
            (group, role) for one in room.played for group, seated in enumerate(one.groups) if seated[role] != LEARNER
        }
        rounds = sum(room.seats[seat].rounds for seat in seats)
        found.append(sum(room.seats[seat].earned for seat in seats) / rounds if rounds else float("nan"))
    return found


@dataclass(frozen=True)
class Obedience:
    """How a recommendation to a role was followed, and what each choice paid on average; NaN if nobody chose it."""

    role: int
    recommended: int
    times: int
    obeyed: int
    paid_obeying: float
    paid_disobeying: float


def obedience(room: Room) -> list[Obedience]:
    """Return how students followed the recommendations, by role and recommended action."""
    chosen: dict[tuple[int, int], list[tuple[bool, float]]] = {}
    for one in room.played:
        for group, actions in enumerate(one.actions):
            if one.advice is None:
                continue
            payoffs = room.payoffs_of(actions)
            for role, action in enumerate(actions):
                if one.by_learner[group][role]:
                    continue
                advice = one.advice[group][role]
                chosen.setdefault((role, advice), []).append((action == advice, float(payoffs[role][action])))
    found = []
    for (role, advice), choices in sorted(chosen.items()):
        obeying = [paid for obeyed, paid in choices if obeyed]
        disobeying = [paid for obeyed, paid in choices if not obeyed]
        found.append(Obedience(role, advice, len(choices), len(obeying), _mean(obeying), _mean(disobeying)))
    return found


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else float("nan")
