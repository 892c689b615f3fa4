"""Games in files: what is written reads back exactly, and no file does worse than an InputError."""

import contextlib
import io
import re
import zipfile
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gamesim import games
from gamesim.errors import InputError
from gamesim.game import Game, Table
from gamesim.games import tables as table_games
from gamesim.games.io import csv_tables, gam, nfg

# The one worked example of Gambit's manual, in both forms: player 1 has three strategies, player 2 has two.
SELTEN_PAYOFFS = (
    'NFG 1 R "Selten (IJGT, 75), Figure 2, normal form"\n{ "Player 1" "Player 2" } { 3 2 }\n\n1 1 0 2 0 2 1 1 0 3 2 0'
)
SELTEN_OUTCOMES = """NFG 1 R "Selten (IJGT, 75), Figure 2, normal form" { "Player 1" "Player 2" }
{ { "1" "2" "3" } { "1" "2" } } "a comment, with \\"quotes\\""
{ { "" 1, 1 } { "" 0, 2 } { "" 0 2 } { "" 1, 1 } { "" 0, 3 } { "" 2, 0 } }
1 2 3 4 5 6"""

TABLES = list(table_games.available())


def same(one: Game, other: Game) -> None:
    assert isinstance(one, Table) and isinstance(other, Table)
    assert one.payoffs.tobytes() == other.payoffs.tobytes()
    assert (one.players, one.actions) == (other.players, other.actions)


@pytest.mark.parametrize("text", [SELTEN_PAYOFFS, SELTEN_OUTCOMES])
def test_nfg_reads_the_example_of_gambits_manual(text: str) -> None:
    game = nfg.read(text)
    assert game.name == "Selten (IJGT, 75), Figure 2, normal form"
    assert game.players == ("Player 1", "Player 2")
    # Read off the manual's explanation: player 1's strategy is incremented first.
    np.testing.assert_array_equal(game.payoffs[0], [[1, 1], [0, 0], [0, 2]])
    np.testing.assert_array_equal(game.payoffs[1], [[1, 1], [2, 3], [2, 0]])


def test_nfg_numbers_are_exact() -> None:
    numbers = ["1/3", "-7/3", "+0.1", ".5", "-.5", "2.", "1e-7", "1.5E+3"]
    game = nfg.read(f'NFG 1 D "n" {{ "A" }} {{ {len(numbers)} }} {" ".join(numbers)}')
    expected = [float(Fraction(n)) if "/" in n else float(n) for n in numbers]
    assert game.payoffs[0].tolist() == expected


def test_nfg_outcome_zero_is_nothing_for_everyone_and_three_players_count_up_the_first_fastest() -> None:
    text = """NFG 1 R "three" { "A" "B" "C" } { { "1" "2" } { "1" } { "1" "2" "3" } }
    { { "first" 1 2 3 } { "second" 4 5 6 } } 0 1 2 0 1 2"""
    game = nfg.read(text)
    assert game.payoffs[:, 0, 0, 0].tolist() == [0, 0, 0]
    assert game.payoffs[:, 1, 0, 0].tolist() == [1, 2, 3]
    assert game.payoffs[:, 0, 0, 1].tolist() == [4, 5, 6]
    assert game.payoffs[:, 1, 0, 2].tolist() == [4, 5, 6]


def test_nfg_names_what_has_no_name_or_a_repeated_one() -> None:
    game = nfg.read('NFG 1 R "" { "" "B" } { { "x" "x" "" } { "1" } } 1 2 3 4 5 6', name="file")
    assert game.name == "file"
    assert game.players == ("1", "B")
    assert game.actions == (("x", "x_2", "3"), ("1",))


def test_gam_lists_player_after_player() -> None:
    game = gam.read("# a comment\n2\n3 2\n\n1 2 3 4 5 6\n-1 -2 -3 -4 -5 -6.5")
    np.testing.assert_array_equal(game.payoffs[0], [[1, 4], [2, 5], [3, 6]])
    np.testing.assert_array_equal(game.payoffs[1], [[-1, -4], [-2, -5], [-3, -6.5]])


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("ending", [".nfg", ".gam", ".csv", ".npz"])
def test_every_game_comes_back_exactly(name: str, ending: str, tmp_path: Path) -> None:
    game = games.make(name)
    assert isinstance(game, Table)
    paths = games.save(game, tmp_path / f"{name}{ending}")
    back = games.load(paths[-1])
    assert isinstance(back, Table)
    assert back.name == name
    if ending == ".gam":
        assert back.payoffs.tobytes() == game.payoffs.tobytes()
    else:
        same(back, game)


@pytest.mark.parametrize("name", [name for name in games.available() if name not in TABLES])
def test_network_games_come_back_from_npz_and_say_that_they_have_no_table(name: str, tmp_path: Path) -> None:
    game = games.make(name)
    games.save(game, tmp_path / "game.npz")
    back = games.load(tmp_path / "game.npz")
    assert type(back) is type(game)
    assert (back.name, back.players, back.actions) == (game.name, game.players, game.actions)
    for one, other in zip(back.kernel_arrays(), game.kernel_arrays(), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(back.range, game.range, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(InputError, match=r"no table.*\.npz"):
        games.save(game, tmp_path / "game.nfg")


NAMES = st.text(max_size=6)
FLOATS = st.floats(-1e150, 1e150, allow_nan=False)


@st.composite
def tables(draw: st.DrawFn) -> Table:
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=4))
    count = len(sizes)
    cells = int(np.prod(sizes)) * count
    payoffs = np.array(draw(st.lists(FLOATS, min_size=cells, max_size=cells))).reshape(count, *sizes)
    players = draw(st.lists(NAMES, min_size=count, max_size=count, unique=True))
    actions = [draw(st.lists(NAMES, min_size=size, max_size=size, unique=True)) for size in sizes]
    return Table.from_payoffs(payoffs, name=draw(NAMES), players=players, actions=actions)


@given(tables())
def test_nfg_round_trips_whatever_the_labels(game: Table) -> None:
    try:
        text = nfg.write(game)
    except InputError as error:
        assert "backslash" in str(error)
        return
    back = nfg.read(text, name=game.name)
    assert back.payoffs.tobytes() == game.payoffs.tobytes()
    assert back.name == game.name
    for ours, theirs in zip((game.players, *game.actions), (back.players, *back.actions), strict=True):
        assert all(a == b for a, b in zip(ours, theirs, strict=True) if a)  # what had no name is given one


@given(tables())
def test_csv_files_round_trip_whatever_the_labels(game: Table) -> None:
    try:
        texts = csv_tables.write(game)
    except InputError as error:
        assert "CSV file cannot store" in str(error)
        return
    back = csv_tables.read([("file", text) for text in texts], game.name)
    assert (back.payoffs == game.payoffs).all()
    assert (back.players, back.actions) == (game.players, game.actions)


def test_a_csv_file_of_numbers_alone_is_a_matrix(tmp_path: Path) -> None:
    (tmp_path / "own.1.csv").write_text("1,2,3\n4,5,6\n")
    (tmp_path / "own.2.csv").write_text("7,8,9\r\n-1,-2,-3\r\n")
    for path in ("own.1.csv", "own.2.csv", "own.csv"):
        game = games.load(tmp_path / path)
        assert isinstance(game, Table)
        assert game.name == "own"
        assert game.payoffs.tolist() == [[[1, 2, 3], [4, 5, 6]], [[7, 8, 9], [-1, -2, -3]]]


@pytest.mark.parametrize(
    "text",
    [
        'A \\ B,x,y,z\nu,"3,1","1/2, 2","0,0"\nv,"-1,0","(1,1/4)","2,3e0"\n',
        "A \\ B\tx\ty\tz\nu\t3,1\t1/2,2\t0,0\nv\t-1,0\t1,1/4\t2,3\n",
        "A \\ B,x,y,z\nu,3,1/2,0\nv,-1,1,2\n\nA \\ B,x,y,z\nu,1,2,0\nv,0,.25,3\n",
        "A \\ B\tx\ty\tz\t\r\nu\t3\t1/2\t0\t\r\nv\t-1\t1\t2\t\r\n\t\t\t\t\r\n"
        "A \\ B\tx\ty\tz\r\nu\t1\t2\t0\r\nv\t0\t1/4\t3",
    ],
    ids=["pairs", "pairs by tabs", "blocks", "blocks by tabs"],
)
def test_one_csv_file_holds_a_two_player_game(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.csv").write_bytes(text.encode())
    game = games.load(tmp_path / "own.csv")
    assert isinstance(game, Table) and game.name == "own"
    assert game.payoffs.tolist() == [[[3, 0.5, 0], [-1, 1, 2]], [[1, 2, 0], [0, 0.25, 3]]]
    assert (game.players, game.actions) == (("A", "B"), (("u", "v"), ("x", "y", "z")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            ",l,r\nu,3,1,0,0\nd,1,2,1,3",
            'line 3, entry 2: expected both payoffs of a cell in quotation marks, as in "3,1"',
        ),
        (',l,r\nu,"3,1",5\nd,"x,2","1,3"', "line 2, entry 3: expected the payoffs of both players, as in 3,1, got '5'"),
        (',l,r\nu,"3,1","1,1/0"\nd,"1,2","1,3"', "line 2, entry 3: expected the payoffs of both players"),
        ("1,2\n3,4", 'or one file with both payoffs in each cell, as in "3,1", but name.2.csv is missing'),
        ("1,2\n\n3,4\n\n5,6", "expected one or two blocks of payoffs, for two players, got 3 blocks"),
        ("1,2\n\n3,4\n5,6", r"block 2: expected payoffs of shape \(1, 2\), as in file, block 1, got \(2, 2\)"),
        ("\n,,\n", "expected payoffs, got an empty file"),
    ],
)
def test_a_broken_file_of_a_two_player_game_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        csv_tables.read([("file", text)], "name")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected NFG.*got the end of the file"),
        ('NFG 2 R "t" { "A" } { 1 } 1', "line 1, column 5: expected 1, the version.*got '2'"),
        ('NFG 1 R "t" { "A" "B" }\n{ 2 x }', "line 2, column 5: expected how many actions 'B' has, got 'x'"),
        ('NFG 1 R "t" { "A" "B" } { 2 2 }\n1 2 3\n4 oops', "line 3, column 3: expected payoff 5 of 8, got 'oops'"),
        ('NFG 1 R "t" { "A" } { 2 } 1', "line 1, column 28: expected payoff 2 of 2, got the end of the file"),
        ('NFG 1 R "t" { "A" } { 2 } 1 2 3', "line 1, column 31: expected the end of the file, got '3'"),
        ('NFG 1 R "t" { "A" } { 1 } 1/0', "line 1, column 27: expected payoff 1 of 1 that is finite, got '1/0'"),
        ('NFG 1 R "t" { "A" } { 1 } 1e999', "that is finite, got '1e999'"),
        ('NFG 1 R "t" { "A" } { 1 } nan', "expected payoff 1 of 1, got 'nan'"),
        ('NFG 1 R "t" { "A } { 1 } 1', "line 1, column 15: expected .*closed quotation"),
        ('NFG 1 R "t" { "A" } { { "a" } } { { "x" 1 } } 2', "expected an outcome from 0 to 1, got '2'"),
        ('NFG 1 R "t" { "A" } { { } } 1', "at least one action"),
        ('NFG 1 R "t" { } { } 1', "at least one player"),
        ('NFG 1 R "t" { "A" "B" } { 100000 100000 } 1', "needs 149 GiB; the limit is 8 GiB"),
        (f'NFG 1 R "t" {{ {chr(34)}{chr(34)} }} {{ {"9" * 30} }} 1', "expected how many actions"),
        ('NFG 1 R "t" { "A" } { 1 } 1e151', "within ±1e150"),
    ],
)
def test_a_broken_nfg_file_is_refused_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "broken.nfg"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        games.load(path)
    assert "1e150" in message or "GiB" in message or str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the number of players"),
        ("0", "a number of players from 1 to 63"),
        ("2 2", "how many actions player 2 of 2 has, got the end of the file"),
        ("1 2 1 x", "line 1, column 7: expected payoff 2 of 2, got 'x'"),
        ("3 99999 99999 99999 1", "PiB|TiB"),
        ("1 0", "at least one action"),
        ("1 1 5 6", "expected the end of the file, got '6'"),
    ],
)
def test_a_broken_gam_file_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        gam.read(text)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["", ""], "empty file"),
        (["1,2\n3", "1,2\n3,4"], "line 2, entry 2: expected 2 entries"),
        (["1\n3,4", "1\n3"], "line 2, entry 2: expected 1 entry, got a row of 2"),
        ([";Left;Right\nUp;3,5;0\nDown;1;2"] * 2, "file 1: expected entries separated by commas and decimal points"),
        (
            [",Left,Right\nUp,3.5,0", ";Left;Right\nUp;3,5;0"],
            "file 2: expected .*commas.*semicolons.*save the file as CSV",
        ),
        (["3,5;0\n1,5;2", "3;0\n1;2"], "file 1: expected entries separated by commas"),
        (["A;B;C;payoff\n1;1;1;0,5"] * 3, "file 1: expected entries separated by commas"),
        ([",a;b\nc;d,x"] * 2, "line 2, entry 2: expected a finite number, got 'x'"),
        (["1,2\n3,x", "1,2\n3,4"], "line 2, entry 2: expected a finite number, got 'x'"),
        (["1,2\n3,4", "1,2"], r"expected payoffs of shape \(2, 2\).*got \(1, 2\)"),
        ([",a\nb,1", ",a\nc,1"], "same names and labels"),
        (["A,payoff\nx,1\nx,2"], "expected one row for each of 1 action profiles, got 2 rows"),
        (["A,B,C,payoff\nx,x,x,1"] * 2 + ["A,B,C\nx,x,1"], "a last one called payoff"),
        (["A,B,C,payoff\n1,1,1,0\n2,2,1,0\n1,1,1,0\n2,2,1,0"] * 3, "1, 1, 1 again"),
        (["A,B,C,payoff"] * 3, "expected one row for each"),
        (['"a', "1"], "unexpected end of data"),
    ],
)
def test_broken_csv_files_are_refused_with_their_place(texts: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        csv_tables.read([(f"file {i + 1}", text) for i, text in enumerate(texts)], "name")


@pytest.mark.parametrize(
    ("game", "gone"), [("shapley", "own.2.csv"), ("jordan", "own.3.csv"), ("jordan", "own.2.csv"), ("3x2", "own.2.csv")]
)
def test_a_missing_csv_file_is_named(tmp_path: Path, game: str, gone: str) -> None:
    numbers = games.from_payoffs([[1, 2], [3, 4], [5, 6]], [[1, 2], [3, 4], [5, 7]])
    games.save(numbers if game == "3x2" else games.make(game), tmp_path / "own.csv")
    (tmp_path / gone).unlink()
    with pytest.raises(
        InputError, match=rf"own\.1\.csv: .*for {3 if game == 'jordan' else 2} players.* {gone} is missing"
    ):
        games.load(tmp_path / "own.1.csv")


def test_files_that_are_no_games_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"unknown format '\.nfgg'; did you mean '\.nfg"):
        games.load(tmp_path / "game.nfgg")
    with pytest.raises(InputError, match="No such file"):
        games.load(tmp_path / "none.nfg")
    with pytest.raises(InputError, match="No such file"):
        games.load(tmp_path / "none.npz")
    with pytest.raises(InputError, match=r"none\.1\.csv does not exist"):
        games.load(tmp_path / "none.csv")
    (tmp_path / "latin.nfg").write_bytes(b'NFG 1 R\n"\xe9"')
    with pytest.raises(InputError, match="line 2: expected text in UTF-8"):
        games.load(tmp_path / "latin.nfg")
    (tmp_path / "folder.nfg").mkdir()
    with pytest.raises(InputError, match="cannot be read"):
        games.load(tmp_path / "folder.nfg")
    with pytest.raises(InputError, match="cannot write"):
        games.save(games.make("chicken"), tmp_path / "nowhere" / "game.nfg")


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def test_npz_takes_bare_payoffs_and_refuses_all_else(tmp_path: Path) -> None:
    path = tmp_path / "game.npz"
    path.write_bytes(npz(payoffs=np.arange(12).reshape(2, 2, 3)))
    game = games.load(path)
    assert isinstance(game, Table)
    assert game.payoffs[1, 0].tolist() == [6, 7, 8]
    for data, message in [
        (b"", "not a complete|not a zip"),
        (npz(other=np.ones(2)), "expected an array called payoffs, found other"),
        (npz(payoffs=np.array([object()])), "numbers or labels"),
        (npz(payoffs=np.ones((2, 2))), "2 players need payoff arrays with 2 axes"),
        (npz(kind=np.array("Nothing")), "unknown kind of game 'Nothing'"),
        (npz(kind=np.array("Table")), "not a complete"),
    ]:
        path.write_bytes(data)
        with pytest.raises(InputError, match=message):
            games.load(path)


def test_an_npz_header_that_claims_too_much_is_refused_before_anything_is_set_aside(tmp_path: Path) -> None:
    header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 1000000, 1000000), }".ljust(117) + "\n"
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
        archive.writestr("payoffs.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode())
    with pytest.raises(InputError, match=r"would take 1\.6e\+13 bytes"):
        games.load(tmp_path / "bomb.npz")


PIECES = [
    "NFG",
    "1",
    "R",
    '"t"',
    "{",
    "}",
    '"a"',
    "2",
    "-3.5",
    "1/3",
    "1/0",
    ",",
    '"',
    "\\",
    "\n",
    "e",
    "0",
    "99999",
    "é",
]
fuzz = settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])


@fuzz
@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map(" ".join)))
def test_no_text_crashes_a_reader(text: str) -> None:
    for read in (nfg.read, gam.read, lambda text: csv_tables.read([("one", text), ("two", text)], "n")):
        with contextlib.suppress(InputError):
            read(text)


@fuzz
@given(st.data())
def test_no_damage_to_a_good_file_crashes_a_reader(data: st.DataObject) -> None:
    game = games.make("aumann")
    read, text = data.draw(
        st.sampled_from([(nfg.read, nfg.write(game)), (gam.read, gam.write(game)), (nfg.read, SELTEN_OUTCOMES)])
    )
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 8)))
    with contextlib.suppress(InputError):
        read(
            text[:start] + data.draw(st.one_of(st.just(""), st.text(max_size=4), st.sampled_from(PIECES))) + text[end:]
        )


@settings(fuzz, max_examples=80)
@given(data=st.data())
def test_no_damage_to_an_archive_crashes_the_reader(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "game.npz"
    games.save(games.make(data.draw(st.sampled_from(["chicken", "polymatrix", "routing"]))), path)
    good = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        good[data.draw(st.integers(0, len(good) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(good[: data.draw(st.integers(0, len(good)))]))
    with contextlib.suppress(InputError):
        games.load(path)


def test_outcome_form_equals_payoff_form_on_a_three_player_game() -> None:
    game = games.make("jordan")
    cells = [profile[::-1] for profile in product(*(range(size) for size in game.sizes[::-1]))]
    flat = game.payoffs.reshape(3, -1)
    rows = [flat[:, np.ravel_multi_index(cell, game.sizes)] for cell in cells]
    outcomes = " ".join(f'{{ "" {", ".join(map(str, row))} }}' for row in rows)
    header = re.split(r"\n\n(?=[-\d])", nfg.write(game))[0]
    same(nfg.read(f"{header} {{ {outcomes} }} {' '.join(str(k + 1) for k in range(len(cells)))}"), game)
