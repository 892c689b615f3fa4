"""Find every mistake in a scenario, and describe each in plain words.

Each table is validated on its own in `gamesim.scenario.parts`. This module does the rest: it translates pydantic's
messages, and finds keys that exclude or require each other, a game that cannot be built, and players that do not match
the game.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gamesim.errors import InputError, did_you_mean
from gamesim.formatting import shown
from gamesim.game import Game
from gamesim.learner import Learner, several_informed
from gamesim.scenario.mistakes import Mistake, Mistakes, key_at, key_of_setting
from gamesim.scenario.parts import EveryonePart, GamePart, MeasurePart, Part, PlayerPart
from gamesim.scenario.payoffs import label_mistakes

PARTS: dict[str | int, type[Part]] = {
    "game": GamePart,
    "players": PlayerPart,
    "everyone": EveryonePart,
    "measure": MeasurePart,
}

SoundPart = TypeVar("SoundPart", bound=Part)


def in_plain_words(error: ErrorDetails, scenario: type[Part]) -> Iterator[Mistake]:
    """Translate an error that pydantic found in a scenario."""
    location = error["loc"]
    key = key_at(location)
    cause = error.get("ctx", {}).get("error")
    if isinstance(cause, Mistakes):
        yield from ((f"{key}{'' if below[:1] in ('[', '') else '.'}{below}", what) for below, what in cause.found)
    elif isinstance(cause, InputError):
        yield key, str(cause)
    elif error["type"] == "extra_forbidden":
        yield key, f"unknown key; {did_you_mean(str(location[-1]), _part_at(location, scenario).model_fields)}"
    else:
        named = [part for part in location if isinstance(part, str)]
        field = _part_at(location, scenario).model_fields.get(named[-1])
        expected = (field and field.description) or str(error["msg"])
        if error["type"] == "missing":
            yield key, f"missing; expected {expected}"
        else:
            yield key, f"expected {expected}, got {shown(error['input'])}"


def _part_at(location: Sequence[str | int], scenario: type[Part]) -> type[Part]:
    """Return the model of the table that contains a key: one of the parts, or the scenario itself."""
    inside = len([part for part in location if isinstance(part, str)]) > 1
    return PARTS[location[0]] if inside else scenario


def conflicting_keys(raw: Mapping[str, Any]) -> Iterator[Mistake]:
    """Yield the mistakes of keys that exclude or require each other."""
    if ("players" in raw) == ("everyone" in raw):
        got = "both" if "players" in raw else "neither"
        yield "players", f"expected either one table [[players]] per player or one table [everyone], got {got}"
    game = raw.get("game")
    if not isinstance(game, dict):
        return
    given = [key for key in ("name", "file", "payoffs") if key in game]
    if len(given) != 1:
        yield "game", f"expected exactly one of name, file and payoffs, got {' and '.join(given) or 'none of them'}"
        return
    for key, partner in (("settings", "name"), ("players", "payoffs"), ("actions", "payoffs")):
        if key in game and partner not in game:
            yield f"game.{key}", f"can only be given with {partner}, got {given[0]}"


def built_game(raw: Mapping[str, Any], folder: Path) -> tuple[Game | None, list[Mistake]]:
    """Return the game if its table is valid, and the mistakes found while building it."""
    part = _sound(GamePart, raw.get("game"))
    if part is None or any(key.startswith("game") for key, _ in conflicting_keys(raw)):
        return None, []
    if part.payoffs is not None and (found := list(label_mistakes(part.payoffs, part.players, part.actions))):
        return None, found
    key = "game.settings" if part.name else "game.file" if part.file else "game.payoffs"
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
    feedback = raw.get("feedback", "expected")
    if feedback in ("expected", "sampled", "bandit") and feedback not in player.feedback:
        yield (
            f"{place}.learner",
            f"{player.name} requires {' or '.join(player.feedback)} feedback, got {feedback}",
        )
    try:
        rounds = raw.get("rounds")
        tuned = player.with_horizon(rounds) if isinstance(rounds, int) and rounds > 0 else player
        tuned = tuned.with_payoff_scale(float(game.scale[i]))
        tuned.kernel_settings(size)
    except InputError as error:
        yield key_of_setting(f"{place}.settings", error, entry.settings), str(error)
        return
    if isinstance(entry.start, list) and len(entry.start) == size > 1:
        try:
            tuned.start_at(tuned.first_state(size), np.array(entry.start))
        except InputError as error:
            yield f"{place}.start", str(error)


def _sound(part: type[SoundPart], raw: Any) -> SoundPart | None:
    """Return a table if it is valid on its own, or None."""
    try:
        return part.model_validate(raw)
    except ValidationError:
        return None
