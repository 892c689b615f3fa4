"""Runs that were stopped or killed are resumed, and finished ones extended, with the bytes of a run in one piece."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import atomic
from gamesim.cli.main import main
from gamesim.scenario import read

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name != "posix", reason="signals"),
]

SCENARIO = """
rounds = 1000000
feedback = "sampled"
game = { name = "uniform", settings = { actions = [3, 4] } }
everyone = { learner = "hedge", perturb = 0.5 }
"""


def command(*arguments: str) -> subprocess.Popen[bytes]:
    call = [sys.executable, "-c", "import sys; from gamesim.cli.main import main; sys.exit(main())", *arguments]
    return subprocess.Popen(call, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def test_a_stopped_run_is_resumed_and_a_finished_one_extended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    quiet = ("--quiet", "--no-figures")
    Path("mine.toml").write_text(SCENARIO.replace("1000000", "30000").replace("hedge", "coin-betting"))
    for call in (("run", "mine.toml"), ("run", "mine.toml", "--rounds", "50000")):
        assert main([*call, "--out", "mine", *quiet]) == 0
    # The learners stay tuned to 30,000 rounds; the scenario states that horizon and repeats the whole run.
    assert "horizon = 30000" in Path("mine/scenario.toml").read_text()
    assert main(["run", "mine/scenario.toml", "--out", "again", *quiet]) == 0
    for part in Path("mine/record").iterdir():
        assert part.read_bytes() == (Path("again/record") / part.name).read_bytes(), part.name
    # Extend it again with a scenario that does not state the horizon.
    assert main(["run", "mine.toml", "--rounds", "60000", "--out", "mine", *quiet]) == 0
    assert gamesim.load("mine/record").rounds == 60000
    assert main(["resume", "mine", *quiet]) == 0  # nothing left to do
    # A different seed is a different run, and the existing one is not overwritten.
    assert main(["run", "mine.toml", "--seed", "1", "--rounds", "70000", "--out", "mine", *quiet]) == 2
    assert gamesim.load("mine/record").rounds == 60000
    assert main(["resume", "nothing"]) == 2


def test_a_run_resumed_after_ctrl_c_gives_the_same_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SCENARIO)
    process = command("run", "mine.toml", "--out", "mine", "--no-figures")
    assert process.stderr is not None
    process.stderr.readline()  # it is running
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    stopped = gamesim.load("mine/record").rounds
    assert (process.returncode == 130) == (stopped < 1000000)
    assert main(["resume", "mine", "--quiet", "--no-figures"]) == 0
    scenario = read("mine.toml")
    expected, record = scenario.simulation().run(scenario.rounds), gamesim.load("mine/record")
    for name, part in expected.arrays.items():
        assert np.array_equal(record.arrays[name], part, equal_nan=True), name


@pytest.mark.parametrize("again", [("resume", "mine"), ("run", "mine.toml", "--out", "mine", "--force")])
def test_a_run_killed_between_its_last_round_and_its_folder_is_finished(
    again: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SCENARIO.replace("1000000", "3000"))
    quiet = ("--quiet", "--no-figures")

    class KilledError(BaseException):
        """Stands for a signal that ends the process."""

    def killed(path: str | Path, *rest: Any, **options: Any) -> Path:
        if Path(path).name == "mine":
            raise KilledError
        return written(path, *rest, **options)

    written = atomic.write_folder
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(atomic, "write_folder", killed)
        main(["run", "mine.toml", "--out", "mine", "--checkpoint", "1e-9", *quiet])
    (kept,) = Path("mine.partial").glob("record-*")
    assert gamesim.load(kept).rounds == 3000  # nothing is left to play
    assert main([*again, *quiet]) == 0
    assert main(["run", "mine.toml", "--out", "unbroken", *quiet]) == 0
    for part in Path("mine/record").iterdir():
        assert part.read_bytes() == (Path("unbroken/record") / part.name).read_bytes(), part.name
    assert sorted(os.listdir()) == ["mine", "mine.toml", "unbroken"]
