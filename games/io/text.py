"""Text files: read up to a size limit, write atomically, read numbers and format them without loss."""

from fractions import Fraction
from math import isfinite
from pathlib import Path

from gamesim.atomic import write_file
from gamesim.errors import InputError

LARGEST_TEXT = 2**30  # limit on the size of a text file, in bytes


def read_text(path: Path) -> str:
    """Return the text in a file; raise InputError if it cannot be read."""
    try:
        size = path.stat().st_size
        if size > LARGEST_TEXT:
            raise InputError(f"{path}: has {size} bytes; the limit is {LARGEST_TEXT}")
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: expected text in UTF-8, got other bytes") from None
    except InputError:  # a ValueError too, but its message is already complete
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file in UTF-8."""
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"{path}: cannot write {text[error.start : error.end]!r} as UTF-8") from None
    write_file(path, lambda out: out.write(data))


def finite_number(text: str) -> float | None:
    """Return the integer, decimal or fraction that a text states, or None if it states no finite number.

    >>> finite_number("1/4"), finite_number("-2.5e3"), finite_number("1/0"), finite_number("inf")
    (0.25, -2500.0, None, None)
    """
    try:
        value = float(Fraction(text)) if "/" in text else float(text)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return value if isfinite(value) and "_" not in text else None


def exact_number(value: float) -> str:
    """Format a number without loss; integers have no decimal point.

    >>> exact_number(3.0), exact_number(0.1), exact_number(1e-7)
    ('3', '0.1', '1e-07')
    """
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))
