"""Games as CSV files, one per player: NAME.1.csv, NAME.2.csv, ...

With two players a file is a matrix, with one row per action of the first player and one column per action of the
second. The corner holds the players' names as `Row \\ Column`, and the first row and column hold the labels; a file of
numbers without labels is accepted too. With any other number of players a file is a list, with one row per action
profile: one column per player with the labels of the actions, and a last column `payoff`.
"""

import csv
import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from math import isfinite, prod
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from gamesim.errors import InputError
from gamesim.game import Table, refuse_beyond_memory
from gamesim.games.io.text import exact_number

_NUMBERED = re.compile(r"(?P<stem>.+)\.(?P<player>\d{1,3})\.csv", re.IGNORECASE | re.DOTALL)
_CORNER = " \\ "
LONGEST_LABEL = 50_000  # characters: a reader refuses fields of more than 131,072, and the corner holds two names


@dataclass
class _PlayerTable:
    """One player's payoffs, with the names and labels in the file, or None without any."""

    players: list[str] | None
    actions: list[list[str]] | None
    payoffs: NDArray[np.float64]


def paths(path: Path, players: int | None = None) -> list[Path]:
    """Return the CSV files of a game, in the players' order, from the path of any of them or from NAME.csv."""
    match = _NUMBERED.fullmatch(path.name)
    stem = match["stem"] if match else path.name[: -len(".csv")]
    if players is None:
        players = 0
        while (path.parent / f"{stem}.{players + 1}.csv").exists():
            players += 1
        if players == 0:
            raise InputError(f"{path}: a game has one CSV file per player, but {stem}.1.csv does not exist")
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
    return len(lengths) == 1 and lengths != {1} and _as_number(rows[-1][-1].replace(",", ".")) is not None


def _read(texts: list[tuple[str, str]], name: str) -> Table:
    tables = [(place, _rows(place, text)) for place, text in texts]
    needed = _players(tables[0][1])
    if needed > len(texts):
        raise InputError(
            f"{texts[0][0]}: a game for {needed} players has one CSV file per player, "
            f"but {name}.{len(texts) + 1}.csv is missing"
        )
    is_matrix = len(texts) == 2
    read_tables = [_read_matrix(*table) if is_matrix else _read_list(*table, len(texts)) for table in tables]
    first = read_tables[0]
    for (place, _), one in zip(texts[1:], read_tables[1:], strict=True):
        if one.payoffs.shape != first.payoffs.shape:
            raise InputError(
                f"{place}: expected payoffs of shape {first.payoffs.shape}, as in {texts[0][0]}, "
                f"got {one.payoffs.shape}"
            )
        if (one.players, one.actions) != (first.players, first.actions):
            raise InputError(f"{place}: expected the same names and labels, in the same order, as in {texts[0][0]}")
    try:
        payoffs = [one.payoffs for one in read_tables]
        return Table.from_payoffs(payoffs, name=name, players=first.players, actions=first.actions)
    except InputError as error:
        raise InputError(f"{texts[0][0]}: {error}") from None


def _rows(place: str, text: str) -> list[tuple[int, list[str]]]:
    """Return the rows of a file with their line numbers; all rows must have the same length."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows: list[tuple[int, list[str]]] = []
    try:
        for row in reader:
            if row:
                rows.append((reader.line_num, row))
    except csv.Error as error:
        raise InputError(f"{place}, line {reader.line_num}: {error}") from None
    if not rows:
        raise InputError(f"{place}: expected payoffs, got an empty file")
    length = len(rows[0][1])
    for line, row in rows:
        if len(row) != length:
            entries = "1 entry" if length == 1 else f"{length} entries"
            _fail(place, line, min(len(row), length), entries, f"a row of {len(row)}")
    return rows


def _players(rows: list[tuple[int, list[str]]]) -> int:
    """Return the number of players a file is meant for: a list has one column per player, a matrix has two players."""
    header, first = rows[0][1], [row[0] for _, row in rows[1:]]
    is_list = header[-1] == "payoff" and (len(header) == 2 or len(set(first)) < len(first))
    return len(header) - 1 if is_list else 2


def _read_matrix(place: str, rows: list[tuple[int, list[str]]]) -> _PlayerTable:
    header = rows[0][1]
    if _as_number(header[0]) is not None:
        return _PlayerTable(None, None, _numbers(place, rows, 0))
    names = header[0].split(_CORNER)
    actions = [[row[0] for _, row in rows[1:]], header[1:]]
    if not actions[0] or not actions[1]:
        raise InputError(f"{place}: expected at least one row and one column of payoffs beside the labels")
    return _PlayerTable(names if len(names) == 2 else None, actions, _numbers(place, rows[1:], 1))


def _read_list(place: str, rows: list[tuple[int, list[str]]], players: int) -> _PlayerTable:
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


def _numbers(place: str, rows: list[tuple[int, list[str]]], skip: int) -> NDArray[np.float64]:
    values = []
    for line, row in rows:
        for column, entry in enumerate(row[skip:], start=skip):
            value = _as_number(entry)
            if value is None:
                _fail(place, line, column, "a finite number", repr(entry[:40]))
            values.append(value)
    return np.array(values).reshape(len(rows), -1)


def _as_number(entry: str) -> float | None:
    try:
        value = float(entry)
    except ValueError:
        return None
    return value if isfinite(value) and "_" not in entry else None


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
