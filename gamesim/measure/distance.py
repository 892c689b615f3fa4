"""The distance of joint distributions to the set of equilibria, in total variation, and when it is worth computing."""

from collections.abc import Iterable, Iterator
from warnings import warn

from numpy.typing import ArrayLike

from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.measure import total_variation
from gamesim.measure.incentives import (
    ENTRIES,
    EquilibriumKind,
    Incentives,
    checked_joint,
    checked_kind,
    incentives_of,
    no_distance,
    written_out,
)
from gamesim.measure.linear_programs import SECONDS
from gamesim.measure.total_variation import DistanceBounds
from gamesim.validation import positive

QUICK_ENTRIES = 50_000  # entries of the linear programs, over all replicas, up to which they take seconds (measured)


def why_left_out(game: Game, replicas: int = 1, *, always: bool = False) -> str | None:
    """Return why distances are not computed, or None if they are; `always` is for programs that may be slow."""
    if (without := no_distance(game)) is not None:
        return without
    work = Incentives(written_out(game), "ce").entries
    if work > ENTRIES:
        return f"the linear programs have {work:,} entries, more than the limit of {ENTRIES:,}: use fewer actions"
    if not always and work * replicas > QUICK_ENTRIES:
        many = "" if replicas == 1 else f" for {replicas:,} replicas"
        return (
            f"linear programs over {game.cells:,} cells{many} are slow: to solve them, set always=True in Python or "
            'distance = "always" in [measure] of a scenario'
        )
    return None


def refuse_slow(game: Game, replicas: int = 1, *, always: bool = False) -> None:
    """Raise an InputError if distances are not computed."""
    if (why := why_left_out(game, replicas, always=always)) is not None:
        raise InputError(f"distances in {game.name} are not computed: {why}")


def distance(
    game: Game, joint: ArrayLike, kind: EquilibriumKind, *, always: bool = False, seconds: float = SECONDS
) -> float:
    """Return the distance of a joint distribution to the nearest CE or CCE.

    Parameters
    ----------
    game : Game
        A game with a payoff table.
    joint : array_like
        The joint distribution, one axis per player.
    kind : {"ce", "cce"}
        Correlated or coarse correlated equilibria.
    always : bool, default False
        Whether to solve linear programs that may take minutes.
    seconds : float, default 60
        Time limit for solving.

    Returns
    -------
    float
        The distance in total variation, from 0 to 1: the minimum probability mass that must move. If it is not solved
        within the time limit, NaN, with a warning; `distance_bounds` returns the bounds that are known then.

    Raises
    ------
    InputError
        If the game has no payoff table or is too large, `joint` is not a distribution of its shape, or the kind is
        unknown.

    Notes
    -----
    A deviation may gain up to 1e-9 of its largest gain at any action profile, so equilibria survive rounding errors of
    payoffs: dividing integer payoffs by 10 changes no distance. If the gains of one deviation differ by a factor above
    1e6, and at most 24 action profiles remain after the elimination of dominated ones, exact arithmetic decides.

    Examples
    --------
    >>> from gamesim.game import Table
    >>> pennies = Table.from_payoffs([[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]])
    >>> distance(pennies, [[1, 0], [0, 0]], "ce")
    0.75
    """
    return distances(game, [joint], kind, always=always, seconds=seconds)[0]


def distances(
    game: Game, joints: Iterable[ArrayLike], kind: EquilibriumKind, *, always: bool = False, seconds: float = SECONDS
) -> list[float]:
    """Return the distances of several joint distributions to the nearest CE or CCE.

    It is faster than single calls of `distance` if consecutive distributions are close, as at the checkpoints of a run.

    Parameters
    ----------
    game : Game
        A game with a payoff table.
    joints : iterable of array_like
        The joint distributions, each with one axis per player.
    kind : {"ce", "cce"}
        Correlated or coarse correlated equilibria.
    always : bool, default False
        Whether to solve linear programs that may take minutes.
    seconds : float, default 60
        Time limit for each distribution.

    Returns
    -------
    list of float
        The distances in total variation, from 0 to 1; NaN, with a warning, for those not solved within the time limit.

    Raises
    ------
    InputError
        If the game has no payoff table or is too large, an entry of `joints` is not a distribution of its shape, or the
        kind is unknown.

    Examples
    --------
    >>> from gamesim import games
    >>> dilemma = games.make("prisoners-dilemma")
    >>> [round(far, 9) for far in distances(dilemma, [[[0.25, 0.25], [0.25, 0.25]], [[0, 0.1], [0, 0.9]]], "ce")]
    [0.75, 0.1]
    """
    found = []
    for bounds in _bounds(game, joints, kind, always=always, seconds=seconds):
        if not bounds.solved:
            what = f"the distance to the {kind.upper()} of {game.name}"
            warn(f"{what} was not solved within {seconds:g} s: it is {bounds}", RuntimeWarning, stacklevel=2)
        found.append(bounds.distance)
    return found


def distance_bounds(
    game: Game, joint: ArrayLike, kind: EquilibriumKind, *, always: bool = False, seconds: float = SECONDS
) -> DistanceBounds:
    """Return certified bounds on the distance to the nearest CE or CCE.

    Parameters
    ----------
    game : Game
        A game with a payoff table.
    joint : array_like
        The joint distribution, one axis per player.
    kind : {"ce", "cce"}
        Correlated or coarse correlated equilibria.
    always : bool, default False
        Whether to solve linear programs that may take minutes.
    seconds : float, default 60
        Time limit for solving.

    Returns
    -------
    DistanceBounds
        A lower and an upper bound in total variation, and the nearest equilibrium found. The bounds are equal up to
        1e-8 if the distance is solved within the time limit.

    Raises
    ------
    InputError
        If the game has no payoff table or is too large, `joint` is not a distribution of its shape, or the kind is
        unknown.

    Notes
    -----
    The lower bound holds by weak duality for any multipliers of the incentive constraints, see `DistanceBounds`. The
    upper bound is the distance to an equilibrium, at which no deviation gains more than 1e-9 of the payoff range.

    Examples
    --------
    >>> from gamesim import games
    >>> bounds = distance_bounds(games.make("shapley"), [[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0]], "ce")
    >>> bounds.solved, round(bounds.lower, 6), round(bounds.upper, 6)
    (True, 0.666667, 0.666667)
    """
    return next(_bounds(game, [joint], kind, always=always, seconds=seconds))


def _bounds(
    game: Game, joints: Iterable[ArrayLike], kind: EquilibriumKind, *, always: bool, seconds: float
) -> Iterator[DistanceBounds]:
    table, _ = written_out(game), checked_kind(kind)
    positive("seconds", seconds)
    refuse_slow(table, always=always)
    arrays = (checked_joint(table, joint) for joint in joints)
    return total_variation.along(incentives_of(table, kind), arrays, seconds)
