"""Measure what takes time until the first results: installing, compiling, running, drawing; and importing.

CPU seconds of new processes, each the least of `--repeat`; compiling and installing are measured once. A first run uses
an empty cache of kernels, and the phases of a run are differences between runs that leave out one of them:

    python benchmarks/startup.py             # in an environment with gamesim
    python benchmarks/startup.py --install   # and the time of pip in a new environment; needs a package index
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMMAND = [sys.executable, "-m", "gamesim"]
# Python keeps the bytecode of modules, as it does for users; otherwise every process would compile them anew.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def seconds(command: list[str], **environment: str) -> float:
    """Run a command; return its CPU time, with that of its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env=ENVIRONMENT | environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def install(folder: Path) -> float:
    """Install gamesim into a new environment, as make demo does."""
    venv.create(folder / "environment", with_pip=True)
    return seconds([str(folder / "environment" / "bin" / "pip"), "install", "--quiet", "--editable", str(ROOT)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5, help="runs of each command (default 5)")
    parser.add_argument("--install", action="store_true", help="also install into a new environment")
    arguments = parser.parse_args()

    def least(command: list[str], **environment: str) -> float:
        return min(seconds(command, **environment) for _ in range(arguments.repeat))

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cache = str(folder / "kernels")
        chicken = [*COMMAND, "run", "chicken", "--force", "--out", str(folder / "run")]
        installed = install(folder) if arguments.install else None
        first = seconds(chicken, NUMBA_CACHE_DIR=cache)
        whole = least(chicken, NUMBA_CACHE_DIR=cache)
        plain = least([*chicken, "--no-figures"], NUMBA_CACHE_DIR=cache)
    if installed is not None:
        print(f"install                          {installed:7.2f} s")
    print(f"compile (first run - later run)  {first - whole:7.2f} s")
    print(f"run without figures              {plain:7.2f} s")
    print(f"figures and report               {whole - plain:7.2f} s")
    print(f"a later run, in all              {whole:7.2f} s")
    print(f"python -c 'pass'                 {least([sys.executable, '-c', 'pass']):7.3f} s")
    print(f"import gamesim                   {least([sys.executable, '-c', 'import gamesim']):7.3f} s")
    print(f"gamesim --help                   {least([*COMMAND, '--help']):7.3f} s")


if __name__ == "__main__":
    main()
