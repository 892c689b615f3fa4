"""Scenario files: they are simulated as written, every mistake is reported, and writing inverts reading."""

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gamesim import scenario
from gamesim import toml as toml_writer
from gamesim.errors import InputError
from gamesim.measure.incentives import written_out
from gamesim.measure.trend import trend
from gamesim.record import Record
from gamesim.scenario import Scenario, files
from gamesim.simulation import Simulation

PENNIES: dict[str, Any] = {"payoffs": [[[1, -1], [-1, 1]], [[-1, 1], [1, -1]]]}
LABELLED: dict[str, Any] = {
    "players": ["New", "Old"],
    "actions": [["a", "b"], ["c", "d", "e"]],
    "payoffs": [[[1, 2, 3], [4, 5, 6]], [[6, 5, 4], [3, 2, 0]]],
}
SHORT = [[[1, 2], [4, 5, 6]], [[6, 5, 4], [3, 2, 0]]]  # the first row is too short
HEDGE = {"learner": "hedge"}


def scenario_of(**changes: Any) -> Scenario:
    raw = {"rounds": 10, "game": {"name": "chicken"}, "everyone": HEDGE} | changes
    return Scenario.from_dict({key: value for key, value in raw.items() if value is not None})


def test_the_simulation_follows_the_scenario() -> None:
    asymmetric = {"payoffs": [[[1, 2, 3], [4, 5, 6.5]], [[0, 1, 0], [2, 0, 7]]], "players": ["A", "B"]}
    shown = scenario_of(
        title="mine",
        seed=3,
        feedback="sampled",
        replicas=2,
        game=asymmetric,
        everyone=None,
        players=[
            {"learner": "hedge", "settings": {"rate": 0.25}, "opening": [0.9, 0.1]},
            {"learner": "fixed", "settings": {"strategy": [0.5, 0, 0.5]}, "name": "Stone"},
        ],
        measure={"checkpoints": 3},
    )
    record = shown.simulation().run(shown.rounds)
    assert record.game.players == ("A", "Stone")
    assert record.game.name == "mine"
    np.testing.assert_array_equal(written_out(record.game).payoffs, asymmetric["payoffs"])
    assert [repr(player) for player in record.learners] == ["Hedge(rate=0.25)", "Fixed(strategy=(0.5, 0.0, 0.5))"]
    assert (record.seed, record.replicas, record.single, record.feedback) == (3, 2, False, "sampled")
    assert record.started == (True, False)
    np.testing.assert_array_equal(record.trajectory[1][0][:, 0], [[0.9, 0.1]] * 2)
    assert record.settings["checkpoints"] == 3


MISTAKES: list[tuple[dict[str, Any], str, list[str]]] = [
    ({"rounds": 0}, "rounds", ["an integer from 1 to 10^15", "got 0"]),
    ({"rounds": None}, "rounds", ["missing"]),
    ({"rounds": True}, "rounds", ["got True"]),
    ({"rounds": "10"}, "rounds", ["got '10'"]),
    ({"rounds": 10.0}, "rounds", ["got 10.0"]),
    ({"seed": -1}, "seed", ["at least 0", "got -1"]),
    ({"replicas": 0}, "replicas", ["at least 1", "got 0"]),
    ({"roundss": 5}, "roundss", ["unknown key", "did you mean 'rounds'?"]),
    ({"feedback": "sampeld"}, "feedback", ["got 'sampeld'", '"sampled"']),
    ({"title": "a\x1b[31mb"}, "title", ["printable"]),
    ({"game": None}, "game", ["missing"]),
    ({"game": {"name": "chikcen"}}, "game.name", ["did you mean 'chicken'?"]),
    ({"game": {"name": "chicken", "file": "x.nfg"}}, "game", ["exactly one", "got name and file"]),
    ({"game": {}}, "game", ["exactly one of name, file, payoffs and schedule", "got none of them"]),
    ({"game": {"name": "chicken", "players": ["A", "B"]}}, "game.players", ["only be given with payoffs"]),
    ({"game": PENNIES | {"settings": {"a": 1}}}, "game.settings", ["only be given with name"]),
    (
        {"game": {"name": "el-farol", "settings": {"capasity": 3}}},
        "game.settings.capasity",
        ["did you mean 'capacity'?"],
    ),
    ({"game": {"name": "el-farol", "settings": {"players": "5"}}}, "game.settings.players", ["integer", "got '5'"]),
    ({"game": {"name": "el-farol", "settings": {"players": 1}}}, "game.settings.players", ["at least 2", "got 1"]),
    ({"game": {"name": "uniform", "settings": {"players": 40}}}, "game.settings", ["EiB", "at most 16,777,216"]),
    ({"game": {"payoffs": [[[1, 2], [3]], [[1, 2], [3, 4]]]}}, "game.payoffs[1][2]", ["ragged", "2 entries", "got 1"]),
    (
        {"game": {"payoffs": [[[1, 2], [3, float("nan")]], [[1, 2], [3, 4]]]}},
        "game.payoffs[1][2][2]",
        ["finite", "nan"],
    ),
    ({"game": {"payoffs": [[[1, 2], [3, True]], [[1, 2], [3, 4]]]}}, "game.payoffs[1][2][2]", ["number", "got True"]),
    ({"game": {"payoffs": [[1, 2], [3, 4]]}}, "game.payoffs", ["2 axes, one per player", "got 1 axes"]),
    ({"game": {"payoffs": [[[1, 2], [3, 4]]]}}, "game.payoffs", ["expected 2 tables for 2 players", "got 1"]),
    ({"game": {"payoffs": [[[1, 2]]] * 3, "players": ["A", "B"]}}, "game.payoffs", ["expected 2 tables", "got 3"]),
    ({"game": {"payoffs": [1, 2]}}, "game.payoffs", ["one table per player", "got numbers"]),
    ({"game": {"payoffs": SHORT}}, "game.payoffs[1][1]", ["3 entries", "like most rows", "got 2"]),
    ({"game": LABELLED | {"payoffs": SHORT}}, "game.payoffs[1][1]", ["3 entries", "game.actions[2]", "got 2"]),
    ({"game": LABELLED | {"actions": [["a"], ["b", "c", "d"]]}}, "game.actions[1]", ["2 labels", "got 1"]),
    ({"game": LABELLED | {"actions": [["a", "b"], [*"cdef"]]}}, "game.actions[2]", ["3 labels", "of Old", "got 4"]),
    ({"game": LABELLED | {"actions": [["a", "b"]]}}, "game.actions", ["2 lists of labels", "got 1"]),
    ({"game": PENNIES | {"players": ["A"]}}, "game.players", ["expected 2 names", "got 1"]),
    ({"game": {"file": "nowhere.nfg"}}, "game.file", ["nowhere.nfg"]),
    ({"everyone": None}, "players", ["[everyone]", "got neither"]),
    ({"players": [HEDGE, HEDGE]}, "players", ["got both"]),
    ({"everyone": None, "players": [HEDGE] * 3}, "players", ["2 tables", "Row, Column", "got 3"]),
    ({"everyone": None, "players": [HEDGE, {"learner": "hegde"}]}, "players[2].learner", ["did you mean 'hedge'?"]),
    ({"everyone": None, "players": [HEDGE, {}]}, "players[2].learner", ["missing"]),
    ({"everyone": {"learner": "hedge", "settings": {"rate": -1.0}}}, "everyone.settings.rate", ["positive", "-1.0"]),
    ({"everyone": {"learner": "hedge", "settings": {"rate": "1"}}}, "everyone.settings.rate", ["number", "got '1'"]),
    ({"everyone": {"learner": "hedge", "settings": {"rat": 1}}}, "everyone.settings.rat", ["did you mean 'rate'?"]),
    ({"everyone": {"learner": "hedge", "perturb": 1.5}}, "everyone.perturb", ["0 to 1", "got 1.5"]),
    ({"everyone": {"learner": "hedge", "start": [0.5, 0.6]}}, "everyone.start", ["sum to 1"]),
    ({"everyone": {"learner": "hedge", "start": [1.0]}}, "everyone.start", ["2 probabilities", "got 1"]),
    ({"everyone": {"learner": "hedge", "name": "A"}}, "everyone.name", ["unknown key"]),
    ({"feedback": "bandit"}, "everyone.learner", ["hedge requires", "got bandit"]),
    (
        {"everyone": None, "players": [HEDGE | {"name": "Column"}, HEDGE]},
        "players[2].name",
        ["differ", "'Column'"],
    ),
    (
        {"everyone": {"learner": "fixed", "settings": {"strategy": [0.5, 0.25, 0.25]}}},
        "everyone.settings.strategy",
        ["2 actions", "got 3"],
    ),
    ({"measure": {"distance": "sometimes"}}, "measure.distance", ['"auto"', "got 'sometimes'"]),
    ({"measure": {"checkpoint": 3}}, "measure.checkpoint", ["did you mean 'checkpoints'?"]),
]


@pytest.mark.parametrize(("changes", "key", "words"), MISTAKES, ids=[f"{m[1]}-{m[2][-1]}" for m in MISTAKES])
def test_a_mistake_is_reported_with_its_key(changes: dict[str, Any], key: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        scenario_of(**changes)
    message = str(caught.value)
    assert message.startswith(f"scenario: {key}: "), message  # exactly one mistake, without consequential errors
    for word in words:
        assert word in message


def test_rows_are_compared_with_the_labels_even_if_most_rows_are_wrong() -> None:
    tables = [[[1, 2], [4, 5, 6]], [[6, 5], [3, 2]]]
    with pytest.raises(InputError) as caught:
        scenario_of(game=LABELLED | {"payoffs": tables})
    keys = [line.strip().split(": ")[0] for line in str(caught.value).splitlines()[1:]]
    assert keys == ["game.payoffs[1][1]", "game.payoffs[2][1]", "game.payoffs[2][2]"]


def test_all_mistakes_are_reported_at_once() -> None:
    with pytest.raises(InputError) as caught:
        scenario_of(
            titel="x",
            rounds=0,
            everyone=None,
            game={"name": "el-farol", "settings": {"players": 3, "capasity": 1}},
            players=[{"learner": "hegde"}, {"learner": "hedge", "settings": {"rate": "fast"}, "perturb": -1}],
            measure={"distanc": "never"},
        )
    lines = str(caught.value).splitlines()
    assert lines[0] == "scenario has 7 errors:"
    keys = {line.strip().split(": ")[0] for line in lines[1:]}
    assert keys == {
        "titel",
        "rounds",
        "game.settings.capasity",
        "players[1].learner",
        "players[2].settings.rate",
        "players[2].perturb",
        "measure.distanc",
    }


def test_clashes_are_reported_along_with_other_mistakes() -> None:
    with pytest.raises(InputError) as caught:
        scenario_of(rounds=0, everyone=None, players=[HEDGE])
    assert [line.strip().split(": ")[0] for line in str(caught.value).splitlines()[1:]] == ["rounds", "players"]


def test_the_number_of_players_of_a_game_can_be_set() -> None:
    shown = scenario_of(game={"name": "el-farol", "settings": {"players": 3, "capacity": 1}})
    assert len(shown.played_game.players) == 3


def test_changes_are_checked() -> None:
    shown = scenario_of()
    changed = shown.changed(rounds=7, seed=9)
    assert (changed.rounds, changed.seed, shown.rounds, shown.seed) == (7, 9, 10, 0)
    for change in ({"rounds": 0}, {"rounds": 10**16}, {"seed": -1}):
        with pytest.raises(InputError, match=next(iter(change))):
            shown.changed(**change)


def same_when_read_back(shown: Scenario) -> bool:
    return Scenario.from_dict(tomllib.loads(shown.to_toml())).model_dump() == shown.model_dump()


names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8).filter(str.isprintable)
numbers = st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6)


@given(
    title=names | st.just(""),
    payoffs=st.lists(
        st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=2, max_size=2), min_size=2, max_size=2
    ),
    players=st.lists(names, min_size=2, max_size=2, unique=True),
    rate=st.floats(1e-100, 1e100),
    perturb=st.floats(0, 1),
    seed=st.integers(0, 10**30),
    replicas=st.none() | st.integers(1, 5),
)
def test_round_trip(
    title: str,
    payoffs: list[Any],
    players: list[str],
    rate: float,
    perturb: float,
    seed: int,
    replicas: int | None,
) -> None:
    learner = {"learner": "hedge", "settings": {"rate": rate}, "perturb": perturb}
    shown = scenario_of(
        title=title,
        seed=seed,
        replicas=replicas,
        game={"payoffs": payoffs, "actions": [["a", "b"], ["x", 'y"', "z\\"]]},
        everyone=None,
        players=[learner | {"name": players[0]}, {"learner": "uniform", "name": players[1]}],
    )
    assert same_when_read_back(shown)


@pytest.mark.parametrize("name", sorted(scenario.shipped()))
def test_a_shipped_scenario_has_an_opening_comment_and_survives_a_round_trip(name: str) -> None:
    shown = scenario.read(scenario.shipped()[name])
    assert 2 <= len(shown.comment.splitlines()) <= 4
    assert shown.title
    assert same_when_read_back(shown)
    assert files.opening_comment(shown.to_toml()) == shown.comment


def test_ten_scenarios_are_shipped() -> None:
    assert len(scenario.shipped()) >= 10


@given(
    st.dictionaries(
        st.text(st.characters(codec="utf-8"), max_size=4),
        st.recursive(
            st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3).filter(str.isascii), inner),
            max_leaves=8,
        ),
        max_size=4,
    )
)
def test_toml_reads_back_as_it_was_written(document: dict[str, Any]) -> None:
    assert tomllib.loads(toml_writer.write(document)) == document


def test_toml_has_no_none() -> None:
    with pytest.raises(TypeError, match="None"):
        toml_writer.write({"a": None})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"rounds = ", "not valid TOML"),
        (b"rounds = 5 \xff", "not UTF-8"),
        (b"a = " + b"[" * 20000, "not valid TOML"),
    ],
)
def test_files_that_are_not_toml(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "broken.toml"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        scenario.read(path)
    assert "broken.toml" in str(caught.value)


def test_a_byte_order_mark_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "windows.toml"
    path.write_bytes(
        b"\xef\xbb\xbf# Look.\r\nrounds = 5\r\n[game]\r\nname = 'chicken'\r\n[everyone]\r\nlearner = 'hedge'\r\n"
    )
    assert scenario.read(path).comment == "Look."


def test_a_game_file_is_found_beside_the_scenario_and_copied_with_it(tmp_path: Path) -> None:
    beside = tmp_path / "here" / "games"
    beside.mkdir(parents=True)
    nfg = 'NFG 1 R "own" { "Left" "Right" } { 2 3 }\n\n' + " ".join(str(k * k - 3) for k in range(12)) + "\n"
    (beside / "own.nfg").write_text(nfg)
    path = tmp_path / "here" / "mine.toml"
    path.write_text('# Look.\n\nrounds = 5\n[game]\nfile = "games/own.nfg"\n[everyone]\nlearner = "hedge"\n')
    shown = scenario.read(path)
    kept = tmp_path / "kept"
    kept.mkdir()
    shown.write_parts(kept)
    again = scenario.read(kept / "scenario.toml")
    assert again.comment == "Look."
    assert again.played_game.players == shown.played_game.players == ("Left", "Right")
    assert again.played_game.name == shown.played_game.name
    assert again.played_game.actions == shown.played_game.actions
    assert shown.played_game.sizes == (2, 3)
    payoffs = [written_out(one.played_game).payoffs for one in (shown, again)]
    np.testing.assert_array_equal(payoffs[0], payoffs[1])
    (beside / "own.nfg").unlink()
    assert scenario.read(kept / "scenario.toml").simulation().run(5).rounds == 5


# The claims in the opening comments, at the full length of the scenarios.


def played(name: str) -> Record:
    shown = scenario.read(scenario.shipped()[name])
    return shown.simulation().run(shown.rounds)


@pytest.mark.parametrize("name", sorted(scenario.shipped()))
def test_strategies_move(name: str) -> None:
    # Uniform play is an equilibrium of many symmetric games, so a small gap without movement would not show learning.
    shown = scenario.read(scenario.shipped()[name]).changed(rounds=1000)
    rounds, played_by = shown.simulation().run(1000).trajectory
    moved = [np.ptp(strategies[..., rounds > 2, :], axis=-2).max() for strategies in played_by]
    assert max(moved) > 0.04


def test_hedge_reaches_only_a_cce_where_wavelet_learners_approach_a_ce() -> None:
    for name, learner in (("shapley-wavelet", "wavelet-continuous"), ("uneven-shapley", "wavelet")):
        shown = scenario.read(scenario.shipped()[name])
        assert shown.everyone is not None and shown.everyone.learner == learner
        wavelet = shown.simulation().run(shown.rounds)
        late = wavelet.trajectory[1][0][len(wavelet.trajectory[0]) // 2 :]
        assert np.ptp(late, axis=0).max() > 0.1  # not a rest point
        hedge = Simulation(shown.played_game, "hedge", perturb=0.2).run(shown.rounds)
        assert hedge.gap("cce") < 0.002
        assert hedge.gap("ce") > 0.1
        assert wavelet.gap("ce") < 0.05 * hedge.gap("ce")
        assert trend(wavelet.curve.rounds, wavelet.curve.gap("ce")).word == "falls"


def test_bad_rps_pays_more_than_any_correlated_equilibrium() -> None:
    record = played("bad-rps")
    assert record.welfare > -2 / 3 + 0.3
    assert record.gap("cce") < 0.01
    assert record.gap("ce") > 0.3


def test_matching_pennies_spirals_out_and_with_optimism_in() -> None:
    for name, ends_near_a_half in (("matching-pennies", False), ("matching-pennies-optimistic", True)):
        record = played(name)
        farthest = np.abs(record.trajectory[1][0][-200:, 0] - 0.5).max()
        assert farthest < 0.01 if ends_near_a_half else farthest > 0.4
        assert record.nash_gap() < 0.02


def test_a_good_order_helps_and_a_bad_one_does_not() -> None:
    well, badly = played("ordered-well"), played("ordered-badly")
    assert well.regret("swap")[0] < 0.8 * badly.regret("swap")[0]
    assert well.gap("ce") < 0.8 * badly.gap("ce")


def test_el_farol_splits_the_players_into_regulars_and_others() -> None:
    payoffs = np.sort(played("el-farol").payoffs)
    np.testing.assert_allclose(payoffs, [0, 0, 0, 1, 1, 1, 1], atol=0.02)


def test_chance_selects_the_equilibrium_in_battle_of_the_sexes_and_traffic_light() -> None:
    for name in ("battle-of-the-sexes", "traffic-light"):
        first, second = played(name).payoffs.T
        assert (first > second + 0.5).any() and (second > first + 0.5).any()


def test_jordan_has_a_large_nash_gap_and_a_small_ce_gap() -> None:
    record = played("jordan")
    assert record.nash_gap() > 0.2
    assert record.gap("ce") < 0.005
