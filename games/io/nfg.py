"""Gambit's strategic games (.nfg), in the payoff form and in the outcome form.

A file is `NFG 1 R "title" { players } { actions } "comment"` and then either a flat list of payoffs or a list of
outcomes and the number of an outcome for each action profile, 0 standing for payoffs of 0. The first player's action
changes fastest. The format is described in Gambit's manual, "Game representation formats".
"""

import re

import numpy as np
from numpy.typing import NDArray

from gamesim.errors import InputError
from gamesim.game import Table, refuse_beyond_memory
from gamesim.games.io.tokens import Words, distinct, written

_WORDS = re.compile(r'(?P<skip>\s+)|"(?P<text>(?:[^"\\]|\\.)*)"|(?P<mark>[{},])|(?P<word>[^\s{}",]+)', re.DOTALL)


def read(text: str, place: str = "text", name: str = "game") -> Table:
    """Return the game that the text of a .nfg file says; `name` is for games without a title.

    >>> read('NFG 1 R "small" { "A" "B" } { 2 1 } 1/2 -3 .25 4').payoffs.tolist()
    [[[0.5], [0.25]], [[-3.0], [4.0]]]
    """
    words = Words(place, text, _WORDS)
    words.expect("word", "NFG, with which every .nfg file begins", ["NFG"])
    words.expect("word", "1, the version of the format", ["1"])
    words.expect("word", "R (or D), the kind of numbers", ["R", "D"])
    title = _label(words, "the title of the game in quotation marks")
    players = _labels(words, "a player")
    if not players:
        words.fail("at least one player")
    labels, sizes = _actions(words, players)
    refuse_beyond_memory(sizes)
    if words.next.kind == "text":
        words.take()  # the comment
    payoffs = _outcomes(words, sizes) if words.next.says == "{" else _payoffs(words, sizes)
    if words.next.kind != "end":
        words.fail("the end of the file")
    actions = [distinct(own) for own in labels] if labels else None
    try:
        return Table.from_payoffs(payoffs, name=title or name, players=distinct(players), actions=actions)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _label(words: Words, expected: str) -> str:
    return words.expect("text", expected).says.replace('\\"', '"')


def _labels(words: Words, of_what: str) -> list[str]:
    """Read a list of labels in braces."""
    words.expect("mark", "{", ["{"])
    labels = []
    while words.next.kind == "text":
        labels.append(_label(words, of_what))
    words.expect("mark", f"the name of {of_what} in quotation marks, or }}", ["}"])
    return labels


def _actions(words: Words, players: list[str]) -> tuple[list[list[str]] | None, tuple[int, ...]]:
    """Read the actions: a list of labels for each player, or only how many each has."""
    words.expect("mark", "{", ["{"])
    labels: list[list[str]] | None = None
    if words.next.says == "{":
        labels = [_labels(words, f"an action of {player!r}") for player in players]
        sizes = tuple(map(len, labels))
    else:
        sizes = tuple(words.whole(f"how many actions {player!r} has") for player in players)
    if min(sizes) < 1:
        words.fail("at least one action for each player")
    words.expect("mark", f"}} after the actions of {len(players)} players", ["}"])
    return labels, sizes


def _payoffs(words: Words, sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """Read a payoff for each player for each action profile; nothing is set aside before it has been read."""
    count = len(sizes)
    total = count * int(np.prod(sizes, dtype=np.int64))
    values = [words.number(f"payoff {k + 1} of {total}") for k in range(total)]
    return np.array(values).reshape(*sizes[::-1], count).T


def _outcomes(words: Words, sizes: tuple[int, ...]) -> NDArray[np.float64]:
    """Read the outcomes, then the number of an outcome for each action profile."""
    count = len(sizes)
    words.expect("mark", "{", ["{"])
    outcomes = [[0.0] * count]
    while words.next.says == "{" and words.next.kind == "mark":
        words.take()
        words.expect("text", "the name of an outcome in quotation marks")
        outcome = []
        for k in range(count):
            outcome.append(words.number(f"payoff {k + 1} of {count} of outcome {len(outcomes)}"))
            if words.next.says == "," and words.next.kind == "mark":
                words.take()
        words.expect("mark", f"}} after the {count} payoffs of outcome {len(outcomes)}", ["}"])
        outcomes.append(outcome)
    words.expect("mark", "{ before an outcome, or } after the last", ["}"])
    cells = int(np.prod(sizes, dtype=np.int64))
    chosen = []
    for k in range(cells):
        word, number = words.next, words.whole(f"outcome number {k + 1} of {cells}")
        if number >= len(outcomes):
            words.fail(f"an outcome from 0 to {len(outcomes) - 1}", word)
        chosen.append(number)
    return np.array(outcomes)[chosen].reshape(*sizes[::-1], count).T


def write(game: Table) -> str:
    """Return the text of a .nfg file, in the payoff form with labels, which reads back exactly."""
    players = " ".join(map(_quoted, game.players))
    actions = "\n".join(f"{{ {' '.join(map(_quoted, labels))} }}" for labels in game.actions)
    rows = game.payoffs.T.reshape(-1, game.sizes[0] * len(game.players)).tolist()
    body = "\n".join(" ".join(map(written, row)) for row in rows)
    return f"NFG 1 R {_quoted(game.name)} {{ {players} }}\n\n{{ {actions}\n}}\n\n{body}\n"


def _quoted(label: str) -> str:
    """Quote a label, if the format can: it has no way to write a backslash before a quotation mark."""
    if '\\"' in label or label.endswith("\\"):
        raise InputError(f"the .nfg format cannot write the label {label!r}: no backslash before a quotation mark")
    quoted = label.replace('"', '\\"')
    return f'"{quoted}"'
