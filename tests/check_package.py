"""Check types and layers of the package as it is installed, with players, games and scenarios inside gamesim.

mypy and import-linter look for `gamesim.players` in the folder `gamesim`, where it is only once the package is built:
so both look at a copy in build/checked, laid out as in a wheel. Run it as `python tests/check_package.py`.
"""

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
COPY = ROOT / "build" / "checked"
PLACES = {
    "gamesim": "gamesim",
    "players": "gamesim/players",
    "games": "gamesim/games",
    "scenarios": "gamesim/scenarios",
    "tests": "tests",
    "examples": "examples",
    "benchmarks": "benchmarks",
}


def assemble() -> None:
    """Copy the sources into the places that a wheel gives them; times are kept, so that mypy's cache stays valid."""
    cache = COPY / ".mypy_cache"
    for old in COPY.iterdir() if COPY.is_dir() else ():
        if old != cache:
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    for source, target in PLACES.items():
        shutil.copytree(ROOT / source, COPY / target, ignore=shutil.ignore_patterns("__pycache__", "*.ipynb"))
    shutil.copy2(ROOT / "pyproject.toml", COPY)


def main() -> int:
    assemble()
    types = subprocess.run([sys.executable, "-m", "mypy"], cwd=COPY, capture_output=True, text=True, check=False)
    shown = types.stdout
    for name in ("players", "games", "scenarios"):
        shown = shown.replace(f"gamesim/{name}/", f"{name}/")
    print(shown + types.stderr, end="")
    lint = [sys.executable, "-c", "from importlinter.cli import lint_imports_command; lint_imports_command()"]
    layers = subprocess.run(lint, cwd=COPY, check=False)
    return types.returncode or layers.returncode


if __name__ == "__main__":
    sys.exit(main())
