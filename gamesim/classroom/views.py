"""What pages show: the state of a room as a teacher and as a student may see it.

A student sees the own recommendation, move and score, and what the others of the group did after the round.
"""

from dataclasses import asdict
from itertools import product
from math import isfinite, prod
from typing import Any

import numpy as np

from gamesim import equilibrium
from gamesim.classroom import results
from gamesim.classroom.room import Room
from gamesim.classroom.seats import LEARNER
from gamesim.game import Table

CELLS = 64  # largest payoff table that a page shows
FEW = 6  # players whose actions are listed one by one
HISTORY = 100  # rounds of a replay
LEADERS = 10  # students with the highest scores


def of_student(room: Room, student: int, now: float) -> dict[str, Any]:
    """Return what a student sees."""
    one, place = room.students[student], room.place_of(student)
    role = room.role_of(student)
    moving = room.phase == "open" and place is not None
    shown: dict[str, Any] = {
        **_common(room, now),
        "name": one.name,
        "role": room.game.players[role],
        "seat": role,
        "players": room.game.players if len(room.game.players) <= FEW else None,
        "labels": room.game.actions if len(room.game.players) <= FEW else None,
        "actions": room.game.actions[role],
        "payoffs": own_payoffs(room, role),
        "seated": place is not None,
        "moved": room.moves.get(student) if moving else None,
        "score": one.score,
        "recommendation": None,
        "last": _last(room, student),
        "results": None,
    }
    if moving and room.advice is not None and place is not None:
        shown["recommendation"] = room.advice[place[0]][place[1]]
    if room.revealed or room.phase == "ended":
        found = results.of_student(room, student)
        shown["results"] = None if found is None else asdict(found)
        learners = results.learner_payoffs(room)
        shown["learner"] = {"name": room.settings.learner, "payoff": _finite(learners[role])}
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
        "seconds": room.settings.seconds,
        "left": left if room.phase == "open" else None,
        "revealed": room.revealed,
    }


def own_payoffs(room: Room, role: int) -> dict[str, Any] | None:
    """Return a role's payoffs as a table: own actions in rows, profiles of the others in columns."""
    game = room.game
    if not isinstance(game, Table) or prod(game.sizes) > CELLS:
        return None
    others = [labels for i, labels in enumerate(game.actions) if i != role]
    table = np.moveaxis(game.payoffs[role], role, 0).reshape(game.sizes[role], -1)
    names = [name for i, name in enumerate(game.players) if i != role]
    return {"others": names, "columns": [", ".join(one) for one in product(*others)], "rows": table.tolist()}


def _last(room: Room, student: int) -> dict[str, Any] | None:
    """Return what happened in the last round in which a student had a seat."""
    if not room.played:
        return None
    round, last = len(room.played), room.played[-1]
    for seats, actions, by_learner in zip(last.groups, last.actions, last.by_learner, strict=True):
        if student in seats:
            role = seats.index(student)
            labels = [room.game.actions[i][action] for i, action in enumerate(actions)]
            few = len(labels) <= FEW
            return {
                "round": round,
                "mine": labels[role],
                "absent": by_learner[role],
                "others": [[room.game.players[i], label] for i, label in enumerate(labels) if i != role]
                if few
                else None,
                "counts": None if few else _counts(labels),
                "payoff": room.students[student].earned.get(round),
            }
    return None


def _history(room: Room, student: int) -> list[dict[str, Any]]:
    """Return what a student and the others of the group played, round by round."""
    found = []
    for k, one in enumerate(room.played[-HISTORY:], max(len(room.played) - HISTORY, 0) + 1):
        for seats, actions in zip(one.groups, one.actions, strict=True):
            if student in seats and len(actions) <= FEW:
                paid = room.students[student].earned.get(k)
                found.append({"round": k, "actions": actions, "payoff": paid})
    return found


def _counts(labels: list[str]) -> list[tuple[str, int]]:
    return [(label, labels.count(label)) for label in dict.fromkeys(sorted(labels))]


def of_teacher(room: Room, now: float) -> dict[str, Any]:
    """Return what the teacher sees."""
    seated = [one for seats in room.groups for one in seats if one != LEARNER] if room.phase == "open" else []
    leaders = sorted(room.students, key=lambda one: -one.score)[:LEADERS]
    return {
        **_common(room, now),
        "matching": room.settings.matching,
        "learner": room.settings.learner,
        "players": room.game.players,
        "actions": room.game.actions,
        "students": [{"name": one.name, "moved": k in room.moves} for k, one in enumerate(room.students)],
        "seated": len(seated),
        "moved": len(room.moves),
        "leaders": [{"name": one.name, "score": one.score} for one in leaders],
        "groups": len(room.groups),
        "device": list(room.settings.device) or None,
    }


def measured(room: Room) -> dict[str, Any] | None:
    """Return the measures of what was played, for the teacher; None before the end of the first round."""
    record = results.record_of(room)
    if record is None:
        return None
    shares = [one.tolist() for one in record.average]
    joint = record.joint
    small = joint is not None and joint.ndim == 2 and joint.size <= CELLS
    curve = record.curve
    found: dict[str, Any] = {
        "rounds": len(room.played),
        "plays": record.rounds,
        "shares": shares,
        "joint": joint.tolist() if small and joint is not None else None,
        "payoffs": record.payoffs.tolist(),
        "learners": [_finite(one) for one in results.learner_payoffs(room)],
        "gap": {"ce": float(record.gap("ce")), "cce": float(record.gap("cce"))},
        "curve": {
            "rounds": curve.rounds.tolist(),
            "ce": np.asarray(curve.gap("ce")).tolist(),
            "cce": np.asarray(curve.gap("cce")).tolist(),
        },
        "history": [_shares_of(room, k) for k in range(len(room.played))],
        "obedience": [
            {
                "role": room.game.players[one.role],
                "recommended": room.game.actions[one.role][one.recommended],
                "times": one.times,
                "obeyed": one.obeyed,
                "obeying": _finite(one.paid_obeying),
                "disobeying": _finite(one.paid_disobeying),
            }
            for one in results.obedience(room)
        ],
    }
    if isinstance(room.game, Table) and room.game.cells <= CELLS:
        found["welfare"] = {kind: list(equilibrium.welfare_range(room.game, kind)) for kind in ("ce", "cce")}
    return found


def _shares_of(room: Room, round: int) -> list[float]:
    """Return the share of seats that played each action in a round; of the last action only if there are two."""
    played = room.played[round]
    size = max(room.game.sizes)
    counts = np.bincount([one for actions in played.actions for one in actions], minlength=size)
    return list(counts / counts.sum())


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
