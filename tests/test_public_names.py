"""Check the documentation of all public names: form, types, units, and examples that are run.

A name is public if the Python page of the reference shows it (the modules there by their `__all__`), if `gamesim`
exports it, or if it is a learner, a game, a class of games or a figure. The methods and properties of a public class
are public, too. A method without a docstring inherits that of its base class, as `help` shows it.
"""

import ast
import dataclasses
import doctest
import inspect
import re
from collections.abc import Callable, Iterator
from functools import cached_property
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, get_type_hints

import pytest

import gamesim
from gamesim import figures, games, players
from gamesim.game import Game
from gamesim.games.io import interop
from gamesim.learner import Learner
from tests.test_docs import PAGES, blocks
from tests.test_peers_games import peer

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
DIRECTIVE = re.compile(r"^\.\. auto(?P<kind>\w+):: (?P<name>[\w.]+)\n(?:   :members:(?P<members>.*)\n)?", re.M)

# Modules whose docstrings must have numpydoc sections.
NUMPYDOC = (
    "gamesim.conformance",
    "gamesim.engine",
    "gamesim.equilibrium",
    "gamesim.figures",
    "gamesim.game.",
    "gamesim.games",
    "gamesim.learner",
    "gamesim.measure",
    "gamesim.players",
    "gamesim.record",
    "gamesim.scenario",
    "gamesim.simulation",
)
FIRST_LINE = 80  # columns
FIRST_WORD = re.compile(r"[A-Z][a-z-]+(?<!s) (?!of )")  # an imperative: "Return", not "Returns" or "The"
NOT_A_VERB = ("A ", "An ", "The ", "What ", "How ", "Whether ", "Where ", "All ", "Each ", "Every ", "This ", "One ")

# The units of numbers, as docstrings write them.
UNITS = re.compile(
    r"payoff units|units? of loss|\[-1, 1\]|payoffs?\b.* per round|total variation|probabilit|chance|strateg|joint|"
    r"distribution|stochastic|zeros and ones|number of|time|expected sum of all payoffs|every player's payoff|"
    r"the measure's (?:own )?unit|seconds|volume|length",
    re.IGNORECASE,
)


class Name(NamedTuple):
    """A public name: its title, the object, the class that it belongs to, and its docstring."""

    title: str
    thing: Any
    owner: type | None
    text: str

    def __str__(self) -> str:
        return self.title


def _directives() -> list[re.Match[str]]:
    return list(DIRECTIVE.finditer((REFERENCE / "python.md").read_text(encoding="utf-8")))


def _resolve(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def _public_modules() -> list[ModuleType]:
    return [import_module(one["name"]) for one in _directives() if one["kind"] == "module"]


def _documented() -> list[Any]:
    """Return what the Python page shows: the `__all__` of each module, or the members listed."""
    shown: list[Any] = []
    for one in _directives():
        if one["kind"] == "module":
            module = import_module(one["name"])
            members = one["members"].replace(",", " ").split() or module.__all__
            shown += [getattr(module, name) for name in members]
        else:
            shown.append(_resolve(one["name"]))
    return shown


def _kinds() -> Iterator[type]:
    """Yield the classes of all games, and their base classes."""
    for make in games.available().values():
        yield from (kind for kind in get_type_hints(make)["return"].__mro__ if issubclass(kind, Game))


def _public() -> list[Any]:
    """Return all public functions and classes, each once."""
    found = [getattr(module, name) for module in (gamesim, *_public_modules()) for name in module.__all__]
    found += [
        *players.available().values(),
        *games.available().values(),
        *_kinds(),
        *figures.figure_functions().values(),
    ]
    return list(dict.fromkeys(thing for thing in found if not inspect.ismodule(thing)))


def _function(member: Any) -> Callable[..., Any] | None:
    """Return the function behind a method or a property."""
    if isinstance(member, property):
        return member.fget
    if isinstance(member, cached_property):
        return member.func
    if isinstance(member, classmethod | staticmethod):
        return member.__func__
    return member if inspect.isfunction(member) else None


def _members(kind: type) -> Iterator[Name]:
    """Yield the public methods and properties that a class documents.

    For a learner these are the members of Learner, and those that its docstring mentions.
    """
    for name, member in vars(kind).items():
        function = _function(member)
        if name.startswith("_") or function is None or not function.__module__.startswith("gamesim"):
            continue
        if (
            kind in players.available().values()
            and not hasattr(Learner, name)
            and f"`{name}`" not in (kind.__doc__ or "")
        ):
            continue
        inherited = any(name in vars(base) for base in kind.__mro__[1:])
        if inherited and function.__doc__ is None:
            continue
        yield Name(f"{kind.__module__}.{kind.__name__}.{name}", member, kind, inspect.cleandoc(function.__doc__ or ""))


def _names() -> Iterator[Name]:
    for thing in _public():
        yield Name(f"{thing.__module__}.{thing.__name__}", thing, None, inspect.cleandoc(thing.__doc__ or ""))
        if inspect.isclass(thing):
            yield from _members(thing)


NAMES = list(_names())


class _Finder(doctest.DocTestFinder):
    """Find the examples that pytest runs, with those of cached properties."""

    def _from_module(self, module: ModuleType | None, object: Any) -> bool:
        behind = object.func if isinstance(object, cached_property) else object
        return bool(super()._from_module(module, behind))  # type: ignore[misc]  # private in the base class


def _run(modules: set[str]) -> set[str]:
    """Return the docstrings with at least one example that is run as a doctest."""
    tests = [test for module in modules for test in _Finder().find(import_module(module))]
    return {
        inspect.cleandoc(test.docstring or "")
        for test in tests
        if any(not example.options.get(doctest.SKIP) for example in test.examples if example.want)
    }


RUN = _run({name.thing.__module__ for name in NAMES if name.owner is None})

# The doctests skip these examples because the libraries are optional; if one is installed, they are run below.
LIBRARIES = {"pygambit": "pygambit", "quantecon": "quantecon.game_theory", "openspiel": "pyspiel"}
OF_OTHER_LIBRARIES = {getattr(interop, f"{way}_{library}"): library for library in LIBRARIES for way in ("to", "from")}


def _source(text: str) -> str:
    return "\n".join(example.source for example in doctest.DocTestParser().get_examples(text))


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_public_name(name: Name) -> None:
    first = name.text.split("\n")[0]
    assert len(first.split()) >= 3 and first.rstrip()[-1] in ".:…", f"{name}: the first line has no content: {first!r}"
    _check_types(name)
    if name.title.startswith(NUMPYDOC):
        _check_numpydoc(name)
    _check_example(name)
    _check_units(name)


def _signature(name: Name) -> inspect.Signature | None:
    function = name.thing if inspect.isfunction(name.thing) else _function(name.thing)
    if inspect.isclass(name.thing):
        function = None if getattr(name.thing, "_is_protocol", False) else vars(name.thing).get("__init__")
    return None if function is None else inspect.signature(function)


def _check_types(name: Name) -> None:
    """Check that all arguments and results have types, and that the docstring mentions arguments and fields."""
    signature = _signature(name)
    if signature is None:
        return
    own = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    for one in own:
        assert one.annotation is not one.empty, f"{name}: {one.name} has no type"
    if not inspect.isclass(name.thing):
        assert signature.return_annotation is not signature.empty, f"{name}: the result has no type"
        spoken_of, text = own, name.text
    elif dataclasses.is_dataclass(name.thing):
        fields = {field.name for field in dataclasses.fields(name.thing)}
        spoken_of = [one for one in own if one.name in fields]
        text = "\n".join(base.__doc__ or "" for base in name.thing.__mro__)
    else:
        return
    for one in spoken_of:
        assert re.search(rf"\b{one.name}\b", text), f"{name}: the docstring does not mention {one.name}"


def _section(text: str, heading: str) -> str:
    """Return a numpydoc section of a docstring, or an empty string."""
    found = re.search(rf"^{heading}\n-{{{len(heading)}}}\n(.*?)(?=^[A-Z][A-Za-z ]+\n---|\Z)", text, re.M | re.S)
    return found[1] if found else ""


def _overrides(name: Name) -> bool:
    """Whether a method overrides one whose sections are documented in a base class."""
    method = name.title.rsplit(".", 1)[1]
    return name.owner is not None and any(method in vars(base) for base in name.owner.__mro__[1:])


def _check_numpydoc(name: Name) -> None:
    """Check the first line, and that Parameters and Returns match the signature."""
    first = name.text.split("\n")[0]
    assert len(first) < FIRST_LINE and first.endswith("."), (
        f"{name}: the first line must be a short sentence: {first!r}"
    )
    of_game = name.thing in games.available().values()  # its docstring describes the game, not the function
    imperative = FIRST_WORD.match(first) and not first.startswith(NOT_A_VERB)
    assert imperative or of_game, f"{name}: the first line must start with a verb: {first!r}"
    signature = _signature(name)
    if signature is None or isinstance(name.thing, property | cached_property) or _overrides(name):
        return
    documented = set(re.findall(r"^\*{0,2}(\w+)(?: :|$)", _section(name.text, "Parameters"), re.M))
    taken = {one for one in signature.parameters if one not in ("self", "cls")}
    if not inspect.isclass(name.thing) or taken:
        assert documented == taken, f"{name}: Parameters has {sorted(documented)}, the signature {sorted(taken)}"
    if not inspect.isclass(name.thing) and not of_game and signature.return_annotation not in (None, "None"):
        assert _section(name.text, "Returns") or _section(name.text, "Yields"), f"{name}: Returns is missing"
    if _source(name.text):
        assert _section(name.text, "Examples"), f"{name}: the example is not in a section Examples"


def _check_example(name: Name) -> None:
    """Check that there is an example, that it uses this name, and that it is run."""
    text, word = name.text, name.title.rsplit(".", 1)[1]
    shown = rf"\b{word}\b" if name.owner is None else rf"\.{word}\b"
    if name.owner is not None and not re.search(shown, _source(text)):
        text = inspect.cleandoc(name.owner.__doc__ or "")  # the example of its class may use it
    source = _source(text)
    assert source, f"{name} has no example"
    assert inspect.isclass(name.thing) or re.search(shown, source), f"{name}: the example does not use it"
    assert text in RUN or name.thing in OF_OTHER_LIBRARIES, f"{name}: the example is not run"


def _check_units(name: Name) -> None:
    """Check that the docstring states the units of the numbers returned."""
    if inspect.isclass(name.thing):
        return
    signature = _signature(name)
    result = None if signature is None else signature.return_annotation
    if "float" in str(result) or (result is Any and not name.title.startswith(interop.__name__)):  # there Any is a game
        assert UNITS.search(name.text.split(">>>")[0]), f"{name}: the units of the result are missing"


@pytest.mark.parametrize("function", OF_OTHER_LIBRARIES, ids=lambda function: str(function.__name__))
def test_examples_with_other_libraries(function: Callable[..., Any]) -> None:
    peer(LIBRARIES[OF_OTHER_LIBRARIES[function]])
    (test,) = doctest.DocTestFinder().find(function, globs=vars(interop).copy())
    for example in test.examples:
        example.options.pop(doctest.SKIP, None)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_the_python_page_shows_precisely_the_public_names() -> None:
    with_pages = {*players.available().values(), *games.available().values()}
    shown = set(_documented())
    missing = [f"{thing.__module__}.{thing.__name__}" for thing in _public() if thing not in shown | with_pages]
    assert not missing, f"docs/reference/python.md lacks {missing}"
    extra = [f"{thing.__module__}.{thing.__name__}" for thing in shown if thing not in _public()]
    assert not extra, f"docs/reference/python.md shows what no __all__ names: {extra}"


def test_what_the_documentation_uses_is_public() -> None:
    """Check that the code in the documentation and in the examples uses public names only."""
    texts = {page.name: "\n".join(one.text for one in blocks(page) if one.kind == "python") for page in PAGES}
    texts |= {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")}
    public = _public()
    modules = [gamesim, *_public_modules()]
    for place, text in texts.items():
        for path in _used(ast.parse(text)):
            thing = _reached(path)
            assert thing in public or thing in modules, f"{place} uses {path}, which is not public"


def _used(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names of gamesim that a piece of code imports or accesses."""
    known = {"gamesim": "gamesim"}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "gamesim":
            for one in node.names:
                known[one.asname or one.name] = f"{node.module}.{one.name}"
                yield f"{node.module}.{one.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            path = known.get(node.value.id)
            if path is not None and inspect.ismodule(_reached(path)):
                yield f"{path}.{node.attr}"


def _reached(path: str) -> Any:
    thing: Any = gamesim
    for step in path.split(".")[1:]:
        if not hasattr(thing, step):
            import_module(f"{thing.__name__}.{step}")
        thing = getattr(thing, step)
    return thing
