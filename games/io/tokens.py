"""Text files of games: words with their places, numbers read and written exactly, and errors that say where."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import isfinite
from typing import NoReturn

from gamesim.errors import InputError

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?\d+/\d+", re.ASCII)
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)
_SHOWN = 40  # characters of a wrong word that a message shows


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a file: its kind ("text", "mark", "word" or "end"), what it says, and at which character it begins."""

    kind: str
    says: str
    at: int

    def shown(self) -> str:
        """Say the word in a message."""
        if self.kind == "end":
            return "the end of the file"
        says = self.says if len(self.says) <= _SHOWN else f"{self.says[:_SHOWN]}…"
        return f"the text {says!r}" if self.kind == "text" else repr(says)


@dataclass
class Words:
    """The words of a text, one after another; `pattern` has a group for each kind, and skips what is named "skip"."""

    place: str
    text: str
    pattern: re.Pattern[str]
    next: Word = field(init=False)
    _coming: Iterator[Word] = field(init=False)

    def __post_init__(self) -> None:
        self._coming = self._split()
        self.next = next(self._coming)

    def _split(self) -> Iterator[Word]:
        at = 0
        while at < len(self.text):
            match = self.pattern.match(self.text, at)
            if match is None:
                self.fail("a word, a number or a closed quotation", Word("word", self.text[at:], at))
            kind = str(match.lastgroup)
            if kind != "skip":
                yield Word(kind, match.group(kind), at)
            at = match.end()
        while True:
            yield Word("end", "", at)

    def take(self) -> Word:
        """Return the next word and go on."""
        taken = self.next
        self.next = next(self._coming)
        return taken

    def expect(self, kind: str, expected: str, says: Sequence[str] = ()) -> Word:
        """Return the next word if it is of this kind, and says one of these if any are given; else fail."""
        if self.next.kind != kind or (says and self.next.says not in says):
            self.fail(expected)
        return self.take()

    def number(self, expected: str) -> float:
        """Return the next word as a number: whole, decimal or rational, to the nearest floating-point number."""
        word = self.expect("word", expected)
        if not _NUMBER.fullmatch(word.says):
            self.fail(expected, word)
        try:
            value = float(Fraction(word.says)) if "/" in word.says else float(word.says)
        except (ZeroDivisionError, OverflowError, ValueError):
            self.fail(f"{expected} that is finite", word)
        if not isfinite(value):
            self.fail(f"{expected} that is finite", word)
        return value

    def whole(self, expected: str) -> int:
        """Return the next word as a whole number, 0 or more."""
        word = self.expect("word", expected)
        if not _WHOLE.fullmatch(word.says):
            self.fail(expected, word)
        return int(word.says)

    def fail(self, expected: str, word: Word | None = None) -> NoReturn:
        """Say what was expected, what came, and where."""
        word = word or self.next
        line = self.text.count("\n", 0, word.at) + 1
        column = word.at - self.text.rfind("\n", 0, word.at)
        raise InputError(f"{self.place}, line {line}, column {column}: expected {expected}, and {word.shown()} came")


def written(value: float) -> str:
    """Write a number so that it reads back exactly, whole numbers without a point.

    >>> written(3.0), written(0.1), written(1e-7)
    ('3', '0.1', '1e-07')
    """
    return str(int(value)) if value == int(value) and abs(value) < 2**53 else repr(float(value))


def distinct(labels: Sequence[str]) -> list[str]:
    """Number the labels that are empty, and those that repeat an earlier one.

    >>> distinct(["up", "up", ""])
    ['up', 'up_2', '3']
    """
    result: list[str] = []
    used = set(labels)
    for number, label in enumerate(labels, start=1):
        name = label or str(number)
        if label in result or (not label and name in used):
            count = 2
            while f"{name}_{count}" in used:
                count += 1
            name = f"{name}_{count}"
        used.add(name)
        result.append(name)
    return result
