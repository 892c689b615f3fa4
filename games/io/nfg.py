"""Gambit's strategic-form format (.nfg), in its payoff and outcome versions.

A file is `NFG 1 R "title" { players } { actions } "comment"`, followed either by a flat list of payoffs or by a list
of outcomes and one outcome number per action profile, where 0 stands for payoffs of 0. The first player's action
changes fastest. The format is described in Gambit's manual, "Game representation formats".
"""

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gamesim.errors import InputError
from gamesim.game import Table, refuse_beyond_memory
from gamesim.games.io.text import exact_number
from gamesim.games.io.tokens import Tokenizer

_TOKENS = re.compile(r'\s+|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<mark>[{},])|(?P<word>[^\s{}",]+)', re.DOTALL)


def read(text: str, place: str = "text", name: str = "game") -> Table:
    """Return the game in the text of a .nfg file; `name` is used if it has no title.

    >>> read('NFG 1 R "small" { "A" "B" } { 2 1 } 1/2 -3 .25 4').payoffs.tolist()
    [[[0.5], [0.25]], [[-3.0], [4.0]]]
    """
    tokens = Tokenizer(place, text, _TOKENS)
    tokens.expect("word", "NFG at the beginning of the file", ["NFG"])
    tokens.expect("word", "1, the version of the format", ["1"])
    tokens.expect("word", "R (or D), the kind of numbers", ["R", "D"])
    title = _label(tokens, "the title of the game in quotation marks")
    players = _labels(tokens, "a player")
    if not players:
        tokens.fail("at least one player")
    labels, sizes = _actions(tokens, players)
    refuse_beyond_memory(sizes)
    if tokens.next.kind == "quoted":
        tokens.take()  # the comment
    payoffs = _outcomes(tokens, sizes) if tokens.next.text == "{" else _payoffs(tokens, sizes)
    if tokens.next.kind != "end":
        tokens.fail("the end of the file")
    actions = [_distinct(own) for own in labels] if labels else None
    try:
        return Table.from_payoffs(payoffs, name=title or name, players=_distinct(players), actions=actions)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _label(tokens: Tokenizer, expected: str) -> str:
    return tokens.expect("quoted", expected).text.replace('\\"', '"')


def _labels(tokens: Tokenizer, of_what: str) -> list[str]:
    """Read a list of labels in braces."""
    tokens.expect("mark", "{", ["{"])
    labels = []
    while tokens.next.kind == "quoted":
        labels.append(_label(tokens, of_what))
    tokens.expect("mark", f"the name of {of_what} in quotation marks, or }}", ["}"])
    return labels


def _actions(tokens: Tokenizer, players: list[str]) -> tuple[list[list[str]] | None, tuple[int, ...]]:
    """Read the actions: one list of labels per player, or only their numbers."""
    tokens.expect("mark", "{", ["{"])
    labels: list[list[str]] | None = None
    if tokens.next.text == "{":
        labels = [_labels(tokens, f"an action of {player!r}") for player in players]
        sizes = tuple(map(len, labels))
    else:
        sizes = tuple(tokens.whole(f"how many actions {player!r} has") for player in players)
    if min(sizes) < 1:
        tokens.fail("at least one action for each player")
    tokens.expect("mark", f"}} after the actions of {len(players)} players", ["}"])
    return labels, sizes


def _payoffs(tokens: Tokenizer, sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """Read the payoffs of all players in all action profiles; memory is allocated only as they are read."""
    count = len(sizes)
    total = count * int(np.prod(sizes, dtype=np.int64))
    values = [tokens.number(f"payoff {k + 1} of {total}") for k in range(total)]
    return np.array(values).reshape(*sizes[::-1], count).T


def _outcomes(tokens: Tokenizer, sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """Read the outcomes, then one outcome number per action profile."""
    count = len(sizes)
    tokens.expect("mark", "{", ["{"])
    outcomes = [[0.0] * count]
    while tokens.next.text == "{" and tokens.next.kind == "mark":
        tokens.take()
        tokens.expect("quoted", "the name of an outcome in quotation marks")
        outcome = []
        for k in range(count):
            outcome.append(tokens.number(f"payoff {k + 1} of {count} of outcome {len(outcomes)}"))
            if tokens.next.text == "," and tokens.next.kind == "mark":
                tokens.take()
        tokens.expect("mark", f"}} after the {count} payoffs of outcome {len(outcomes)}", ["}"])
        outcomes.append(outcome)
    tokens.expect("mark", "{ before an outcome, or } after the last", ["}"])
    cells = int(np.prod(sizes, dtype=np.int64))
    chosen = []
    for k in range(cells):
        token, number = tokens.next, tokens.whole(f"outcome number {k + 1} of {cells}")
        if number >= len(outcomes):
            tokens.fail(f"an outcome from 0 to {len(outcomes) - 1}", token)
        chosen.append(number)
    return np.array(outcomes)[chosen].reshape(*sizes[::-1], count).T


def _distinct(labels: Sequence[str]) -> list[str]:
    """Number the labels that are empty or repeat an earlier one.

    >>> _distinct(["up", "up", ""])
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


def write(game: Table) -> str:
    """Return the game as the text of a .nfg file, in the payoff version with labels."""
    players = " ".join(map(_quoted, game.players))
    actions = "\n".join(f"{{ {' '.join(map(_quoted, labels))} }}" for labels in game.actions)
    rows = game.payoffs.T.reshape(-1, game.sizes[0] * len(game.players)).tolist()
    body = "\n".join(" ".join(map(exact_number, row)) for row in rows)
    return f"NFG 1 R {_quoted(game.name)} {{ {players} }}\n\n{{ {actions}\n}}\n\n{body}\n"


def _quoted(label: str) -> str:
    """Quote a label; the format cannot represent a backslash before a quotation mark."""
    if '\\"' in label or label.endswith("\\"):
        raise InputError(f"the .nfg format cannot store the label {label!r}: no backslash before a quotation mark")
    quoted = label.replace('"', '\\"')
    return f'"{quoted}"'
