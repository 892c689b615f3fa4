"""Where runs end, in words: at a pure or mixed equilibrium, or elsewhere."""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from gamesim.formatting import one_line
from gamesim.game import Game, Table
from gamesim.games.nash import nash_equilibria

PURE = 0.98  # probability of an action that counts as pure
NEAR = 0.02  # largest difference of a probability to an equilibrium that counts as having ended there
CELLS = 25  # of a two-player game whose mixed equilibria are looked for
SHOWN = 4  # players and actions that are named
ROUNDING = 1e-9  # of losses, which lie in [-1, 1]
ELSEWHERE = "elsewhere"


def in_words(game: Game, strategies: Sequence[NDArray[np.float64]]) -> str:
    """Return the strategies of players, from the first on, in words.

    >>> from gamesim import games
    >>> in_words(games.make("chicken"), [np.array([1.0, 0.0]), np.array([1 / 3, 2 / 3])])
    '(chicken out, 33% chicken out)'
    """
    named = [_strategy(one, labels) for one, labels in zip(strategies, game.actions, strict=False)]
    return "(" + ", ".join(named[: SHOWN + 2]) + (", …" if len(named) > SHOWN + 2 else "") + ")"


def _strategy(strategy: NDArray[np.float64], labels: Sequence[str]) -> str:
    names = [f"action {label}" if label.isdigit() else one_line(label, 18) for label in labels]
    if strategy.max() >= PURE:
        return names[int(strategy.argmax())]
    played = [0] if len(names) == 2 else [int(a) for a in np.flatnonzero(strategy >= 0.005)]
    shown = " + ".join(f"{strategy[a]:.0%} {names[a]}" for a in played[:SHOWN])
    return shown + (" + …" if len(played) > SHOWN else "")


def endings(game: Game, profiles: NDArray[np.float64]) -> dict[str, int]:
    """Return how many runs end where, by their last strategies, one row per run; the most frequent place first.

    >>> from gamesim import games
    >>> rows = np.array([[1, 0, 0, 1], [0.99, 0.01, 0, 1], [2 / 3, 1 / 3, 2 / 3, 1 / 3], [0.5, 0.5, 0, 1]])
    >>> endings(games.make("chicken"), rows)  # doctest: +NORMALIZE_WHITESPACE
    {'(chicken out, dare)': 2, 'mixed equilibrium (67% chicken out, 67% chicken out)': 1, 'elsewhere': 1}
    """
    mixed: list[NDArray[np.float64]] = []
    if isinstance(game, Table) and len(game.players) == 2 and game.cells <= CELLS:
        mixed = [np.concatenate(profile) for profile in _equilibria(game)]
    found = Counter(_ending(game, row, mixed) for row in profiles)
    return dict(sorted(found.items(), key=lambda item: (item[0] == ELSEWHERE, -item[1])))


def sentence(found: dict[str, int], game: str) -> str:
    """Return how many runs of a game end where, as a sentence.

    >>> sentence({"(dare, dare)": 11, "(out, dare)": 8, "elsewhere": 1}, "chicken")
    'Of 20 runs of chicken, 11 end at (dare, dare), 8 at (out, dare) and 1 elsewhere'
    >>> sentence({"(dare, dare)": 20}, "chicken"), sentence({"elsewhere": 1}, "chicken")
    ('All 20 runs of chicken end at (dare, dare)', 'The run of chicken ends at no equilibrium')
    """
    total = sum(found.values())
    if len(found) == 1:
        (place,) = found
        subject, verb = ("The run", "ends") if total == 1 else (f"All {total:,} runs", "end")
        where = "at no equilibrium" if place == ELSEWHERE else f"at {place}"
        return f"{subject} of {game} {verb} {where}"
    named = [(place, count) for place, count in found.items() if place != ELSEWHERE][:SHOWN]
    other = total - sum(count for _, count in named)
    parts = [f"{count:,} at {place}" for place, count in named] + ([f"{other:,} elsewhere"] if other else [])
    first, *rest = parts
    verb = " ends " if named[0][1] == 1 else " end "
    joined = ", ".join([first.replace(" ", verb, 1), *rest[:-1]])
    return f"Of {total:,} runs of {game}, {joined} and {rest[-1]}"


def _ending(game: Game, profile: NDArray[np.float64], equilibria: Sequence[NDArray[np.float64]]) -> str:
    ends = np.cumsum(game.sizes)[:-1]
    strategies = np.split(profile, ends)
    if min(float(one.max()) for one in strategies) >= PURE:
        return in_words(game, strategies) if _is_equilibrium(game, strategies) else ELSEWHERE
    for one in equilibria:
        if np.abs(profile - one).max() <= NEAR:
            return f"mixed equilibrium {in_words(game, np.split(one, ends))}"
    return ELSEWHERE


@lru_cache(maxsize=4)  # the checkpoints of a run ask again and again
def _equilibria(game: Table) -> tuple[tuple[NDArray[np.float64], NDArray[np.float64]], ...]:
    return nash_equilibria(game).profiles


def _is_equilibrium(game: Game, strategies: Sequence[NDArray[np.float64]]) -> bool:
    """Whether the pure profile next to these strategies is a Nash equilibrium; play that circles only passes others."""
    chosen = [int(one.argmax()) for one in strategies]
    pure = np.concatenate([np.eye(one.size)[a] for one, a in zip(strategies, chosen, strict=True)])
    losses = np.split(game.expected_losses(pure), np.cumsum(game.sizes)[:-1])
    return all(float(loss[a] - loss.min()) <= ROUNDING for loss, a in zip(losses, chosen, strict=True))
