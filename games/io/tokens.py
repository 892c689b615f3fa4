"""A tokenizer that records where each token begins, so that errors can name the line and column."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from gamesim.errors import InputError
from gamesim.games.io.text import finite_number

_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|[+-]?\d+/\d+", re.ASCII)
_WHOLE = re.compile(r"\d{1,18}", re.ASCII)
_SHOWN = 40  # characters of an unexpected token shown in a message


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its kind ("word", "quoted", "mark" or "end"), its text, and its offset."""

    kind: str
    text: str
    start: int

    def shown(self) -> str:
        """Return the token as a message shows it."""
        if self.kind == "end":
            return "the end of the file"
        text = self.text if len(self.text) <= _SHOWN else f"{self.text[:_SHOWN]}…"
        return f"the text {text!r}" if self.kind == "quoted" else repr(text)


@dataclass
class Tokenizer:
    """Read the tokens of a text one by one and raise InputError for unexpected ones.

    `place` is the name of the text in messages. `pattern` has one group per kind of token; matches outside these groups
    are skipped.

    >>> tokens = Tokenizer("text", 'size 3 "wide"', re.compile(r'(?P<word>[a-z0-9]+)|"(?P<quoted>[a-z]*)"| '))
    >>> tokens.take().text, tokens.whole("how many"), tokens.next.kind
    ('size', 3, 'quoted')
    >>> tokens.whole("how many")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: text, line 1, column 8: expected how many, got the text 'wide'
    """

    place: str
    text: str
    pattern: re.Pattern[str]
    next: Token = field(init=False)
    _coming: Iterator[Token] = field(init=False)

    def __post_init__(self) -> None:
        self._coming = self._tokens()
        self.next = next(self._coming)

    def _tokens(self) -> Iterator[Token]:
        start = 0
        while start < len(self.text):
            match = self.pattern.match(self.text, start)
            if match is None:
                self.fail("a word, a number or a closed quotation", Token("word", self.text[start:], start))
            if match.lastgroup is not None:
                yield Token(match.lastgroup, match[match.lastgroup], start)
            start = match.end()
        while True:
            yield Token("end", "", start)

    def take(self) -> Token:
        """Return the next token and advance."""
        taken = self.next
        self.next = next(self._coming)
        return taken

    def expect(self, kind: str, expected: str, among: Sequence[str] = ()) -> Token:
        """Return the next token if it has this kind and, if given, one of these texts; else fail."""
        if self.next.kind != kind or (among and self.next.text not in among):
            self.fail(expected)
        return self.take()

    def number(self, expected: str) -> float:
        """Return the next token, an integer, a decimal or a fraction, as a float."""
        token = self.expect("word", expected)
        if not _NUMBER.fullmatch(token.text):
            self.fail(expected, token)
        value = finite_number(token.text)
        if value is None:
            self.fail(f"{expected} that is finite", token)
        return value

    def whole(self, expected: str) -> int:
        """Return the next token as a non-negative integer."""
        token = self.expect("word", expected)
        if not _WHOLE.fullmatch(token.text):
            self.fail(expected, token)
        return int(token.text)

    def fail(self, expected: str, token: Token | None = None) -> NoReturn:
        """Raise InputError: where, what was expected, what was found."""
        token = token or self.next
        line = self.text.count("\n", 0, token.start) + 1
        column = token.start - self.text.rfind("\n", 0, token.start)
        raise InputError(f"{self.place}, line {line}, column {column}: expected {expected}, got {token.shown()}")
