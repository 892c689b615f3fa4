"""Games by name: how they are found, their names as types, and what they import."""

import subprocess
import sys
from pathlib import Path
from typing import assert_type

import pytest

import gamesim
from gamesim import Game, Learner, Table, games, players
from gamesim.errors import InputError
from gamesim.games import catalogue, dilemmas, tables
from gamesim.games.aggregative import Aggregative
from gamesim.games.networks import LocalPublicGoods, Polymatrix, polymatrix
from gamesim.games.routing import Routing

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]


def test_a_type_checker_knows_what_a_name_makes() -> None:
    assert_type(games.make("chicken"), Table)
    assert_type(games.make("el-farol-crowd"), Aggregative)
    assert_type(games.make("polymatrix"), Polymatrix)
    assert_type(games.make("local-public-goods"), LocalPublicGoods)
    assert_type(games.make("routing"), Routing)
    of_any_kind: str = next(iter(games.available()))
    assert_type(games.make(of_any_kind), Game)
    assert_type(players.make("hedge", rate=0.5), Learner)


def test_available_lists_games_with_and_without_tables_in_order() -> None:
    known = games.available()
    assert list(known) == sorted(known)
    assert set(known) - set(tables.available()) == {
        "braess-crowd", "el-farol-crowd", "guess-two-thirds-crowd", "minority-crowd", "pigou-crowd",
        "local-public-goods", "network-coordination", "polymatrix", "routing",
    }  # fmt: skip


def test_factories_are_the_public_functions_that_return_the_kind() -> None:
    assert "chicken" in catalogue.factories(Table, [dilemmas])
    assert catalogue.factories(Routing, [dilemmas]) == {}
    assert "bimatrix" not in catalogue.factories(Game, [dilemmas])  # imported there, and defined elsewhere


@pytest.mark.parametrize("game", ["routing", "chiken"])
def test_an_edge_takes_games_with_a_table_only(game: str) -> None:
    with pytest.raises(InputError, match=f"unknown two-player game '{game}'"):
        polymatrix("cycle", {"n": 3}, game)


def fresh(code: str, *given: str) -> str:
    """Return what a new process prints that has imported nothing."""
    done = subprocess.run([sys.executable, "-c", code, *given], capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_networkx_is_imported_only_for_games_on_graphs(tmp_path: Path) -> None:
    unseen = "assert 'networkx' not in sys.modules"
    command = ["run", "chicken", "--rounds", "10", "--no-figures", "--quiet", "--out", str(tmp_path / "run")]
    list_all = "from gamesim import games; print(*games.available())"
    listed = fresh(f"import sys; from gamesim.cli.main import main; assert main({command}) == 0; {list_all}; {unseen}")
    assert {"chicken", "routing", "polymatrix"} <= set(listed.split())


def test_a_new_process_reads_network_games_without_importing_them(tmp_path: Path) -> None:
    made = [games.make(name) for name in ("polymatrix", "local-public-goods", "routing", "pigou-crowd")]
    for game in made:
        games.save(game, tmp_path / f"{game.name}.npz")
        gamesim.simulate(game, "hedge", rounds=5).save(tmp_path / game.name)
    read = "import gamesim, sys; print(*[type({}).__name__ for path in sys.argv[1:]])"
    kinds = [type(game).__name__ for game in made]
    paths = [str(tmp_path / game.name) for game in made]
    assert fresh(read.format("gamesim.games.load(path + '.npz')"), *paths).split() == kinds
    assert fresh(read.format("gamesim.load(path).game"), *paths).split() == kinds
