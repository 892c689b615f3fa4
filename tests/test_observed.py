"""Observed play: files, the record against simulations and hand-solved cases, intervals, seats, and the command."""

import json
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import figures, games, players
from gamesim.cli.main import main
from gamesim.errors import InputError
from gamesim.observation import drawn, intervals, observed, payoffs_in_seat, read, write
from gamesim.simulation import Simulation


@pytest.mark.parametrize("name", ["chicken", "jordan", "commitment"])
def test_a_log_of_a_simulated_run_has_its_numbers_exactly(name: Any, tmp_path: Any) -> None:
    game = games.make(name)
    simulated: Any = gamesim.simulate(game, "hedge", 500, feedback="sampled", trajectory="every", perturb=0.5, seed=3)
    file = write(tmp_path / "plays.csv", drawn(simulated), game)
    found: Any = observed(game, file)
    assert (found.joint == simulated.joint).all()
    assert (found.payoffs == simulated.payoffs).all()
    for kind in ("external", "internal", "swap"):
        assert (found.regret(kind) == simulated.regret(kind)).all()
        assert (found.curve.regret(kind) == simulated.curve.regret(kind)).all()
    for kind in ("ce", "cce"):
        assert found.gap(kind) == simulated.gap(kind)
        assert found.distance(kind) == simulated.distance(kind)


def test_three_players_by_hand() -> None:
    """Player 3 wants to match player 2; the payoffs of the others do not matter here."""
    payoffs = np.zeros((3, 2, 3, 2))
    payoffs[2, :, 0, 0] = payoffs[2, :, 1, 1] = payoffs[2, :, 2, 1] = 1
    game = gamesim.Table.from_payoffs(payoffs)
    record = observed(game, [[0, 0, 0], [1, 1, 0], [0, 2, 1], [1, 0, 1], [0, 2, 0]])
    assert record.payoffs.tolist() == [0, 0, 0.4]
    assert record.regret("external")[2] == pytest.approx(3 - 2)  # always 1: rounds 2, 3 and 5
    assert record.regret("swap")[2] == pytest.approx(1)  # 0 becomes 1: gains rounds 2 and 5, loses round 1
    assert record.average[1].tolist() == [0.4, 0.2, 0.4]
    assert record.measure("path-length").tolist() == [8, 8, 4]


def test_a_game_without_a_table_agrees_with_its_table() -> None:
    network = games.make("routing")
    plays = np.random.default_rng(0).integers(0, network.sizes, size=(40, len(network.players)))
    record = observed(network, plays)
    one = plays[7]
    profile = np.concatenate([np.eye(size)[action] for size, action in zip(network.sizes, one, strict=True)])
    single = observed(network, plays[7:8])
    losses = np.split(network.expected_losses(profile), np.cumsum(network.sizes)[:-1])
    gains = [(loss[action] - loss.min()) for loss, action in zip(losses, one, strict=True)]
    assert single.regret("external") == pytest.approx(np.array(gains) * network.scale)
    assert record.rounds == 40 and (record.regret("swap") >= record.regret("external") - 1e-9).all()


HEAD = "group,round,player,action\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "need a column 'round'"),
        ("round,player\n1,Row\n", "need a column 'action'; the columns are round, player"),
        (HEAD + "1,1,Row,Dare\n1,1,Column,dare\n1,2,Row,Dare\n", "'dare'? (lines 2, 4)"),
        (HEAD + "1,x,Row,dare\n1,1,Column,dare\n", "round must be an integer, got 'x' (line 2)"),
        (HEAD + "1,1,row,dare\n1,1,Column,dare\n", "unknown player 'row'; did you mean 'Row'? (line 2)"),
        (HEAD + "1,1,Row,dare\n1,1,Row,dare\n", "a second move of Row in round 1 of group 1 (line 3)"),
        (HEAD + "1,1,Row,dare\n1,1,Column,dare\n1,3,Row,dare\n1,3,Column,dare\n", "round 2 (counted from the first)"),
        (HEAD + "1,1,Row,dare\n", "no move of Column"),
        (HEAD + "1,1,Row\n", "line 2: expected 4 entries, got 3"),
        (HEAD + '1,1,Row,"dare\n', "line 2: not a CSV file"),
        (
            HEAD + "1,1,Row,dare\n1,1,Column,dare\n2,1,Row,dare\n2,1,Column,dare\n2,2,Row,dare\n2,2,Column,dare\n",
            "pool",
        ),
    ],
)
def test_every_mistake_is_named(text: Any, words: Any, tmp_path: Any, capsys: Any) -> None:
    file = tmp_path / "plays.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=r"(?s).*") as caught:
        observed("chicken", file)
    assert words in str(caught.value)
    assert main(["measure", str(file), "--game", "chicken", "--out", str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists() and "Traceback" not in capsys.readouterr().err


def test_incomplete_rounds_are_left_out_on_request(tmp_path: Any) -> None:
    file = tmp_path / "plays.csv"
    file.write_text(HEAD + "1,1,Row,dare\n1,1,Column,dare\n1,2,Row,dare\n1,3,Row,dare\n1,3,Column,chicken out\n")
    found = read(file, games.make("chicken"), drop_incomplete=True)
    assert found.left_out == 1 and found.actions[0].tolist() == [[1, 1], [1, 0]]


@pytest.mark.slow
def test_formats_agree(tmp_path: Any) -> None:
    pandas = pytest.importorskip("pandas")
    game = games.make("commitment")
    plays = read(np.random.default_rng(1).integers(0, game.sizes, size=(3, 20, len(game.sizes))), game)
    files = [write(tmp_path / f"plays.{ending}", plays, game) for ending in ("csv", "parquet")]
    found = [
        observed(game, one) for one in (*files, pandas.read_csv(files[0]), pandas.read_csv(files[0]).to_dict("records"))
    ]
    for one in found:
        assert (one.arrays["plays"] == np.stack(plays.actions)).all()
        assert (one.gap("ce") == found[0].gap("ce")).all()


def test_a_record_is_saved_and_loaded_and_not_resumed(tmp_path: Any) -> None:
    record = observed("chicken", [[[0, 1], [1, 1]], [[1, 0], [0, 0]]])
    record.save(tmp_path / "record")
    again = gamesim.load(tmp_path / "record")
    assert again.feedback == "observed" and (again.arrays["plays"] == record.arrays["plays"]).all()
    assert (again.gap("ce") == record.gap("ce")).all()
    with pytest.raises(InputError, match="cannot be resumed"):
        Simulation.resume(again)


def test_pooled_groups_are_one_population() -> None:
    """Each group alone has no external regret on average; together, the joint distribution is the mean."""
    groups = np.random.default_rng(2).integers(0, 2, size=(6, 30, 2))
    apart: Any
    together: Any
    apart, together = observed("chicken", groups), observed("chicken", groups, pool=True)
    assert together.rounds == 180
    assert together.joint == pytest.approx(apart.joint.mean(axis=0))
    assert together.arrays["plays"][0, :6].tolist() == groups[:, 0].tolist()
    assert (together.regret("swap") <= apart.regret("swap").sum(axis=0) + 1e-9).all()


JOINT = np.array([[0.15, 0.35], [0.3, 0.2]])  # of chicken out and dare


def swap_regret(joint: Any) -> Any:
    """Row's largest expected gain from swapping in chicken, by hand."""
    row = np.array([[6, 2], [7, 0]])
    return sum(max(0.0, float(joint[i] @ (row[1 - i] - row[i]))) for i in range(2))


@pytest.mark.slow
@pytest.mark.parametrize("groups", [1, 40])
def test_intervals_cover_a_planted_swap_regret(groups: Any) -> None:
    """Nominal coverage is 95 %; 90 of 100 data sets are required."""
    truth = swap_regret(JOINT)
    assert truth > 0.05
    random = np.random.default_rng(groups)
    covered = 0
    for _ in range(100):
        cells = random.choice(4, p=JOINT.ravel(), size=(groups, 1200 // groups))
        record = observed("chicken", np.stack(np.divmod(cells, 2), axis=-1), pool=True)
        found: Any = intervals(record, ["swap-regret"], samples=300)["swap-regret"]
        covered += found.low[0] <= truth <= found.high[0]
    assert covered >= 90


def test_blocks_widen_intervals_of_persistent_play() -> None:
    """Play that repeats each action ten times has fewer independent rounds than intervals of single rounds assume."""
    random = np.random.default_rng(5)
    plays = np.repeat(random.integers(0, 2, size=(60, 2)), 10, axis=0)
    record = observed("chicken", plays)
    found: list[Any] = [intervals(record, ["payoffs"], block=block)["payoffs"] for block in (1, 30)]
    widths = [one.high[0] - one.low[0] for one in found]
    assert widths[1] > 2 * widths[0]


def test_replicas_of_a_simulation_have_intervals_and_a_single_run_does_not() -> None:
    record = gamesim.simulate("chicken", "hedge", 100, replicas=10, perturb=0.5)
    found = intervals(record, ["ce-gap", "swap-regret"])
    assert found["ce-gap"].estimate == pytest.approx(record.gap("ce").mean())
    assert found["swap-regret"].estimate == pytest.approx(record.regret("swap").mean(axis=0) / 100)
    with pytest.raises(InputError, match="replicas"):
        intervals(record[0])


@pytest.mark.parametrize("learner", ["hedge", "regret-matching"])
def test_a_learner_in_a_seat_is_the_learner_against_these_losses(learner: Any) -> None:
    """`face` plays the same learner against the same losses."""
    game = games.make("jordan")
    plays = np.random.default_rng(4).integers(0, 2, size=(60, 3))
    record = observed(game, plays)
    losses = game.losses[1][plays[:, 0], :, plays[:, 2]]
    faced = gamesim.face(players.make(learner), losses)
    earned = game.middle[1] + game.scale[1] * faced.payoffs
    assert payoffs_in_seat(record, 1, learner) == pytest.approx(earned, abs=1e-12)


@pytest.mark.slow
def test_the_command_writes_a_folder_that_is_verified_and_redrawn(
    tmp_path: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figures, "figure_functions", lambda: {"frequencies": figures.frequencies})  # one of all
    game = games.make("chicken")
    plays = read(np.random.default_rng(0).integers(0, 2, size=(4, 25, 2)), game)
    file, out = write(tmp_path / "class.csv", plays, game), tmp_path / "out"
    command = ["measure", str(file), "--game", "chicken", "--out", str(out), "--compare", "hedge"]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "observed play" in printed and "bootstrap over 4 groups" in printed and "seed" not in printed
    summary = json.loads((out / "summary.json").read_text())
    assert summary["feedback"] == "observed" and summary["intervals"]["by_measure"]["ce-gap"]
    assert "Intervals" in (out / "report.html").read_text() and (out / "figures" / "frequencies.svg").exists()
    assert main(["check", str(out)]) == 0 and main(["figures", str(out)]) == 0
    assert main(command) == 2  # the folder exists
