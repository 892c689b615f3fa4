"""Small HTML cards that describe an object in a notebook.

Names and labels may come from files of others, so every text is escaped here, in one place. Colours are those of the
notebook, light or dark, and styles are inline, because notebooks remove style sheets from output that is not trusted.
"""

from collections.abc import Iterable, Sequence
from html import escape
from typing import NamedTuple

from gamesim.formatting import one_line

LONGEST, LINE = 60, 400  # characters of a cell, and of a line above or below the table
ROWS = 8  # rows of a table, and entries of a list, at most

_CARD = "max-width:100%;overflow-x:auto;line-height:1.45;color:inherit"
_TABLE = "border-collapse:collapse;table-layout:auto;margin:.4em 0;font-size:inherit;color:inherit"
_CELL = "padding:.15em .8em .15em 0;text-align:left;vertical-align:baseline;background:none"
_NUMBER = _CELL.replace("left", "right") + ";font-variant-numeric:tabular-nums;white-space:nowrap"
_LINE = ";vertical-align:bottom;white-space:normal;border-bottom:1px solid rgba(128,128,128,.5)"
_FAINT = "opacity:.75"


class Rows(NamedTuple):
    """A table: its heading, the rows that are shown, the total number of rows, and the columns with numbers."""

    heading: Sequence[str]
    shown: Iterable[Sequence[str]]
    total: int
    numbers: frozenset[int] = frozenset()


def card(kind: str, name: str, lines: Iterable[str], table: Rows | None = None, note: str = "") -> str:
    """Return a card: the kind and name of a thing, lines about it, and a table with a note below.

    >>> print(card("Game", "<b>", ["2 players"]))  # doctest: +ELLIPSIS
    <div style="..."><div><strong>Game</strong> &lt;b&gt;</div><div style="opacity:.75">2 players</div></div>
    """
    parts = [f"<div><strong>{_text(kind)}</strong> {_text(name, LINE)}</div>"]
    parts += [f'<div style="{_FAINT}">{_text(line, LINE)}</div>' for line in lines if line]
    if table is not None:
        parts.append(_table(table))
        more = table.total - ROWS
        note = "; ".join([part for part in (f"and {more:,} more" if more > 0 else "", note) if part])
    if note:
        parts.append(f'<div style="{_FAINT}">{_text(note, LINE)}</div>')
    return f'<div style="{_CARD}">{"".join(parts)}</div>'


def some(entries: Sequence[object]) -> str:
    """Return the first entries of a list.

    >>> some(["a", "b"]), some(range(100))
    ('a, b', '0, 1, 2, 3, 4, 5, 6, 7, …')
    """
    return ", ".join([*map(str, entries[:ROWS]), *(["…"] if len(entries) > ROWS else [])])


def _table(table: Rows) -> str:
    heading = "".join(_cell("th", text, k in table.numbers, _LINE) for k, text in enumerate(table.heading))
    rows = (
        "<tr>" + "".join(_cell("td", text, k in table.numbers) for k, text in enumerate(row)) + "</tr>"
        for row, _ in zip(table.shown, range(ROWS), strict=False)
    )
    return f'<table style="{_TABLE}"><thead><tr>{heading}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _cell(tag: str, text: str, number: bool, line: str = "") -> str:
    return f'<{tag} style="{_NUMBER if number else _CELL}{line}">{_text(text)}</{tag}>'


def _text(text: str, most: int = LONGEST) -> str:
    return escape(one_line(text, most))
