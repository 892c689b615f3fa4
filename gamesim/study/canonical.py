"""Data as JSON in the one way that equal data share, to be compared, hashed and stored."""

import json
from typing import Any


def canonical(value: Any) -> str:
    """Return data as JSON in the one way that equal data share.

    >>> canonical({"rounds": 5, "game": {"name": "chicken"}})
    '{"game":{"name":"chicken"},"rounds":5}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
