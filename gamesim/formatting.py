"""Format numbers, times and sizes for display."""

from decimal import Decimal
from math import isfinite

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def number(value: float | None, *, zero: float = 1e-12, typeset: bool = False) -> str:
    """Format a number to three significant digits; with `typeset`, use a minus sign and powers of ten, for figures.

    A value of at most `zero` in size is a rounding error, and 0 is printed.

    >>> number(0.0012345), number(12.0), number(1773.9), number(-1e-16), number(None)
    ('0.00123', '12', '1,774', '0', '–')
    >>> [number(x, typeset=True) for x in (-2e-13, 12345, 0.25, 0.001234, -3.0e-7)]
    ['0', '12,345', '0.25', '0.00123', '−3.0×10⁻⁷']
    >>> number(3e-13, zero=0.0)
    '3e-13'
    """
    if value is None:
        return "–"
    if abs(value) <= zero:
        return "0"
    if typeset and isfinite(value) and not 1e-4 <= abs(value) < 1e7:
        digits, power = f"{value:.1e}".split("e")
        text = f"{digits}×10{superscript(int(power))}"
    else:
        text = f"{value:.3g}" if abs(value) < 999.5 or not isfinite(value) else f"{value:,.0f}"
    return text.replace("-", "−") if typeset else text


def superscript(power: int) -> str:
    """Format an integer as a superscript exponent.

    >>> superscript(-12)
    '⁻¹²'
    """
    return str(power).translate(SUPERSCRIPTS)


def two_digits(value: float | None) -> str:
    """Format a number to two significant digits, in at most eight characters.

    >>> [two_digits(value) for value in (0.000048, 1.234, 122.3, 4567.0, 1234567.0, None)]
    ['4.8e-05', '1.2', '122', '4,567', '1.2e+06', '–']
    """
    if value is None:
        return "–"
    return f"{value:,.0f}" if 99.5 <= abs(value) < 1e5 else f"{value:.2g}"


def rate(value: float) -> str:
    """Format a number of rounds per second in a few characters.

    >>> [rate(x) for x in (12.3, 4567.0, 8_900_000.0)]
    ['12', '4.6k', '8.9M']
    """
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:.1f}{unit}"
    return f"{value:.0f}"


def duration(seconds: float) -> str:
    """Format a time in seconds, minutes, hours or days, depending on its length.

    >>> [duration(s) for s in (0.4, 59, 600, 7300, 260000)]
    ['1 s', '59 s', '10 min', '2.0 h', '3.0 days']
    """
    if seconds < 100:
        return f"{max(seconds, 1):.0f} s"
    if seconds < 6000:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def file_size(count: float) -> str:
    """Format the estimated size of a file.

    >>> [file_size(count) for count in (4096, 250_000, 3e9)]
    ['less than 0.1 MB', 'about 0.2 MB', 'about 3,000.0 MB']
    """
    return f"about {count / 1e6:,.1f} MB" if count >= 1e5 else "less than 0.1 MB"


def memory(count: int) -> str:
    """Format a number of bytes, which may be larger than any float.

    >>> memory(2**20), memory(3 * 10**18), memory(10**400)
    ('1 MiB', '2.60 EiB', '8.67e+381 EiB')
    """
    size = Decimal(count)
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024:
            return f"{size:.3g} {unit}"
        size /= 1024
    return f"{size:.3g} EiB".replace("E+", "e+")


def amount(number: int) -> str:
    """Format a count in full, or to two significant digits if it is long.

    >>> amount(16777216), amount(2 * 10**18), amount(7**100)
    ('16,777,216', '2.0e+18', '3.2e+84')
    """
    return f"{number:,}" if abs(number) < 10**15 else f"{Decimal(number):.1e}"


def one_line(text: str, most: int = 40) -> str:
    """Return a text on one line of at most `most` characters.

    >>> one_line("a name\\nof two lines", 12)
    'a name of t…'
    """
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def shown(value: object) -> str:
    """Return a value as messages quote it, shortened if it is long.

    >>> shown(-1.0), shown("opera"), shown([0.5] * 10**6), shown(10**400)
    ('-1.0', "'opera'", '[0.5, 0.5, 0.5, 0.5, ...] (1,000,000 entries)', '1.0e+400')
    """
    if isinstance(value, int) and abs(value) >= 10**20:
        return amount(value)
    if isinstance(value, list | tuple):
        if len(value) > 20:
            return f"[{', '.join(map(shown, value[:4]))}, ...] ({len(value):,} entries)"
        text = f"[{', '.join(map(shown, value))}]"
    else:
        text = repr(value)
    return shortened(text)


def shortened(text: str) -> str:
    """Return a text, shortened if it is long.

    >>> shortened("a" * 100)
    'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...'
    """
    return text if len(text) <= 60 else text[:57] + "..."


def replicas(feedback: str, count: int = 2) -> str:
    """Return what the replicas of a record with this feedback are called: of observed play, they are groups.

    >>> replicas("sampled"), replicas("observed"), replicas("observed", 1)
    ('replicas', 'groups', 'group')
    """
    word = "group" if feedback == "observed" else "replica"
    return word if count == 1 else f"{word}s"
