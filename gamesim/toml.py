"""Write TOML: the standard library only reads it."""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def write(document: Mapping[str, Any]) -> str:
    """Return a document as TOML that reads back equal: values, then [tables] and [[arrays of tables]]; None is invalid.

    >>> print(write({"rounds": 5, "game": {"name": "x"}, "players": [{"settings": {"rate": 0.5}}]}), end="")
    rounds = 5
    <BLANKLINE>
    [game]
    name = "x"
    <BLANKLINE>
    [[players]]
    settings = { rate = 0.5 }
    """
    values = {key: value for key, value in document.items() if not _is_tables(value)}
    blocks = ["".join(f"{_key(key)} = {_value(value)}\n" for key, value in values.items())] if values else []
    for key, tables in document.items():
        if _is_tables(tables):
            head = f"[{_key(key)}]" if isinstance(tables, Mapping) else f"[[{_key(key)}]]"
            for table in [tables] if isinstance(tables, Mapping) else tables:
                lines = (f"{_key(name)} = {_value(value)}\n" for name, value in table.items())
                blocks.append(f"{head}\n{''.join(lines)}")
    return "\n".join(blocks)


def _is_tables(value: Any) -> bool:
    return isinstance(value, Mapping) or (
        isinstance(value, list) and bool(value) and all(isinstance(one, Mapping) for one in value)
    )


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _string(text: str) -> str:
    """Quote a string as JSON does: TOML has the same escapes, but also requires the delete character to be escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"{value}"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + " }" if value else "{}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_value, value)) + "]"
    raise TypeError(f"TOML cannot represent {value!r}")
