"""Every public name tells what it does, with its types, its units and an example that is run; the reference has it.

Public is what the Python page of the reference shows: the modules there by their `__all__`, and with them whatever
`gamesim` itself gives, every learner, every game, the kinds of games that these are, and every figure of a run. Of a
public class its methods and properties are public too. A method that only does what a public base says inherits what
is said there, as `help` shows it. That the examples are right is seen where they are run, as doctests.
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

ROOT = Path(__file__).parents[1]
REFERENCE = ROOT / "docs" / "reference"
DIRECTIVE = re.compile(r"^\.\. auto(?P<kind>\w+):: (?P<name>[\w.]+)\n(?:   :members:(?P<members>.*)\n)?", re.M)

# What numbers may be measured in, as docstrings say it; a regret is a total or a round.
UNITS = re.compile(
    r"payoff units|units? of loss|\[-1, 1\]|payoffs?\b.* a round|total variation|probabilit|chance|strateg|joint|"
    r"distribution|stochastic|zeros and ones|number of|time|expected sum of all payoffs|every player's payoff|"
    r"the measure's own unit",
    re.IGNORECASE,
)


class Name(NamedTuple):
    """A public name: what it is called, the thing, the class that it belongs to, and what is written of it."""

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
    """Return what the Python page shows, as autodoc reads it: of a module its `__all__`, or the members named."""
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
    """Give the kinds of games that the games are, and what these are kinds of."""
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
    """Give the public methods and properties that a class says something of its own about.

    Of a learner these are the ones of every Learner, and those that its page speaks of.
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
    """Finds the examples that pytest runs: like the library's, and those of cached properties too."""

    def _from_module(self, module: ModuleType | None, object: Any) -> bool:
        behind = object.func if isinstance(object, cached_property) else object
        return bool(super()._from_module(module, behind))  # type: ignore[misc]  # it is private there


def _run(modules: set[str]) -> set[str]:
    """Return the docstrings whose examples are run as doctests, at least one in each."""
    tests = [test for module in modules for test in _Finder().find(import_module(module))]
    return {
        inspect.cleandoc(test.docstring or "")
        for test in tests
        if any(not example.options.get(doctest.SKIP) for example in test.examples if example.want)
    }


RUN = _run({name.thing.__module__ for name in NAMES if name.owner is None})

# Their examples are left out of the doctests, since few have these libraries; where one is there, they are run below.
LIBRARIES = {"pygambit": "pygambit", "quantecon": "quantecon.game_theory", "openspiel": "pyspiel"}
OF_OTHER_LIBRARIES = {getattr(interop, f"{way}_{library}"): library for library in LIBRARIES for way in ("to", "from")}


def _source(text: str) -> str:
    return "\n".join(example.source for example in doctest.DocTestParser().get_examples(text))


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_public_name(name: Name) -> None:
    first = name.text.split("\n")[0]
    assert len(first.split()) >= 3 and first.rstrip()[-1] in ".:…", f"{name}: its first line says nothing: {first!r}"
    _check_types(name)
    _check_example(name)
    _check_units(name)


def _signature(name: Name) -> inspect.Signature | None:
    function = name.thing if inspect.isfunction(name.thing) else _function(name.thing)
    if inspect.isclass(name.thing):
        function = None if getattr(name.thing, "_is_protocol", False) else vars(name.thing).get("__init__")
    return None if function is None else inspect.signature(function)


def _check_types(name: Name) -> None:
    """See that every argument and result has a type, and that arguments and fields are spoken of."""
    signature = _signature(name)
    if signature is None:
        return
    own = [one for one in signature.parameters.values() if one.name not in ("self", "cls")]
    for one in own:
        assert one.annotation is not one.empty, f"{name}: {one.name} has no type"
    if not inspect.isclass(name.thing):
        assert signature.return_annotation is not signature.empty, f"{name}: its result has no type"
        spoken_of, text = own, name.text
    elif dataclasses.is_dataclass(name.thing):
        fields = {field.name for field in dataclasses.fields(name.thing)}
        spoken_of = [one for one in own if one.name in fields]
        text = "\n".join(base.__doc__ or "" for base in name.thing.__mro__)
    else:
        return
    for one in spoken_of:
        assert re.search(rf"\b{one.name}\b", text), f"{name}: nothing is said of {one.name}"


def _check_example(name: Name) -> None:
    """See that there is an example, that it shows this name at work, and that it is run."""
    text, word = name.text, name.title.rsplit(".", 1)[1]
    shown = rf"\b{word}\b" if name.owner is None else rf"\.{word}\b"
    if name.owner is not None and not re.search(shown, _source(text)):
        text = inspect.cleandoc(name.owner.__doc__ or "")  # the example of its class may show it
    source = _source(text)
    assert source, f"{name} has no example"
    assert inspect.isclass(name.thing) or re.search(shown, source), f"{name}: its example does not show it"
    assert text in RUN or name.thing in OF_OTHER_LIBRARIES, f"{name}: its example is not run"


def _check_units(name: Name) -> None:
    """See that what returns numbers says what they are measured in."""
    if inspect.isclass(name.thing):
        return
    signature = _signature(name)
    result = None if signature is None else signature.return_annotation
    if "float" in str(result) or (result is Any and not name.title.startswith(interop.__name__)):  # there it is a game
        assert UNITS.search(name.text.split(">>>")[0]), f"{name}: it returns numbers and does not say in which units"


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
    """Every name of gamesim in a piece of code of the documentation and of the examples is public."""
    texts = {page.name: "\n".join(one.text for one in blocks(page) if one.kind == "python") for page in PAGES}
    texts |= {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")}
    public = _public()
    modules = [gamesim, *_public_modules()]
    for place, text in texts.items():
        for path in _used(ast.parse(text)):
            thing = _reached(path)
            assert thing in public or thing in modules, f"{place} uses {path}, which is not public"


def _used(tree: ast.AST) -> Iterator[str]:
    """Give the dotted names of gamesim that a piece of code imports or reaches."""
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
