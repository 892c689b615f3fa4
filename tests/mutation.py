"""Change the measures, or the fixed point that learners play, in one place at a time: does a test notice?

A mutant is a copy of the package with another operator, comparison, constant or condition in one place. It is killed if
a test fails, or uses several times its CPU time. If a change cannot matter, because every result stays the same or as
right as before, it is listed with the reason in `equivalent_mutants.toml`. The others survive, and are hints at missing
tests.

`python -m tests.mutation measure --count 100 --seed 0` draws that many of all mutants. The draw depends on each mutant
alone, so that an edit changes only the mutants of the edited lines. At first all tests run without any change, to see
which lines they run; then those that run the changed statement, fast ones first, or all if none is seen to run it, as
in compiled kernels and when modules are imported. `--again FILE` tries those again that survived with the output FILE.
One run at a time, and not on Windows.
"""

import argparse
import ast
import copy
import json
import os
import resource
import shutil
import signal
import sys
import time
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build/mutation"  # the copy, and compiled kernels, which later runs use again
COPY, KERNELS, WARM, FOUND = BUILD / "copy", BUILD / "kernels", BUILD / "warm", BUILD / "found.json"
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
TREE = ("gamesim", "players", "games", "scenarios", "tests", "pyproject.toml", "docs", "examples", "README.md")
LIBRARIES = ("numpy", "scipy.optimize", "scipy.sparse.linalg", "numba", "pydantic", "networkx")  # no plugins of pytest
SUBJECTS = {  # the files to change, and the tests and examples in docstrings that should notice
    "measure": (
        "gamesim/measure/*.py",
        "measure path_length trend equilibrium distance polytope observers exact interior_point central_path sampled "
        "observed report endings limits notebook portraits rational scenario_keys",
        ["gamesim/measure"],
    ),
    "fixed-point": ("players/_kernels/fixed_point.py", "fixed_point", []),
}
TIMES, SLACK = 4, 20  # a test may use four times its CPU time and 20 seconds, in which changed kernels compile
MEMORY = 6 * 2**30
OPERATORS: dict[type, Any] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or,
    ast.Or: ast.And,
}  # fmt: skip


class Mutant(NamedTuple):
    """A changed file: the function, its source line with the change in brackets, and the text of the whole file."""

    path: Path
    inside: str
    change: str
    lines: range  # of the changed statement
    text: str

    def name(self) -> tuple[str, str, str]:
        """Return what identifies the mutant when other lines of its file change."""
        return self.path.as_posix(), self.inside, self.change

    def __str__(self) -> str:
        return f"{self.path}:{self.lines[0]}: {self.inside}: {self.change}"


class Place(NamedTuple):
    """Where a node is: its parent, the field and the number in a list, the functions around it, and its statement."""

    parent: ast.AST
    field: str
    number: int | None
    inside: tuple[str, ...]
    statement: ast.stmt


def changed(node: ast.AST) -> ast.AST | None:
    """Return a node with another meaning, or None if it has no operator, condition or number."""
    new: Any = copy.deepcopy(node)
    if isinstance(new, ast.BinOp | ast.BoolOp | ast.AugAssign) and type(new.op) in OPERATORS:
        new.op = OPERATORS[type(new.op)]()
    elif isinstance(new, ast.Compare):
        new.ops[0] = OPERATORS[type(new.ops[0])]()
    elif isinstance(new, ast.UnaryOp) and isinstance(new.op, ast.Not | ast.USub):
        return new.operand
    elif isinstance(new, ast.IfExp):
        new.body, new.orelse = new.orelse, new.body
    elif isinstance(new, ast.Constant) and isinstance(new.value, int | float):
        new.value = not new.value if isinstance(new.value, bool) else 2 * new.value if new.value else 1
    else:
        return None
    return new  # type: ignore[no-any-return]


def places(node: ast.AST, inside: tuple[str, ...], statement: ast.stmt | None) -> Iterator[Place]:
    """Yield where each node below this one is. Annotations have no effect."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        inside = (*inside, node.name)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_ignores", "decorator_list"):
            continue
        for k, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                around = child if isinstance(child, ast.stmt) else statement
                if around is not None:
                    yield Place(node, field, k, inside, around)
                yield from places(child, inside, around)


def lines_of(statement: ast.stmt) -> range:
    """Return the lines of a statement, without those of the statements in it."""
    below: Any = getattr(statement, "body", None) or getattr(statement, "cases", None)
    if below is None:
        return range(statement.lineno, (statement.end_lineno or 0) + 1)
    first = below[0].pattern if isinstance(below[0], ast.match_case) else below[0]
    return range(statement.lineno, max(first.lineno, statement.lineno + 1))


def spliced(source: str, node: Any, new: ast.AST) -> tuple[str, str | None]:
    """Return the line of a node with what it becomes in brackets, and the source with the new node, on the same lines.

    The source is None if the node is elsewhere, as Python 3.11 has it for nodes in formatted strings.
    """
    whole = source.encode()
    starts = [0, *accumulate(map(len, whole.splitlines(keepends=True)))]
    begin, end = starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset
    before, old, after = (one.decode() for one in (whole[:begin], whole[begin:end], whole[end:]))
    shown, text = " ".join(line.strip() for line in old.splitlines()), ast.unparse(new)
    change = f"{before.rpartition(chr(10))[2].lstrip()}[{shown} → {text}]{after.partition(chr(10))[0].rstrip()}"
    space = chr(10) * old.count(chr(10))
    try:
        found = ast.parse(f"({old})", mode="eval").body if isinstance(node, ast.expr) else ast.parse(old).body[0]
    except SyntaxError:
        return change, None
    if ast.dump(found) != ast.dump(node):
        return change, None
    return change, before + (f"({text}{space})" if isinstance(node, ast.expr) else text + space) + after


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    source = (ROOT / path).read_text(encoding="utf-8")
    tree = ast.parse(source)
    for parent, field, k, inside, statement in list(places(tree, (), None)):
        held: Any = getattr(parent, field)
        node = held if k is None else held[k]
        new = changed(node)
        if new is None:
            continue
        change, text = spliced(source, node, new)
        if text is None:
            for one in (new, node):  # the second puts it back
                if k is None:
                    setattr(parent, field, one)
                else:
                    held[k] = one
                if one is new:
                    text = ast.unparse(tree)
        yield Mutant(path, ".".join(inside), change, lines_of(statement), str(text))


def drawn(every: Iterable[Mutant], seed: int, count: int) -> list[Mutant]:
    """Return `count` mutants, those with the least digests of the seed and their names, in the order of their files."""
    digests = {one: sha256(repr((seed, one.name())).encode()).digest() for one in every}
    least = set(sorted(digests, key=digests.__getitem__)[:count])
    return [one for one in digests if one in least]


class Chosen:
    """A plugin of pytest that runs some tests, in this order, each with its limit of CPU time."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    def pytest_sessionstart(self) -> None:
        signal.setitimer(signal.ITIMER_PROF, TIMES * SLACK)  # of importing, which may not end either

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        found = {item.nodeid: item for item in items}
        items[:] = [found[name] for name in self.seconds if name in found]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        limit = SLACK + TIMES * self.seconds[item.nodeid]
        signal.setitimer(signal.ITIMER_PROF, limit)  # ends the process, even in compiled code
        return (yield)


class Lines:
    """A plugin of pytest that writes which lines of the subject each test runs; "" are those outside of tests."""

    def __init__(self, files: str) -> None:
        self.files = files

    def pytest_sessionstart(self) -> None:
        include = [str(COPY / self.files)]
        self.coverage = import_module("coverage").Coverage(data_file=None, include=include, config_file=False)
        self.coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self.coverage.switch_context(item.nodeid)
        found = yield
        self.coverage.switch_context("")
        return found

    def pytest_sessionfinish(self) -> None:
        self.coverage.stop()
        data = self.coverage.get_data()
        found = {str(Path(one).relative_to(COPY)): data.contexts_by_lineno(one) for one in data.measured_files()}
        FOUND.write_text(json.dumps(found), encoding="utf-8")


class Seconds:
    """A plugin of pytest that writes the CPU time of each test."""

    def __init__(self) -> None:
        self.found: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        begin = time.process_time()
        found = yield
        self.found[item.nodeid] = time.process_time() - begin
        return found

    def pytest_sessionfinish(self) -> None:
        FOUND.write_text(json.dumps(self.found), encoding="utf-8")


def copy_tree() -> None:
    """Copy the package and its tests."""
    shutil.rmtree(COPY, ignore_errors=True)
    for part in TREE:
        source, target = ROOT / part, COPY / part
        target.parent.mkdir(exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, target)


def share_kernels(unchanged: Mapping[Path, bytes]) -> None:
    """Let the cache of kernels compare the code that a kernel reaches, instead of these files as a whole."""
    cache = import_module("gamesim.engine.kernel_cache")
    cache.contents.update({str(COPY / path): source for path, source in unchanged.items()})
    key = cache.KernelCache._key

    def key_with_code(self: Any, signature: Any, codegen: Any) -> tuple[Any, ...]:
        reached: set[Any] = set()
        list(cache._used_by(self._function, reached))
        codes = [(one.__code__, one.__defaults__) for one in reached]
        parts = [(c.co_name, c.co_code, c.co_consts, c.co_names, c.co_varnames, given) for c, given in codes]
        return (*key(self, signature, codegen), sha256(repr(sorted(map(repr, parts))).encode()).hexdigest())

    cache.KernelCache._key = key_with_code


def passes(tests: Iterable[str], plugin: Any, unchanged: Mapping[Path, bytes], quiet: bool = True) -> bool:
    """Run tests of the copy in a new process with a plugin; return whether all pass."""
    child = os.fork()  # the libraries are imported, and most mutants die within a second
    if child == 0:
        os.chdir(COPY)
        sys.path.insert(0, str(COPY))
        for name in [name for name in sys.modules if name.split(".")[0] in ("gamesim", "tests")]:
            del sys.modules[name]
        share_kernels(unchanged)
        if quiet:
            resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--doctest-modules", "--hypothesis-seed=0"]
        code = pytest.main([*options, *tests], [plugin])
        os._exit(0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code)
    return os.waitpid(child, 0)[1] == 0


def without_change(tests: list[str], plugin: Any) -> Any:
    """Run the tests without any change; return what the plugin writes."""
    if not passes(tests, plugin, {}, quiet=False):
        sys.exit("the tests fail without any change")
    return json.loads(FOUND.read_text(encoding="utf-8"))


def link_warm_kernels() -> None:
    """Let the next tests find the kernels of the unchanged package, and keep those of a mutant out of the way."""
    shutil.rmtree(KERNELS, ignore_errors=True)
    shutil.copytree(WARM, KERNELS, copy_function=os.link)


def noticing(mutant: Mutant, lines: dict[str, dict[str, list[str]]], seconds: dict[str, float]) -> dict[str, float]:
    """Return the tests that could notice a change, with their CPU times, most likely and fast ones first."""
    runs = lines.get(mutant.path.as_posix(), {})
    direct = {test for line in mutant.lines for test in runs.get(str(line), ())}
    near = {test for tests in runs.values() for test in tests}
    chosen = seconds if "" in direct or not direct else direct
    return {test: seconds[test] for test in sorted(chosen, key=lambda test: (test not in near, seconds[test]))}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--count", type=int, default=100, help="number of mutants (default 100)")
    parser.add_argument("--seed", type=int, default=0, help="which mutants are drawn (default 0)")
    parser.add_argument("--again", type=Path, help="only those that survive in this file with earlier output")
    arguments = parser.parse_args()
    files, names, documented = SUBJECTS[arguments.subject]
    every = [one for path in sorted(ROOT.glob(files)) for one in mutants(path.relative_to(ROOT))]
    chosen = drawn(every, arguments.seed, arguments.count)
    if arguments.again is not None:
        survived = [line for line in arguments.again.read_text("utf-8").splitlines() if line.startswith("survives")]
        chosen = [one for one in chosen if any(line.endswith(f": {one.inside}: {one.change}") for line in survived)]
    listed = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["mutant"]
    equivalent = {(one["file"], one["inside"], one["change"]) for one in listed}
    for file, inside, change in sorted(equivalent - {one.name() for one in every}):
        if Path(file).match(files):
            print(f"no longer a mutant, though listed in {EQUIVALENT.name}: {file}: {inside}: {change}")

    os.environ["NUMBA_CACHE_DIR"] = str(KERNELS)
    for library in LIBRARIES:
        import_module(library)
    WARM.mkdir(parents=True, exist_ok=True)
    copy_tree()
    link_warm_kernels()
    tests = [*(f"tests/test_{name}.py" for name in names.split()), *documented]
    lines = without_change(tests, Lines(files))
    seconds = without_change(tests, Seconds())
    shutil.rmtree(WARM)
    KERNELS.rename(WARM)
    before = sum(os.times()[2:4])

    sys.dont_write_bytecode = True  # or a mutant could be taken for another of the same size and second
    survivors = same = 0
    for mutant in chosen:
        begin = sum(os.times()[2:4])
        limits = noticing(mutant, lines, seconds)
        link_warm_kernels()
        mutated, original = COPY / mutant.path, BUILD / "original"
        mutated.rename(original)
        mutated.write_text(mutant.text, encoding="utf-8")
        unchanged = {mutant.path: original.read_bytes()} if mutant.inside else {}  # all kernels may use a constant
        survives = passes({test.split("::")[0]: None for test in limits}, Chosen(limits), unchanged)
        original.replace(mutated)
        spent = sum(os.times()[2:4]) - begin
        known = mutant.name() in equivalent
        survivors += survives and not known
        same += survives and known
        result = ("equivalent" if known else "survives") if survives else "killed"
        print(f"{result} ({spent:.1f} s, {len(limits)} tests): {mutant}", flush=True)
    total = sum(os.times()[2:4])
    print(
        f"{arguments.subject}: {len(chosen) - survivors - same} killed, {same} equivalent, {survivors} survive, "
        f"of {len(chosen)} mutants (of {len(every)}, seed {arguments.seed}); "
        f"{total:.0f} s of CPU time, {before:.0f} s of them without any change"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
