"""Observed play as data: who played which action in which round of which group.

A file of plays has one row per move, with the columns `round`, `player` and `action`, and optionally `session`, `group`
and `recommendation`; other columns are not used. Players and actions have the names that they have in the game. Every
mistake is reported with its lines, and nothing is guessed: a missing move is a mistake, unless the user asks to leave
out the rounds in which moves are missing.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gamesim.atomic import write_file
from gamesim.errors import InputError, did_you_mean
from gamesim.game import Game
from gamesim.games.io.text import read_text, write_text
from gamesim.validation import MOST_ROUNDS

__all__ = ["Plays", "read", "write"]

REQUIRED = ("round", "player", "action")
OPTIONAL = ("session", "group", "recommendation")
MOST_MOVES = 2**24
NONE = -1  # no recommendation
LISTED = 12  # mistakes of different kinds in one message
LONGEST_LINES = 120  # characters of a list of lines


@dataclass(frozen=True, eq=False)
class Plays:
    """Hold the actions that groups of players played in a game.

    Parameters
    ----------
    groups : tuple of str
        The name of each group.
    actions : tuple of ndarray of int
        For each group, the index of the action of each player in each round: one row per round, one column per player.
    recommendations : tuple of ndarray of int, optional
        Likewise the recommended actions, -1 without one; None if nothing was recommended.
    left_out : int, default 0
        The number of rounds that were left out because a move was missing.
    unused : tuple of str, optional
        The columns of the file that were not used.

    Examples
    --------
    >>> import gamesim
    >>> row = {"round": 1, "player": "Row", "action": "dare"}
    >>> column = {"round": 1, "player": "Column", "action": "chicken out"}
    >>> plays = read([row, column], gamesim.games.make("chicken"))
    >>> plays.groups, plays.actions[0].tolist()
    (('1',), [[1, 0]])
    """

    groups: tuple[str, ...]
    actions: tuple[NDArray[np.int64], ...]
    recommendations: tuple[NDArray[np.int64], ...] | None = None
    left_out: int = 0
    unused: tuple[str, ...] = ()


def read(source: Any, game: Game, *, drop_incomplete: bool = False) -> Plays:
    """Read plays of a game, and validate all of them.

    Parameters
    ----------
    source : str, path-like, DataFrame, iterable of mappings, or array of int
        A CSV or Parquet file; a table or rows with the same columns; or the indices of the actions, of shape
        (rounds, players), or (groups, rounds, players).
    game : Game
        The game that was played.
    drop_incomplete : bool, default False
        Whether to leave out rounds in which a move of the group is missing.

    Returns
    -------
    Plays
        The plays, by group, in the order of the rounds.

    Raises
    ------
    InputError
        If rows are invalid; the message lists all of them, with their lines.

    Examples
    --------
    >>> import gamesim
    >>> chicken = gamesim.games.make("chicken")
    >>> read([[0, 1], [1, 1]], chicken).actions[0].tolist()
    [[0, 1], [1, 1]]
    >>> read([{"round": 1, "player": "Row", "action": "Dare"}], chicken)
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: the plays have mistakes:
      unknown action 'Dare' of Row; did you mean 'dare'? (row 1)
    """
    if isinstance(source, str | Path):
        path = Path(source)
        columns = _from_parquet(path) if path.suffix == ".parquet" else _from_csv(path)
        return _checked(columns, game, f"{path}: the plays", "line", 2, drop_incomplete)
    if hasattr(source, "columns"):  # a data frame of pandas or polars
        columns = {str(name): list(source[name]) for name in source.columns}
        return _checked(columns, game, "the plays", "row", 1, drop_incomplete)
    source = list(source)
    if source and all(isinstance(row, Mapping) for row in source):
        names = dict.fromkeys(str(name) for row in source for name in row)
        columns = {name: [row.get(name) for row in source] for name in names}
        return _checked(columns, game, "the plays", "row", 1, drop_incomplete)
    return _from_indices(source, game)


def write(path: str | Path, plays: Plays, game: Game) -> Path:
    """Write plays to a CSV or Parquet file that `read` reads back.

    Parameters
    ----------
    path : str or path-like
        The file, which ends with .csv or .parquet.
    plays : Plays
        The plays.
    game : Game
        The game that was played.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> import gamesim
    >>> chicken = gamesim.games.make("chicken")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = write(f"{folder}/plays.csv", read([[0, 1]], chicken), chicken)
    ...     print(file.read_text().strip())
    group,round,player,action
    1,1,Row,chicken out
    1,1,Column,dare
    """
    target = Path(path)
    columns: dict[str, list[Any]] = {"group": [], "round": [], "player": [], "action": []}
    if plays.recommendations is not None:
        columns["recommendation"] = []
    for g, (group, actions) in enumerate(zip(plays.groups, plays.actions, strict=True)):
        for (round, player), action in np.ndenumerate(actions):
            labels = game.actions[player]
            row = [group, round + 1, game.players[player], labels[action]]
            if plays.recommendations is not None:
                advice = plays.recommendations[g][round, player]
                row.append("" if advice == NONE else labels[advice])
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
    if target.suffix == ".parquet":
        table = _pyarrow().table(columns)
        write_file(target, lambda out: _parquet().write_table(table, out))
        return target
    if target.suffix != ".csv":
        raise InputError(f"plays are written as .csv or .parquet, got {target.name}")
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    write_text(target, text.getvalue())
    return target


def _from_csv(path: Path) -> dict[str, list[Any]]:
    """Return the columns of a CSV file with a header."""
    rows = csv.reader(io.StringIO(read_text(path), newline=""), strict=True)
    try:
        header = [name.strip() for name in next(rows, [])]
        if len(set(header)) < len(header):
            raise InputError(f"{path}, line 1: the names of columns must differ, got {', '.join(header)}")
        columns: dict[str, list[Any]] = {name: [] for name in header}
        for row in rows:
            if rows.line_num - 1 != len(columns[header[0]]) + 1:
                raise InputError(f"{path}, line {rows.line_num}: a row must be one line, without line breaks in quotes")
            if len(row) != len(header):
                raise InputError(f"{path}, line {rows.line_num}: expected {len(header)} entries, got {len(row)}")
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value.strip())
    except csv.Error as error:
        raise InputError(f"{path}, line {rows.line_num}: not a CSV file ({error})") from None
    return columns


def _pyarrow() -> Any:
    try:
        return import_module("pyarrow")
    except ImportError:
        raise InputError("Parquet files need pyarrow; install it with: pip install 'gamesim[parquet]'") from None


def _parquet() -> Any:
    _pyarrow()
    return import_module("pyarrow.parquet")


def _from_parquet(path: Path) -> dict[str, list[Any]]:
    """Return the columns of a Parquet file."""
    parquet = _parquet()
    try:
        found: dict[str, list[Any]] = parquet.read_table(path).to_pydict()
    except (OSError, ValueError) as error:  # pyarrow's errors are among them
        raise InputError(f"{path}: cannot be read as Parquet ({error})") from None
    return found


def _from_indices(source: Sequence[Any], game: Game) -> Plays:
    """Return plays that are given as indices of actions."""
    try:
        array = np.asarray(source)
    except ValueError:
        raise InputError("plays must be rows with round, player and action, or an array of indices") from None
    count = len(game.players)
    if array.dtype.kind not in "iu" or array.ndim not in (2, 3) or array.shape[-1] != count or array.size == 0:
        raise InputError(
            f"plays must be indices of actions of shape (rounds, {count}) or (groups, rounds, {count}), got "
            f"{array.dtype} of shape {array.shape}"
        )
    indices = np.ascontiguousarray(array if array.ndim == 3 else array[None], dtype=np.int64)
    if (indices < 0).any() or (indices >= game.sizes).any():
        raise InputError(f"the index of an action must lie between 0 and {max(game.sizes) - 1}, its number less 1")
    return Plays(tuple(str(k + 1) for k in range(len(indices))), tuple(indices))


@dataclass
class _Mistakes:
    """All mistakes, each with the lines at which it occurs."""

    place: str
    first: int
    found: dict[str, list[int]] = field(default_factory=dict)

    def add(self, row: int, what: str) -> None:
        self.found.setdefault(what, []).append(row + self.first)

    def refuse(self, what: str) -> None:
        """Raise an InputError that lists them, if there are any."""
        if not self.found:
            return
        listed = [f"  {mistake} ({_lines(self.place, lines)})" for mistake, lines in self.found.items()]
        more = [f"  and {len(listed) - LISTED} mistakes of other kinds"] if len(listed) > LISTED else []
        raise InputError("\n".join([f"{what} have mistakes:", *listed[:LISTED], *more]))


def _lines(place: str, lines: Sequence[int]) -> str:
    """Return lines in words.

    >>> _lines("line", [3, 4, 5, 9])
    'lines 3-5, 9'
    """
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][1] + 1:
            runs[-1][1] = line
        else:
            runs.append([line, line])
    text = ", ".join(str(one) if one == end else f"{one}-{end}" for one, end in runs)
    if len(text) > LONGEST_LINES:
        text = text[:LONGEST_LINES].rpartition(",")[0] + f" and others, {len(lines):,} in all"
    return f"{place}{'s' if len(lines) > 1 else ''} {text}"


def _checked(
    columns: Mapping[str, Sequence[Any]], game: Game, what: str, place: str, first: int, drop_incomplete: bool
) -> Plays:
    """Return the plays in these columns, or raise an InputError with all mistakes."""
    for name in REQUIRED:
        if name not in columns:
            hint = f"the columns are {', '.join(columns)}" if columns else "there are no rows"
            raise InputError(f"{what} need a column {name!r}; {hint}")
    count = len(columns["round"])
    if not 0 < count <= MOST_MOVES:
        raise InputError(f"{what} must have between 1 and {MOST_MOVES:,} rows, got {count:,}")
    mistakes = _Mistakes(place, first)
    rounds = [_round(value, row, mistakes) for row, value in enumerate(columns["round"])]
    players = [_index(value, game.players, "player", row, mistakes) for row, value in enumerate(columns["player"])]
    actions = _labels(columns["action"], players, game, "action", mistakes)
    advice = columns.get("recommendation", [None] * count)
    given = [value is not None and str(value) != "" for value in advice]
    advised = _labels(
        advice, [p if g else None for p, g in zip(players, given, strict=True)], game, "recommendation", mistakes
    )
    groups = [
        " ".join(str(columns[name][row]) for name in ("session", "group") if name in columns) for row in range(count)
    ]
    mistakes.refuse(what)
    moves = np.array([rounds, players, actions, [NONE if one is None else one for one in advised]], dtype=np.int64)
    names, of_group = _numbered(groups)
    tables = [
        _table(names[k], moves[:, of_group == k], np.flatnonzero(of_group == k), game, mistakes)
        for k in range(len(names))
    ]
    mistakes.refuse(what)
    complete = [(table[..., 0] != NONE).all(axis=1) for table in tables]
    left_out = sum(int((~kept).sum()) for kept in complete)
    if left_out and not drop_incomplete:
        raise InputError(_missing(names, tables, game, what))
    if not all(kept.any() for kept in complete):
        empty = [name or "1" for name, kept in zip(names, complete, strict=True) if not kept.any()]
        raise InputError(f"{what}: no round of group {', '.join(empty)} has a move of every player")
    kept_tables = [table[kept] for table, kept in zip(tables, complete, strict=True)]
    return Plays(
        tuple(name or "1" for name in names),
        tuple(np.ascontiguousarray(table[..., 0]) for table in kept_tables),
        tuple(np.ascontiguousarray(table[..., 1]) for table in kept_tables) if any(given) else None,
        left_out,
        tuple(name for name in columns if name not in (*REQUIRED, *OPTIONAL)),
    )


def _round(value: Any, row: int, mistakes: _Mistakes) -> int | None:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not (number == int(number) if abs(number) <= MOST_ROUNDS else False):
        mistakes.add(row, f"round must be an integer, got {str(value)[:40]!r}")
        return None
    return int(number)


def _index(value: Any, known: Sequence[str], what: str, row: int, mistakes: _Mistakes) -> int | None:
    text = "" if value is None else str(value)
    if text in known:
        return known.index(text)
    mistakes.add(row, f"unknown {what} {text[:40]!r}; {did_you_mean(text, known)}")
    return None


def _labels(
    values: Sequence[Any], players: Sequence[int | None], game: Game, what: str, mistakes: _Mistakes
) -> list[int | None]:
    """Return the indices of actions, each among those of its player; None where there is no player."""
    known = [{label: k for k, label in enumerate(labels)} for labels in game.actions]
    found: list[int | None] = []
    for row, (value, player) in enumerate(zip(values, players, strict=True)):
        text = "" if value is None else str(value)
        index = None if player is None else known[player].get(text)
        if index is None and player is not None:
            hint = did_you_mean(text, known[player])
            mistakes.add(row, f"unknown {what} {text[:40]!r} of {game.players[player]}; {hint}")
        found.append(index)
    return found


def _numbered(groups: Iterable[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names of groups in order of appearance, and the index of each row's group."""
    names: dict[str, int] = {}
    indices = np.array([names.setdefault(one, len(names)) for one in groups])
    return list(names), indices


def _table(
    group: str, moves: NDArray[np.int64], rows: NDArray[np.int64], game: Game, mistakes: _Mistakes
) -> NDArray[np.int64]:
    """Return a group's actions and recommendations, of shape (rounds, players, 2), -1 if missing."""
    first, last = int(moves[0].min()), int(moves[0].max())
    if last - first >= MOST_MOVES:
        mistakes.add(int(rows[0]), f"rounds must span at most {MOST_MOVES:,}, got {first} to {last}")
        return np.zeros((1, len(game.players), 2), dtype=np.int64)
    table = np.full((last - first + 1, len(game.players), 2), NONE, dtype=np.int64)
    for row, (round, player, action, advice) in zip(rows, moves.T, strict=True):
        if table[round - first, player, 0] != NONE:
            where = f" of group {group}" if group else ""
            mistakes.add(int(row), f"a second move of {game.players[player]} in round {round}{where}")
        table[round - first, player] = action, advice
    return table


def _missing(names: Sequence[str], tables: Sequence[NDArray[np.int64]], game: Game, what: str) -> str:
    """Return the message on missing moves."""

    def listed() -> Iterator[str]:
        for name, table in zip(names, tables, strict=True):
            for player, label in enumerate(game.players):
                rounds = np.flatnonzero(table[:, player, 0] == NONE) + 1
                if len(rounds):
                    where = f"group {name}: " if name else ""
                    yield f"  {where}{_lines('round', rounds.tolist())} (counted from the first): no move of {label}"

    lines = list(listed())
    more = [f"  and {len(lines) - LISTED} more"] if len(lines) > LISTED else []
    hint = "add them, or leave out these rounds with drop_incomplete=True (--drop-incomplete)"
    return "\n".join([f"{what} lack moves; {hint}:", *lines[:LISTED], *more])
