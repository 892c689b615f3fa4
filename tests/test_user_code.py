"""User-defined learners, compiled or in Python, work in every command; without leave, nothing of a file runs."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import InputError, Simulation, conformance, games, players, simulate, user_files
from gamesim.cli.main import main
from gamesim.engine import kernel_cache
from gamesim.lab import choices, limits
from gamesim.lab.session import Run
from gamesim.learner import Learner
from gamesim.players import FTRL, BlumMansour, TreeSwap
from gamesim.scenario import Scenario
from gamesim.study.model import Study
from gamesim.study.pools import Open, cluster, local
from gamesim.study.run import run_study
from gamesim.study.store import Row, Store
from gamesim.user_learners import StoredLearner
from tests.test_sweep import a_cluster, here

pytestmark = pytest.mark.slow

COMPILED = (Path(__file__).parents[1] / "examples" / "learners" / "my_hedge.py").read_text()
PYTHON = """\
import numpy as np


class InPython:
    def __init__(self, actions, rate: float = 0.1):
        self.total, self.rate = np.zeros(actions), rate

    def play(self):
        weights = np.exp(-self.rate * (self.total - self.total.min()))
        return weights / weights.sum()

    def observe(self, loss):
        self.total += loss


class Restless(InPython):
    def __init__(self, actions, random, rate: float = 0.1):
        super().__init__(actions, rate)
        self.random = random

    def observe(self, loss):
        self.total += loss + 0.1 * self.random.standard_normal(len(loss))

    def state(self):
        return self.total

    def restore(self, state):
        self.total = state
"""
GAME = {"name": "uniform", "settings": {"actions": [3, 2], "seed": 4}}
OWN = {"learner": "my_hedge.py:MyHedge", "settings": {"rate": 0.2}}
TWIN = {"learner": "hedge", "settings": {"rate": 0.2}}
OTHER = {"learner": "regret-matching", "perturb": 0.4}
SCENARIO: dict[str, Any] = {"rounds": 200, "seed": 3, "game": GAME}
STUDY: dict[str, Any] = {
    "base": {**SCENARIO, "players": [{**OWN, "perturb": 0.3}, OTHER]},
    "seeds": 3,
    "measures": ["ce-gap", "welfare"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with a file of each kind of learner."""
    monkeypatch.chdir(tmp_path)
    Path("my_hedge.py").write_text(COMPILED)
    Path("inpython.py").write_text(PYTHON)
    return tmp_path


def written(name: str, *entries: dict[str, Any], **more: Any) -> str:
    from gamesim import toml

    Path(name).write_text(toml.write({**SCENARIO, **more, "players": [*entries, OTHER][:2]}))
    return name


def marked(name: str = "marked.py") -> str:
    """Write a learner that leaves a mark when its file runs, with a content that has not run before."""
    Path(name).write_text(f"{PYTHON}\nopen('ran', 'w').close()  # {Path.cwd()}\n")
    return f"{name}:InPython"


def same(one: gamesim.Record, other: gamesim.Record) -> bool:
    return all(np.array_equal(one.arrays[name], other.arrays[name], equal_nan=True) for name in one.arrays)


# Runs and records.


def test_a_compiled_learner_plays_as_its_twin_and_its_record_needs_no_code(folder: Path) -> None:
    run = ["run", written("own.toml", OWN), "--quiet", "--no-figures", "--out", "out"]
    assert main(run) == 2
    assert main([*run, "--allow-local-code"]) == 0
    twin = Scenario.from_dict({**SCENARIO, "players": [TWIN, OTHER]}).simulation().run(200)
    record = gamesim.load("out/record")
    assert np.array_equal(record.arrays["joint"], twin.arrays["joint"])
    assert isinstance(record.learners[0], StoredLearner)
    (entry, _) = json.loads(Path("out/record/manifest.json").read_text())["players"]
    assert entry["learner"] == f"my_hedge.py@{user_files.allow_file(Path('my_hedge.py'))}:MyHedge"
    assert entry["settings"] == {"rate": 0.2}
    summary = json.loads(Path("out/summary.json").read_text())["players"][0]
    assert summary["learner"] == "MyHedge" and summary["bound"]["external"] == pytest.approx(
        twin.game.scale[0] * (np.log(3) / 0.2 + 0.1 * 200)
    )
    code = "import gamesim, sys; print(gamesim.load('out/record').gap('ce')); assert 'my_hedge' not in str(sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert float(printed) == twin.gap("ce")


def test_a_run_folder_repeats_the_run_and_extends_it(folder: Path) -> None:
    options = ["--quiet", "--no-figures", "--allow-local-code", "--out"]
    nested = {"learner": "blum-mansour", "settings": {"rows": {"learner": "my_hedge.py:MyHedge", "rate": 0.3}}}
    path = written("own.toml", OWN, nested)
    assert main(["run", path, *options, "short"]) == 0
    Path("my_hedge.py").unlink()
    again = "short/scenario.toml"
    assert main(["run", again, *options, "again"]) == 0
    assert same(gamesim.load("short/record"), gamesim.load("again/record"))
    assert main(["run", again, "--rounds", "350", *options, "again"]) == 0
    twin = Scenario.from_dict(
        {**SCENARIO, "players": [TWIN, {"learner": "blum-mansour", "settings": {"rows": {**_flat(TWIN), "rate": 0.3}}}]}
    )
    assert np.array_equal(np.array(gamesim.load("again/record").joint), np.array(twin.simulation().run(350).joint))
    Path("again/my_hedge.py").write_text(f"{COMPILED}# edited\n")
    assert main(["run", "again/scenario.toml", "--rounds", "400", *options, "again"]) == 2


def _flat(entry: dict[str, Any]) -> dict[str, Any]:
    return {"learner": entry["learner"], **entry["settings"]}


def test_learners_in_python_with_a_state_are_resumed_bit_for_bit(folder: Path, capsys: Any) -> None:
    restless = {"learner": "inpython.py:Restless", "settings": {"rate": 0.3}}
    path = written("own.toml", restless, restless, replicas=2)
    options = ["--quiet", "--no-figures", "--allow-local-code", "--out"]
    assert main(["run", path, *options, "whole"]) == 0
    assert main(["run", path, "--rounds", "120", "--checkpoint", "1000", *options, "parts"]) == 0
    assert main(["run", path, *options, "parts"]) == 0
    assert same(gamesim.load("whole/record"), gamesim.load("parts/record"))
    assert (
        main(["run", written("other.toml", {"learner": "inpython.py:InPython"}), "--checkpoint", "1", *options, "x"])
        == 2
    )
    assert "unless its class has state() and restore(state)" in capsys.readouterr().err


def test_resuming_in_python_needs_the_same_class(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(folder))
    Path("mine_once.py").write_text(f"{PYTHON}# {folder}\n")
    import mine_once  # type: ignore[import-not-found]

    whole = simulate("shapley", [partial(mine_once.Restless, rate=0.3), "hedge"], 90, replicas=2)
    first = simulate("shapley", [partial(mine_once.Restless, rate=0.3), "hedge"], 50, replicas=2)
    read = gamesim.load(first.save("first"))
    assert repr(read.learners[0]) == "Restless"
    factory = {"Restless": partial(mine_once.Restless, rate=0.3)}
    assert same(Simulation.resume(read, learners=factory).run(40), whole)
    assert same(Simulation.resume(read[1], learners=factory).run(40), whole[1])
    with pytest.raises(InputError, match=r"pass its class with learners=\{'Restless': \.\.\.\}"):
        Simulation.resume(read)
    Path("mine_once.py").write_text(f"{PYTHON}# edited\n")
    monkeypatch.delitem(sys.modules, "mine_once")
    import mine_once as edited

    with pytest.raises(InputError, match=r"mine_once\.py:Restless has changed since the run: the SHA-256"):
        Simulation.resume(read, learners={"Restless": edited.Restless})
    stateless = simulate("shapley", [edited.InPython, "hedge"], 5)
    with pytest.raises(InputError, match=r"cannot resume a run with InPython.*define state\(\) and restore\(state\)"):
        Simulation.resume(stateless)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (("@dataclass(frozen=True)\n", ""), r"must be decorated with @dataclass\(frozen=True\), as its setting rate"),
        (("kernels = play, observe", "kernels = play,"), "must have kernels = play, observe"),
        (("@kernel\ndef play", "def play"), "must have kernels = play, observe"),
        (("state_layout = STATE", ""), "must have a state_layout"),
        (("losses[i] += loss[i]", "losses[i] += loss[i].nothing"), "MyHedge cannot be compiled or set up: TypingError"),
        (('losses="d"', 'losses="e"'), "MyHedge failed when it was set up|a shape may use"),
    ],
)
def test_incomplete_compiled_learners_are_refused(folder: Path, edit: tuple[str, str], words: str) -> None:
    Path("broken.py").write_text(COMPILED.replace(*edit))
    raw = {**SCENARIO, "players": [{"learner": "broken.py:MyHedge"}, OTHER]}
    with pytest.raises(InputError, match=words) as caught:
        Scenario.from_dict(raw, folder=folder, local_code=True).simulation()
    assert len(str(caught.value)) < 1000


# Comparisons, studies and the lab.


def test_a_comparison_ranks_both_kinds(folder: Path, capsys: Any) -> None:
    written("plain.toml", TWIN)
    chosen = "hedge:rate=0.2,my_hedge.py:MyHedge:rate=0.2,inpython.py:Restless,inpython.py:InPython:rate=0.2"
    command = ["compare", "plain.toml", "--json", "--learners", chosen]
    assert main(command) == 2
    assert main([*command, "--allow-local-code"]) == 0
    found = {one["learner"]: one["gap"] for one in json.loads(capsys.readouterr().out)["learners"]}
    assert found["my_hedge.py:MyHedge:rate=0.2"] == found["hedge:rate=0.2"]
    assert found["inpython.py:InPython:rate=0.2"] == pytest.approx(found["hedge:rate=0.2"])


def swept(study: Study, path: Path, open_pool: Open = here) -> list[Row]:
    with Store(path, write=True) as store:
        store.register(study.points(), study.description)
        run_study(study, store, open_pool)
        return list(store.rows())


def without(rows: list[Row]) -> list[Any]:
    return [(row.key, row.labels, row.seed, row.measures, row.error) for row in rows]


def test_workers_receive_the_content_of_files(folder: Path) -> None:
    study = Study.from_dict(STUDY, folder=folder, local_code=True)
    Path("my_hedge.py").unlink()  # workers cannot read it
    rows = swept(study, folder / "a", local(2))
    assert [row.error for row in rows] == [None] * 3
    assert without(swept(study, folder / "b")) == without(rows)
    for row in rows:
        players = [{**TWIN, "perturb": 0.3}, OTHER]
        twin = Scenario.from_dict({**SCENARIO, "seed": row.seed, "players": players}).simulation().run(200)
        # Another implementation of Hedge, so equal only up to rounding.
        assert row.measures == pytest.approx({"ce-gap": twin.gap("ce"), "welfare": twin.welfare}, rel=1e-12)


def test_workers_of_a_cluster_receive_the_content_of_files(folder: Path) -> None:
    study = Study.from_dict({**STUDY, "grid": {"players[2].learner": ["hedge", "inpython.py:InPython"]}},
                            folder=folder, local_code=True)  # fmt: skip
    Path("my_hedge.py").unlink()
    Path("inpython.py").unlink()
    (folder / "elsewhere").mkdir()
    with a_cluster(folder / "elsewhere", [{}]) as (address, _):
        rows = swept(study, folder / "a", cluster(address))
    assert without(rows) == without(swept(study, folder / "b"))
    assert {row.labels["players[2].learner"] for row in rows} == {"hedge", "inpython.py:InPython"}
    assert [row.error for row in rows] == [None] * 6


def test_the_content_of_a_file_is_part_of_the_keys(folder: Path) -> None:
    keys = {point.key for point in Study.from_dict(STUDY, folder=folder, local_code=True).points()}
    Path("my_hedge.py").rename("moved.py")
    moved = {**STUDY, "base": {**STUDY["base"], "players": [{**OWN, "perturb": 0.3}, OTHER]}}
    Path("sub").mkdir()
    Path("sub/my_hedge.py").write_text(COMPILED)
    assert {point.key for point in Study.from_dict(moved, folder=Path("sub"), local_code=True).points()} == keys
    Path("sub/my_hedge.py").write_text(f"{COMPILED}# edited\n")
    assert not keys & {point.key for point in Study.from_dict(moved, folder=Path("sub"), local_code=True).points()}


def test_a_sweep_on_the_command_line(folder: Path, capsys: Any) -> None:
    Path("study.toml").write_text(
        'seeds = 2\nmeasures = ["ce-gap"]\n[base]\nrounds = 20\ngame = { name = "shapley" }\n'
        'everyone = { learner = "hedge", perturb = 0.3 }\n'
        '[grid]\nrounds = [20, 40]\n"everyone.learner" = ["hedge", "my_hedge.py:MyHedge"]\n'
    )
    assert main(["sweep", "study.toml", "--workers", "1"]) == 2
    assert "--allow-local-code" in capsys.readouterr().err
    assert main(["sweep", "study.toml", "--workers", "1", "--allow-local-code", "--dry-run"]) == 0
    assert main(["sweep", "study.toml", "--workers", "1", "--allow-local-code"]) == 0
    assert main(["study", "studies/study"]) == 0  # reading needs no leave
    assert "my_hedge.py:MyHedge" in capsys.readouterr().out


def test_the_lab_offers_what_was_allowed_and_nothing_else(folder: Path) -> None:
    own = [f"{Path(name).name}@{user_files.allow_file(Path(name))}:{kind}"
           for name, kind in (("my_hedge.py", "MyHedge"), ("inpython.py", "InPython"))]  # fmt: skip
    offered = {one["name"]: one for one in choices.choices(None, own)["learners"]}
    assert offered[own[0]]["guarantee"] == "external regret ≤ ln d / rate + rate T / 2"
    assert offered[own[1]]["settings"] == [{"name": "rate", "kind": "number", "default": 0.1}]
    raw = {"rounds": 50, "game": {"name": "chicken"}, "players": [{"learner": one} for one in own]}
    run = Run(limits.asked_scenario(raw), 1)
    run.simulation.advance(50)
    twin = simulate("chicken", players.make("hedge", rate=0.1), 50)
    assert run.simulation.record().gap("ce") == pytest.approx(twin.gap("ce"))
    assert run.data()["learners"] == ["MyHedge", "InPython"] and run.data()["bounds"][1] is None
    assert 'learner = "my_hedge.py:MyHedge"' in run.scenario.to_toml()
    forbidden = marked()
    for learner in ("my_hedge.py:MyHedge", forbidden, str(folder / forbidden), f"x.py@{64 * '0'}:A"):
        with pytest.raises(InputError, match="is Python code"):
            limits.asked_scenario({**raw, "players": [{"learner": learner}, {"learner": "hedge"}]})
    assert not Path("ran").exists()


def test_the_command_of_the_lab_needs_leave(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    served: list[Any] = []
    monkeypatch.setattr("gamesim.lab.server.serve", lambda first, *_, own, **__: served.append((first, own)))
    path = written("own.toml", {"learner": marked()})
    assert main(["lab", path]) == 2 and not Path("ran").exists()
    assert main(["lab", "--allow-local-code", path]) == 2 and not Path("ran").exists()
    assert "a scenario must precede --allow-local-code" in capsys.readouterr().err
    assert main(["lab", path, "--allow-local-code", "inpython.py"]) == 0 and Path("ran").exists()
    ((first, own),) = served
    assert [user_files.shown(one) for one in own] == [
        "marked.py:InPython",
        "inpython.py:InPython",
        "inpython.py:Restless",
    ]
    assert first.player_parts[0].learner == own[0]


@pytest.mark.parametrize(
    "command",
    [
        ["run", "own.toml"], ["check", "own.toml"], ["show", "own.toml"], ["lab", "own.toml"], ["sweep", "study.toml"],
        ["compare", "chicken", "--learners", "marked.py:InPython"], ["check", "marked.py:InPython"],
        ["check", "marked.py"],
        ["compare", "chicken", "--learners", 'blum-mansour:rows={learner="marked.py:InPython"}'],
    ],
)  # fmt: skip
def test_without_leave_no_command_runs_a_file(folder: Path, command: list[str], capsys: Any) -> None:
    written("own.toml", {"learner": marked()})
    Path("study.toml").write_text('base = "own.toml"\nseeds = 2\n')
    assert main(command) == 2
    assert "--allow-local-code" in capsys.readouterr().err and not Path("ran").exists()


# Conformance.


def test_the_command_checks_conformance(folder: Path, capsys: Any) -> None:
    assert main(["check", "inpython.py", "--allow-local-code"]) == 1
    out = capsys.readouterr().out
    assert "InPython\n" in out and "all checks passed" in out
    assert "failed  relabelling: round 2: relabelled actions change the play" in out  # noise depends on the label
    Path("bad.py").write_text(PYTHON.replace("self.total += loss\n", "self.total += loss\n        1 / 0\n", 1))
    assert main(["check", "bad.py:InPython:rate=0.5", "--allow-local-code"]) == 1
    assert "bad.py, line 14, in observe: ZeroDivisionError" in capsys.readouterr().out


NESTED: list[Learner] = [
    BlumMansour(rows=FTRL("log-barrier", optimistic=True)),
    BlumMansour(rows=FTRL("log-barrier")),
    BlumMansour(rows=FTRL("euclidean", optimistic=True)),
    BlumMansour(rows=FTRL("log-barrier", optimistic=True, rate="tuned")),
    BlumMansour(rows=FTRL(rate="0.7/sqrt(t)")),
    BlumMansour(rows=FTRL(optimistic=True, rate=0.05)),
    TreeSwap(rows=FTRL("euclidean")),
]


@pytest.mark.parametrize("learner", NESTED, ids=repr)
def test_guarantees_follow_nested_settings(learner: Learner) -> None:
    for check in conformance.checks().values():
        check(learner)


def test_a_user_defined_row_does_not_inherit_a_proved_bound(folder: Path) -> None:
    text = COMPILED.replace("    rate: float = 0.1\n", '    rate: float = 0.1\n    name = "ftrl"\n')
    Path("mimic.py").write_text(text.partition("    def guarantee")[0])
    reference = user_files.allow("mimic.py:MyHedge", folder)
    assert players.make("blum-mansour", rows={"learner": reference}).guarantee() is None
    assert players.make("blum-mansour", rows="ftrl").guarantee() is not None
    assert type(players.BlumMansour(rows="ftrl").guarantee()) is not None
    assert simulate("chicken", players.make("ftrl"), 10).learners[0] == FTRL()


# Factories, precision, kernels.


def test_one_factory_serves_all_players() -> None:
    class Constant:
        def __init__(self, actions: int, kind: Any = np.float64) -> None:
            self.strategy = np.full(actions, 1 / actions, dtype=kind)

        def play(self) -> Any:
            return self.strategy

        def observe(self, loss: Any) -> None:
            pass

    game = games.make("uniform", players=3, actions=[3, 2, 7], seed=1)
    uniform = simulate(game, "uniform", 20)
    for factory in (Constant, lambda actions: Constant(actions, float), partial(Constant, kind=np.float32)):
        record = simulate(game, factory, 20)
        assert np.allclose(np.array(record.joint), np.array(uniform.joint), atol=1e-15)
        assert np.sum(np.array(record.joint)) == pytest.approx(1, abs=1e-14)
    with pytest.raises(InputError, match="sum to 1"):
        simulate(game, lambda actions: _Scaled(actions, 3e-6), 20)


class _Scaled:
    def __init__(self, actions: int, error: float) -> None:
        self.strategy = np.full(actions, (1 + error) / actions)

    def play(self) -> Any:
        return self.strategy

    def observe(self, loss: Any) -> None:
        pass


def test_strategies_are_divided_by_their_sum() -> None:
    from gamesim.validation import strategy

    exact = np.array([0.1, 0.2, 0.7])
    weights = np.exp(-0.37 * np.arange(50.0))
    for given in (exact, weights / weights.sum()):
        assert (strategy(given, len(given), "Row") == given).all()
    close = exact * (1 - 9e-7)
    assert strategy(close, 3, "Row").sum() == pytest.approx(1, abs=1e-15)
    with pytest.raises(InputError):
        strategy(exact * (1 + 1.1e-6), 3, "Row")


def test_kernels_are_cached_by_what_is_compiled_into_them(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import numba

    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder / "cache"))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # it has the second of a change, and these are faster
    start = "from gamesim.engine.compiled import kernel\n"
    source = f"{start}from helper import inner, SHIFT\n\n@kernel\ndef outer(x):\n    return inner(x) + SHIFT\n"
    monkeypatch.syspath_prepend(str(folder))
    for k, (shift, factor, expected) in enumerate([(1, 2, 7.0), (1, 3, 10.0), (5, 3, 14.0)]):
        helper = f"SHIFT = {shift}\n\n@kernel\ndef inner(x):\n    return {factor} * x\n"
        Path("helper.py").write_text(start + helper)
        kernel_cache.cache_folders.cache_clear()
        kernel_cache.read_source.cache_clear()
        monkeypatch.delitem(sys.modules, "helper", raising=False)
        sha256 = user_files.run("outer.py", source.encode() + b"\n" * k)
        assert user_files.named(f"outer.py@{sha256}:outer")(3.0) == expected
    assert len(list(Path("cache").rglob("outer-*"))) == 3
