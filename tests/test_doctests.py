"""Run the examples in all docstrings."""

import doctest
import pkgutil
from collections.abc import Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import gamesim

pytestmark = pytest.mark.slow

ROOT = Path(gamesim.__file__).parents[1]
PACKAGES = {"gamesim": ROOT / "gamesim", "gamesim.players": ROOT / "players", "gamesim.games": ROOT / "games"}


class Finder(doctest.DocTestFinder):
    """Find the examples of cached properties, too."""

    def _from_module(self, module: ModuleType | None, object: Any) -> bool:
        behind = object.func if isinstance(object, cached_property) else object
        return bool(super()._from_module(module, behind))  # type: ignore[misc]  # private in the base class


def modules() -> list[str]:
    """Return every module of gamesim."""
    found = set(PACKAGES)
    for name, folder in PACKAGES.items():
        walked = pkgutil.walk_packages([str(folder)], f"{name}.")
        found |= {one.name for one in walked}
    return sorted(found)


def examples() -> Iterator[doctest.DocTest]:
    for name in modules():
        yield from (test for test in Finder().find(import_module(name)) if test.examples)


@pytest.mark.parametrize("test", list(examples()), ids=lambda test: str(test.name))
def test_docstring(test: doctest.DocTest) -> None:
    failed, _ = doctest.DocTestRunner(verbose=False).run(test, clear_globs=False)
    assert failed == 0
