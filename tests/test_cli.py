"""The command line: its output and files; invalid input gives one message, exit code 2 and nothing else."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import scenario
from gamesim.cli.main import main
from gamesim.formatting import number
from gamesim.learner import PLAIN_REGRETS
from gamesim.measure.incentives import written_out
from gamesim.study import model as study

GOOD = """
rounds = 30
seed = 4
[game]
name = "bad-rps"
[everyone]
learner = "hedge"
perturb = 0.5
"""


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def call(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        out, err = capsys.readouterr()
        return code, out, err

    return call


Run = Callable[..., tuple[int, str, str]]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", sorted(scenario.shipped()))
def test_a_shipped_scenario_runs(run: Run, name: str) -> None:
    code, out, _ = run("run", name, "--rounds", "50", "--json", "--no-figures")
    assert code == 0
    printed = json.loads(out)
    record = gamesim.load(Path("runs") / f"{name}-{printed['seed']}" / "record")
    assert printed["rounds"] == record.rounds == 50
    assert [one["name"] for one in printed["players"]] == list(record.game.players)
    assert [one["learner"] for one in printed["players"]] == [player.name for player in record.learners]
    for kind in ("ce", "cce"):
        assert printed["gap"][kind] == pytest.approx(np.mean(record.gap(kind)), abs=1e-12)
    for i, one in enumerate(printed["players"]):
        for regret_kind in PLAIN_REGRETS:
            regret = np.atleast_2d(record.regret(regret_kind))[:, i].mean()
            assert one["regret"][regret_kind] == pytest.approx(regret, abs=1e-9)
        assert one["payoff"] == pytest.approx(np.atleast_2d(record.payoffs)[:, i].mean(), abs=1e-12)
    assert printed["welfare"] == pytest.approx(sum(one["payoff"] for one in printed["players"]), abs=1e-9)


def test_json_is_one_object_and_messages_go_elsewhere(run: Run) -> None:
    code, out, err = run("run", "traffic-light", "--rounds", "40", "--json", "--no-figures")
    assert code == 0
    assert out.count("\n") == 1
    printed = json.loads(out, parse_constant=pytest.fail)
    assert set(printed) == {"rounds", "seed", "players", "gap", "distance", "welfare", "replicas"}
    assert [one["seed"] for one in printed["replicas"]] == list(range(10))
    assert printed["gap"]["ce"] == pytest.approx(np.mean([one["gap"]["ce"] for one in printed["replicas"]]))
    assert "Written to" in err
    single = json.loads(run("run", "jordan", "--rounds", "40", "--json", "--no-figures")[1])
    assert set(single) == {"rounds", "seed", "players", "gap", "distance", "welfare"}
    assert set(single["players"][0]) == {"name", "learner", "payoff", "regret"}


def test_quiet_prints_nothing(run: Run) -> None:
    assert run("run", "chicken", "--rounds", "5", "--quiet", "--no-figures") == (0, "", "")


def test_the_report_says_what_was_measured(run: Run) -> None:
    code, out, _ = run("run", "shapley", "--no-figures")
    assert code == 0
    assert "\x1b" not in out
    flat = " ".join(out.split())
    for words in (
        "-approximate coarse correlated equilibrium, but only a 0.126-approximate correlated equilibrium: Column",
        "would have gained 0.126 per round by swapping actions, and this gap stays between",
        "no bound",
        "in CE 0.667 to 1",
        "A small gap does not imply a small distance",
    ):
        assert words in flat


def test_80_columns_break_no_learner(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    learners = ["internal-regret-matching", "wavelet-continuous", "blum-mansour"]
    entries = "".join(f'[[players]]\nlearner = "{name}"\nperturb = 0.1\n' for name in learners)
    rows = 'settings = { rows = "regret-matching-plus" }\n'
    Path("mine.toml").write_text(f'rounds = 300\ngame.name = "jordan"\n{entries}{rows}')
    out = run("run", "mine.toml", "--no-figures")[1]
    assert {*learners, "regret-matching-plus"} <= set(out.split())
    assert "…" not in out and max(map(len, out.splitlines())) <= 80
    listed = run("list", "learners")[1]
    assert set(gamesim.players.available()) <= set(listed.split())


@pytest.mark.parametrize("columns", [30, 60, 80])
@pytest.mark.parametrize("name", ["el-farol", "shapley-wavelet"])
def test_no_terminal_breaks_a_number_or_a_heading(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    out = run("run", name, "--rounds", "2000", "--no-figures")[1]
    summary = json.loads(Path(f"runs/{name}-0/summary.json").read_text())
    figures = [*summary["gap"].values(), *summary["distance"].values(), summary["nash_gap"]]
    for one in summary["players"]:
        figures.append(one["payoff"])
        for of_kind in (one["regret"], one["bound"], one["certificate"]):
            figures += [value / 2000 for value in of_kind.values() if value is not None]
        proved = [value / 2000 for value in one["certificate"].values() if value is not None]
        assert all(f"proved {number(value)}" in out for value in proved)
    assert {number(value) for value in figures} <= set(out.split())
    assert {"player", "learner", "payoff", "external", "internal", "swap", "distance"} <= set(out.split())
    assert columns == 30 or max(map(len, out.splitlines())) <= columns


@pytest.mark.parametrize("command", ["run", "resume", "sweep"])
def test_help_fits_the_terminal(run: Run, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    for columns in (60, 80, 120):
        monkeypatch.setenv("COLUMNS", str(columns))
        lines = run(command, "--help")[1].splitlines()
        assert max(map(len, lines)) <= columns
        if command == "run":
            assert "  rounds, seed     of the run" in lines
            assert any(line.startswith("Regrets, gaps") for line in lines)


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(run: Run) -> None:
    for out, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        assert run("run", "traffic-light", "--rounds", "200", "--seed", seed, "--out", out, "--no-figures")[0] == 0
    first, second, third = (contents(Path(name)) for name in "abc")
    assert set(first) == set(second) and len(first) > 10
    assert first == second
    assert first["record/joint.npy"] != third["record/joint.npy"]


def test_a_run_folder_repeats_itself(run: Run) -> None:
    Path("mine.toml").write_text(GOOD)
    assert run("run", "mine.toml", "--rounds", "20", "--seed", "9", "--out", "first", "--no-figures")[0] == 0
    assert run("run", "first/scenario.toml", "--out", "second", "--no-figures")[0] == 0
    first, second = contents(Path("first")), contents(Path("second"))
    for name in first:
        if name != "summary.json":  # which contains the title: here the file name
            assert first[name] == second[name], name
    assert json.loads(first["summary.json"])["gap"] == json.loads(second["summary.json"])["gap"]


def test_a_run_folder_has_figures_and_a_full_summary(run: Run) -> None:
    assert run("run", "prisoners-dilemma", "--rounds", "20")[0] == 0
    folder = Path("runs/prisoners-dilemma-0")
    before = contents(folder)
    drawn = list((folder / "figures").iterdir())
    assert {path.suffix for path in drawn} == {".svg"}
    for path in drawn:
        path.unlink()
    assert run("figures", str(folder))[0] == 0  # from the record, with the same bytes
    after = contents(folder)
    assert set(after) - set(before) == {f"figures/{path.stem}.png" for path in drawn}
    assert {name: after[name] for name in before} == before
    summary = json.loads((folder / "summary.json").read_text(), parse_constant=pytest.fail)
    assert summary["stopped"] is False
    assert summary["welfare_range"]["ce"] == pytest.approx([2, 2])
    assert summary["optimum"] == pytest.approx(6)
    assert set(summary["versions"]) >= {"gamesim", "numpy"}
    assert summary["verdict"].startswith("After 20 rounds, play is a")


def test_an_existing_folder_is_kept_unless_forced(run: Run) -> None:
    assert run("run", "chicken", "--rounds", "5", "--out", "mine", "--no-figures")[0] == 0
    before = contents(Path("mine"))
    code, out, err = run("run", "chicken", "--rounds", "4", "--out", "mine", "--no-figures")  # 6 would extend the run
    assert (code, out) == (2, "")
    assert "--force" in err and "--out" in err
    assert contents(Path("mine")) == before
    assert run("run", "chicken", "--rounds", "6", "--out", "mine", "--no-figures", "--force")[0] == 0
    assert gamesim.load("mine/record").rounds == 6
    assert os.listdir() == ["mine"]


def test_a_second_run_has_its_own_folder_unless_it_extends_or_replaces_another(run: Run) -> None:
    def rounds() -> dict[str, int]:
        return {path.name: gamesim.load(path / "record").rounds for path in Path("runs").iterdir()}

    for wanted, found in (
        (5, {"chicken-0": 5}),
        (5, {"chicken-0": 5, "chicken-0-2": 5}),
        (4, {"chicken-0": 5, "chicken-0-2": 5, "chicken-0-3": 4}),
        (7, {"chicken-0": 7, "chicken-0-2": 5, "chicken-0-3": 4}),
        (6, {"chicken-0": 7, "chicken-0-2": 6, "chicken-0-3": 4}),
    ):
        assert run("run", "chicken", "--rounds", str(wanted), "--no-figures")[0] == 0
        assert rounds() == found
    repeated = {name: content for name, content in contents(Path("runs/chicken-0-2")).items() if "scenario" not in name}
    assert run("run", "chicken", "--rounds", "6", "--no-figures", "--force")[0] == 0
    assert rounds()["chicken-0"] == 6 and len(rounds()) == 3
    assert repeated["record/joint.npy"] == Path("runs/chicken-0/record/joint.npy").read_bytes()


def test_an_unfinished_run_is_continued_and_not_started_a_second_time(run: Run) -> None:
    assert run("run", "chicken", "--rounds", "5", "--no-figures")[0] == 0
    Path("runs/chicken-0").rename("runs/chicken-0.partial")
    code, _, err = run("run", "chicken", "--rounds", "5", "--no-figures")
    assert code == 2 and "gamesim resume runs/chicken-0" in err
    assert os.listdir("runs") == ["chicken-0.partial"]


BIMATRIX = 'Boss \\ Crew,rest,work,strike\nask,"3,1","1/2, 2","0,0"\norder,"-1,0","(1,1/4)","2,3"\n'
BOTH = np.array([[[3, 0.5, 0], [-1, 1, 2]], [[1, 2, 0], [0, 0.25, 3]]])  # their payoffs


def test_a_game_runs_with_the_learners_given(run: Run) -> None:
    code, out, _ = run("run", "stag-hunt", "--learner", "hedge:rate=0.5", "--rounds", "60", "--no-figures")
    assert code == 0 and "4, 4" in out and "hare" in out
    record = gamesim.load("runs/stag-hunt-0/record")
    assert [learner.settings()["rate"] for learner in record.learners] == [0.5, 0.5]
    expected = gamesim.simulate(
        "stag-hunt", [gamesim.players.make("hedge", rate=0.5)] * 2, rounds=60, perturb=[0.1, 0.1]
    )
    assert np.array_equal(record.arrays["joint"], expected.arrays["joint"])
    assert run("run", "runs/stag-hunt-0/scenario.toml", "--out", "again", "--no-figures")[0] == 0
    assert np.array_equal(gamesim.load("again/record").arrays["joint"], record.arrays["joint"])


def test_a_game_file_runs_with_one_learner_per_player(run: Run) -> None:
    Path("g3.csv").write_text(BIMATRIX)
    code, out, _ = run("run", "g3.csv", "--learner", "hedge", "--learner", "fixed", "--rounds", "40", "--no-figures")
    assert code == 0 and "0.5, 2" in out and "1, 0.25" in out
    record = gamesim.load("runs/g3-0/record")
    assert np.array_equal(written_out(record.game).payoffs, BOTH)
    assert [learner.name for learner in record.learners] == ["hedge", "fixed"]
    assert "In round 40, Boss plays" in out and "Crew plays" in out
    assert run("convert", "g3.csv", "g3.nfg")[0] == 0
    assert run("run", "g3.nfg", "--rounds", "40", "--no-figures")[0] == 0
    assert np.array_equal(written_out(gamesim.load("runs/g3-0-2/record").game).payoffs, BOTH)
    assert run("run", "g3.nfg", "--learner", "hedge", "--learner", "exp3", "--rounds", "9", "--no-figures")[0] == 0


def test_a_folder_with_the_name_of_a_game_does_not_hide_it(run: Run) -> None:
    Path("stag-hunt").mkdir()  # as after --out stag-hunt
    assert run("convert", "stag-hunt", "mine.csv")[0] == 0
    assert run("run", "stag-hunt", "--learner", "hedge", "--rounds", "5", "--no-figures")[0] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["stag-hunt", "--learner", "hegde"], "unknown learner 'hegde'; did you mean 'hedge'?"),
        (["stag-hunt", "--learner", "hedge:rat=1"], "rat"),
        (["jordan", *["--learner", "hedge"] * 2], "jordan has 3 players (First, Second, Third); give --learner once"),
        (["shapley-wavelet", "--learner", "hedge"], "shapley-wavelet is a scenario, which names its learners"),
        (["gone.csv"], "gone.csv does not exist, and gone.1.csv does not exist"),
        (["gone.nfg"], "gone.nfg: cannot be read"),
    ],
)
def test_a_game_that_cannot_run_gives_one_message(run: Run, arguments: list[str], words: str) -> None:
    code, out, err = run("run", *arguments)
    assert (code, out) == (2, "")
    assert words in err and err.count("\n") == 1
    assert os.listdir() == []


def test_where_play_ended_is_printed(run: Run) -> None:
    out = " ".join(run("run", "chicken", "--no-figures", "--rounds", "3000")[1].split())
    record = gamesim.load("runs/chicken-0/record")
    daring = int(record.last[1][1] > 0.9)  # who dares depends on the first round
    names = ["chicken out", "dare"]
    assert [strategy.argmax() for strategy in record.last] == [1 - daring, daring]
    assert f"In round 3,000, Row plays {names[1 - daring]}" in out and f"Column plays {names[daring]}" in out
    assert f"({names[1 - daring]}, {names[daring]}) is the most frequent action profile" in out
    pennies = run("run", "matching-pennies", "--learner", "uniform", "--rounds", "1000", "--no-figures")[1]
    assert "heads (0.5), tails (0.5)" in pennies


def test_where_replicas_ended_is_counted(run: Run) -> None:
    out = " ".join(run("run", "traffic-light", "--no-figures", "--rounds", "2000")[1].split())
    record = gamesim.load("runs/traffic-light-0/record")
    pure = [tuple(int(s.argmax()) for s in one.last) for one in record if min(s.max() for s in one.last) > 0.95]
    labels = record.game.actions
    for profile in set(pure):
        named = ", ".join(labels[i][a] for i, a in enumerate(profile))
        assert f"{pure.count(profile)} of 10 replicas play ({named})" in out
    assert pure or "every action profile has a probability below 0.9" in out


def test_show_prints_the_game_of_a_scenario(run: Run) -> None:
    Path("g3.csv").write_text(BIMATRIX)
    Path("own.toml").write_text('rounds = 9\ngame.file = "g3.csv"\neveryone.learner = "hedge"\n')
    code, out, _ = run("show", "own.toml")
    assert code == 0
    for words in (
        "0.5, 2",
        "Pure Nash equilibria: (order, strike)",
        "Payoff per round in CE: Boss 2 to 2, Crew 3 to 3",
    ):
        assert words in out
    chicken = " ".join(run("show", "chicken")[1].split())
    assert "Row chicken out (0.667), dare (0.333); Column chicken out (0.667), dare (0.333)" in chicken
    assert "Payoff per round in CE: Row 2 to 7, Column 2 to 7" in chicken
    assert chicken.count("Pure Nash equilibria") == 1  # the scenario does not repeat its game


def test_force_keeps_what_is_not_a_run_folder(run: Run) -> None:
    Path("papers").mkdir()
    Path("papers/thesis.tex").write_text("years of work")
    Path("file").write_text("a file")
    for target in ("papers", "file"):
        code, _, err = run("run", "chicken", "--rounds", "5", "--out", target, "--force", "--no-figures")
        assert code == 2 and "is not a run folder" in err
    assert Path("papers/thesis.tex").read_text() == "years of work"
    assert sorted(os.listdir()) == ["file", "papers"]


def edited(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


REFUSED: dict[str, tuple[str | bytes, list[str]]] = {
    "unknown key": (edited("rounds = 30", "ronds = 30\nrounds = 3"), ["ronds", "did you mean 'rounds'?"]),
    "unknown learner": (edited('"hedge"', '"hegde"'), ["everyone.learner", "'hegde'", "did you mean 'hedge'?"]),
    "unknown game": (edited('"bad-rps"', '"bad-rsp"'), ["game.name", "'bad-rsp'", "did you mean 'bad-rps'?"]),
    "ragged payoffs": (edited('name = "bad-rps"', "payoffs = [[[1], [2, 3]], [[1], [2]]]"), ["game.payoffs[1][2]"]),
    "infinite payoff": (
        edited('name = "bad-rps"', "payoffs = [[[1, inf]], [[1, 2]]]"),
        ["game.payoffs[1][1][2]", "inf"],
    ),
    "number of players": (edited("[everyone]", "[[players]]"), ["players", "expected 2 tables", "got 1"]),
    "zero rounds": (edited("rounds = 30", "rounds = 0"), ["rounds", "an integer from 1 to 10^15", "got 0"]),
    "negative rate": (edited("perturb = 0.5", "settings = { rate = -0.5 }"), ["everyone.settings.rate", "-0.5"]),
    "missing game file": (edited('name = "bad-rps"', 'file = "gone.nfg"'), ["game.file", "gone.nfg"]),
    "too large": (
        edited('name = "bad-rps"', 'name = "uniform"\nsettings = { players = 50 }'),
        ["game.settings", "EiB", "reduce players"],
    ),
    "no TOML": ("rounds = = 3", ["not valid TOML", "line 1"]),
    "not UTF-8": (GOOD.encode("utf-16"), ["not UTF-8"]),
}


@pytest.mark.parametrize("command", ["run", "check"])
@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_gives_one_message_and_nothing_is_written(run: Run, case: str, command: str) -> None:
    content, words = REFUSED[case]
    Path("mine.toml").write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out, err = run(command, "mine.toml")
    assert (code, out) == (2, "")
    assert err.startswith("gamesim: mine.toml")
    assert err.count("gamesim:") == 1 and "Traceback" not in err
    for word in words:
        assert word in err
    assert os.listdir() == ["mine.toml"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "gone.toml"], "there is no file gone.toml"),
        (["run", "chikcen"], "did you mean 'chicken'?"),
        (["run", "."], "is a folder"),
        (["run", "chicken", "--rounds", "0"], "rounds must be an integer of at least 1"),
        (["run", "chicken", "--rounds", "many"], "got 'many'"),
        (["run", "chicken", "--seed", "-3"], "seed must be"),
        (["run", "chicken", "--sede", "3"], "gamesim run: unknown option --sede; did you mean '--seed'?"),
        (["run", "chicken", "--roundz=3"], "gamesim run: unknown option --roundz; did you mean '--rounds'?"),
        (["rnu", "chicken"], "unknown command 'rnu'; did you mean 'run'?"),
        (["run", "chicken", "shapley"], "gamesim run: unexpected argument 'shapley'"),
        (["run", "chicken", "--out", f"{__file__}/here"], "cannot be written"),
        (["run", "chicken", "--out", "."], ". cannot be a run folder"),
        (["run", "chicken", "--out", "/"], "/ cannot be a run folder"),
        (["run", "chicken", "--out", "./", "--force"], ". is not a run folder"),
        (["compare", "chicken", "--learners", "hedge", "--out", ".", "--force"], ". is not a run folder"),
        (["resume", "."], ". cannot be a run folder"),
        (["resume", "/"], "/ cannot be a run folder"),
        (["show", "chikcen"], "unknown learner, game or scenario 'chikcen'; did you mean 'chicken'?"),
        (["list", "cats"], "cats"),
    ],
)
def test_wrong_arguments(run: Run, arguments: list[str], words: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert words in err and "Traceback" not in err
    assert os.listdir() == []


def test_without_arguments_help_is_printed(run: Run) -> None:
    assert run() == run("--help")
    code, out, err = run()
    assert code == 0 and err == ""
    assert out.startswith("usage: gamesim") and re.search(r"^ +run +simulate a scenario", out, re.M)


def test_list_without_an_argument_names_the_lists(run: Run) -> None:
    code, out, err = run("list")
    assert code == 0 and err == ""
    for kind in ("learners", "games", "scenarios", "studies"):
        assert f"gamesim list {kind} " in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["run", "chikcen-with-a-long-hyphenated-name"],
        ["run", "chicken", "--rounds", "ten-thousand"],
        ["run", "chicken", "--no-figurez"],
        ["show", "chikcen"],
        ["list", "cats"],
        ["sweep"],
    ],
)
def test_errors_on_a_terminal_are_wrapped_between_words(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    whole = run(*arguments)[2]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert err.split() == whole.split(), "words are whole"
    lines = err.splitlines()
    first = next(k for k, line in enumerate(lines) if line.startswith("gamesim"))  # argparse prints the usage before
    assert len(lines) > first + 1
    assert max(len(line) for line in lines[first:] if " " in line.strip()) <= 40


@pytest.mark.parametrize("command", ["", "run", "compare", "list", "sweep", "study", "lab", "theorem"])
def test_help_breaks_no_word(run: Run, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    arguments = [*filter(None, [command]), "--help"]
    monkeypatch.setenv("COLUMNS", "300")
    whole = set(run(*arguments)[1].split())
    monkeypatch.setenv("COLUMNS", "40")
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    assert set(out.split()) <= whole


NUMPYDOC = """Play the leader.

    It has the smallest loss.

    Parameters
    ----------
    rate : float, default 1.0
        The learning rate,
        which is positive.

    Notes
    -----
    L_i(t) = l_i(1) + ... + l_i(t)
    p(t + 1) ∝ exp(-rate · L(t))

    References
    ----------
    .. [1] Author (2001), "A paper",
       Theorem 1.

    Examples
    --------
    >>> 1 + 1
    2
    """


def test_show_prints_numpydoc_sections(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gamesim.players.available()["hedge"], "__doc__", NUMPYDOC)
    lines = [line.rstrip() for line in run("show", "hedge")[1].splitlines()]
    assert lines[:3] == ["learner hedge", "Play the leader.", ""]
    formula = lines.index("L_i(t) = l_i(1) + ... + l_i(t)")
    assert lines[formula + 1] == "p(t + 1) ∝ exp(-rate · L(t))"
    order = ["It has the smallest loss.", lines[formula], "Settings:", "Feedback: expected, sampled", "References:"]
    assert sorted(order, key=lines.index) == order
    assert any(line.strip() == "The learning rate, which is positive." for line in lines)
    assert lines[-1] == '  [1] Author (2001), "A paper", Theorem 1.'
    assert not any(">>>" in line or "---" in line for line in lines)


@pytest.mark.parametrize("command", ["run", "check", "lab"])
def test_run_explains_how_to_run_a_study(run: Run, command: str) -> None:
    Path("mine.toml").write_text('base = "chicken"\nseeds = 3\n')
    code, out, err = run(command, "mine.toml")
    assert (code, out) == (2, "")
    assert err == "gamesim: mine.toml is a study, not a scenario; run it with `gamesim sweep mine.toml`\n"


@pytest.mark.parametrize("command", [["run"], ["check"], ["compare", "--learners", "hedge"], ["lab"]])
def test_run_explains_how_to_run_a_study_by_name(run: Run, command: list[str]) -> None:
    name = "swap-against-external"
    code, out, err = run(*command, name)
    assert (code, out) == (2, "")
    assert err == f"gamesim: {name} is a study, not a scenario; run it with `gamesim sweep {name}`\n"


def test_sweep_explains_how_to_run_a_scenario(run: Run) -> None:
    Path("mine.toml").write_text(GOOD)
    for command, name in (("sweep", "chicken"), ("sweep", "mine.toml"), ("study", "chicken")):
        code, out, err = run(command, name)
        assert (code, out) == (2, "")
        assert err == f"gamesim: {name} is a scenario, not a study; run it with `gamesim run {name}`\n"
    Path("mine.toml").write_text("rounds = 3\n")  # neither of them
    assert "rounds: unknown key" in run("sweep", "mine.toml")[2]
    assert "unknown study 'chikcen'" in run("sweep", "chikcen")[2]


def test_a_folder_with_a_scenario_is_pointed_to(run: Run) -> None:
    Path("here").mkdir()
    Path("here/scenario.toml").write_text(GOOD)
    assert "did you mean 'here/scenario.toml'?" in run("run", "here")[2]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_what_must_not_be_read_or_written(run: Run) -> None:
    Path("secret.toml").write_text(GOOD)
    Path("secret.toml").chmod(0)
    assert "cannot read secret.toml" in run("run", "secret.toml")[2]
    Path("shut").mkdir(mode=0o500)
    assert "cannot be written" in run("run", "chicken", "--out", "shut/run")[2]


def test_too_little_memory_is_reported(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise MemoryError("no room")

    monkeypatch.setattr(scenario.Scenario, "simulation", full)
    code, _, err = run("run", "chicken", "--no-figures")
    assert code == 2 and "out of memory (no room)" in err
    assert os.listdir() == []


def test_rounds_in_several_notations(run: Run) -> None:
    for written in ("1e2", "1_00", "100"):
        printed = json.loads(run("run", "chicken", "--rounds", written, "--json", "--no-figures", "--force")[1])
        assert printed["rounds"] == 100


def test_check_runs_nothing(run: Run) -> None:
    Path("mine.toml").write_text(GOOD)
    code, out, _ = run("check", "mine.toml")
    assert code == 0 and "mine.toml is valid: bad-rps (3×3), hedge, 30 rounds" in out
    assert os.listdir() == ["mine.toml"]


def test_lists_name_everything(run: Run) -> None:
    for what, known in (
        ("learners", gamesim.players.available()),
        ("games", gamesim.games.available()),
        ("scenarios", scenario.shipped()),
        ("studies", study.shipped()),
    ):
        code, out, _ = run("list", what)
        words = out.split()
        assert code == 0
        assert not [name for name in known if name not in words]
    learners = run("list", "learners")[1]
    groups = ("bounded swap regret", "\nwavelet", "bounded external regret", "\nhedge", "no guarantee", "\nfixed")
    assert sorted(groups, key=learners.index) == list(groups)


def test_learners_are_listed_under_their_old_name_too(run: Run) -> None:
    assert run("list", "players") == run("list", "learners")
    assert "players" not in run("list", "--help")[1]


def test_show_describes_learners_games_and_scenarios(run: Run) -> None:
    hedge = run("show", "hedge")[1]
    assert "Freund and Schapire" in hedge and "rate" in hedge and "external regret ≤" in hedge
    chicken = " ".join(run("show", "chicken")[1].split())
    for words in (
        "7, 2",
        "(chicken out, dare), (dare, chicken out)",
        "in CE 7.2 to 10.5",
        "maximum possible 12",
        "scenario chicken",
    ):
        assert words in chicken
    jordan = run("show", "jordan")[1]
    assert "Third plays tails" in jordan and "Pure Nash equilibria: none" in jordan
    both = run("show", "uniform")[1]
    assert "learner uniform" in both and "game uniform" in both


@pytest.mark.parametrize("path", ["mine.nfg", "mine.gam", "mine.csv", "mine.1.csv", "mine.NPZ"])
def test_show_describes_a_game_in_a_file(run: Run, path: str) -> None:
    assert run("convert", "commitment", path)[0] == 0  # 2 × 2 and not symmetric
    code, out, _ = run("show", path)
    shown = run("show", "commitment")[1]
    after = "Players: " if path != "mine.gam" else "Total payoff per round: "  # which keeps no names
    assert code == 0 and path in out and out.partition(after)[2]
    assert out.partition(after)[2].strip() in shown
    code, _, err = run("show", f"no-{path}")
    assert code == 2 and "Traceback" not in err


def test_show_describes_a_network_game_in_a_file(run: Run) -> None:
    assert run("convert", "polymatrix", "mine.npz")[0] == 0
    assert "Players: " in run("show", "mine.npz")[1]


@pytest.mark.parametrize("name", sorted({**gamesim.players.available(), **gamesim.games.available()}))
def test_everything_can_be_shown(run: Run, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gamesim.cli.catalogue.why_left_out", lambda _: "the linear programs are tested elsewhere")
    code, out, _ = run("show", name)
    assert code == 0 and name in out


def in_a_process(*arguments: str, **options: Any) -> subprocess.Popen[str]:
    call = [sys.executable, "-c", "import sys; from gamesim.cli.main import main; sys.exit(main())", *arguments]
    return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_keeps_what_there_is() -> None:
    with in_a_process("run", "jordan", "--rounds", "1e12", "--json", "--no-figures") as process:
        assert process.stderr is not None
        assert any("running jordan" in line for line in process.stderr)  # after a line on compiling, if kernels are new
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert err.endswith("continue with `gamesim resume runs/jordan-0`\n")
    printed = json.loads(out)
    record = gamesim.load("runs/jordan-0/record")
    assert 1 <= printed["rounds"] == record.rounds < 10**12
    assert printed["gap"]["ce"] == pytest.approx(record.gap("ce"))
    assert record.average[0].sum() == pytest.approx(1)
    summary = json.loads(Path("runs/jordan-0/summary.json").read_text())
    assert summary["stopped"] and summary["verdict"].startswith("Stopped after ")
    assert os.listdir("runs") == ["jordan-0"]


def test_the_verdict_is_printed_before_figures_are_drawn(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before: list[str] = []

    def draw(*_: object, **__: object) -> list[Path]:
        before.append(capsys.readouterr().out)
        return []

    monkeypatch.setattr("gamesim.figures.draw_run", draw)
    assert main(["run", "chicken", "--rounds", "50"]) == 0
    assert "After 50 rounds" in before[0]
    assert capsys.readouterr().out == "" and Path("runs/chicken-0/report.html").is_file()


@pytest.mark.skipif(os.name != "posix", reason="pipes")
@pytest.mark.parametrize(
    "arguments",
    [
        ["list", "games"],
        ["run", "chicken", "--rounds", "50", "--quiet", "--json", "--no-figures"],
        ["run", "jordan", "--learner", "fixed", "--rounds", "50"],  # which has few figures
    ],
)
def test_a_broken_pipe_is_not_an_error(arguments: list[str]) -> None:
    with in_a_process(*arguments) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        err = process.stderr.read()
    assert "Traceback" not in err and "BrokenPipe" not in err and "gamesim:" not in err
    assert process.returncode == 128 + signal.SIGPIPE  # as shells report it for cat and other programs
    if "run" in arguments:
        (folder,) = Path("runs").iterdir()
        assert gamesim.load(folder / "record").rounds == 50
        assert (folder / "report.html").is_file() != ("--no-figures" in arguments)


def test_help_loads_no_numerical_library() -> None:
    code = (
        "import sys; from gamesim.cli.main import main; main(['run', '--help']); "
        "print({'numpy', 'rich'} & set(sys.modules))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.endswith("set()\n")
    assert "totals" in answer.stdout


def test_version(run: Run) -> None:
    assert run("--version")[1].startswith("gamesim 0.")
