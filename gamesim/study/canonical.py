"""Canonical JSON: equal data have the same text, to be compared, hashed and stored."""

import json
from typing import Any


def canonical(value: Any) -> str:
    """Return data as canonical JSON, which is the same for equal data; dates, which no scenario takes, are text.

    >>> canonical({"rounds": 5, "game": {"name": "chicken"}})
    '{"game":{"name":"chicken"},"rounds":5}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=str)
