"""User-defined learners in Python files: rejected unless allowed, and then treated like any other."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gamesim import conformance, simulate
from gamesim.cli.main import main
from gamesim.errors import InputError
from gamesim.record import load
from gamesim.report import compare
from gamesim.scenario import Scenario, read
from gamesim.study.model import Study

pytestmark = pytest.mark.slow

LEARNER = """\
import numpy as np
from pathlib import Path

Path("ran").touch()


class MyHedge:
    def __init__(self, actions, rate: float = 0.1):
        self.total = np.zeros(actions)
        self.rate = rate

    def play(self):
        weights = np.exp(-self.rate * (self.total - self.total.min()))
        return weights / weights.sum()

    def observe(self, loss):
        self.total += loss
"""

SCENARIO = """\
rounds = 300
seed = 4

[game]
name = "shapley"

[[players]]
learner = "mylearner.py:MyHedge"
settings = { rate = 0.2 }
perturb = 0.3

[[players]]
learner = "hedge"
settings = { rate = 0.05 }
"""


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario in a folder other than the current one."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mylearner.py").write_text(f"{LEARNER}# {tmp_path}\n")  # a content that has not run before
    (tmp_path / "mine" / "own.toml").write_text(SCENARIO)
    monkeypatch.chdir(tmp_path)
    return Path("mine/own.toml")


@pytest.mark.parametrize("command", ["run", "check", "show"])
def test_a_scenario_alone_runs_no_code(scenario: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(scenario)]) == 2
    error = capsys.readouterr().err
    assert "players[1].learner" in error and "--allow-local-code" in error
    assert not Path("ran").exists()


def test_an_allowed_learner_plays_as_implemented(scenario: Path) -> None:
    options = ["--quiet", "--no-figures", "--allow-local-code", "--out", "out"]
    assert main(["run", str(scenario), *options]) == 0
    assert Path("ran").exists()
    raw = {"rounds": 300, "seed": 4, "game": {"name": "shapley"}}
    ours = [{"learner": "hedge", "settings": {"rate": 0.2}, "perturb": 0.3}]
    theirs = [{"learner": "hedge", "settings": {"rate": 0.05}}]
    expected = Scenario.from_dict({**raw, "players": ours + theirs}).simulation().run(300)
    record = load("out/record")
    assert np.allclose(record.arrays["joint"], expected.arrays["joint"], atol=1e-9)
    summary = json.loads(Path("out/summary.json").read_text())
    assert summary["players"][0]["learner"] == "MyHedge(rate=0.2)"

    assert main(["run", str(scenario), *options]) == 2  # the folder already exists
    assert main(["run", "out/scenario.toml", *options[:-1], "again"]) == 0  # it contains everything that the run needs
    assert np.array_equal(load("again/record").arrays["joint"], record.arrays["joint"])


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_stopped_run_reports_that_it_cannot_be_resumed(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call = [
        sys.executable,
        "-c",
        "import sys; from gamesim.cli.main import main; sys.exit(main())",
        "run",
        str(scenario),
    ]
    options = ["--rounds", "1e12", "--no-figures", "--allow-local-code", "--out", "out"]
    with subprocess.Popen([*call, *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "running out" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "is not saved" in err and "--force" in err and "resume" not in err
    assert main(["resume", "out"]) == 2
    err = capsys.readouterr().err
    assert "out cannot be resumed because the state of a user-defined learner is not saved" in err and "--force" in err
    assert "--allow-local-code" not in err and err.count("\n") == 1
    assert main(["run", "chicken", "--rounds", "9", "--out", "out"]) == 2
    assert "out already exists" in capsys.readouterr().err
    assert main(["run", str(scenario), "--no-figures", "--allow-local-code", "--out", "out", "--force"]) == 0
    assert main(["resume", "out"]) == 0
    assert "there is nothing to do" in capsys.readouterr().err


def test_a_record_has_a_one_line_repr(scenario: Path) -> None:
    assert main(["run", str(scenario), "--quiet", "--no-figures", "--allow-local-code", "--out", "out"]) == 0
    assert repr(load("out/record")) == "<Record: shapley, MyHedge(rate=0.2) and hedge, 300 rounds, seed 4>"
    record = simulate("load-balancing", "hedge", 5000, seed=2, replicas=3)
    assert repr(record) == "<Record: load-balancing, hedge, 5,000 rounds, 3 replicas, seed 2>"
    assert repr(record[1]) == "<Record: load-balancing, hedge, 5,000 rounds, seed 3>"


def test_compare_accepts_it_by_its_path(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["compare", "shapley", "--rounds", "200", "--json", "--learners"]
    assert main([*arguments, "hedge:rate=0.2,mine/mylearner.py:MyHedge:rate=0.2"]) == 2
    assert "--allow-local-code" in capsys.readouterr().err and not Path("ran").exists()
    assert main([*arguments, "hedge:rate=0.2,mine/mylearner.py:MyHedge:rate=0.2", "--allow-local-code"]) == 0
    first, second = json.loads(capsys.readouterr().out)["learners"]
    assert first["gap"] == pytest.approx(second["gap"])
    places = {path.name for path in Path("runs/compare-shapley-0").iterdir() if path.is_dir()}
    assert {place.split("-")[1] for place in places} == {"MyHedge", "hedge"}
    own = next(Path("runs/compare-shapley-0").glob("*-MyHedge/scenario.toml"))
    assert read(own, local_code=True).references


@pytest.mark.parametrize(
    ("file", "learner", "expected"),
    [
        (LEARNER, "mylearner.py:MyHegde", "did you mean 'MyHedge"),
        (LEARNER, "other.py:MyHedge", "there is no file"),
        ("import nothing_like_it\n", "mylearner.py:MyHedge", "line 1: ModuleNotFoundError"),
        ("x = 1\nclass A:\n  def\n", "mylearner.py:A", "line 3: SyntaxError"),
        ("from gamesim.learner import Learner as Hedge\n", "mylearner.py:Hedge", "must have kernels = play, observe"),
        ("Hedge = 3\n", "mylearner.py:Hedge", "is not a learner"),
        ("import sys\nsys.exit(0)\n", "mylearner.py:Hedge", "line 2: SystemExit: 0"),
        ("x = __file__\n", "mylearner.py:Hedge", "line 1: NameError"),
    ],
)
def test_mistakes_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, file: str, learner: str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mylearner.py").write_text(file)
    raw = {"rounds": 10, "game": {"name": "chicken"}, "everyone": {"learner": learner}}
    with pytest.raises(InputError, match=expected):
        Scenario.from_dict(raw, folder=tmp_path, local_code=True)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"rat": 1.0}, "did you mean 'rate"),
        ({"rate": "fast"}, "expected a valid number"),
        ({"actions": 3}, "no setting 'actions'"),
    ],
)
def test_settings_are_checked_against_the_class(scenario: Path, settings: dict[str, object], expected: str) -> None:
    entry = {"learner": "mylearner.py:MyHedge", "settings": settings}
    with pytest.raises(InputError, match=expected):
        Scenario.from_dict(
            {"rounds": 10, "game": {"name": "chicken"}, "everyone": entry}, folder=Path("mine"), local_code=True
        )


BROKEN = """\
import numpy as np

class Broken:
    def __init__(self, actions):
        {made}
        self.actions, self.rounds = actions, 0

    def play(self):
        {played}
        return np.full(self.actions, 1 / self.actions)

    def observe(self, loss):
        self.rounds += 1
        {observed}
"""


@pytest.mark.parametrize(
    ("place", "line", "expected"),
    [
        (
            "made",
            "self.x",
            "failed when it was created: broken.py, line 5, in __init__: AttributeError: 'Broken' object",
        ),
        ("played", "if self.rounds == 6: [][0]", "failed in round 7: broken.py, line 9, in play: IndexError: list"),
        ("observed", "np.dot(loss, [1])", "failed in round 1: broken.py, line 14, in observe: ValueError: shapes"),
        ("observed", "assert self.rounds < 1200", "failed in round 1,200: broken.py, line 14, in observe: AssertionE"),
    ],
)
def test_a_failing_learner_gives_one_message(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    place: str,
    line: str,
    expected: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    parts = {"made": "pass", "played": "pass", "observed": "pass", place: line}
    Path("broken.py").write_text(BROKEN.format(**parts))
    entry = '[[players]]\nlearner = "{}"\n'
    players = entry.format("hedge") + entry.format("broken.py:Broken")
    Path("b.toml").write_text(f'rounds = 2000\n[game]\nname = "chicken"\n{players}')
    before = sorted(Path().rglob("*"))
    assert main(["run", "b.toml", "--allow-local-code", "--quiet"]) == 2
    message = capsys.readouterr().err
    assert message.startswith(f"gamesim: Column's learner Broken {expected}") and message.count("\n") == 1
    assert [path for path in sorted(Path().rglob("*")) if "__pycache__" not in str(path)] == before


def test_a_run_that_cannot_be_resumed_keeps_no_checkpoints(scenario: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(scenario), "--allow-local-code", "--checkpoint", "1"]) == 2
    assert "--checkpoint" in capsys.readouterr().err and not Path("runs").exists()


def test_in_python_the_error_has_its_cause() -> None:
    class Divides:
        def __init__(self, actions: int) -> None:
            self.strategy = np.full(actions, 1 / actions)

        def play(self) -> np.ndarray:
            return self.strategy

        def observe(self, loss: np.ndarray) -> None:
            self.strategy = self.strategy * (1 // 0)

    with pytest.raises(
        InputError, match=r"Row's learner Divides .* test_own_learner.py, line \d+, in observe"
    ) as caught:
        simulate("chicken", [Divides, "hedge"], rounds=5)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    with pytest.raises(InputError, match=r"Row's learner Exception failed when it was created: TypeError: ") as caught:
        simulate("chicken", [Exception, "hedge"], rounds=5)  # it does not accept actions=
    assert isinstance(caught.value.__cause__, TypeError)


def test_a_comparison_rejects_it_unless_allowed(scenario: Path) -> None:
    with pytest.raises(InputError, match="allow-local-code"):
        compare.contenders("mine/mylearner.py:MyHedge")


def test_a_study_never_runs_it(scenario: Path) -> None:
    with pytest.raises(InputError, match="allow-local-code"):
        Study.from_dict({"base": "own.toml", "seeds": 2}, folder=Path("mine"))
    assert not Path("ran").exists()


def test_the_documented_test_file_checks_conformance(tmp_path: Path) -> None:
    """The test file in docs/tutorials/own-learner.md passes for the learner in the same tutorial."""
    page = (Path(__file__).parents[1] / "docs/tutorials/own-learner.md").read_text()
    blocks = [block.split("```")[0] for block in page.split("```python\n")[1:]]
    learner, test = (next(block for block in blocks if key in block) for key in ("def play", "conformance"))
    (tmp_path / "mylearner.py").write_text(learner)
    (tmp_path / "test_mylearner.py").write_text(test)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mylearner.py"]
    good = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert good.returncode == 0 and f"{len(conformance.checks())} passed" in good.stdout, good.stdout
