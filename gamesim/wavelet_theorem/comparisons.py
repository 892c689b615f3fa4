"""Compare learners cell by cell: paired differences by seed, a rule for cells below noise, and Holm's correction."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Literal, TypeAlias

import numpy as np
from scipy.special import stdtr

from gamesim.study.results import Results
from gamesim.study.statistics import Mean, mean
from gamesim.wavelet_theorem.points import Labels

LEVEL = 0.05  # of all tests of a family together
# The noise rule, fixed before the full run: a comparison counts only if one of the two mean regrets is at least what a
# single round can cost, since losses lie in [-1, 1]. Anything smaller can be due to the first round.
NOISE = 2.0
WON, LOST, TIED, BELOW = "won", "lost", "tied", "below noise"


@dataclass(frozen=True)
class Comparison:
    """One learner against a rival in one cell."""

    cell: Labels
    rival: str
    own: Mean
    other: Mean
    difference: Mean
    verdict: str

    @property
    def ratio(self) -> float:
        """The mean regret of the learner divided by that of the rival."""
        return self.own.value / self.other.value if self.other.value > 0 else float("nan")


Side: TypeAlias = Literal["two-sided", "less", "greater"]


def p_value(values: Sequence[float], null: float = 0.0, side: Side = "two-sided") -> float:
    """Return the p-value of Student's t test that the mean is `null`; values without spread decide exactly."""
    found = np.array(values) - null
    if len(found) < 2:
        return 1.0
    if np.ptp(found) <= 1e-12 * np.abs(found).max():
        sign = np.sign(found[0]) if abs(found[0]) > 1e-12 else 0.0
        wanted = {"two-sided": abs(sign), "greater": sign, "less": -sign}[side]
        return 0.0 if wanted > 0 else 1.0
    score, freedom = found.mean() / sqrt(found.var(ddof=1) / len(found)), len(found) - 1
    tails = {"two-sided": 2 * stdtr(freedom, -abs(score)), "greater": stdtr(freedom, -score)}
    return float(tails.get(side, stdtr(freedom, score)))


def holm(p_values: Sequence[float], level: float = LEVEL) -> list[bool]:
    """Return which hypotheses Holm's procedure rejects, so that a false rejection has at most this probability.

    >>> holm([0.02, 0.04, 0.01])
    [True, True, True]
    >>> holm([0.03, 0.04, 0.01])
    [False, False, True]
    """
    rejected = [False] * len(p_values)
    for step, at in enumerate(np.argsort(p_values)):
        if p_values[at] > level / (len(p_values) - step):
            break
        rejected[at] = True
    return rejected


def compare(
    results: Results,
    learner: str,
    rivals: Sequence[str],
    cells: Sequence[Labels],
    leave_out: Callable[[str, Labels], bool] = lambda _name, _cell: False,
) -> list[Comparison]:
    """Compare a learner with rivals in cells; all comparisons above noise are one family for Holm's procedure."""
    found, p_values = list[Comparison](), list[float]()
    for cell in cells:
        if leave_out(learner, cell):
            continue
        own = results.values(learner, **cell)
        for rival in rivals:
            other = results.values(rival, **cell)
            seeds = [seed for seed in own if seed in other]
            differences = [own[seed] - other[seed] for seed in seeds]
            means = [mean(values) for values in ((own[s] for s in seeds), (other[s] for s in seeds), differences)]
            if len(seeds) < 2 or leave_out(rival, cell) or any(one is None for one in means):
                continue
            first, second, difference = (one for one in means if one is not None)
            verdict = TIED if max(first.value, second.value) >= NOISE else BELOW
            found.append(Comparison(cell, rival, first, second, difference, verdict))
            p_values.append(p_value(differences))
    above = [at for at, one in enumerate(found) if one.verdict == TIED]
    for at, rejected in zip(above, holm([p_values[at] for at in above]), strict=True):
        if rejected:
            found[at] = replace(found[at], verdict=WON if found[at].difference.value < 0 else LOST)
    return found


def count(comparisons: Sequence[Comparison], rival: str | None = None) -> Counter[str]:
    """Count the verdicts, of all comparisons or of those with one rival."""
    return Counter(one.verdict for one in comparisons if rival in (None, one.rival))
