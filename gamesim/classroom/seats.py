"""Who plays with whom: the groups of a round, with a student or a learner in every seat."""

from typing import Literal, TypeAlias, get_args

import numpy as np

Matching: TypeAlias = Literal["learner", "groups", "reshuffled", "population"]
MATCHINGS: tuple[Matching, ...] = get_args(Matching)
LEARNER = -1  # in a seat without a student


def groups(matching: Matching, students: int, players: int, round: int, seed: int, first: int = 0) -> list[list[int]]:
    """Return the groups of a round, each with the index of a student, or -1, for every player of the game.

    A student has the same role in all rounds: roles are assigned in turn, from the `first` on, in the order in which
    students join. With
    "learner", every student plays against learners. With "groups", students play in groups in the order in which they
    joined; "reshuffled" draws new groups in every round. In a "population" all play one game together.

    >>> groups("learner", students=3, players=2, round=1, seed=0)
    [[0, -1], [-1, 1], [2, -1]]
    >>> groups("groups", students=3, players=2, round=1, seed=0)
    [[0, 1], [2, -1]]
    >>> groups("reshuffled", students=5, players=2, round=2, seed=0)
    [[0, 3], [2, 1], [4, -1]]
    """
    if matching == "learner":
        roles = [role_of(one, players, first) for one in range(students)]
        return [[k if role == mine else LEARNER for role in range(players)] for k, mine in enumerate(roles)]
    random = np.random.default_rng([seed, round, 1])
    by_role = []
    for role in range(players):
        some = [one for one in range(students) if role_of(one, players, first) == role]
        by_role.append([some[k] for k in random.permutation(len(some))] if matching == "reshuffled" else some)
    return [[some[k] if k < len(some) else LEARNER for some in by_role] for k in range(max(map(len, by_role)))]


def role_of(student: int, players: int, first: int = 0) -> int:
    """Return the player of the game whose role a student has."""
    return (student + first) % players
