"""Find every mistake in a scenario, and describe each in plain words.

Each table is validated on its own in `gamesim.scenario.parts`. This module does the rest: it translates pydantic's
messages, and finds keys that exclude or require each other, a game that cannot be built, and players that do not match
the game.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np
from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from gamesim import user_files
from gamesim.errors import InputError, did_you_mean
from gamesim.formatting import shown
from gamesim.game import Game
from gamesim.learner import Learner, several_informed
from gamesim.scenario.mistakes import MOST_MISTAKES, Mistake, Mistakes, key_at, key_of_setting
from gamesim.scenario.parts import EveryonePart, GamePart, Part, PlayerPart
from gamesim.scenario.payoffs import label_mistakes
from gamesim.simulation.first_round import refuse_opening
from gamesim.simulation.ordering import with_order
from gamesim.simulation.protocol import Protocol

if TYPE_CHECKING:
    from gamesim.scenario.model import Scenario

LABELLED = ["payoffs", "schedule"]  # games whose players and actions have names in the scenario

SoundPart = TypeVar("SoundPart", bound=Part)


def in_plain_words(errors: ValidationError, raw: Mapping[str, Any], scenario: type[Part]) -> list[Mistake]:
    """Translate the errors that pydantic found in a scenario; all alternatives of one value are one mistake."""
    found = errors.errors()[:MOST_MISTAKES]  # a large file may have a mistake in every line
    return list(dict.fromkeys(mistake for one in found for mistake in _translated(one, raw, scenario)))


def _translated(error: ErrorDetails, raw: Mapping[str, Any], scenario: type[Part]) -> Iterator[Mistake]:
    location, part, field = _place(error["loc"], scenario)
    key = key_at(location)
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, Mistakes):
        yield from ((f"{key}{'' if below[:1] in ('[', '') else '.'}{below}", what) for below, what in cause.found)
    elif isinstance(cause, InputError):
        yield key, str(cause)
    elif error["type"] == "extra_forbidden":
        yield key, f"unknown key; {did_you_mean(str(location[-1]), part.model_fields)}"
    else:
        expected = (field and field.description) or str(error["msg"])
        if error["type"] == "missing":
            yield key, f"missing; expected {expected}"
        else:
            yield key, f"expected {expected}, got {shown(_value_at(raw, location))}"


def _place(location: Sequence[str | int], scenario: type[Part]) -> tuple[list[str | int], type[Part], FieldInfo | None]:
    """Return the location of a value, the model of its table, and its field.

    Pydantic's locations end with the alternative of a value that it has tried, which is not a key.
    """
    table, inside, field = scenario, scenario, None
    found: list[str | int] = []
    for step in location:
        if isinstance(step, str):
            table = inside
            if step not in table.model_fields:
                if not found or isinstance(found[-1], int) or _model(field) is not None:
                    found.append(step)  # an unknown key
                    field = None
                break
            field = table.model_fields[step]
            inside = _model(field) or table
        found.append(step)
    return found, table, field


def _model(field: FieldInfo | None) -> type[Part] | None:
    """Return the model of the tables that a field holds, if it holds any."""
    kinds: list[Any] = [] if field is None else [field.annotation]
    for kind in kinds:
        if isinstance(kind, type) and issubclass(kind, Part):
            return kind
        kinds += get_args(kind)
    return None


def _value_at(raw: Any, location: Sequence[str | int]) -> Any:
    for step in location:
        raw = raw[step]
    return raw


def conflicting_keys(raw: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield the mistakes of keys that exclude or require each other."""
    if ("players" in raw) == ("everyone" in raw):
        got = "both" if "players" in raw else "neither"
        yield "players", f"expected either one table [[players]] per player or one table [everyone], got {got}"
    game = raw.get("game")
    if not isinstance(game, dict):
        return
    given = [key for key in ("name", "file", "payoffs", "schedule") if key in game]
    if len(given) != 1:
        got = " and ".join(given) or "none of them"
        yield "game", f"expected exactly one of name, file, payoffs and schedule, got {got}"
        return
    for key, partners in (("settings", ["name"]), ("players", LABELLED), ("actions", LABELLED)):
        if key in game and given[0] not in partners:
            yield f"game.{key}", f"can only be given with {' or '.join(partners)}, got {given[0]}"


def built_game(raw: Mapping[str, Any], folder: Path) -> tuple[Game | None, list[Mistake]]:
    """Return the game if its table is valid, and the mistakes found while building it."""
    part = _sound(GamePart, raw.get("game"))
    if part is None or any(key.startswith("game") for key, _ in conflicting_keys(raw)):
        return None, []
    labelled = part.payoffs if part.schedule is None else part.schedule.tables[0]
    if labelled is not None and (found := list(label_mistakes(labelled, part.players, part.actions))):
        return None, found
    places = {"game.settings": part.name, "game.file": part.file, "game.schedule": part.schedule}
    key = next((key for key, given in places.items() if given), "game.payoffs")
    try:
        return part.make(folder, str(raw.get("title", ""))), []
    except InputError as error:
        return None, [(key_of_setting(key, error, part.settings), str(error))]


def clashes(raw: Mapping[str, Any], game: Game) -> Iterator[Mistake]:
    """Yield the mismatches between the game and those players whose tables are valid."""
    everyone, given = _sound(EveryonePart, raw.get("everyone")), raw.get("players")
    if everyone:
        first_of_size = {size: i for i, size in reversed(list(enumerate(game.sizes)))}
        for i in sorted(first_of_size.values()):
            yield from _misfits("everyone", everyone, game, i, raw)
        if (clash := several_informed([everyone.make()] * len(game.players), game.players)) is not None:
            yield "everyone.learner", clash
    if not isinstance(given, list):
        return
    if len(given) != len(game.players):
        who = ", ".join(game.players[:10]) + (", …" if len(game.players) > 10 else "")
        yield "players", f"expected {len(game.players)} tables, one per player of the game ({who}), got {len(given)}"
        return
    entries = [_sound(PlayerPart, one) for one in given]
    for i, entry in enumerate(entries):
        if entry:
            yield from _misfits(f"players[{i + 1}]", entry, game, i, raw)
    called = [(entry and entry.name) or name for entry, name in zip(entries, game.players, strict=True)]
    if (clash := several_informed([entry and entry.make() for entry in entries], called)) is not None:
        yield "players", clash
    names = [one.get("name", name) for one, name in zip(given, game.players, strict=True) if isinstance(one, dict)]
    for i, name in enumerate(names):
        if name in names[:i]:
            yield f"players[{i + 1}].name", f"names of players must differ, got {name!r} again"


def protocol_mistakes(scenario: "Scenario", game: Game) -> Iterator[Mistake]:
    """Yield the mistakes of the protocol as a whole, and of learners that do not fit it."""
    parts = scenario.parts_for(game)
    feedbacks = [getattr(part, "feedback", None) or scenario.feedback for part in parts]
    try:
        protocol = Protocol.checked(game, feedbacks, scenario.order, scenario.delay, scenario.noise)
    except InputError as error:
        yield "order", str(error)
        return
    places = ["everyone"] if scenario.everyone is not None else [f"players[{i + 1}]" for i in range(len(parts))]
    for place, part in zip(places, parts, strict=False):
        try:
            protocol.refuse_informed(part.make())
        except InputError as error:
            yield f"{place}.learner", str(error)


def _misfits(place: str, entry: EveryonePart, game: Game, i: int, raw: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield the mismatches between one player's table and the game or the feedback."""
    size = game.sizes[i]
    for key, strategy in (("start", entry.start), ("opening", entry.opening)):
        if isinstance(strategy, list) and len(strategy) != size:
            wanted = f"{size} probabilities, one per action of {game.players[i]}"
            yield f"{place}.{key}", f"expected {wanted}, got {len(strategy)}"
    player = entry.make()
    if not isinstance(player, Learner):
        return
    feedback = getattr(entry, "feedback", None) or raw.get("feedback", "expected")
    if feedback in ("expected", "sampled", "bandit") and feedback not in player.feedback:
        yield (
            f"{place}.learner",
            f"{player.name} requires {' or '.join(player.feedback)} feedback, got {feedback}",
        )
    try:
        rounds = raw.get("rounds")
        tuned = player.with_horizon(rounds) if isinstance(rounds, int) and rounds > 0 else player
        tuned = with_order(tuned.with_payoff_scale(float(game.scale[i])), game, i)
        tuned.kernel_settings(size)
    except InputError as error:
        yield key_of_setting(f"{place}.settings", error, entry.settings), str(error)
        return
    except Exception as error:
        if not player.is_user_defined:
            raise
        yield f"{place}.learner", str(user_files.failure(player.name, "when it was set up", error))
        return
    if entry.start is not None and size > 1:
        named = isinstance(entry.start, str)  # a random strategy or one on a grid, which has no zeros
        start = np.full(size, 1 / size) if named else np.array(entry.start)
        try:
            if len(start) == size:
                tuned.start_at(tuned.first_state(size), start)
        except InputError as error:
            yield f"{place}.start", str(error)
    if entry.opening is not None:
        try:
            refuse_opening(tuned, game.players[i])
        except InputError as error:
            yield f"{place}.opening", str(error)


def _sound(part: type[SoundPart], raw: Any) -> SoundPart | None:
    """Return a table if it is valid on its own, or None."""
    try:
        return part.model_validate(raw)
    except ValidationError:
        return None
