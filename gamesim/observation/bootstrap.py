"""Bootstrap intervals of measures: over groups, over replicas, or over blocks of rounds.

Groups and replicas are independent, so they are drawn with replacement. The rounds of a single group are not: blocks of
consecutive rounds are drawn instead, from a circle on which the first round follows the last (Politis and Romano 1992).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from gamesim import validation
from gamesim.engine.sums import Sums
from gamesim.errors import InputError
from gamesim.measure.builtin import PAYOFF
from gamesim.measure.moments import Moments
from gamesim.measure.registry import find
from gamesim.observation.recording import pooled_order, sums_of
from gamesim.record import Record

__all__ = ["Interval", "intervals"]

MEASURES = ("payoffs", "external-regret", "internal-regret", "swap-regret", "cce-gap", "ce-gap")
AT_ONCE = 2**22  # numbers in the sums of the resamples that are measured together


@dataclass(frozen=True)
class Interval:
    """Hold an estimate and its bootstrap interval.

    Parameters
    ----------
    estimate : float or ndarray
        The measure of what was observed; with replicas, the mean over them.
    low : float or ndarray
        The lower end.
    high : float or ndarray
        The upper end.

    Examples
    --------
    >>> Interval(0.25, 0.1, 0.5).low
    0.1
    """

    estimate: float | NDArray[np.float64]
    low: float | NDArray[np.float64]
    high: float | NDArray[np.float64]


def intervals(
    record: Record[Any],
    measures: Sequence[str] = MEASURES,
    *,
    level: float = 0.95,
    samples: int = 1000,
    block: int | None = None,
    seed: int = 0,
) -> dict[str, Interval]:
    """Return bootstrap intervals of measures of a record.

    Parameters
    ----------
    record : Record
        A record with replicas, or one of observed play.
    measures : sequence of str
        Names of measures. By default payoffs, regrets and gaps. Measures in payoff units, which are totals, are
        divided by the number of rounds.
    level : float, default 0.95
        The level of the intervals, whose ends are quantiles of the resamples.
    samples : int, default 1000
        The number of resamples.
    block : int, optional
        The number of consecutive rounds per block, for a single group. By default the cube root of the number of
        rounds, rounded up.
    seed : int, default 0
        The seed of the resamples.

    Returns
    -------
    dict of str to Interval
        The interval of each measure: of the mean over replicas if there are any, otherwise of the measure.

    Raises
    ------
    InputError
        If the record is that of a single simulated run, whose replicas would be needed, or an argument is invalid.

    Notes
    -----
    Regrets and gaps are maxima, so that estimates are biased upwards where the truth is near 0, and intervals are too.
    Short groups that are measured one by one have this bias each; pooled groups have it once.

    References
    ----------
    B. Efron and R. Tibshirani, *An Introduction to the Bootstrap*, chapters 8 and 13. Chapman and Hall, 1993.
    D. Politis and J. Romano, "A circular block-resampling procedure for stationary data", in *Exploring the Limits of
    Bootstrap*, Wiley, 1992.

    Examples
    --------
    >>> import gamesim
    >>> record = gamesim.simulate("chicken", "hedge", rounds=100, replicas=20, perturb=0.5)
    >>> found = intervals(record, ["ce-gap"])["ce-gap"]
    >>> bool(found.low < found.estimate < found.high)
    True
    """
    if not 0 < level < 1:
        raise InputError(f"level must lie between 0 and 1, got {level}")
    count = validation.whole_number("samples", samples, least=2, most=10**6)
    if block is not None:
        validation.whole_number("block", block, least=1, most=record.rounds)
    random = np.random.default_rng(validation.whole_number("seed", seed, least=0))
    resampled = _of_replicas(record, measures, count, random) if not record.single else None
    values = resampled or _of_rounds(record, measures, count, block, random)
    tail = 50 * (1 - level)
    found = {}
    for name, (estimate, drawn) in values.items():
        low, high = np.percentile(drawn, [tail, 100 - tail], axis=0)
        found[name] = Interval(estimate, low, high)
    return found


def description(record: Record[Any], block: int | None = None) -> str:
    """Return what is drawn with replacement, in words."""
    groups = len(record.settings.get("groups", []))
    if not record.single:
        return f"{record.replicas} {'groups' if groups else 'replicas'}"
    return f"{groups} groups" if groups > 1 else f"blocks of {block or _block(record.rounds)} rounds"


def _block(rounds: int) -> int:
    return int(np.ceil(rounds ** (1 / 3)))


Values = Mapping[str, tuple[Any, NDArray[np.float64]]]  # by measure: the estimate and the resamples


def _of_replicas(record: Record[Any], measures: Sequence[str], count: int, random: np.random.Generator) -> Values:
    """Draw replicas with replacement; the statistic is the mean."""
    drawn = random.integers(record.replicas, size=(count, record.replicas))
    values = {}
    for name in measures:
        measured = cast(NDArray[np.float64], record.measure(name)) / (record.rounds if _is_total(name) else 1)
        values[name] = measured.mean(axis=0), np.array([measured[one].mean(axis=0) for one in drawn])
    return values


def _is_total(name: str) -> bool:
    """Whether a measure adds up over rounds, and is reported per round."""
    return find(name).unit == PAYOFF


def _of_rounds(
    record: Record[Any], measures: Sequence[str], count: int, block: int | None, random: np.random.Generator
) -> Values:
    """Draw groups or blocks of rounds with replacement, add up their sums, and measure these."""
    if "plays" not in record.arrays:
        raise InputError("the intervals of a simulated run need replicas; simulate it with replicas=...")
    plays, ends = record.arrays["plays"][0], np.cumsum(record.settings["group_rounds"])
    by_groups = len(ends) > 1
    length = block or _block(record.rounds)
    if by_groups:  # back to group after group
        plays = plays[np.argsort(pooled_order(record.settings["group_rounds"]), kind="stable")]
    pieces = ends if by_groups else np.arange(1, 2 * record.rounds + 1)  # twice around the circle
    totals = sums_of(record.game, plays if by_groups else np.tile(plays, (2, 1)), pieces)
    of_piece = {name: np.diff(total, axis=0, prepend=0) if by_groups else total for name, total in totals.items()}
    sizes = np.diff(ends, prepend=0)
    parts: dict[str, list[Any]] = {name: [] for name in measures}
    width = sum(total.shape[1] for total in totals.values())
    for drawn in _batches(count, max(1, AT_ONCE // width)):
        if by_groups:
            chosen = random.integers(len(ends), size=(drawn, len(ends)))
            weights = np.array([np.bincount(one, minlength=len(ends)) for one in chosen], dtype=float)
            sums = {name: weights @ one for name, one in of_piece.items()}
            rounds = weights @ sizes
        else:
            sums, rounds = _blocks(of_piece, record.rounds, length, drawn, random)
        moments = _moments(record, sums, rounds)
        for name in measures:
            parts[name].append(_measured(name, moments))
    now = record.moments()[-1:]
    return {name: (_measured(name, now)[0], np.concatenate(parts[name])) for name in measures}


def _batches(count: int, most: int) -> Iterator[int]:
    for first in range(0, count, most):
        yield min(most, count - first)


def _blocks(
    totals: Mapping[str, NDArray[np.float64]], rounds: int, length: int, count: int, random: np.random.Generator
) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.float64]]:
    """Return the sums over blocks that together have as many rounds as were played; the last block is cut."""
    whole, rest = divmod(rounds, length)
    spans = np.array([length] * whole + ([rest] if rest else []))
    starts = random.integers(rounds, size=(count, len(spans)))
    found: dict[str, NDArray[np.float64]] = {}
    for name, total in totals.items():
        cumulative = np.concatenate([np.zeros((1, total.shape[1])), total])
        found[name] = np.zeros((count, total.shape[1]))
        for k, span in enumerate(spans):
            found[name] += cumulative[starts[:, k] + span] - cumulative[starts[:, k]]
    return found, np.full(count, float(rounds))


def _moments(record: Record[Any], sums: Mapping[str, NDArray[np.float64]], rounds: NDArray[np.float64]) -> Moments:
    empty = np.zeros((len(rounds), 0))
    stacked = Sums(*(sums.get(name, empty) for name in Sums._fields))
    return Moments(
        record.game,
        rounds,
        lambda k: Sums(*(total[k] for total in stacked)),
        lambda name: cast(NDArray[np.float64], getattr(stacked, name)),
    )


def _measured(name: str, moments: Moments) -> NDArray[np.float64]:
    """Return a measure of each moment, per round if it is a total."""
    values = find(name).along(moments)
    return values / np.reshape(moments.rounds, (-1, *[1] * (values.ndim - 1))) if _is_total(name) else values
