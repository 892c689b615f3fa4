"""Payoffs written out in a scenario's text: long, and shared by many points, so that a store keeps them once."""

import hashlib
import json
from typing import Any

from gamesim.study.canonical import canonical


def split(text: str) -> tuple[str, str, str] | None:
    """Return a text with a hash in place of its game, the hash and the game; None where no payoffs are written out.

    >>> split('{"game":{"name":"chicken"},"rounds":5}')
    >>> split('{"game":{"payoffs":[[1],[2]]},"rounds":5}')[0]
    '{"game":{"stored":"d45756c91afeb523b383d519c135c5b4"},"rounds":5}'
    """
    document = _with_key(text, "payoffs")
    if document is None:
        return None
    game = canonical(document["game"])
    digest = hashlib.sha256(game.encode()).hexdigest()[:32]
    return canonical({**document, "game": {"stored": digest}}), digest, game


def digest_in(text: str) -> str | None:
    """Return the hash that stands in place of a text's game, if there is one."""
    document = _with_key(text, "stored")
    return None if document is None else str(document["game"]["stored"])


def join(text: str, game: str) -> str:
    """Return a text with its game in place of the hash."""
    return canonical({**json.loads(text), "game": json.loads(game)})


def _with_key(text: str, key: str) -> dict[str, Any] | None:
    """Return the scenario that a text is, if its game has this key."""
    if f'"{key}":' not in text:  # most have not, and reading takes time
        return None
    document = json.loads(text)
    game = document.get("game") if isinstance(document, dict) else None
    return document if isinstance(game, dict) and key in game else None
