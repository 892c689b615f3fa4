"""Test that a cache of kernels, whatever happens to it, gives the right kernel or none, and never an exception."""

import errno
import importlib.util
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from gamesim.engine import compiled, kernel_cache
from gamesim.engine.compiled import kernel

pytestmark = pytest.mark.slow

FLIPS = int(os.environ.get("GAMESIM_FLIPS", "21"))
SOURCE = """
def weighted(vector):
    total = 0.0
    for i in range(vector.size):
        total += (i + 1.5) * vector[i]
    return total
"""
# Three processes compile at the same time, and two load it later: forks, so that Numba is imported only once.
FORKS = """
import os, runpy, sys
import gamesim.engine.compiled

def fork(kind):
    process = os.fork()
    if not process:
        sys.argv[1] = kind
        runpy.run_path(sys.argv[0])
        os._exit(0)
    return process

del sys.argv[0]
sys.argv.append("")
for kinds in (["f8", "f4", "f8"], ["f8"], ["f4"]):
    for process in [fork(kind) for kind in kinds]:
        assert os.waitpid(process, 0)[1] == 0
    print("then", flush=True)
"""
SCRIPT = f"""
import os, sys
import numpy as np
from gamesim.engine.compiled import announce_compilation, kernel

@kernel{SOURCE}
found = []
announce_compilation(lambda: found.append("compiling"))
found.append(str(weighted(np.ones(4, dtype=sys.argv[1]))))
os.write(1, " ".join([*found, "\\n"]).encode())
"""
GIVEN, EXPECTED = np.array([1.0, -2.0, 0.25]), 1.5 - 5.0 + 0.875

Function = Callable[[Any], float]


@pytest.fixture
def function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Function:
    """Return a plain function in a new file, whose kernels are cached in a new folder."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "plain.py").write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("plain", tmp_path / "plain.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "plain", module)
    spec.loader.exec_module(module)
    plain: Function = module.weighted
    return plain


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def was_compiled(function: Function) -> bool:
    """Call a new kernel made of the function, check its result, and return whether it had to be compiled."""
    made: Any = kernel(function)
    assert made(GIVEN) == EXPECTED
    return not sum(made.stats.cache_hits.values())


def test_a_kernel_is_loaded_from_the_cache(function: Function) -> None:
    assert was_compiled(function)
    assert not was_compiled(function)


def test_a_flipped_bit_never_gives_a_wrong_kernel(function: Function, tmp_path: Path) -> None:
    was_compiled(function)
    chance = random.Random(FLIPS)
    kept = {path: path.read_bytes() for path in files(tmp_path / "cache")}
    for flip in range(FLIPS):
        path = chance.choice(list(kept))
        damaged = bytearray(kept[path])
        at = flip if flip < FLIPS // 3 else chance.randrange(len(damaged))  # the start is the most delicate part
        damaged[at] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        assert was_compiled(function), (path.name, at)
        assert not was_compiled(function), "the damaged file is replaced"


@pytest.mark.parametrize("kept", [0, 1, 31, 32, 33, 1000, -1])
def test_a_truncated_file_is_replaced(function: Function, tmp_path: Path, kept: int) -> None:
    was_compiled(function)
    for path in files(tmp_path / "cache"):
        path.write_bytes(path.read_bytes()[:kept])
    assert was_compiled(function)
    assert not was_compiled(function)


def test_swapped_files_are_replaced(function: Function, tmp_path: Path) -> None:
    """A file that is intact, but holds another kernel, is not taken for this one."""
    was_compiled(function)
    (path,) = files(tmp_path / "cache")
    made: Any = kernel(function)
    assert made(np.array([1, 2])) == 6.5
    (other,) = set(files(tmp_path / "cache")) - {path}
    first, second = path.read_bytes(), other.read_bytes()
    path.write_bytes(second)
    other.write_bytes(first)
    assert was_compiled(function)
    assert path.read_bytes()[32:] != second[32:]


def test_a_lost_cache_is_written_again(function: Function, tmp_path: Path) -> None:
    was_compiled(function)
    shutil.rmtree(tmp_path / "cache")
    assert was_compiled(function)
    assert not was_compiled(function)


def test_folders_and_unreadable_files_in_place_of_kernels(function: Function, tmp_path: Path) -> None:
    was_compiled(function)
    (path,) = files(tmp_path / "cache")
    path.unlink()
    path.mkdir()
    (path / "in the way").write_text("")
    assert was_compiled(function)
    assert was_compiled(function), "what is in the way stays there"
    assert sorted(one.name for one in path.parent.iterdir()) == [path.name]


@pytest.mark.parametrize("number", [errno.EROFS, errno.ENOSPC, errno.EACCES, errno.EDQUOT])
def test_a_cache_that_cannot_be_written_is_still_read(
    function: Function, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refused(*_: Any, **__: Any) -> Any:
        raise OSError(number, os.strerror(number))

    was_compiled(function)
    for name in ("mkstemp", "TemporaryFile"):
        monkeypatch.setattr(tempfile, name, refused)
    assert not was_compiled(function)
    made: Any = kernel(function)
    assert made(np.array([1, 2])) == 6.5, "a kernel that is not in the cache is compiled"


def test_a_full_disk_leaves_no_partial_file(function: Function, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limited() -> bool:
        resource.setrlimit(resource.RLIMIT_FSIZE, (700, before[1]))
        try:
            return was_compiled(function)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert limited()
    assert files(tmp_path / "cache") == []
    assert was_compiled(function)
    assert not limited()


def test_a_home_that_cannot_be_written(function: Function, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    (tmp_path / "home").write_text("a file, not a folder")
    (tmp_path / "temporary").mkdir()
    for name, value in {"XDG_CACHE_HOME": "", "LOCALAPPDATA": "", "HOME": str(tmp_path / "home")}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    kernel_cache.cache_folders.cache_clear()
    assert was_compiled(function)
    assert not was_compiled(function)
    assert len(files(tmp_path / "temporary")) == 1

    def nowhere() -> str:
        raise FileNotFoundError

    monkeypatch.setattr(tempfile, "gettempdir", nowhere)
    kernel_cache.cache_folders.cache_clear()
    assert was_compiled(function)
    assert was_compiled(function)
    monkeypatch.undo()
    kernel_cache.cache_folders.cache_clear()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_processes_that_compile_at_the_same_time(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SCRIPT)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", FORKS, str(tmp_path / "mine.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    *compiled, first, second = done.stdout.split("then\n")[:-1]
    assert set("".join(compiled).splitlines()) <= {"compiling 12.0 ", "12.0 "}, (
        "on a busy machine one may find the other's"
    )
    assert len(files(tmp_path / "cache")) == 2
    assert (first, second) == ("12.0 \n", "12.0 \n")


def test_folders_of_other_users_are_not_read(function: Function, monkeypatch: pytest.MonkeyPatch) -> None:
    was_compiled(function)
    if sys.platform == "win32":
        pytest.skip("users have no numbers")
    user = os.getuid()
    monkeypatch.setattr(os, "getuid", lambda: user + 1)
    assert was_compiled(function)


def test_code_without_a_file_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    defined: dict[str, Any] = {}
    exec(compile(SOURCE, "<stdin>", "exec"), defined)
    assert was_compiled(defined["weighted"])
    assert files(tmp_path) == []


def test_the_cache_is_never_in_the_package() -> None:
    package = Path(compiled.__file__).parent
    assert not any(package in folder.parents for folder in kernel_cache.cache_folders(compiled.__file__))


def test_a_callees_file_counts() -> None:
    behind = kernel_cache.files_behind(str(Path(compiled.__file__).parent / "loop.py"), set())
    assert {Path(path).name for path in behind} >= {"loop.py", "compiled.py"}
