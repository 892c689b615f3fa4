"""The notation of learners on the command line, such as `blum-mansour:rows=ftrl(optimistic=true)`."""

import tomllib
from typing import Any

from gamesim.errors import InputError

FORM = "learner:setting=value:setting=value, and learner(setting=value,setting=value) for a learner among the settings"


def split(text: str, at: str) -> list[str]:
    """Split a text at a character, but not inside brackets, parentheses or quotes.

    >>> split("hedge,fixed:strategy=[0.5,0.5],wavelet", ",")
    ['hedge', 'fixed:strategy=[0.5,0.5]', 'wavelet']
    """
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        if letter == at and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    if depth or quote:
        raise InputError(f"brackets and quotes must be closed, got {text!r}")
    return parts


def settings(parts: list[str], text: str) -> dict[str, Any]:
    """Parse settings such as `rate=0.1` and `rows=ftrl(optimistic=true)`; `text` is shown in messages.

    >>> settings(["rows=ftrl(optimistic=true)"], "")
    {'rows': {'learner': 'ftrl', 'optimistic': True}}
    """
    found = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"a learner must have the form {FORM}, got {text!r}")
        found[key.strip()] = _value(value.strip(), text)
    return found


def _value(given: str, text: str) -> Any:
    try:
        return tomllib.loads(f"value = {given}")["value"]
    except tomllib.TOMLDecodeError:
        pass
    name, opening, inner = given.partition("(")
    if opening and inner.endswith(")") and name.replace("-", "").replace("_", "").isalnum():
        inside = inner[:-1].strip()
        return {"learner": name.strip(), **settings(split(inside, ",") if inside else [], text)}
    return given  # a bare string
