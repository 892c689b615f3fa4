"""Protocols, trajectories, observers, measures and varying games in scenarios and studies equal those in Python."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import InputError, Simulation, games, toml
from gamesim.cli.catalogue import describe_scenario
from gamesim.cli.main import main
from gamesim.games.varying import Varying
from gamesim.lab import limits
from gamesim.measure.observers import observer
from gamesim.scenario import Scenario, read
from gamesim.study.model import Study
from gamesim.study.store import FILE, Store
from tests.test_user_code import marked, same, swept

GAME = {"name": "uniform", "settings": {"actions": [3, 4], "seed": 8}}
PLAYED = games.make("uniform", actions=[3, 4], seed=8)
BASE: dict[str, Any] = {"rounds": 60, "seed": 2, "game": GAME}
HEDGE: dict[str, Any] = {"learner": "hedge", "perturb": 0.4}
MEASURES = """\
import numpy as np
from gamesim.engine.compiled import kernel
from gamesim.measure.observers import observer


@observer(size=1)
def first_share(total, round, strategies, losses):
    total[0] += strategies[0]


@observer(size=2, name="extremes")
@kernel
def extremes(total, round, strategies, losses):
    total[0] = min(total[0], losses[0])
    total[1] = max(total[1], losses[0])


def last_gap(moment):
    ends = np.cumsum(moment.game.sizes)[:-1]
    losses = np.split(moment.game.expected_losses(moment.sums.last), ends)
    played = np.split(moment.sums.last, ends)
    return max(scale * (p @ l - l.min()) for scale, p, l in zip(moment.game.scale, played, losses))


def several(moment):
    return moment.profile


def divides(moment):
    return 1 / 0
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("mymeasures.py").write_text(MEASURES)
    return tmp_path


def scenario(*players: dict[str, Any], **more: Any) -> Scenario:
    return Scenario.from_dict({**BASE, "players": list(players) or [HEDGE, HEDGE], **more})


# Protocols and trajectories.


@pytest.mark.parametrize(
    "given",
    [
        {"order": "alternating"}, {"delay": 3}, {"noise": 0.2}, {"delay": 2, "noise": 0.1, "feedback": "sampled"},
        {"measure": {"trajectory": "every"}}, {"measure": {"trajectory": 7}}, {"measure": {"trajectory": "none"}},
        {"measure": {"trajectory": "windows"}}, {"measure": {"observers": ["dynamic-regret", "linear-weights"]}},
    ],
)  # fmt: skip
def test_a_scenario_runs_as_the_options_say_and_reads_back(given: dict[str, Any]) -> None:
    made = scenario(**given)
    record = made.simulation().run(60)
    options = {**given, **given.get("measure", {})}
    options.pop("measure", None)
    expected = Simulation(PLAYED, "hedge", seed=2, perturb=0.4, horizon=60, **options).run(60)
    assert same(record, expected) and record.settings == expected.settings
    again = Scenario.from_dict(_parsed(made.to_toml()))
    assert again.to_toml() == made.to_toml() and again == made
    assert same(made.resumed(made.simulation().run(23)).run(37), expected)


def _parsed(text: str) -> Any:
    import tomllib

    return tomllib.loads(text)


def test_players_have_their_own_feedback() -> None:
    made = scenario(HEDGE, {"learner": "exp3", "feedback": "bandit"}, feedback="sampled")
    record = made.simulation().run(60)
    expected = Simulation(
        PLAYED, ["hedge", "exp3"], seed=2, perturb=[0.4, 0], horizon=60, feedback=["sampled", "bandit"]
    ).run(60)
    assert same(record, expected) and made.feedbacks == ["sampled", "bandit"]
    assert "sampled and bandit feedback" in describe_scenario(made)
    assert made.to_toml().count("feedback") == 2
    assert "alternating moves" in describe_scenario(scenario(order="alternating"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"order": "both"}, 'order: expected "simultaneous" or "alternating", got \'both\''),
        ({"delay": -1}, "delay: expected an integer from 0 to 10^6: rounds after which losses are observed, got -1"),
        ({"delay": 2.5}, "delay: expected an integer from 0"),
        ({"noise": -0.1}, "noise: expected a number of at least 0"),
        ({"noise": float("inf")}, "noise: expected a number of at least 0"),
        ({"order": "alternating", "delay": 1}, "order: alternating moves need expected feedback without delay"),
        ({"order": "alternating", "players": [HEDGE, {**HEDGE, "feedback": "sampled"}]}, "order: alternating moves"),
        ({"players": [HEDGE, {"learner": "adversary"}], "delay": 1}, "players[2].learner: adversary observes each"),
        ({"players": [HEDGE, {**HEDGE, "feedback": "bandit"}]}, "players[2].learner: hedge requires expected or samp"),
        ({"players": [HEDGE, {**HEDGE, "feedback": "none"}]}, 'players[2].feedback: expected "expected", "sampled" or'),
        ({"measure": {"trajectory": "all"}}, 'measure.trajectory: expected "thinned", "every", "windows", "none", or '
         "an integer k from 1 to 10^15 for every k-th round, got 'all'"),
        ({"measure": {"trajectory": 0}}, "measure.trajectory: expected"),
        ({"measure": {"observers": ["dynamic-regret", "dynamic"]}}, "measure.observers[2]: unknown observer 'dynamic'"),
        ({"measure": {"observers": ["dynamic-regret"] * 2}}, "measure.observers: the names of observers must differ"),
        ({"measure": {"observers": "x"}}, "measure.observers: expected a list of observers"),
        ({"measure": {"measures": ["cegap"]}}, "measure.measures[1]: unknown measure 'cegap'; did you mean 'ce-gap'?"),
        ({"measure": {"measures": ["payoffs"]}}, "measure.measures[1]: unknown measure 'payoffs'"),
        ({"measure": {"measures": [3]}}, "measure.measures[1]: expected a list of further measures"),
        ({"measure": {"trajektory": 1}}, "measure.trajektory: unknown key; did you mean 'trajectory'?"),
        ({"players": [HEDGE, {**HEDGE, "start": "nowhere"}]}, "players[2].start: expected a mixed strategy at which"),
        ({"players": [HEDGE, {**HEDGE, "start": [0.5, "a"]}]}, "players[2].start: expected a mixed strategy at which"),
    ],
)  # fmt: skip
def test_mistakes_have_the_key_in_one_message(given: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        scenario(**given)
    assert str(caught.value).startswith(f"scenario: {words}") and "\n" not in str(caught.value)


def test_a_run_is_extended_only_under_the_same_protocol(folder: Path) -> None:
    def run(name: str, rounds: int, **given: Any) -> int:
        Path(name).write_text(toml.write({**BASE, "rounds": rounds, "players": [HEDGE, HEDGE], **given}))
        return main(["run", name, "--quiet", "--no-figures", "--out", "out"])

    assert run("a.toml", 60, delay=2, measure={"observers": ["dynamic-regret"], "trajectory": 3}) == 0
    for other in ({}, {"delay": 3}, {"delay": 2, "measure": {"trajectory": 3}}, {"delay": 2, "noise": 0.1}):
        assert run("b.toml", 90, **other) == 2
    assert run("b.toml", 90, delay=2, measure={"observers": ["dynamic-regret"], "trajectory": 3}) == 0
    whole = read("b.toml").simulation().run(90)
    assert same(gamesim.load("out/record"), whole)


def test_the_lab_limits_what_pages_ask_for() -> None:
    raw = {"rounds": 100, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}}
    with pytest.raises(InputError, match="delay must be at most 1,000 in the lab"):
        limits.asked_scenario({**raw, "delay": 1001})
    every = limits.simulated(limits.asked_scenario({**raw, "measure": {"trajectory": "every"}}))
    every.advance(100)
    assert len(every.trajectory()[1]) == 100


# Varying games.

TABLES = np.random.default_rng(3).integers(-4, 9, (3, 2, 2, 3)).tolist()
SCHEDULE = {"tables": TABLES, "every": 4, "change": "drifting"}
LABELS: dict[str, Any] = {"players": ["Ann", "Bob"], "actions": [["up", "down"], ["left", "middle", "right"]]}


def test_a_schedule_is_a_varying_game(folder: Path) -> None:
    raw = {**BASE, "game": {"schedule": SCHEDULE, **LABELS}, "everyone": {"learner": "hedge"}}
    made = Scenario.from_dict(raw)
    game = Varying.from_tables(TABLES, every=4, change="drifting", **LABELS)
    assert made.played_game.players == ("Ann", "Bob") and made.played_game.actions[1] == ("left", "middle", "right")
    assert same(made.simulation().run(60), gamesim.simulate(game, "hedge", 60, seed=2))
    assert Scenario.from_dict(_parsed(made.to_toml())).to_toml() == made.to_toml()
    Path("v.toml").write_text(made.to_toml())
    assert main(["run", "v.toml", "--quiet", "--no-figures", "--out", "out"]) == 0
    assert main(["run", "out/scenario.toml", "--rounds", "80", "--quiet", "--no-figures", "--out", "out"]) == 0
    assert gamesim.load("out/record").rounds == 80
    study = Study.from_dict({"base": raw, "seeds": 2, "measures": ["welfare"]})
    rows = swept(study, folder / FILE)
    assert rows[1].measures == {"welfare": made.changed(seed=1).simulation().run(60).welfare}
    with Store(folder / FILE) as store:
        assert not list(store.damages())


@pytest.mark.parametrize(
    ("game", "words"),
    [
        ({"schedule": SCHEDULE, "name": "chicken"}, "game: expected exactly one of name, file, payoffs and schedule"),
        ({"schedule": {}}, "game.schedule.tables: missing; expected a list of games"),
        ({"schedule": {**SCHEDULE, "every": 0}}, "game.schedule.every: expected an integer from 1 to 10^15"),
        ({"schedule": {**SCHEDULE, "change": "slow"}}, 'game.schedule.change: expected "abrupt" or "drifting"'),
        ({"schedule": {**SCHEDULE, "evry": 1}}, "game.schedule.evry: unknown key; did you mean 'every'?"),
        ({"schedule": {"tables": [TABLES[0], TABLES[1][:1]]}}, "game.schedule.tables[2]: expected 2 tables for 2 play"),
        ({"schedule": {"tables": [TABLES[0], [[[1, 2]], [[1, "x"]]]]}}, "game.schedule.tables[2][2][1][2]: expected "),
        ({"schedule": {"tables": [TABLES[0], [[[1]], [[2]]]]}}, "game.schedule: all tables must have the same shape"),
        ({"schedule": SCHEDULE, "players": ["Ann"]}, "game.players: expected 2 names, one per payoff table, got 1"),
        ({"schedule": SCHEDULE, "settings": {}}, "game.settings: can only be given with name, got schedule"),
        ({"schedule": 3}, "game.schedule: expected a table [game.schedule]"),
    ],
)  # fmt: skip
def test_mistakes_in_schedules(game: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        Scenario.from_dict({"rounds": 5, "game": game, "everyone": {"learner": "hedge"}})
    assert str(caught.value).startswith(f"scenario: {words}") and "\n" not in str(caught.value)


# Observers and measures.


@observer(size=1)
def first_share(total: Any, round: int, strategies: Any, losses: Any) -> None:
    total[0] += strategies[0]


def test_own_observers_and_measures_in_a_run(folder: Path) -> None:
    measure = {
        "observers": ["mymeasures.py:extremes"],
        "measures": ["mymeasures.py:first_share", "mymeasures.py:last_gap", "dynamic-regret", "last-nash-gap"],
    }
    Path("own.toml").write_text(toml.write({**BASE, "players": [HEDGE, HEDGE], "measure": measure}))
    command = ["run", "own.toml", "--quiet", "--no-figures", "--out", "out"]
    assert main(command) == 2
    assert main([*command, "--allow-local-code"]) == 0
    record = gamesim.load("out/record")
    twin = gamesim.simulate(
        PLAYED, "hedge", 60, seed=2, perturb=0.4, trajectory="every", observers=[first_share, "dynamic-regret"]
    )
    assert sorted(record.observers) == ["dynamic-regret", "extremes", "first_share"]
    found = json.loads(Path("out/summary.json").read_text())["measures"]
    assert (
        found["mymeasures.py:first_share"]
        == twin.observed("first_share")[0]
        == pytest.approx(twin.trajectory[1][0][:, 0].sum())
    )
    assert found["mymeasures.py:last_gap"] == pytest.approx(found["last-nash-gap"]) and found["last-nash-gap"] > 0
    assert found["dynamic-regret"] == np.max(twin.measure("dynamic-regret"))
    losses = twin.trajectory[1][1] @ PLAYED.losses[0].T
    assert np.allclose(record.observed("extremes"), [min(0, losses[:, 0].min()), max(0, losses[:, 0].max())])
    Path("mymeasures.py").unlink()
    longer = ["run", "out/scenario.toml", "--rounds", "90", "--quiet", "--no-figures", "--out", "out"]
    assert main([*longer, "--allow-local-code"]) == 0
    whole = gamesim.simulate(PLAYED, "hedge", 90, seed=2, perturb=0.4, observers=[first_share])
    assert gamesim.load("out/record").observed("first_share")[0] == whole.observed("first_share")[0]


def test_a_failing_measure_does_not_cost_the_run(folder: Path) -> None:
    measure = {"measures": ["mymeasures.py:divides", "mymeasures.py:several", "mymeasures.py:last_gap"]}
    Path("own.toml").write_text(toml.write({**BASE, "players": [HEDGE, HEDGE], "measure": measure}))
    assert main(["run", "own.toml", "--quiet", "--no-figures", "--out", "out", "--allow-local-code"]) == 0
    summary = json.loads(Path("out/summary.json").read_text())
    assert "mymeasures.py:last_gap" in summary["measures"]
    assert "mymeasures.py, line 30, in divides: ZeroDivisionError" in summary["missing"]["mymeasures.py:divides"]
    assert "must return one number per run" in summary["missing"]["mymeasures.py:several"]


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        ({"measures": ["mymeasures.py:last_gab"]}, "has no 'last_gab'; did you mean 'last_gap'?"),
        ({"observers": ["mymeasures.py:last_gap"]}, "is not an observer; expected a function decorated with @observer"),
        ({"measures": ["mymeasures.py:np"]}, "is not a measure; expected a function of a Moment, or an observer"),
    ],
)
def test_mistakes_in_own_measures(folder: Path, measure: dict[str, Any], words: str) -> None:
    raw = {**BASE, "players": [HEDGE, HEDGE], "measure": measure}
    key = f"measure.{next(iter(measure))}[1]"
    with pytest.raises(InputError) as caught:
        Scenario.from_dict(raw, folder=folder, local_code=True)
    assert f"scenario: {key}: " in str(caught.value) and words in str(caught.value)


def test_without_leave_no_measure_runs(folder: Path, capsys: Any) -> None:
    name = marked("marked.py").replace("InPython", "anything")
    for table in ({"measures": [name]}, {"observers": [name]}):
        Path("own.toml").write_text(toml.write({**BASE, "players": [HEDGE, HEDGE], "measure": table}))
        assert main(["run", "own.toml"]) == 2 and "--allow-local-code" in capsys.readouterr().err
    Path("study.toml").write_text(toml.write({"measures": [name], "base": {**BASE, "everyone": HEDGE}}))
    assert main(["sweep", "study.toml"]) == 2 and "--allow-local-code" in capsys.readouterr().err
    with pytest.raises(InputError, match="is Python code"):
        limits.asked_scenario(
            {"rounds": 5, "game": {"name": "chicken"}, "everyone": HEDGE, "measure": {"measures": [name]}}
        )
    assert not Path("ran").exists()


def test_own_measures_in_a_study(folder: Path) -> None:
    raw = {
        "base": {**BASE, "players": [HEDGE, HEDGE]},
        "seeds": 3,
        "measures": ["ce-gap", "mymeasures.py:last_gap", "mymeasures.py:first_share", "dynamic-regret"],
    }
    raw["base"] = {key: value for key, value in raw["base"].items() if key != "seed"}  # type: ignore[attr-defined]
    study = Study.from_dict(raw, folder=folder, local_code=True)
    Path("mymeasures.py").unlink()
    rows = swept(study, folder / FILE)
    for row in rows:
        twin = gamesim.simulate(
            PLAYED, "hedge", 60, seed=row.seed, perturb=0.4, observers=["dynamic-regret", first_share]
        )
        assert row.measures == {
            "ce-gap": twin.gap("ce"),
            "mymeasures.py:last_gap": pytest.approx(twin.measure("last-nash-gap")),
            "mymeasures.py:first_share": twin.observed("first_share")[0],
            "dynamic-regret": np.max(twin.measure("dynamic-regret")),
        }
    assert study.description.measures[1] == "mymeasures.py:last_gap"
    keys = {point.key for point in study.points()}
    Path("mymeasures.py").write_text(f"{MEASURES}# edited\n")
    assert not keys & {point.key for point in Study.from_dict(raw, folder=folder, local_code=True).points()}


def test_the_keys_of_points_without_new_keys_are_those_of_earlier_versions() -> None:
    study = Study.from_dict({"base": {**BASE, "everyone": {"learner": "hedge"}}, "measures": ["ce-gap"]})
    (point,) = study.points()
    assert json.loads(point.text) == {
        "everyone": {"learner": "hedge", "perturb": 0.0, "settings": {}},
        "feedback": "expected",
        "game": GAME,
        "measure": {"checkpoints": 10, "distance": "auto"},
        "rounds": 60,
    }
