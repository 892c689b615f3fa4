"""What pages show: the state of a room as a teacher and as a student may see it.

A student sees their own recommendation, move and score, and what the others of the group did after the round.
"""

from dataclasses import asdict
from typing import Any

from gamesim.classroom import payoffs
from gamesim.classroom.room import Room, Round
from gamesim.classroom.seats import LEARNER

FEW = 6  # players whose actions are listed one by one
FEW_ACTIONS = 4  # actions whose payoffs are listed after a round
HISTORY = 100  # rounds of a replay
LEADERS = 10  # students with the highest mean payoffs, of those who chose in at least half of the rounds


def of_seat(room: Room, student: int) -> dict[str, Any]:
    """Return what a student sees that does not change: the role, its actions and its payoffs."""
    role, few = room.role_of(student), len(room.game.players) <= FEW
    return {
        "name": room.students[student].name,
        "role": room.game.players[role],
        "seat": role,
        "players": room.game.players if few else None,
        "labels": room.game.actions if few else None,
        "actions": room.game.actions[role],
        "payoffs": payoffs.of_role(room.game, role),
    }


def of_student(room: Room, student: int, now: float) -> dict[str, Any]:
    """Return what a student sees now."""
    place = room.place_of(student)
    moving = room.phase == "open" and place is not None
    shown: dict[str, Any] = {
        **_common(room, now),
        "seated": place is not None,
        "moved": room.moves.get(student) if moving else None,
        "score": room.students[student].score,
        "recommendation": None,
        "last": _last(room, student),
        "results": None,
    }
    if moving and room.advice is not None and place is not None:
        shown["recommendation"] = room.advice[place[0]][place[1]]
    if room.revealed or room.phase == "ended":
        from gamesim.classroom import results  # here because it loads SciPy, which no page needs before

        found = results.of_student(room, student)
        shown["results"] = None if found is None else asdict(found)
        in_seats = results.learners_in_seats(room)[room.role_of(student)]
        shown["learner"] = {"name": room.settings.learner, "payoff": None if in_seats is None else in_seats.payoff}
        shown["opponents"] = {name: asdict(one) for name, one in results.of_opponents(room, student).items()}
        shown["history"] = _history(room, student)
    return shown


def _common(room: Room, now: float) -> dict[str, Any]:
    left = room.paused if room.paused is not None else max(room.deadline - now, 0.0) if room.deadline else None
    return {
        "game": room.game.name,
        "phase": room.phase,
        "paused": room.paused is not None,
        "round": room.round,
        "rounds": room.settings.rounds,
        "seconds": room.seconds,
        "left": left if room.phase == "open" else None,
        "revealed": room.revealed,
    }


def _last(room: Room, student: int) -> dict[str, Any] | None:
    """Return what happened in the last round, if the student had a seat in it."""
    if not room.played:
        return None
    one, role = room.played[-1], room.role_of(student)
    group = one.group_of(student, role)
    if group is None:
        return None
    actions = one.actions[group].tolist()
    labels = [room.game.actions[i][action] for i, action in enumerate(actions)]
    few, absent = len(labels) <= FEW, bool(one.by_learner[group, role])
    others = [[room.game.players[i], label] for i, label in enumerate(labels) if i != role]
    return {
        "round": len(room.played),
        "mine": labels[role],
        "absent": absent,
        "advice": None if one.advice is None else room.game.actions[role][one.advice[group, role]],
        "others": others if few else None,
        "counts": None
        if few
        else [(label, labels.count(label)) for label in room.game.actions[role] if label in labels],
        "payoff": None if absent else float(one.payoffs[group, role]),
        "instead": [] if absent else _instead(room, one, group, role),
    }


def _instead(room: Room, one: Round, group: int, role: int) -> list[tuple[str, float]]:
    """Return what the other actions would have paid against the same moves of the others, if there are few actions."""
    labels, mine = room.game.actions[role], one.actions[group, role]
    if len(labels) > FEW_ACTIONS:
        return []
    paid = room.payoffs_of(one.actions[group].tolist())[role]
    return [(label, float(paid[k])) for k, label in enumerate(labels) if k != mine]


def _history(room: Room, student: int) -> list[dict[str, Any]]:
    """Return what a student and the others of the group played, round by round."""
    role, found = room.role_of(student), []
    if len(room.game.players) > FEW:
        return []
    for k, one in enumerate(room.played[-HISTORY:], max(len(room.played) - HISTORY, 0) + 1):
        if (group := one.group_of(student, role)) is not None:
            paid = None if one.by_learner[group, role] else float(one.payoffs[group, role])
            found.append({"round": k, "actions": one.actions[group].tolist(), "payoff": paid})
    return found


def of_teacher(room: Room, now: float) -> dict[str, Any]:
    """Return what the teacher sees."""
    seated = sum(one != LEARNER for seats in room.groups for one in seats) if room.phase == "open" else 0
    playing = [one for one in room.students if 2 * one.rounds >= max(1, len(room.played))]
    leaders = sorted(playing, key=lambda one: -one.score / one.rounds)[:LEADERS]
    return {
        **_common(room, now),
        "matching": room.settings.matching,
        "learner": room.settings.learner,
        "students": [{"name": one.name, "moved": k in room.moves} for k, one in enumerate(room.students)],
        "places": room.most_students,
        "seated": seated,
        "moved": len(room.moves),
        "leaders": [{"name": one.name, "payoff": one.score / one.rounds} for one in leaders],
        "groups": len(room.groups),
        "device": list(room.device) or None,
    }
