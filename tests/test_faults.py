"""Faults are survived: kills, Ctrl-C and other processes, at moments that are hit on purpose."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gamesim import atomic, figures
from gamesim.cli import checkpoints
from gamesim.cli.main import main
from gamesim.report import compare, run_folder, summary
from gamesim.scenario import read

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="signals, and processes in /proc"),
]

SCENARIO = """
rounds = 3000
feedback = "sampled"
game = { name = "uniform", settings = { actions = [3, 4] } }
everyone = { learner = "hedge", perturb = 0.5 }
"""
QUIET = ("--quiet", "--no-figures")


def python(code: str, *given: str, folder: Path, **options: Any) -> "subprocess.Popen[str]":
    path = os.pathsep.join([str(folder), str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-c", code, *given],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SCENARIO)
    return tmp_path


@pytest.fixture
def _one_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw one figure of a run instead of all."""
    gaps = figures.figure_functions()["gaps"]
    monkeypatch.setattr(figures, "figure_functions", lambda: {"gaps": gaps})


def files(folder: str) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in Path(folder).rglob("*") if one.is_file()}


# Writing.

WRITE = """
from pathlib import Path
from gamesim import atomic

def write(folder):
    (folder / "one").write_text("new")
    (folder / "two").write_text("new")

def both(folder):
    write(folder)
    return [folder / "one", folder / "two"]

atomic.write_folder("folder", write, force=True)
atomic.write_file(Path("file"), lambda out: out.write(b"new"))
atomic.write_files([(Path("files"), both)], force=True)
atomic.remove_folder(Path("unwanted"))
"""
STRUCK = """
import os, signal, sys
from pathlib import Path
from gamesim import atomic
from tests.fault_points import watch

number, count = int(sys.argv[1]), 0
for at in range(1, 100):  # in forks, because Python takes longer to start than to write
    process = os.fork()
    if process == 0:
        break
    ended = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    print(ended, flush=True)
    if ended == 0:  # there are fewer points than this
        sys.exit()
os.chdir(str(at))

def visit(name):
    global count
    count += 1
    if count == at:
        signal.raise_signal(number)

watch(visit, Path("."))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["kill", "interrupt"])
def test_whatever_the_moment_of_a_kill_a_folder_is_old_or_new_and_nothing_stays_behind(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for place in map(str, range(1, 100)):
        os.mkdir(place)
        for name in ("folder", "files", "unwanted"):
            Path(place, name).mkdir()
            for one in ("one", "two"):
                Path(place, name, one).write_text("old")
        Path(place, "file").write_text("old")
    printed, errors = python(STRUCK + WRITE, str(int(number)), folder=tmp_path).communicate()
    *struck, last = map(int, printed.split())
    assert last == 0 and set(struck) == {-number}, errors
    for at in range(1, len(struck) + 2):
        os.chdir(tmp_path / str(at))
        atomic.finish_killed_write(Path("folder"))
        assert set(files("folder").values()) in ({b"old"}, {b"new"}), at
        assert {Path("files", one).read_text() for one in ("one", "two")} <= {"old", "new"}, at
        assert Path("file").read_bytes() in (b"old", b"new"), at
        assert not Path("unwanted").exists() or sorted(os.listdir("unwanted")) == ["one", "two"], at
        exec(WRITE, {})
        assert sorted(os.listdir()) == ["file", "files", "folder"], at
        assert list(files(".").values()) == [b"new"] * 5, at
    assert len(struck) >= 20


def write_one(folder: Path) -> None:
    (folder / "one").write_text("1")


def test_the_temporary_folder_of_a_living_process_is_left_alone(tmp_path: Path) -> None:
    target = tmp_path / "mine"

    def write(folder: Path) -> None:
        atomic.finish_killed_write(target)
        atomic.write_folder(target, write_one, force=False)
        (folder / "one").write_text("2")

    atomic.write_folder(target, write, force=True)
    assert os.listdir(tmp_path) == ["mine"]
    assert (target / "one").read_text() == "2"


def test_a_folder_of_the_user_with_a_similar_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / ".mine-precious").mkdir()
    (tmp_path / ".mine-precious" / "letter").write_text("dear diary")
    (tmp_path / ".mine-precise_").write_text("a file")
    atomic.write_folder(tmp_path / "mine", lambda _: None, force=False)
    assert sorted(os.listdir(tmp_path)) == [".mine-precious", ".mine-precise_", "mine"]


def test_a_file_system_without_locks_is_written_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(atomic, "try_lock", lambda _: None)
    atomic.write_folder(tmp_path / "mine", write_one, force=False)
    assert os.listdir(tmp_path) == ["mine"]
    assert os.listdir(tmp_path / "mine") == ["one"]


# Runs.


def interrupting(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that sends Ctrl-C to this process and then calls another."""

    def interrupted(*given: Any, **named: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return call(*given, **named)

    return interrupted


def test_ctrl_c_while_a_run_is_written_loses_nothing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(run_folder, "write_run", interrupting(run_folder.write_run))
        assert main(["run", "mine.toml", "--out", "mine", *QUIET]) == 130
    assert main(["run", "mine.toml", "--out", "undisturbed", *QUIET]) == 0
    assert files("mine") == files("undisturbed")


@pytest.mark.usefixtures("_one_figure")
@pytest.mark.parametrize("cut", ["drawing", "measuring"])
def test_a_run_whose_figures_or_measures_were_cut_short_is_resumed(
    cut: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw, measure = figures.draw_run, summary.summarise

    def interrupted_drawing(*given: Any, **named: Any) -> list[Path]:
        drawn = draw(*given, **named)
        signal.raise_signal(signal.SIGINT)
        return drawn

    def interrupted_measuring(*given: Any, distance: str, **named: Any) -> Any:
        if distance != "never":
            signal.raise_signal(signal.SIGINT)
        return measure(*given, distance=distance, **named)

    with monkeypatch.context() as patch:
        if cut == "drawing":
            patch.setattr(figures, "draw_run", interrupted_drawing)
        else:
            patch.setattr(summary, "summarise", interrupted_measuring)
        assert main(["run", "mine.toml", "--out", "mine", "--quiet"]) == 130
    assert Path("mine/figures").exists() == (cut == "measuring")
    assert main(["resume", "mine", "--quiet"]) == 0
    assert main(["run", "mine.toml", "--out", "undisturbed", "--quiet"]) == 0
    assert files("mine") == files("undisturbed")
    assert sorted(os.listdir()) == ["mine", "mine.toml", "undisturbed"]


def test_a_killed_run_that_replaces_another_is_resumed(here: Path) -> None:
    assert main(["run", "mine.toml", "--out", "mine", *QUIET]) == 0
    assert main(["run", "mine.toml", "--out", "undisturbed", "--seed", "1", *QUIET]) == 0
    run = checkpoints.UnfinishedRun(read("mine.toml").changed(None, 1), "mine")
    with checkpoints.checkpoints(Path("mine"), run, 60):
        pass  # what a run with --force --seed 1 leaves if it is killed now
    assert main(["resume", "mine", *QUIET]) == 0
    assert files("mine") == files("undisturbed")


def test_a_run_killed_while_it_removes_its_checkpoints_is_complete(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class KilledError(BaseException):
        """Stands for a signal that ends the process."""

    remove = shutil.rmtree

    def removed(folder: Any, **_: Any) -> None:
        if (Path(folder) / checkpoints.SETTINGS_FILE).exists():
            next(Path(folder).rglob("manifest.json")).unlink()
            raise KilledError
        remove(folder)

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", removed)
        with pytest.raises(KilledError):
            main(["run", "mine.toml", "--out", "mine", "--checkpoint", "1e-9", *QUIET])
    patch.undo()
    assert main(["resume", "mine", *QUIET]) == 0
    assert sorted(os.listdir()) == ["mine", "mine.toml"]


def test_a_run_in_progress_is_not_resumed_replaced_or_tidied_away(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = checkpoints.UnfinishedRun(read("mine.toml"), "mine")
    given = {
        "resume": ["resume", "mine"],
        "force": ["run", "mine.toml", "--out", "mine", "--force"],
        "run": ["run", "mine.toml", "--out", "mine"],
    }
    with checkpoints.checkpoints(Path("mine"), run, 60):
        for arguments in given.values():
            assert main([*arguments, *QUIET]) == 2
            assert "another process is running mine; wait until it ends" in capsys.readouterr().err
        assert Path("mine.partial/scenario.toml").is_file()
    assert main([*given["resume"], *QUIET]) == 0
    assert sorted(os.listdir()) == ["mine", "mine.toml"]


@pytest.mark.usefixtures("_one_figure")
def test_figures_that_are_redrawn_are_replaced_as_a_whole(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["run", "mine.toml", "--out", "mine", "--quiet"]) == 0
    before = files("mine")

    def cut(*_: Any) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_folder, "report_html", cut)
    Path("mine/figures/gaps.svg").write_text("an earlier figure")
    assert main(["figures", "mine"]) == 130
    assert files("mine") == before | {"figures/gaps.svg": b"an earlier figure"}


def test_ctrl_c_stops_a_comparison_at_once(here: Path) -> None:
    Path("mine.toml").write_text(SCENARIO.replace("3000", "200000000"))
    played, first = [0], iter([True])

    def interrupt(rounds: int) -> None:
        if next(first, False):  # two threads call this, perhaps at the same time
            os.kill(os.getpid(), signal.SIGINT)
        played.append(rounds)

    chosen = compare.contenders("hedge,regret-matching")
    with pytest.raises(KeyboardInterrupt):
        compare.compare(read("mine.toml"), chosen, progress=interrupt)
    assert 0 < max(played) < 2 * 200000000
    assert threading.active_count() < 20


# Ctrl-C at moments when a KeyboardInterrupt cannot be caught.

LAUNCH = """
import atexit, runpy, signal, sys, weakref

def interrupt(*_):
    signal.raise_signal(signal.SIGINT)

def in_a_callback():
    thing = type("Thing", (), {})()
    keep.append(weakref.ref(thing, interrupt))

keep, moment = [], sys.argv.pop(1)
act = in_a_callback if moment == "callback" else interrupt
waited_for = {"import": "gamesim.cli.arguments", "callback": "pydantic", "library": "pydantic"}.get(moment)
if moment == "exit":
    atexit.register(interrupt)

def hook(event, given):
    global waited_for
    if event == "import" and given[0] == waited_for:
        waited_for = None
        act()

sys.addaudithook(hook)
runpy.run_module("gamesim", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("moment", ["import", "callback", "library", "exit"])
def test_ctrl_c_prints_no_traceback_whatever_the_moment(moment: str, here: Path) -> None:
    process = python(LAUNCH, moment, "check", "mine.toml", folder=here)
    _, errors = process.communicate(timeout=120)
    assert "Traceback" not in errors
    assert process.returncode in ((0,) if moment == "exit" else (130, -signal.SIGINT))


# Workers.

SWEEP = """
import slow
from gamesim.study import worker
from gamesim.study.pools import local

pool = local(2, preload=slow)()
print("started", flush=True)
pool.executor.submit(print)
"""
SLOW = """
import sys, time

if sys.argv[0] == "-c" and "forkserver" in sys.orig_argv[-1]:
    print("importing", flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "terminate"])
def test_a_fork_server_that_is_still_importing_ends_with_its_sweep(number: signal.Signals, tmp_path: Path) -> None:
    from tests.kill_campaign import members

    (tmp_path / "slow.py").write_text(SLOW)
    with python(SWEEP, folder=tmp_path, start_new_session=True) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == "started\n"
        assert process.stdout.readline() == "importing\n"
        os.kill(process.pid, number)
        process.wait()
        until = time.monotonic() + 5
        while (left := members(process.pid)) and time.monotonic() < until:
            time.sleep(0.01)
        for one in left:
            os.kill(one, signal.SIGKILL)
        assert not left


def test_ctrl_c_does_not_reach_a_fork_server_that_is_still_importing(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW.replace("60", "1"))
    code = SWEEP.replace("import slow", "import signal, slow\nsignal.signal(signal.SIGINT, lambda *_: None)")
    with python(f"{code}pool.close()", folder=tmp_path, start_new_session=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        assert process.stdout.readline() == "importing\n"
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=120)
    assert "Traceback" not in errors
    assert process.returncode == 0


def test_the_campaign_names_the_files_and_lines_that_differ(tmp_path: Path) -> None:
    from tests.kill_campaign import same

    for name, text in (("one", "same\nleft"), ("two", "same\nright\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(text)
    same(tmp_path / "one", tmp_path / "two", tmp_path / "one")
    (tmp_path / "one" / "more").touch()
    with pytest.raises(AssertionError, match=r"file, line 2: b'left' instead of b'right'\n  more is not expected"):
        same(tmp_path / "one", tmp_path / "two")


# Short campaigns; `make kills` runs the long one.

KILLS = int(os.environ.get("GAMESIM_KILLS", "1"))


def campaign(*given: str) -> str:
    command = [sys.executable, "-m", "tests.kill_campaign", *given]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_commands_survive_kills() -> None:
    printed = campaign("run", "compare", "study", "--kills", str(KILLS))
    assert printed.count("nothing lost, duplicated or left behind") == 3


def test_a_sweep_survives_kills_and_ctrl_c_without_a_traceback() -> None:
    kills = max(KILLS, 2)
    printed = campaign("sweep", "--signals", "SIGKILL,SIGINT,SIGTERM", "--kills", str(kills))
    assert f"sweep: {kills} kills" in printed
    assert all(f"| sweep | {name} |" in printed for name in ("SIGKILL", "SIGINT"))
