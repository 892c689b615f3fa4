"""Change the measures, or the fixed point that learners play, in one place at a time: does a test notice?

A mutant is a copy of the package with another operator, comparison, constant or condition in one place. It is killed if
a test fails, or uses more than its CPU time; the others survive and are listed, as hints at missing tests.
`python -m tests.mutation measure --count 100 --seed 0` draws that many of all mutants. Processes are forked after the
libraries are imported, because most mutants die within a second. Not on Windows.
"""

import argparse
import ast
import copy
import os
import random
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
TREE = ("gamesim", "players", "games", "scenarios", "tests", "pyproject.toml", "docs", "examples", "README.md")
LIBRARIES = (
    "numpy",
    "scipy.optimize",
    "scipy.sparse.linalg",
    "numba",
    "pydantic",
    "networkx",
    "pytest",
)  # no plugins of pytest
SUBJECTS = {  # the files to change, and the tests that should notice, fast ones first
    "measure": (
        "gamesim/measure/*.py",
        ["measure", "path_length", "trend", "equilibrium", "distance", "polytope", "observers", "exact",
         "interior_point", "central_path", "sampled", "observed", "report"],
    ),
    "fixed-point": ("players/_kernels/fixed_point.py", ["fixed_point"]),
}  # fmt: skip
OPERATORS: dict[type, Any] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Mod: ast.Mult,
    ast.Pow: ast.Mult, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or,
    ast.Or: ast.And,
}  # fmt: skip


class Mutant(NamedTuple):
    """A changed file: the number of the line, how it reads now, and the text of the whole file."""

    path: Path
    line: int
    change: str
    text: str


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


def places(node: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Yield where each node is: its parent, the field, and the index in a list. Annotations have no effect."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "type_ignores", "decorator_list"):
            continue
        for k, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                yield node, field, k
                yield from places(child)


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every mutant of a file."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    for parent, field, k in list(places(tree)):
        held: Any = getattr(parent, field)
        node = held if k is None else held[k]
        new = changed(node)
        if new is None:
            continue
        for one in (new, node):  # the second puts it back
            if k is None:
                setattr(parent, field, one)
            else:
                held[k] = one
            if one is new:
                text = ast.unparse(tree)
        yield Mutant(path, node.lineno, f"{ast.unparse(node)}  →  {ast.unparse(new)}", text)


def passes(tests: list[str], folder: Path, seconds: int, quiet: bool = True) -> bool:
    """Run tests in a new process in this folder; return whether all pass within the CPU time."""
    child = os.fork()
    if child == 0:
        signal.setitimer(signal.ITIMER_PROF, seconds)  # ends the process, even in compiled code
        os.chdir(folder)
        sys.path.insert(0, str(folder))
        for name in [name for name in sys.modules if name.split(".")[0] in ("gamesim", "tests")]:
            del sys.modules[name]
        if quiet:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        os._exit(import_module("pytest").main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *tests]))
    return os.waitpid(child, 0)[1] == 0


def in_order(tests: list[str], path: Path) -> list[str]:
    """Return the test files that name the changed module, and so most likely notice, then the others of the subject."""
    module = re.compile(rf"{'.'.join(path.with_suffix('').parts)}\b|{path.parent.name} import .*\b{path.stem}\b")
    naming = [one for one in sorted((ROOT / "tests").glob("test_*.py")) if module.search(one.read_text("utf-8"))]
    return list(dict.fromkeys([*(str(one.relative_to(ROOT)) for one in naming), *tests]))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--count", type=int, default=100, help="number of mutants (default 100)")
    parser.add_argument("--seed", type=int, default=0, help="which mutants are drawn (default 0)")
    parser.add_argument("--seconds", type=int, default=600, help="CPU time of all tests (default 600)")
    arguments = parser.parse_args()
    files, names = SUBJECTS[arguments.subject]
    tests = [f"tests/test_{name}.py" for name in names]
    every = [one for path in sorted(ROOT.glob(files)) for one in mutants(path.relative_to(ROOT))]
    drawn = random.Random(arguments.seed).sample(every, min(arguments.count, len(every)))
    sys.dont_write_bytecode = True
    with tempfile.TemporaryDirectory() as name:
        os.environ["NUMBA_CACHE_DIR"] = str(Path(name) / "kernels")  # those of mutants are of no use later
        for library in LIBRARIES:
            import_module(library)
        folder = Path(name) / "copy"
        folder.mkdir()
        for part in TREE:
            source = ROOT / part
            (shutil.copytree if source.is_dir() else shutil.copy2)(source, folder / part)
        if not passes(tests, folder, 4 * arguments.seconds, quiet=False):
            print("the tests fail without any change")
            return 1
        survivors = []
        for k, mutant in enumerate(drawn):
            (folder / mutant.path).write_text(mutant.text, encoding="utf-8")
            if passes(in_order(tests, mutant.path), folder, arguments.seconds):
                survivors.append(mutant)
                print(f"survives: {mutant.path}:{mutant.line}: {mutant.change}", flush=True)
            shutil.copy2(ROOT / mutant.path, folder / mutant.path)
            print(f"{k + 1 - len(survivors)} of {k + 1} killed", end="\n" if k + 1 == len(drawn) else "\r", flush=True)
    print(f"{arguments.subject}: {len(drawn)} of {len(every)} mutants, seed {arguments.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
