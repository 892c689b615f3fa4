"""Games beside other libraries: pygambit, quantecon and OpenSpiel, each skipped where it is not installed."""

import io
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from gamesim import games
from gamesim.errors import InputError
from gamesim.game import Table
from gamesim.games import families, tables
from gamesim.games.io import interop, nfg

pytestmark = pytest.mark.slow

TABLES = list(tables.available())
PEERS = {"pygambit": "pygambit", "quantecon.game_theory": "quantecon", "pyspiel": "open_spiel"}


def peer(name: str) -> Any:
    """Return a library, or skip the test and say why."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # theirs, at import
        try:
            return import_module(name)
        except ImportError as error:
            pytest.skip(f"{PEERS[name]} is not installed here ({error}): pip install gamesim[peers]")


def table(name: str) -> Table:
    return tables.available()[name]()


@pytest.mark.parametrize("name", TABLES)
def test_files_written_here_open_in_pygambit_and_come_back_equal(name: str, tmp_path: Path) -> None:
    pygambit = peer("pygambit")
    game = table(name)
    games.save(game, tmp_path / "game.nfg")
    theirs = pygambit.read_nfg(str(tmp_path / "game.nfg"))
    assert theirs.title == name
    (tmp_path / "back.nfg").write_text(theirs.to_nfg())
    back = games.load(tmp_path / "back.nfg")
    assert isinstance(back, Table)
    assert back.payoffs.tobytes() == game.payoffs.tobytes()
    assert (back.players, back.actions) == (game.players, game.actions)


def pygambit_catalogue() -> list[Path]:
    try:
        folder = import_module("pygambit").__file__
    except ImportError:
        return []
    return sorted(Path(str(folder)).parent.rglob("*.nfg"))


def test_every_normal_form_game_of_pygambits_catalogue_loads_with_equal_payoffs() -> None:
    pygambit = peer("pygambit")
    found = pygambit_catalogue()
    if not found:
        pytest.skip("this version of pygambit brings no catalogue of .nfg files")
    for path in found:
        ours, theirs = games.load(path), pygambit.read_nfg(str(path))
        assert isinstance(ours, Table)
        assert ours.name == theirs.title
        np.testing.assert_array_equal(ours.payoffs, np.array(theirs.to_arrays(dtype=float)), err_msg=path.name)


def test_pygambit_reads_the_numbers_as_we_do() -> None:
    pygambit = peer("pygambit")
    text = 'NFG 1 R "n" { "A" "B" } { 3 2 } 1/3 -7/3 0.1 .5 2. 1e-07 1.5e+20 -3 12345678901234567 0 1 2'
    ours = nfg.read(text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = interop.from_pygambit(pygambit.read_nfg(io.StringIO(text)))
    np.testing.assert_array_equal(ours.payoffs, theirs.payoffs)


def test_games_travel_to_pygambit_and_back() -> None:
    peer("pygambit")
    for game in (table("aumann"), families.uniform(players=3, actions=[2, 3, 4], seed=1)):
        back = interop.from_pygambit(interop.to_pygambit(game))
        np.testing.assert_array_equal(back.payoffs, game.payoffs)
        assert (back.name, back.players, back.actions) == (game.name, game.players, game.actions)


@pytest.mark.parametrize("name", ["chicken", "shapley", "asymmetric-pennies", "zeeman", "hide-and-seek", "uniform"])
def test_nash_equilibria_agree_with_pygambit(name: str) -> None:
    pygambit = peer("pygambit")
    game = table(name)
    ours = interop.nash_equilibria(game)
    assert ours.is_complete
    solved = pygambit.nash.enummixed_solve(interop.to_pygambit(game), rational=False).equilibria
    assert len(solved) == len(ours.profiles)


def test_games_travel_to_quantecon_and_back() -> None:
    quantecon = peer("quantecon.game_theory")
    for game in (
        table("aumann"),
        families.uniform(players=2, actions=[2, 3]),
        families.uniform(players=4, actions=[2, 3, 2, 4]),
    ):
        theirs = interop.to_quantecon(game)
        np.testing.assert_array_equal(interop.from_quantecon(theirs).payoffs, game.payoffs)
        for i in range(len(game.players)):  # their players see their own action first, then the others' cyclically
            order = [(i + k) % len(game.players) for k in range(len(game.players))]
            np.testing.assert_array_equal(theirs.players[i].payoff_array, game.payoffs[i].transpose(order))
    pure = quantecon.pure_nash_brute(interop.to_quantecon(table("chicken")))
    assert sorted(map(list, pure)) == interop.pure_equilibria(table("chicken")).tolist()


def test_gam_files_agree_with_quantecon(tmp_path: Path) -> None:
    quantecon = peer("quantecon.game_theory")
    for game in (table("shapley"), families.uniform(players=3, actions=[2, 3, 4], seed=1)):
        games.save(game, tmp_path / "ours.gam")
        theirs = quantecon.from_gam(str(tmp_path / "ours.gam"))
        np.testing.assert_array_equal(interop.from_quantecon(theirs).payoffs, game.payoffs)
        quantecon.to_gam(interop.to_quantecon(game), str(tmp_path / "theirs.gam"))
        back = games.load(tmp_path / "theirs.gam")
        assert isinstance(back, Table)
        np.testing.assert_allclose(back.payoffs, game.payoffs, rtol=0, atol=1e-8)  # they print eight digits


def test_games_travel_to_openspiel_and_back() -> None:
    pyspiel = peer("pyspiel")
    for game in (table("shapley"), table("aumann"), families.uniform(players=2, actions=[2, 3])):
        back = interop.from_openspiel(interop.to_openspiel(game))
        np.testing.assert_array_equal(back.payoffs, game.payoffs)
        assert (back.name, back.actions) == (game.name, game.actions)
    theirs = interop.from_openspiel(pyspiel.load_matrix_game("matrix_shapleys_game"))
    assert theirs.sizes == (3, 3)
    dilemma = interop.from_openspiel(pyspiel.load_matrix_game("matrix_pd"))
    assert interop.pure_equilibria(dilemma).tolist() == [[1, 1]]
    with pytest.raises(InputError, match="not a matrix or tensor game"):
        interop.from_openspiel(pyspiel.load_game("kuhn_poker"))


def test_kuhn_poker_has_the_value_of_openspiels() -> None:
    pyspiel = peer("pyspiel")
    theirs = pyspiel.extensive_to_matrix_game(pyspiel.load_game("kuhn_poker"))
    values = []
    for won in (np.array(theirs.row_utilities()), table("kuhn-poker").payoffs[0]):
        rows, columns = won.shape
        solved = linprog(
            [*[0] * rows, -1], A_ub=np.column_stack([-won.T, np.ones(columns)]), b_ub=np.zeros(columns),
            A_eq=[[*[1] * rows, 0]], b_eq=[1], bounds=[*[(0, 1)] * rows, (None, None)],
        )  # fmt: skip
        assert solved.fun is not None
        values.append(solved.fun)
    np.testing.assert_allclose(values, 1 / 18, atol=1e-9)


def test_a_missing_library_is_named() -> None:
    with pytest.raises(InputError, match="nowhere is not installed; run: pip install nowhere"):
        interop._library("nowhere.at.all")
