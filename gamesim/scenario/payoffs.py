"""Validate the payoff tables in a scenario, and the names and labels that go with them."""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from gamesim.formatting import shown
from gamesim.scenario.mistakes import Mistake


def payoff_mistakes(
    payoffs: list[Any], players: list[str] | None, actions: list[list[str]] | None
) -> Iterator[Mistake]:
    """Yield entries that are not finite numbers, rows of the wrong length, and a wrong number of tables.

    A row must have one entry per label if any row does; otherwise it must be as long as most rows.
    """
    expected: list[tuple[int, str]] = []  # the number of entries along each axis, and the reason
    rows = [payoffs]
    while rows := [one for above in rows for one in above if isinstance(one, list)]:
        counts, axis = Counter(map(len, rows)), len(expected)
        labels = len(actions[axis]) if actions is not None and axis < len(actions) else None
        if labels is not None and labels in counts:
            expected.append((labels, f"one per label in game.actions[{axis + 1}]"))
        else:
            expected.append((counts.most_common(1)[0][0], "like most rows"))
    found = list(_entry_mistakes(payoffs, expected))
    yield from found
    tables, axes = len(payoffs), len(expected)
    if found or tables == axes:
        return
    named = players or actions
    if axes == 0:
        yield "", "expected one table per player, got numbers"
    elif axes == (len(named) if named else max(tables, axes)):
        yield "", f"expected {axes} tables for {axes} players, one per player, got {tables}"
    else:
        players_given = f"{tables} players" if tables > 1 else "one player"
        need = f"{tables} axes, one per player" if tables > 1 else "one axis"
        yield "", f"expected tables with {need}, since there are tables for {players_given}, got {axes} axes"


def _entry_mistakes(entries: list[Any], expected: list[tuple[int, str]], path: str = "") -> Iterator[Mistake]:
    if expected:
        (length, why), below = expected[0], expected[1:]
        for i, one in enumerate(entries, 1):
            if not isinstance(one, list):
                yield f"{path}[{i}]", f"expected an array like its neighbours, got {shown(one)}"
            elif len(one) != length:
                yield f"{path}[{i}]", f"ragged; expected {length} entries, {why}, got {len(one)}"
            else:
                yield from _entry_mistakes(one, below, f"{path}[{i}]")
        return
    for i, one in enumerate(entries, 1):
        if isinstance(one, bool) or not isinstance(one, int | float):
            yield f"{path}[{i}]", f"expected a number, got {shown(one)}"
        elif not abs(one) <= sys.float_info.max:  # also an integer too large for a float
            yield f"{path}[{i}]", f"expected a finite number, got {shown(one)}"


def label_mistakes(payoffs: list[Any], players: list[str] | None, actions: list[list[str]] | None) -> Iterator[Mistake]:
    """Yield a mistake wherever the names or labels differ in number from the players or actions of valid payoffs."""
    count = len(payoffs)
    for key, names in (("players", players), ("actions", actions)):
        if names is not None and len(names) != count:
            what = "names" if key == "players" else "lists of labels"
            yield (
                f"game.{key}",
                f"expected {count} {what}, one per payoff table, got {len(names)}",
            )
    if actions is None or len(actions) != count:
        return
    rows = payoffs
    for i, labels in enumerate(actions, 1):
        rows = rows[0] if rows else []
        if len(labels) != len(rows):
            who = f" of {players[i - 1]}" if players and len(players) == count else f" of player {i}"
            yield (
                f"game.actions[{i}]",
                f"expected {len(rows)} labels, one per action{who} in the payoffs, got {len(labels)}",
            )
