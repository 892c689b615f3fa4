"""Extreme numbers and texts, and what all mutations draw on."""

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import TypeVar

Input = dict[str, bytes]  # the files of an input, by name
Item = TypeVar("Item")

LONG = 10**5  # characters of a long text
DEEP = (50, 500, 5000)  # levels of nesting

INTEGERS = (
    *(0, 1, 2, 3, -1, 7, 255, 10**4, 10**9, -(10**9), 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**18),
    *(10**30, -(10**400), 10**4000),
)
FLOATS = (
    *(0.0, -0.0, 0.1, 0.5, 1.0, -1.0, 1e-9, 1e9, 1e16, 5e-324, -5e-324, 2.2e-308, 1e150, 1.1e150, 1e200, 1e308, -1e308),
    *(1.7976931348623157e308, float("inf"), float("-inf"), float("nan")),
)
NUMERALS = (
    *("-0", "+1", "1.", ".5", "01", "1_000", "1__0", "1e400", "-1e400", "1e-400", f"1e{'9' * 30}", "nan", "-inf"),
    *("NaN", "Infinity", "1/3", "1/0", "-7/3", f"1/{'3' * 400}", f"{'7' * 400}/3", "0x10", f"0x{'f' * 5000}", "0b1"),
    *("9" * 400, "9" * 5000, f"0.{'3' * 5000}", "٣", "１", "½", "1,5", "1e", "--1", "1e5", "1E+5", "true", "false"),
    *("1979-05-27", "1979-05-27T07:32:00Z", "07:32:00"),
)
TEXTS = (
    *("", " ", "\0", "\ufeff", "é", "ʼn", "😀", "\u202e", "\u2028", "\x1b[31m", "\x7f", "\x85", "a\tb", "a\nb"),
    *("a\r\nb", "..", ".", "/", "~", "../../../etc/passwd", "/etc/passwd", "/dev/zero", "/dev/stdin", "/proc/self/mem"),
    *("evil.py:Evil", "./evil.py:Evil", "evil.py", "__class__", "__proto__", "os.system('x')", "{0.__class__}", "%s%n"),
    *("[red]x[/red]", "<script>", "a.b", "a[1]", "players[2].settings.rate", "players[0]", "game.settings.seed"),
    *("players[99999999999999999999]", "players[²]", "None", "null", "chicken", "hedge", '"', "'", "\\"),
    *("\\u0000", "#"),
)


def some(random: Random, items: Sequence[Item]) -> Item:
    """Return one of the items."""
    return items[random.randrange(len(items))]


def number(random: Random) -> int | float:
    """Return a number: mostly an extreme one, sometimes an ordinary one."""
    kind = random.random()
    if kind < 0.45:
        return some(random, INTEGERS[:-2] if random.random() < 0.95 else INTEGERS)
    return some(random, FLOATS) if kind < 0.9 else round(random.uniform(-10, 10), 2)


def text(random: Random, words: Sequence[str]) -> str:
    """Return a text: a word of the format, a nasty one, or rarely a very long one."""
    kind = random.random()
    if kind < 0.5 and words:
        return some(random, words)
    if kind < 0.98:
        return some(random, TEXTS)
    return some(random, ("a", "é", "a.", "[", "\x1b")) * (LONG if random.random() < 0.2 else 300)


def write(folder: Path, given: Input) -> None:
    """Write the files of an input into a folder."""
    for name, data in given.items():
        if "/" in name:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


def files_in(folder: Path) -> Input:
    """Return the files in a folder and the folders in it."""
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found
