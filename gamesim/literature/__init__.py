"""Published results on learning in games: each with its claim, the published number, ours, and a figure.

An entry is a function in a module of this package, decorated with `entry`; modules group entries by subject. Each entry
has a scenario of the same name in scenarios/literature, for `gamesim run literature/NAME`.
"""

import pkgutil
from importlib import import_module

from gamesim.literature.entry import Entry, known

__all__ = ["entries"]


def entries() -> dict[str, Entry]:
    """Return all entries by name, in the order of the years of their references.

    Examples
    --------
    >>> entries()["hofbauer-1996"].reference.year
    1996
    """
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return dict(sorted(known.items(), key=lambda item: (item[1].reference.year, item[0])))
