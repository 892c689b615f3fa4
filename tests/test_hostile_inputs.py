"""Inputs that were made to do harm, or might as well have been: each gets one clear message, at once."""

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gamesim import games, scenario, simulate
from gamesim.errors import LONGEST_MESSAGE, InputError
from gamesim.games import graphs
from gamesim.games.io import csv_tables, npy
from gamesim.games.varying import Varying
from gamesim.scenario import files
from gamesim.study import model
from gamesim.study.model import Study
from gamesim.study.store import Store

pytestmark = pytest.mark.slow

BASE: dict[str, Any] = {"rounds": 5, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}


def written(folder: Path, text: str) -> Path:
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_message_sends_no_codes_to_the_terminal(tmp_path: Path) -> None:
    path = written(tmp_path, '"\\u001b[31mred\\u202e" = 1\nrounds = 5\ngame = { name = "chicken" }')
    with pytest.raises(InputError, match=r"\\x1b\[31mred\\u202e: unknown key") as refused:
        scenario.read(path)
    assert all(line.isprintable() for line in str(refused.value).splitlines())


def test_a_message_has_an_end() -> None:
    assert str(InputError("short\nand on two lines")) == "short\nand on two lines"
    assert len(str(InputError("long" * 10**5))) == LONGEST_MESSAGE
    assert len(str(InputError("\x1b" * 10**5))) == LONGEST_MESSAGE
    with pytest.raises(InputError, match=r"scenario: a{57}\.\.\.: unknown key; choose from title, rounds"):
        scenario.Scenario.from_dict({**BASE, "a" * 10**5: 1})


@pytest.mark.parametrize("integer", ["9" * 5000, "0x" + "f" * 5000])
def test_an_integer_that_python_cannot_print_is_not_valid_toml(tmp_path: Path, integer: str) -> None:
    with pytest.raises(InputError, match="not valid TOML: an integer has more than 4300 digits"):
        scenario.read(written(tmp_path, f"title = {{ a = {integer} }}"))


@pytest.mark.parametrize("key", [".".join("a" * 20_000), " . ".join(['"a"'] * 200), "[" + ".".join("a" * 200) + "]\nb"])
def test_a_key_has_a_limited_number_of_parts(tmp_path: Path, key: str) -> None:
    with pytest.raises(InputError, match="a key has more than 100 parts"):
        scenario.read(written(tmp_path, f"{key} = 1"))


def test_a_long_line_of_numbers_is_not_a_deep_key(tmp_path: Path) -> None:
    row = ", ".join(["0.5", "1.25"] * 200)
    text = (
        f'title = "{"a" * 10**5}"\nrounds = 5\ngame = {{ payoffs = [[{row}]] }}\neveryone = {{ learner = "hedge" }}\n'
    )
    assert scenario.read(written(tmp_path, text)).played_game.sizes == (400,)


def test_a_file_without_an_end_is_not_read_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_FILE", 1000)
    with pytest.raises(InputError, match="has more than 1,000 bytes, the limit"):
        scenario.read("/dev/zero")


def test_a_file_has_a_limited_number_of_values(tmp_path: Path) -> None:
    path = written(tmp_path, f'title = "{"," * files.MOST_VALUES}"\nrounds = 5\n')
    with pytest.raises(InputError, match=r"has more than 524,288 values, the limit for TOML; store large payoff"):
        scenario.read(path)


@pytest.mark.parametrize("read", [scenario.read, model.read])
def test_a_mistake_in_every_line_is_not_put_into_words(tmp_path: Path, read: Any) -> None:
    path = written(tmp_path, "".join(f"a{i} = 1\n" for i in range(10**4)))
    with pytest.raises(InputError, match=r"has 10[0-9] errors or more:\n(.*\n)*  a0: unknown key") as refused:
        read(path)
    assert len(str(refused.value)) == LONGEST_MESSAGE


@pytest.mark.parametrize("find", [scenario.find, model.find])
def test_a_name_that_is_too_long_for_a_path_is_refused(find: Any) -> None:
    with pytest.raises(InputError, match=r"cannot read '?a{50,60}\.\.\.'?: File name too long"):
        find("a" * 5000)


def test_payoff_tables_with_different_numbers_of_axes_are_refused() -> None:
    with pytest.raises(InputError, match=r"game\.payoffs\[1\]\[1\]: expected an array like its neighbours, got 1\.0"):
        scenario.Scenario.from_dict({**BASE, "game": {"payoffs": [[1.0], [[-3]]], "actions": [["a"], ["b"]]}})


def test_null_is_not_a_payoff_table() -> None:
    with pytest.raises(InputError, match=r"game\.payoffs: expected one array of numbers per player, got nothing"):
        scenario.Scenario.from_dict({**BASE, "game": {"payoffs": None}})


def test_noise_does_not_overflow() -> None:
    with pytest.raises(InputError, match=r"noise must be a number from 0 to 1e\+100, got 1e\+308"):
        simulate("chicken", "hedge", 5, noise=1e308)
    assert np.isfinite(simulate("chicken", "hedge", 5, noise=1e100).payoffs).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"measures": [["ce-gap"]]}, r"measures: unknown measure \['ce-gap'\]"),
        ({"seeds": 10**22}, r"seeds: expected an integer from 1 to 10,000,000, .*got 1\.0e\+22"),
        ({"seeds": {"first": 0, "count": 10**22}}, r"seeds: expected a count of at most 10,000,000, got 1\.0e\+22"),
        ({"seeds": [5, 2**63, 7]}, r"a list of integers from 0 to 2\^63 - 1"),
        ({"seeds": {"first": 2**63 - 1, "count": 2}}, r"a list of integers from 0 to 2\^63 - 1"),
        ({"grid": {"rounds": {"first": 1, "count": 10**9}}}, "grid.rounds: expected a count of at most 1,000,000"),
        ({"base": "a" * 5000}, r"base: cannot read 'a+\.\.\.: File name too long"),
        ({"base": "/dev/stdin"}, "base: expected the name or path of a scenario file, got '/dev/stdin'"),
    ],
)
def test_a_study_that_cannot_be_run_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Study.from_dict({"base": BASE, **change})


def test_a_date_is_refused_like_any_other_value(tmp_path: Path) -> None:
    path = written(tmp_path, 'base = "chicken"\ngrid = { rounds = [1979-05-27] }\n')
    with pytest.raises(InputError, match="rounds = 1979-05-27: rounds: expected an integer"):
        model.read(path)


def test_the_largest_seed_of_a_study_can_be_stored(tmp_path: Path) -> None:
    study = Study.from_dict({"base": BASE, "seeds": [2**63 - 1]})
    with Store(tmp_path / "study.sqlite", write=True) as store:
        store.register(study.points(), study.description)
        assert [row.seed for row in store.rows()] == [2**63 - 1]


def test_a_csv_file_is_not_given_names_that_it_cannot_hold() -> None:
    longest = games.from_payoffs([[1]], [[2]], players=["A" * 50_000, "B" * 50_000])
    back = csv_tables.read([("file", text) for text in csv_tables.write(longest)], "game")
    assert back.players == longest.players
    with pytest.raises(InputError, match="a CSV file cannot store a name of 50,001 characters"):
        csv_tables.write(games.from_payoffs([[1]], [[2]], actions=[["x" * 50_001], ["y"]]))


def npy_file(header: str, body: bytes = b"") -> io.BytesIO:
    text = header.encode() + b"\n"
    return io.BytesIO(b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + body)


def test_a_header_must_not_claim_more_than_its_file_holds() -> None:
    file = npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 16384, 16384)}", bytes(64))
    with pytest.raises(InputError, match="payoffs needs 4,294,967,296 bytes, but its file is shorter"):
        npy.read(file, "payoffs", len(file.getvalue()))


def test_a_header_is_read_without_warnings() -> None:
    whole = npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", np.ones(1).tobytes())
    assert npy.read(whole, "one", len(whole.getvalue())).tolist() == [1.0]
    strange = npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (1,), '\\y': 0}", bytes(8))
    with warnings.catch_warnings(record=True) as seen, pytest.raises(ValueError, match="header"):
        npy.read(strange, "one", len(strange.getvalue()))
    assert not seen


def test_an_attribute_without_a_type_is_text(tmp_path: Path) -> None:
    path = tmp_path / "roads.graphml"
    path.write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="c" for="edge" attr.name="cost"/>'
        '<graph edgedefault="directed"><node id="s"/><node id="t"/>'
        '<edge source="s" target="t"><data key="c">1 2</data></edge></graph></graphml>'
    )
    assert graphs.read(path).edges["s", "t"]["cost"] == [1.0, 2.0]


def test_a_trajectory_keeps_rounds_that_there_can_be() -> None:
    with pytest.raises(InputError, match=r"measure.trajectory: expected .* k from 1 to 10\^15 .* got 1.0e\+30"):
        scenario.Scenario.from_dict({**BASE, "measure": {"trajectory": 10**30}})
    with pytest.raises(InputError, match=r"trajectory must be at most 1,000,000,000,000,000, got 1.0e\+30"):
        simulate("chicken", "hedge", 5, trajectory=10**30)
    rounds, _ = simulate("chicken", "hedge", 5, trajectory=10**15).trajectory
    assert rounds.tolist() == [1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schedule": np.array([0, 0])}, "every must be an integer of at least 1, got 0"),
        ({"schedule": np.array([2**62, 0])}, "every must be at most 1,000,000,000,000,000"),
        ({"schedule": np.array([1.5, 0.0])}, "schedule must be an array of integers, got an array of float64"),
        ({"schedule": np.array([1, 2])}, "not a complete .npz file"),
        ({"payoffs": np.zeros((1, 2, 2, 3))}, r"payoffs must be tables of shape \(2, 2, 2\), got .* \(1, 2, 2, 3\)"),
        ({"payoffs": np.full((1, 2, 2, 2), np.nan)}, "payoffs must be numbers within ±1e150"),
        ({"payoffs": np.zeros((0, 2, 2, 2))}, r"got an array of shape \(0, 2, 2, 2\)"),
    ],
)
def test_a_schedule_in_a_file_is_checked(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    game = Varying.from_tables([[np.eye(2)] * 2] * 3, every=2)
    games.save(game, tmp_path / "game.npz")
    assert isinstance(games.load(tmp_path / "game.npz"), Varying)
    with np.load(tmp_path / "game.npz") as parts:
        np.savez(tmp_path / "game.npz", **{**parts, **{f"game_{name}": part for name, part in change.items()}})
    with pytest.raises(InputError, match=message):
        games.load(tmp_path / "game.npz")
