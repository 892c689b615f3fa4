"""What an entry of the gallery is: a claim with its reference, and a function that measures it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure

from gamesim.formatting import number

SMALL = 0.05  # size of the runs in the test suite; 1 is full size
DERIVED = "derived here"  # the source of a number that follows from the claim and was computed in this project
OURS = "our limit"  # the source of a limit that was chosen here, because the claim has no number


@dataclass(frozen=True)
class Reference:
    """A publication, and where in it the claim stands."""

    authors: str
    year: int
    title: str
    where: str  # theorem, figure or section

    def __str__(self) -> str:
        return f'{self.authors} ({self.year}), "{self.title}", {self.where}'


@dataclass(frozen=True)
class Comparison:
    """One number: what was expected of it and by whom, what was measured, and whether they agree.

    `source` is the place in the publication that states the expected number, `DERIVED` or `OURS`.
    """

    what: str
    expected: str
    measured: float
    agrees: bool
    source: str

    def __str__(self) -> str:
        return f"{self.what}: expected {self.expected} ({self.source}), measured {number(self.measured)}"


def equal(what: str, expected: float, measured: float, within: float, source: str = OURS) -> Comparison:
    """Compare a number with an expected one, within an absolute tolerance.

    >>> equal("value", 0.5, 0.501, within=0.01).agrees
    True
    """
    around = f" ± {number(within, zero=0.0)}" if within else ""
    return Comparison(what, number(expected) + around, measured, abs(measured - expected) <= within, source)


def at_most(what: str, expected: float, measured: float, source: str = OURS) -> Comparison:
    """Compare a number with an upper bound."""
    return Comparison(what, f"≤ {number(expected)}", measured, measured <= expected, source)


def at_least(what: str, expected: float, measured: float, source: str = OURS) -> Comparison:
    """Compare a number with a lower bound."""
    return Comparison(what, f"≥ {number(expected)}", measured, measured >= expected, source)


def above(what: str, expected: float, measured: float, source: str = OURS) -> Comparison:
    """Compare a number with a strict lower bound."""
    return Comparison(what, f"> {number(expected)}", measured, measured > expected, source)


def between(what: str, low: float, high: float, measured: float, source: str = OURS) -> Comparison:
    """Compare a number with a range."""
    return Comparison(what, f"{number(low)} to {number(high)}", measured, low <= measured <= high, source)


@dataclass(frozen=True)
class Result:
    """What an entry measured, and a function that draws it.

    `note` states what was tried, if a claim is not reproduced, and what differs from the publication.
    """

    comparisons: Sequence[Comparison]
    draw: Callable[[], Figure]
    note: str = ""

    @property
    def verdict(self) -> str:
        """Whether the claim is reproduced."""
        agree = [one.agrees for one in self.comparisons]
        return "reproduced" if all(agree) else "reproduced in part" if any(agree) else "not reproduced"


@dataclass(frozen=True)
class Entry:
    """A published claim and how it is measured.

    `measure` takes the size of the runs, 1 in full, and `expected` is the verdict that the tests hold it to.
    """

    name: str
    reference: Reference
    claim: str
    measure: Callable[[float], Result]
    expected: str = "reproduced"


known: dict[str, Entry] = {}


def entry(
    name: str, reference: Reference, claim: str, *, expected: str = "reproduced"
) -> Callable[[Callable[[float], Result]], Callable[[float], Result]]:
    """Register a function as an entry, as a decorator."""

    def register(measure: Callable[[float], Result]) -> Callable[[float], Result]:
        known[name] = Entry(name, reference, claim, measure, expected)
        return measure

    return register


def scaled(full: int, size: float, least: int = 1) -> int:
    """Return a number of rounds, seeds or points, reduced to a size.

    >>> scaled(20000, 0.05), scaled(10, 0.05, least=3)
    (1000, 3)
    """
    return max(least, round(full * size))
