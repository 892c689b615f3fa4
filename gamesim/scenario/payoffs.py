"""Payoffs that a scenario writes out: whether they are tables of numbers, and whether names and labels fit them."""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from gamesim.scenario.mistakes import Mistake, shown


def payoff_mistakes(
    payoffs: list[Any], players: list[str] | None, actions: list[list[str]] | None
) -> Iterator[Mistake]:
    """Give every entry that is no finite number, rows of a wrong length, or that tables are too many or too few.

    A row should have an entry for each label, if any row has so many; else as many entries as most rows.
    """
    expected: list[tuple[int, str]] = []  # the entries along each axis, and why
    rows = [payoffs]
    while rows := [one for above in rows for one in above if isinstance(one, list)]:
        counts, axis = Counter(map(len, rows)), len(expected)
        labels = len(actions[axis]) if actions is not None and axis < len(actions) else None
        if labels is not None and labels in counts:
            expected.append((labels, f"one for each label in game.actions[{axis + 1}]"))
        else:
            expected.append((counts.most_common(1)[0][0], "as its neighbours have"))
    found = list(_entry_mistakes(payoffs, expected))
    yield from found
    tables, axes = len(payoffs), len(expected)
    if found or tables == axes:
        return
    named = players or actions
    if axes == 0:
        yield "", "expected a table for each player, and numbers came"
    elif axes == (len(named) if named else max(tables, axes)):
        yield "", f"expected {axes} tables, one of each player's payoffs, and {tables} came, for {axes} players"
    else:
        need = f"{tables} axes, one for each player's actions" if tables > 1 else "one axis"
        yield "", f"the number of tables, {tables}, is that of the players, so each needs {need}, and {axes} came"


def _entry_mistakes(entries: list[Any], expected: list[tuple[int, str]], path: str = "") -> Iterator[Mistake]:
    if any(isinstance(one, list) for one in entries):
        (length, why), below = expected[0], expected[1:]
        for i, one in enumerate(entries, 1):
            if not isinstance(one, list):
                yield f"{path}[{i}]", f"expected an array, as its neighbours are, and {shown(one)} came"
            elif len(one) != length:
                yield f"{path}[{i}]", f"ragged: expected {length} entries, {why}, and {len(one)} came"
            else:
                yield from _entry_mistakes(one, below, f"{path}[{i}]")
        return
    for i, one in enumerate(entries, 1):
        if isinstance(one, bool) or not isinstance(one, int | float):
            yield f"{path}[{i}]", f"expected a number, and {shown(one)} came"
        elif not abs(one) <= sys.float_info.max:  # also a whole number too large for a float
            yield f"{path}[{i}]", f"expected a finite number, and {shown(one)} came"


def label_mistakes(payoffs: list[Any], players: list[str] | None, actions: list[list[str]] | None) -> Iterator[Mistake]:
    """Give names and labels that are more or fewer than the players and actions in sound payoffs."""
    count = len(payoffs)
    for key, names in (("players", players), ("actions", actions)):
        if names is not None and len(names) != count:
            what = "names" if key == "players" else "lists of labels"
            yield (
                f"game.{key}",
                f"expected {count} {what}, as there are {count} tables of payoffs, and {len(names)} came",
            )
    if actions is None or len(actions) != count:
        return
    rows = payoffs
    for i, labels in enumerate(actions, 1):
        rows = rows[0] if rows else []
        if len(labels) != len(rows):
            who = f" of {players[i - 1]}" if players and len(players) == count else ""
            yield (
                f"game.actions[{i}]",
                f"expected {len(rows)} labels, as the payoffs have actions{who}, and {len(labels)} came",
            )
