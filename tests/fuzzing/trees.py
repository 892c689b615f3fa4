"""Mutations of trees, as JSON and TOML hold them: values, keys, branches, and grafts from other trees."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from random import Random
from typing import Any

from tests.fuzzing import values
from tests.fuzzing.values import some

Place = tuple[Any, Any]  # a dict or list, and a key or index in it


def mutated(random: Random, tree: Any, words: Sequence[str], others: Sequence[Any]) -> Any:
    """Return a tree after one to four mutations."""
    root = [deepcopy(tree)]
    for _ in range(1 + int(random.expovariate(1.2))):
        places = _places(root)
        if not places:
            break
        try:
            some(random, _MUTATIONS)(random, places, words, others)
        except RecursionError:  # too deep to be copied
            break
    return root[0] if root else {}


def leaf(random: Random, words: Sequence[str]) -> Any:
    """Return a value without branches."""
    kind = random.random()
    if kind < 0.5:
        return values.number(random)
    return values.text(random, words) if kind < 0.9 else some(random, (True, False, [], {}, [[]], [0], {"": 0}))


def _places(root: list[Any]) -> list[Place]:
    """Return every place of a tree, in order; trees that have grown very deep are left at some depth."""
    found: list[Place] = []
    level: list[Any] = [root]
    while level and len(found) < 3000:
        below: list[Any] = []
        for branch in level:
            for key in list(branch) if isinstance(branch, dict) else range(len(branch)):
                found.append((branch, key))
                if isinstance(branch[key], dict | list):
                    below.append(branch[key])
        level = below
    return found


def _replace(random: Random, places: list[Place], words: Sequence[str], others: Sequence[Any]) -> None:
    leaves = [(branch, key) for branch, key in places if not isinstance(branch[key], dict | list)]
    branch, key = some(random, leaves if leaves and random.random() < 0.8 else places)
    branch[key] = leaf(random, words)


def _alike(random: Random, places: list[Place], words: Sequence[str], others: Sequence[Any]) -> None:
    """Replace a value by one of its type."""
    branch, key = some(random, places)
    old = branch[key]
    if isinstance(old, bool):
        branch[key] = not old
    elif isinstance(old, int | float):
        branch[key] = values.number(random)
    elif isinstance(old, str):
        branch[key] = values.text(random, words)


def _delete(random: Random, places: list[Place], words: Sequence[str], others: Sequence[Any]) -> None:
    branch, key = some(random, places[1:] or places)
    del branch[key]


def _repeat(random: Random, places: list[Place], words: Sequence[str], others: Sequence[Any]) -> None:
    branch, key = some(random, places)
    if isinstance(branch, list):
        branch[key:key] = [deepcopy(branch[key]) for _ in range(some(random, (1, 1, 2, 70)))]
    else:
        branch[values.text(random, words)] = deepcopy(branch[key])


def _rename(random: Random, places: list[Place], words: Sequence[str], others: Sequence[Any]) -> None:
    tables = [(branch, key) for branch, key in places if isinstance(branch, dict)]
    if tables:
        branch, key = some(random, tables)
        branch[values.text(random, words)] = branch.pop(key)


def _move(random: Random, places: list[Place], words: Sequence[str], others: Sequence[Any]) -> None:
    (branch, key), (other, name) = some(random, places), some(random, places)
    branch[key] = deepcopy(other[name])


def _wrap(random: Random, places: list[Place], words: Sequence[str], others: Sequence[Any]) -> None:
    branch, key = some(random, places)
    for _ in range(1 if random.random() < 0.9 else some(random, (50, 200))):
        branch[key] = [branch[key]] if random.random() < 0.7 else {values.text(random, words[:50]): branch[key]}


def _graft(random: Random, places: list[Place], words: Sequence[str], others: Sequence[Any]) -> None:
    if others:
        branch, key = some(random, places)
        other, name = some(random, _places([some(random, others)]))
        branch[key] = deepcopy(other[name])


_MUTATIONS: tuple[Callable[[Random, list[Place], Sequence[str], Sequence[Any]], None], ...] = (
    *(_replace,) * 4,
    *(_alike,) * 4,
    _delete,
    _repeat,
    _rename,
    _move,
    _wrap,
    _graft,
    _graft,
)
