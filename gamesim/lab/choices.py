"""The learners, games and lessons that the page offers."""

import inspect
from collections.abc import Sequence
from dataclasses import fields
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from gamesim import games, players, user_learners
from gamesim.game import Table
from gamesim.lab.course import Group, course, glossary
from gamesim.lab.limits import LIMITS
from gamesim.learner import Feedback, Learner, default_guarantee
from gamesim.scenario import Scenario, read, shipped
from gamesim.scenario.settings import parameters


def choices(first: Scenario | None, own: Sequence[str] = ()) -> dict[str, Any]:
    """Return everything the page offers and the scenario it opens with.

    `own` are references to user-defined learners that were allowed on the command line.
    """
    groups = course()
    lessons = [_lesson(group, number) for group in groups for number in range(len(group.lesson))]
    opening = lessons[0]
    if first is not None:
        known = [one for one in lessons if one["scenario"] == as_data(first)]
        opening = known[0] if known else _own_lesson(first)
        if not known:
            lessons.insert(0, opening)
    return {
        "scenario": opening["scenario"],
        "lesson": opening["name"],
        "lessons": lessons,
        "course": [{"title": one.title, "lessons": [lesson.scenario for lesson in one.lesson]} for one in groups],
        "glossary": [entry.model_dump() for entry in glossary()],
        "learners": [*_learners(), *map(_user_defined, own)],
        "games": _games(),
        "limits": LIMITS,
    }


def as_data(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario in the form a page sends: one run, one table per player, and a game that needs no file."""
    game = scenario.played_game
    data = scenario.model_dump(exclude_defaults=True, exclude={"replicas", "everyone", "players", "game"})
    if scenario.game.file is not None and isinstance(game, Table):
        data["game"] = {"payoffs": game.payoffs.tolist(), "players": [*game.players], "actions": _lists(game.actions)}
    else:
        data["game"] = scenario.game.model_dump(exclude_defaults=True)
    data["players"] = [one.model_dump(exclude_defaults=True) for one in scenario.player_parts]
    return data


def _lists(actions: tuple[tuple[str, ...], ...]) -> list[list[str]]:
    return [list(labels) for labels in actions]


def _lesson(group: Group, number: int) -> dict[str, Any]:
    lesson = group.lesson[number]
    scenario = read(shipped()[lesson.scenario])
    place = {"name": lesson.scenario, "group": group.title, "number": number + 1}
    return {**lesson.model_dump(), **place, "scenario": as_data(scenario)}


def _own_lesson(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario of the user as a lesson: its comment is what there is to reveal."""
    return {
        "name": "yours",
        "title": scenario.title or scenario.played_game.name,
        "scenario": as_data(scenario),
        "views": [],
        "opens": {},
        "speed": None,
        "pause": {},
        "reveal": " ".join(scenario.comment.split()),
    }


def _learners() -> list[dict[str, Any]]:
    found = []
    for name, kind in sorted(players.available().items()):
        promise = default_guarantee(kind)
        found.append(
            {
                "name": name,
                "about": (kind.__doc__ or "").strip().splitlines()[0],
                "guarantee": str(promise) if promise else "no guarantee",
                "feedback": kind.feedback,
                "settings": [
                    _setting(one.name, get_type_hints(kind)[one.name], one.default)
                    for one in fields(kind)
                    if one.name != "horizon"  # set by the number of rounds
                ],
            }
        )
    return found


def _user_defined(reference: str) -> dict[str, Any]:
    kind = user_learners.class_of(reference)
    compiled = issubclass(kind, Learner)
    try:
        promise = default_guarantee(kind) if compiled else None
    except Exception:  # a setting may have no default
        promise = None
    return {
        "name": reference,
        "about": (kind.__doc__ or "User-defined.").strip().splitlines()[0],
        "guarantee": str(promise) if promise else "no guarantee",
        "feedback": kind.feedback if compiled else get_args(Feedback),
        "settings": [
            _setting(name, _hint(one), None if one.default is one.empty else one.default)
            for name, one in parameters(kind).items()  # type: ignore[arg-type]  # classes are hashable
            if name not in (*user_learners.PASSED, "horizon")  # set by the simulation, and by the number of rounds
        ],
    }


def _hint(parameter: inspect.Parameter) -> Any:
    """Return the type of a setting of a user-defined class, from its annotation or its default."""
    return type(parameter.default) if parameter.annotation is parameter.empty else parameter.annotation


def _games() -> list[dict[str, Any]]:
    found = []
    for name, make in sorted(games.available().items()):
        hints = get_type_hints(make)
        if issubclass(hints["return"], Table):
            text = inspect.getdoc(make) or ""
            teaches = " ".join(text.partition("Teaches:")[2].split("\n\n")[0].split())
            takes = inspect.signature(make).parameters.values()
            found.append(
                {
                    "name": name,
                    "about": text.splitlines()[0],
                    "teaches": teaches,
                    "settings": [_setting(one.name, hints[one.name], one.default) for one in takes],
                }
            )
    return found


def _setting(name: str, hint: Any, default: Any) -> dict[str, Any]:
    """Describe the input for a setting: a choice, a switch, or text that the scenario validates."""
    arms = [one for one in get_args(hint) if one is not NoneType] if NoneType in get_args(hint) else [hint]
    shown = list(default) if isinstance(default, tuple) else default
    if get_origin(arms[0]) is Literal:
        return {"name": name, "kind": "choice", "choices": list(get_args(arms[0])), "default": shown}
    kinds = {bool: "switch", int: "whole number", float: "number", str: "text"}
    return {"name": name, "kind": kinds.get(arms[0], "list") if len(arms) == 1 else "list", "default": shown}
