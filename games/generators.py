"""Graphs by name: networkx generators, each with its size as a function of its settings.

A generator with settings is offered if its size and running time are known before it runs. Those without settings
always return the same small graph.
"""

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import networkx as nx

from gamesim.errors import InputError, did_you_mean
from gamesim.formatting import shown
from gamesim.games.catalogue import refuse_unknown_settings
from gamesim.games.divisions import number_of_divisions
from gamesim.games.limits import Need, refuse_beyond
from gamesim.validation import representable

MOST_NODES_AND_EDGES = 2**19  # a node or an edge of networkx takes about a kilobyte
MOST_STEPS = 2**22  # of a generator, of about a microsecond each

_HUGE = 10**30  # stands for any number beyond it
_NOT_SETTINGS = ("create_using", "backend", "backend_kwargs", "seed")


def generated(name: str, settings: Mapping[str, Any], seed: int) -> "nx.Graph[Any]":
    """Return the graph of a generator; raise InputError if it is unknown, too large, or refuses its settings.

    >>> generated("grid-2d", {"m": 1, "n": 3}, seed=0).number_of_edges()
    2
    >>> generated("hypercube", {"n": 40}, seed=0)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: the graph hypercube with n = 40 needs 23,089,744,183,296 nodes and edges; at most ...
    """
    known = _generators()
    if name not in known:
        raise InputError(f"unknown graph {name!r}, which is not a file either; {did_you_mean(name, known)}")
    parameters = inspect.signature(known[name]).parameters
    refuse_unknown_settings(f"the graph {name}", settings, [key for key in parameters if key not in _NOT_SETTINGS])
    given = {"seed": seed} if "seed" in parameters else {}
    try:
        if name in _SIZES:
            refuse_beyond(f"the graph {name}", settings, _needs(name, settings))
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # of overflow, or division by 0
            found: nx.Graph[Any] = known[name](**settings, **given)
    except InputError:  # a ValueError too, but its message is already complete
        raise
    except (nx.NetworkXException, TypeError, ValueError, ArithmeticError, LookupError, RuntimeWarning) as error:
        raise InputError(f"the graph {name} with {shown(dict(settings))}: {error}") from None
    return found


def _generators() -> dict[str, Callable[..., Any]]:
    """Return the generators by name: "cycle" stands for `networkx.cycle_graph`."""
    found = {}
    for key, thing in vars(nx).items():
        if key.endswith("_graph") and getattr(thing, "__module__", "").startswith("networkx.generators."):
            name = key.removesuffix("_graph").replace("_", "-")
            if name in _SIZES or not set(inspect.signature(thing).parameters) - set(_NOT_SETTINGS):
                found[name] = thing
    return found


def _needs(name: str, settings: Mapping[str, Any]) -> Iterator[Need]:
    """Yield what a generator needs: nodes and edges, and steps."""
    for key, value in settings.items():
        if not isinstance(value, int | float | list | tuple):
            raise InputError(f"the graph {name}: {key} must be a number or a list, got {shown(value)}")
        representable(key, value)
    arguments = inspect.signature(_SIZES[name]).bind(**_of_size(name, settings))
    nodes, edges, *more = _SIZES[name](*arguments.args)
    yield Need("{amount} nodes and edges", _whole(nodes + edges), MOST_NODES_AND_EDGES)
    yield Need("{amount} steps", _whole(max([nodes + edges, *more])), MOST_STEPS)


def _of_size(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings that the size depends on; a list that stands for a number of nodes has its length."""
    return {
        key: len(value) if isinstance(value, list | tuple) and key not in _LISTS else value
        for key, value in settings.items()
        if key in inspect.signature(_SIZES[name]).parameters
    }


def _whole(value: float) -> int:
    return int(min(value, _HUGE))


def _pairs(n: float) -> float:
    return n * (n - 1) / 2


def _power(base: float, exponent: float) -> float:
    return base ** min(exponent, 30 if base >= 10 else 64) if 0 < base < _HUGE else 0


def _product(factors: Sequence[float]) -> float:
    product = 1.0
    for factor in factors:
        product = min(product * max(factor, 0), _HUGE)
    return product


def _ratio(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator > 0 else _HUGE


def _share(p: float) -> float:
    return min(max(p, 0), 1)


def _rewiring(n: float, k: float) -> float:
    return n * k * max(1, n / max(n - k, 1))  # ends are drawn until one is not yet a neighbour


def _subsets(n: int, k: int) -> float:
    return float(min(number_of_divisions(k, n - k + 1), _HUGE))


_LISTS = {"offsets", "sizes", "w", "deg_sequence", "sequence", "intervals", "dim", "shift_list", "series"}

# The number of nodes, an upper bound on the number of edges (or their expectation) and, if it is larger than both, an
# upper bound on the steps that a generator takes.
_SIZES: dict[str, Callable[..., tuple[float, ...]]] = {
    "barabasi-albert": lambda n, m: (n, n * m),
    "barbell": lambda m1, m2: (2 * m1 + m2, 2 * _pairs(m1) + m2 + 1),
    "binomial": lambda n, p: (n, _share(p) * _pairs(n), _pairs(n)),
    "caveman": lambda l, k: (l * k, l * _pairs(k)),  # noqa: E741
    "chordal-cycle": lambda p: (p, 3 * p),
    "circulant": lambda n, offsets: (n, n * len(offsets)),
    "circular-ladder": lambda n: (2 * n, 3 * n),
    "complete": lambda n: (n, _pairs(n)),
    "connected-caveman": lambda l, k: (l * k, l * _pairs(k)),  # noqa: E741
    "connected-watts-strogatz": lambda n, k, p, tries=100: (n, n * k / 2, tries * _rewiring(n, k)),
    "cycle": lambda n: (n, n),
    "dense-gnm-random": lambda n, m: (n, min(m, _pairs(n)), _pairs(n)),
    "dorogovtsev-goltsev-mendes": lambda n: (_power(3, n), _power(3, n + 1)),
    "dual-barabasi-albert": lambda n, m1, m2, p: (n, n * max(m1, m2)),
    "duplication-divergence": lambda n, p: (n, _pairs(n), _ratio(n * n, p)),
    "empty": lambda n: (n, 0),
    "erdos-renyi": lambda n, p: (n, _share(p) * _pairs(n), _pairs(n)),
    "expected-degree": lambda w: (len(w), min(sum(w), _pairs(len(w)))),
    "extended-barabasi-albert": lambda n, m, p, q: (n, _ratio(n * m, 1 - p - q), _ratio(8 * n * n * m, 1 - p - q)),
    "fast-gnp-random": lambda n, p: (n, _share(p) * _pairs(n)),
    "generalized-petersen": lambda n, k: (2 * n, 3 * n),
    "geographical-threshold": lambda n, theta, dim=2: (n, _pairs(n), n * n * dim),
    "gn": lambda n: (n, n, n * n),
    "gnc": lambda n: (n, 20 * n),
    "gnm-random": lambda n, m: (n, min(m, _pairs(n)), 20 * min(m, _pairs(n))),
    "gnp-random": lambda n, p: (n, _share(p) * _pairs(n), _pairs(n)),
    "gnr": lambda n, p: (n, n),
    "grid": lambda dim: (_product(dim), len(dim) * _product(dim), len(dim) ** 2 * _product(dim)),
    "grid-2d": lambda m, n: (m * n, 2 * m * n),
    "havel-hakimi": lambda deg_sequence: (len(deg_sequence), min(sum(deg_sequence), _pairs(len(deg_sequence)))),
    "hexagonal-lattice": lambda m, n: (2 * (m + 1) * (n + 1), 3 * (m + 1) * (n + 1)),
    "hkn-harary": lambda k, n: (n, k * n / 2),
    "hnm-harary": lambda n, m: (n, m),
    "hypercube": lambda n: (_power(2, n), n * _power(2, n) / 2),
    "interval": lambda intervals: (len(intervals), _pairs(len(intervals))),
    "k-random-intersection": lambda n, m, k: (n, min(_pairs(n), _ratio((n * k) ** 2, m)), n * k + m),
    "kneser": lambda n, k: (_subsets(n, k), _pairs(_subsets(n, k))),
    "ladder": lambda n: (2 * n, 3 * n),
    "LCF": lambda n, shift_list, repeats: (n, n + len(shift_list) * repeats),
    "lollipop": lambda m, n: (m + n, _pairs(m) + n),
    "margulis-gabber-galil": lambda n: (n * n, 4 * n * n),
    "maybe-regular-expander": lambda n, d, max_tries=100: (n, n * d / 2, n * d * max_tries),
    "mycielski": lambda n: (_power(2, n), _power(3, n)),
    "navigable-small-world": lambda n, p=1, q=1, r=2, dim=2: (
        _power(n, dim),
        _power(n, dim) * (_power(2 * p + 1, dim) + q),
        _power(n, 2 * dim),
    ),
    "newman-watts-strogatz": lambda n, k, p: (n, n * k, _rewiring(n, k)),
    "paley": lambda p: (p, p * p),
    "partial-duplication": lambda N, n, p, q: (max(N, n), _pairs(max(N, n))),
    "path": lambda n: (n, n),
    "planted-partition": lambda l, k, p_in, p_out: (  # noqa: E741
        l * k,
        _share(p_in) * l * _pairs(k) + _share(p_out) * _pairs(l * k),
        l * l + _pairs(l * k) / 8,
    ),
    "powerlaw-cluster": lambda n, m, p: (n, n * m, 8 * n * m),
    "random-degree-sequence": lambda sequence, tries=10: (
        len(sequence),
        min(sum(sequence), _pairs(len(sequence))),
        tries * sum(degree**2 for degree in sequence),
    ),
    "random-geometric": lambda n, radius, dim=2: (n, _share(_power(2 * radius, dim)) * _pairs(n), n * dim),
    "random-internet-as": lambda n: (n, 5 * n, n * n),
    "random-k-out": lambda n, k, alpha: (n, n * k, (60 + n) * n * k),
    "random-lobster": lambda n, p1, p2: (2 * n, _ratio(4 * n, (1 - p1) * (1 - p2))),
    "random-partition": lambda sizes, p_in, p_out: (
        sum(sizes),
        _share(p_in) * sum(map(_pairs, sizes)) + _share(p_out) * _pairs(sum(sizes)),
        len(sizes) ** 2 + _pairs(sum(sizes)) / 8,
    ),
    "random-regular": lambda d, n: (n, n * d / 2, 4 * n * d),
    "random-regular-expander": lambda n, d, epsilon=0, max_tries=100: (n, n * d / 2, n * d * max_tries),
    "relaxed-caveman": lambda l, k, p: (l * k, l * _pairs(k)),  # noqa: E741
    "scale-free": lambda n, alpha=0.41, beta=0.54, gamma=0.05: (n, _ratio(n, alpha + gamma)),
    "soft-random-geometric": lambda n, radius, dim=2: (n, _share(_power(2 * radius, dim)) * _pairs(n), n * dim),
    "star": lambda n: (n + 1, n),
    "sudoku": lambda n=3: (n**4, 1.5 * n**6),
    "tadpole": lambda m, n: (m + n, m + n),
    "thresholded-random-geometric": lambda n, radius, theta, dim=2: (
        n,
        _share(_power(2 * radius, dim)) * _pairs(n),
        n * dim,
    ),
    "triangular-lattice": lambda m, n: ((m + 1) * (n + 1), 3 * (m + 1) * (n + 1)),
    "turan": lambda n, r: (n, _pairs(n)),
    "uniform-random-intersection": lambda n, m, p: (n, min(_pairs(n), m * (n * _share(p)) ** 2), 4 * n * m),
    "visibility": lambda series: (len(series), _pairs(len(series)), len(series) ** 3 / 6),
    "watts-strogatz": lambda n, k, p: (n, n * k / 2, _rewiring(n, k)),
    "waxman": lambda n, beta=0.4: (n, _share(beta) * _pairs(n), _pairs(n)),
    "wheel": lambda n: (n, 2 * n),
    "windmill": lambda n, k: (n * k, n * _pairs(k)),
}
