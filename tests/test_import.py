"""gamesim is imported from anywhere, and its folders are not mistaken for packages."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def python(code: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    # Without PYTHONPATH, so that only the installation decides.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)


def test_a_folder_of_the_same_name_does_not_hide_the_package(tmp_path: Path) -> None:
    (tmp_path / "gamesim" / "gamesim").mkdir(parents=True)  # as in the parent folder of a clone
    ran = python("import gamesim; print(gamesim.simulate.__name__)", tmp_path)
    assert ran.stdout == "simulate\n", ran.stderr


@pytest.mark.parametrize("name", ["players", "games", "scenarios"])
def test_a_folder_at_the_top_says_which_package_it_is(name: str) -> None:
    ran = python(f"import {name}", ROOT)
    assert ran.returncode != 0
    assert ran.stderr.endswith(
        f"ImportError: this folder is the package gamesim.{name}; import gamesim.{name} instead\n"
    )


def test_the_checkout_needs_no_links() -> None:
    listed = subprocess.run(["git", "ls-files", "--stage"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    assert not [line for line in listed.stdout.splitlines() if line.startswith("120000")]


def test_old_names_still_work_and_warn() -> None:
    code = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import gamesim
    from gamesim import games, players
    from gamesim.compiled import kernel
    from gamesim.games.interop import from_nashpy
    from gamesim.measures import swap
    from gamesim.player import Learner, Player
    assert gamesim.Player is Player is gamesim.Learner and Learner.__name__ == "RunningLearner"
    players.names(), games.names(), players.make("exp3").over(9), players.make("hedge").guarantee().on("external", 9, 3)
    record = gamesim.simulate(gamesim.Table.of([[[1]], [[2]]]), "hedge", rounds=5)
    record.players, record.since(2)
    gamesim.Scenario.of({"rounds": 5, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}})
print(len([one for one in caught if one.category is DeprecationWarning]))
"""
    ran = python(code, ROOT)
    assert ran.stdout == "14\n", ran.stdout + ran.stderr
