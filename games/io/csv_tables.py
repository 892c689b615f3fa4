"""Games as CSV files, one per player: NAME.1.csv, NAME.2.csv, ..., or a two-player game as one file NAME.csv.

With two players a file is a matrix, with one row per action of the first player and one column per action of the
second. The corner holds the players' names as `Row \\ Column`, and the first row and column hold the labels; a file of
numbers without labels is accepted too. With any other number of players a file is a list, with one row per action
profile: one column per player with the labels of the actions, and a last column `payoff`.

The one file of a two-player game is a matrix whose cells hold both payoffs, as in `"3,1"`, or two matrices with an
empty line between them. Its columns may be separated by tabs instead of commas, as spreadsheets copy them. Payoffs may
be fractions, as in 1/2.
"""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from typing import NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gamesim.errors import InputError
from gamesim.game import Table, refuse_beyond_memory
from gamesim.games.io.text import exact_number, finite_number

_NUMBERED = re.compile(r"(?P<stem>.+)\.(?P<player>\d{1,3})\.csv", re.IGNORECASE | re.DOTALL)
_CORNER = " \\ "
_PAIR = re.compile(r"\s*(?:\(([^,()]+),([^,()]+)\)|([^,()]+),([^,()]+))\s*")
LONGEST_LABEL = 50_000  # characters: a reader refuses fields of more than 131,072, and the corner holds two names

_Rows: TypeAlias = list[tuple[int, list[str]]]  # with their line numbers


class MissingTable(InputError):
    """A game has more players than tables."""


@dataclass
class _PlayerTable:
    """One player's payoffs, with the names and labels in the file, or None without any."""

    players: list[str] | None
    actions: list[list[str]] | None
    payoffs: NDArray[np.float64]


def paths(path: Path, players: int | None = None) -> list[Path]:
    """Return the CSV files of a game, in the players' order, from the path of any of them or from NAME.csv.

    If NAME.csv exists, it is the file of the whole game.
    """
    match = _NUMBERED.fullmatch(path.name)
    stem = match["stem"] if match else path.name[: -len(".csv")]
    if players is None:
        if not match and path.is_file():
            return [path]
        players = 0
        while (path.parent / f"{stem}.{players + 1}.csv").exists():
            players += 1
        if players == 0:
            gone = "" if match else f"{path.name} does not exist, and "
            raise InputError(f"{path}: a game is one CSV file or one per player, but {gone}{stem}.1.csv does not exist")
    return [path.parent / f"{stem}.{i + 1}.csv" for i in range(players)]


def read(texts: list[tuple[str, str]], name: str) -> Table:
    """Return the game in these CSV files, given as (place, text) in the players' order."""
    try:
        return _read(texts, name)
    except InputError:
        for place, text in texts:
            if _is_split_by_semicolons(text):
                raise InputError(
                    f"{place}: expected entries separated by commas and decimal points, as in 3.5,0, got semicolons, "
                    "as in 3,5;0; save the file as CSV with commas, or replace commas by points "
                    "and then semicolons by commas"
                ) from None
        raise


def _is_split_by_semicolons(text: str) -> bool:
    """Whether semicolons split a file into rows of one length that end in a number; a label with one does not."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=";", strict=True) if row]
    except csv.Error:
        return False
    lengths = {len(row) for row in rows}
    return len(lengths) == 1 and lengths != {1} and finite_number(rows[-1][-1].replace(",", ".")) is not None


def _read(texts: list[tuple[str, str]], name: str) -> Table:
    both = _both_tables(*texts[0]) if len(texts) == 1 else None
    tables = both or [(place, _rows(place, text)) for place, text in texts]
    needed = _players(tables[0][1])
    if needed > len(tables):
        one_file = ', or one file with both payoffs in each cell, as in "3,1"' if needed == 2 else ""
        raise MissingTable(
            f"{texts[0][0]}: a game for {needed} players has one CSV file per player{one_file}, "
            f"but {name}.{len(texts) + 1}.csv is missing"
        )
    is_matrix = len(tables) == 2
    read_tables = [_read_matrix(*table) if is_matrix else _read_list(*table, len(tables)) for table in tables]
    first = read_tables[0]
    for (place, _), one in zip(tables[1:], read_tables[1:], strict=True):
        if one.payoffs.shape != first.payoffs.shape:
            raise InputError(
                f"{place}: expected payoffs of shape {first.payoffs.shape}, as in {tables[0][0]}, "
                f"got {one.payoffs.shape}"
            )
        if (one.players, one.actions) != (first.players, first.actions):
            raise InputError(f"{place}: expected the same names and labels, in the same order, as in {tables[0][0]}")
    try:
        payoffs = [one.payoffs for one in read_tables]
        return Table.from_payoffs(payoffs, name=name, players=first.players, actions=first.actions)
    except InputError as error:
        raise InputError(f"{texts[0][0]}: {error}") from None


def _both_tables(place: str, text: str) -> list[tuple[str, _Rows]] | None:
    """Return the tables of both players from the file of a two-player game, or None if the file holds one table."""
    rows = _all_rows(place, text)
    if rows and rows[0][1][-1:] == ["payoff"]:  # a list, for any number of players but two
        return None
    if "\t" in text.partition("\n")[0]:
        rows = _all_rows(place, text, delimiter="\t")
    blocks = _blocks(rows)
    if len(blocks) == 2:
        return [(f"{place}, block {k}", _same_length(place, block)) for k, block in enumerate(blocks, 1)]
    if len(blocks) > 2:
        raise InputError(f"{place}: expected one or two blocks of payoffs, for two players, got {len(blocks)} blocks")
    if not blocks:
        raise InputError(f"{place}: expected payoffs, got an empty file")
    if _pair(blocks[0][-1][1][-1]) is None:
        if len(blocks[0][-1][1]) == 2 * len(blocks[0][0][1]) - 1 > 1:
            _fail(place, blocks[0][-1][0], 1, 'both payoffs of a cell in quotation marks, as in "3,1"', "a longer row")
        return None
    return [(place, _one_of_each_pair(place, _same_length(place, blocks[0]), player)) for player in (0, 1)]


def _blocks(rows: _Rows) -> list[_Rows]:
    """Split rows at those without entries, and drop the empty columns that spreadsheets leave at the right."""
    filled = [len(row) - next((k for k, entry in enumerate(row[::-1]) if entry.strip()), len(row)) for _, row in rows]
    width = max(filled, default=0)
    blocks: list[_Rows] = [[]]
    for (line, row), count in zip(rows, filled, strict=True):
        if count:
            blocks[-1].append((line, row[:width]))
        elif blocks[-1]:
            blocks.append([])
    return [block for block in blocks if block]


def _one_of_each_pair(place: str, rows: _Rows, player: int) -> _Rows:
    """Return the matrix of one player, 0 or 1, from a matrix whose cells hold the payoffs of both."""
    labels = int(_pair(rows[0][1][0]) is None)  # the number of rows and of columns that hold labels
    chosen = rows[:labels]
    for line, row in rows[labels:]:
        payoffs = []
        for column, entry in enumerate(row[labels:], start=labels):
            if (pair := _pair(entry)) is None:
                _fail(place, line, column, "the payoffs of both players, as in 3,1", repr(entry[:40]))
            payoffs.append(pair[player])
        chosen.append((line, [*row[:labels], *payoffs]))
    return chosen


def _pair(entry: str) -> tuple[str, str] | None:
    """Return the two numbers in a cell such as `3,1` or `(1/2, 0)`, or None."""
    match = _PAIR.fullmatch(entry)
    found = [number for number in match.groups() if number] if match else []
    return (found[0], found[1]) if found and None not in map(finite_number, found) else None


def _rows(place: str, text: str) -> _Rows:
    """Return the rows of a file with their line numbers; all rows must have the same length."""
    rows = [(line, row) for line, row in _all_rows(place, text) if row]
    if not rows:
        raise InputError(f"{place}: expected payoffs, got an empty file")
    return _same_length(place, rows)


def _all_rows(place: str, text: str, delimiter: str = ",") -> _Rows:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=delimiter)
    try:
        return [(reader.line_num, row) for row in reader]
    except csv.Error as error:
        raise InputError(f"{place}, line {reader.line_num}: {error}") from None


def _same_length(place: str, rows: _Rows) -> _Rows:
    length = len(rows[0][1])
    for line, row in rows:
        if len(row) != length:
            entries = "1 entry" if length == 1 else f"{length} entries"
            _fail(place, line, min(len(row), length), entries, f"a row of {len(row)}")
    return rows


def _players(rows: _Rows) -> int:
    """Return the number of players a file is meant for: a list has one column per player, a matrix has two players."""
    header, first = rows[0][1], [row[0] for _, row in rows[1:]]
    is_list = header[-1] == "payoff" and (len(header) == 2 or len(set(first)) < len(first))
    return len(header) - 1 if is_list else 2


def _read_matrix(place: str, rows: _Rows) -> _PlayerTable:
    header = rows[0][1]
    if finite_number(header[0]) is not None:
        return _PlayerTable(None, None, _numbers(place, rows, 0))
    names = header[0].split(_CORNER)
    actions = [[row[0] for _, row in rows[1:]], header[1:]]
    if not actions[0] or not actions[1]:
        raise InputError(f"{place}: expected at least one row and one column of payoffs beside the labels")
    return _PlayerTable(names if len(names) == 2 else None, actions, _numbers(place, rows[1:], 1))


def _read_list(place: str, rows: _Rows, players: int) -> _PlayerTable:
    line, header = rows[0]
    if len(header) != players + 1 or header[-1] != "payoff":
        expected = f"one column for each of the {players} players and a last one called payoff"
        _fail(place, line, len(header) - 1, expected, f"the header {', '.join(header)!r:.80}")
    actions = [list(dict.fromkeys(row[j] for _, row in rows[1:])) for j in range(players)]
    sizes = [len(labels) for labels in actions]
    refuse_beyond_memory(sizes)
    if prod(sizes) != len(rows) - 1 or not actions[0]:
        expected = f"one row for each of {' × '.join(map(str, sizes))} action profiles"
        raise InputError(f"{place}: expected {expected}, got {len(rows) - 1} rows")
    number = [{label: k for k, label in enumerate(labels)} for labels in actions]
    values = _numbers(place, rows[1:], players)
    payoffs = np.full(sizes, np.nan)
    for (line, row), value in zip(rows[1:], values[:, 0], strict=True):
        profile = tuple(number[j][row[j]] for j in range(players))
        if not np.isnan(payoffs[profile]):
            _fail(place, line, 0, "every action profile once", f"{', '.join(row[:players])} again")
        payoffs[profile] = value
    return _PlayerTable(header[:-1], actions, payoffs)


def _numbers(place: str, rows: _Rows, skip: int) -> NDArray[np.float64]:
    values = []
    for line, row in rows:
        for column, entry in enumerate(row[skip:], start=skip):
            value = finite_number(entry)
            if value is None:
                _fail(place, line, column, "a finite number", repr(entry[:40]))
            values.append(value)
    return np.array(values).reshape(len(rows), -1)


def _fail(place: str, line: int, column: int, expected: str, got: str) -> NoReturn:
    raise InputError(f"{place}, line {line}, entry {column + 1}: expected {expected}, got {got}")


def write(game: Table) -> list[str]:
    """Return the text of each player's CSV file."""
    if any("\r" in label for labels in (game.players, *game.actions) for label in labels):
        raise InputError("a CSV file cannot store a name that contains a carriage return")
    longest = max(len(label) for labels in (game.players, *game.actions) for label in labels)
    if longest > LONGEST_LABEL:
        raise InputError(f"a CSV file cannot store a name of {longest:,} characters; the limit is {LONGEST_LABEL:,}")
    is_matrix = len(game.players) == 2
    if is_matrix and any(_CORNER in player for player in game.players):
        raise InputError(f"a CSV file cannot store the names {game.players}: a name must not contain {_CORNER!r}")
    rows: Callable[[Table, NDArray[np.float64]], list[list[str]]] = _matrix if is_matrix else _list
    texts = []
    for own in game.payoffs:
        out = io.StringIO(newline="")
        csv.writer(out, lineterminator="\n").writerows(rows(game, own))
        texts.append(out.getvalue())
    return texts


def _matrix(game: Table, own: NDArray[np.float64]) -> list[list[str]]:
    header = [_CORNER.join(game.players), *game.actions[1]]
    rows = zip(game.actions[0], own.tolist(), strict=True)
    return [header, *([label, *map(exact_number, row)] for label, row in rows)]


def _list(game: Table, own: NDArray[np.float64]) -> list[list[str]]:
    profiles = product(*game.actions)
    rows = [[*profile, exact_number(value)] for profile, value in zip(profiles, own.ravel().tolist(), strict=True)]
    return [[*game.players, "payoff"], *rows]
