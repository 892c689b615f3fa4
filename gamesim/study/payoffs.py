"""Payoff tables in the text of a scenario: they are long and shared by many points, so a store keeps them once."""

import hashlib
import json
from typing import Any

from gamesim.study.canonical import canonical


def split(text: str) -> tuple[str, str, str] | None:
    """Return the text with its game replaced by a hash, the hash, and the game; None if there are no payoff tables.

    >>> split('{"game":{"name":"chicken"},"rounds":5}')
    >>> split('{"game":{"payoffs":[[1],[2]]},"rounds":5}')[0]
    '{"game":{"stored":"d45756c91afeb523b383d519c135c5b4"},"rounds":5}'
    """
    document = _with_key(text, "payoffs") or _with_key(text, "schedule")
    if document is None:
        return None
    game = canonical(document["game"])
    digest = hashlib.sha256(game.encode()).hexdigest()[:32]
    return canonical({**document, "game": {"stored": digest}}), digest, game


def digest_in(text: str) -> str | None:
    """Return the hash that replaces the game in a text, if any."""
    document = _with_key(text, "stored")
    return None if document is None else str(document["game"]["stored"])


def join(text: str, game: str) -> str:
    """Return a text with the hash replaced by its game."""
    return canonical({**json.loads(text), "game": json.loads(game)})


def _with_key(text: str, key: str) -> dict[str, Any] | None:
    """Return the scenario in a text if its game has this key."""
    if f'"{key}":' not in text:  # avoids parsing most texts
        return None
    document = json.loads(text)
    game = document.get("game") if isinstance(document, dict) else None
    return document if isinstance(game, dict) and key in game else None
