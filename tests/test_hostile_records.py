"""Records that no run has left behind: they are refused, because compiled code would follow them out of its arrays."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import sealed
from gamesim.errors import InputError

pytestmark = pytest.mark.slow

ROUNDS = 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a record without checksums, as earlier versions wrote it."""
    record = gamesim.simulate("shapley", "hedge", ROUNDS, perturb=0.2, seed=3, observers=["dynamic-regret"])
    path = record.save(tmp_path / "record")
    (path / "manifest.json").write_text(json.dumps(sealed.examine(path / "manifest.json").content))
    assert gamesim.load(path).rounds == ROUNDS
    assert gamesim.Simulation.resume(gamesim.load(path)).run(1).rounds == ROUNDS + 1
    return path


def change(folder: Path, *keys: str, to: Any) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    table = manifest
    for key in keys[:-1]:
        table = table[key]
    table[keys[-1]] = to
    (folder / "manifest.json").write_text(json.dumps(manifest))


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (("rounds",), "20", "rounds must be of type int, got '20'"),
        (("rounds",), True, "rounds must be of type int, got True"),
        (("rounds",), -1, "rounds must be"),
        (("rounds",), 10**30, "rounds must be"),
        (("rounds",), ROUNDS - 1, "trajectory_rounds must increase, from 1 to 19 at most"),
        (("seed",), -1, "seed must be"),
        (("feedback",), "expcted", "unknown feedback 'expcted'; did you mean 'expected'?"),
        (("players",), [], "players and started must have 2 entries"),
        (("started",), [True], "players and started must have 2 entries"),
        (("players",), [{"learner": 5, "settings": {}}] * 2, "expected the name of a learner and a table of settings"),
        (("players",), [{"learner": "a.py:B", "settings": 5}] * 2, "the name of a learner and a table of settings"),
        (("game", "name"), 5, "names and labels must be text, got 5"),
        (("game", "kind"), "NetworkGame", "not a complete record"),
        (("game", "players"), ["A"], "not a complete record"),
        (("settings", "checkpoints"), 0, "settings.checkpoints must be"),
        (("settings", "random"), {}, "settings.random must be a list of 1"),
        (("settings", "protocol"), {"noise": 0.5}, "settings.noise must be a list of 1"),
        (("settings", "noise"), True, "settings.noise must be a list of 0, got True"),
        (("settings", "python_random"), False, "settings.python_random must be a list of 1, got False"),
        (("settings", "python_random"), [5], "settings.python_random must be tables, got 5"),
        (("settings", "states"), [1], r"settings.states must be a list of 2, got \[1\]"),
        (("settings", "states"), [1, -1], "settings.states must be"),
        (("settings", "observers"), [], "settings.observers must be a table"),
        (("settings", "observers"), {"dynamic-regret": 3}, "observed must be an array of float64 of shape"),
        (("settings", "observers"), {"alternating-regret": 6}, "does not hold the totals of alternating-regret"),
    ],
)
def test_a_manifest_must_be_that_of_a_run(folder: Path, keys: tuple[str, ...], value: Any, message: str) -> None:
    change(folder, *keys, to=value)
    with pytest.raises(InputError, match=message):
        gamesim.load(folder)


Change = Callable[[np.ndarray[Any, Any]], Any]


@pytest.mark.parametrize(
    ("name", "to", "message"),
    [
        ("average", lambda a: a[:, :-1], r"average must be an array of float64 of shape \(1, 6\), got .*\(1, 5\)"),
        ("average", lambda a: a.astype(">f8"), "average must be an array of float64 .* got >f8"),
        ("average", lambda a: a.astype(np.int64), "average must be an array of float64 .* got int64"),
        ("joint", lambda a: np.full_like(a, np.nan), "joint must be finite and grow by at most 2 per round"),
        ("joint", lambda a: 1e300 * a, "joint must be finite and grow by at most 2 per round"),
        ("checkpoint_joint", lambda a: a[:, :2], "checkpoint_joint must be an array"),
        ("checkpoints", lambda a: a[::-1], "checkpoints and trajectory_rounds must increase"),
        ("trajectory", lambda a: a[:, :2], "trajectory must be an array"),
        ("trajectory", lambda a: a + np.inf, "trajectory must be strategies"),
        ("observed", lambda a: a + 10**9, "observed does not hold the totals of dynamic-regret"),
        ("continue_state", lambda a: a[:0], "continue_state must have one row for each of the 1 replicas, got 0"),
        ("continue_observed", lambda a: a + 10**9, "continue_observed does not hold the totals of dynamic-regret"),
    ],
)
def test_arrays_must_be_those_of_a_run(folder: Path, name: str, to: Change, message: str) -> None:
    path = folder / f"{name}.npy"
    np.save(path, to(np.load(path)))
    with pytest.raises(InputError, match=message):
        gamesim.load(folder)


@pytest.mark.parametrize(
    ("name", "to", "message"),
    [
        ("continue_state", lambda a: a[:, :-1], "continue_state must be an array of float64 of shape"),
        ("continue_state", lambda a: a[:, :1], "continue_state must be an array of float64 of shape"),
        ("continue_strategies", lambda a: a[:, :1], "continue_strategies must be an array"),
        ("continue_strategies", lambda a: a[:, 0, 0], "continue_strategies must be an array"),
        ("continue_strategies", lambda a: a[:, :8], "that an earlier version of gamesim began cannot be continued"),
        ("continue_kept", lambda a: a[:, :2], "continue_kept must be an array of int64 of shape"),
        ("continue_kept", lambda a: a * [1, 0, 1, 1] + [0, 10**9, 0, 0], "the trajectory in this record is not one"),
        ("continue_kept", lambda a: a * [1, 0, 1, 1] - [0, 10**9, 0, 0], "the trajectory in this record is not one"),
        ("continue_kept", lambda a: a * [0, 1, 1, 1], "the trajectory in this record is not one"),
        ("continue_kept", lambda a: a * [1, 1, 1, 0] + [0, 0, 0, 1], "the trajectory in this record is not one"),
    ],
)
def test_a_run_is_not_resumed_from_a_state_that_it_cannot_have(
    folder: Path, name: str, to: Change, message: str
) -> None:
    path = folder / f"{name}.npy"
    np.save(path, to(np.load(path)))
    with pytest.raises(InputError, match=message):
        gamesim.Simulation.resume(gamesim.load(folder))


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (("settings", "random"), [{}], "the random state in this record is invalid"),
        (("settings", "random"), [None], "the random state in this record is invalid"),
        (("settings", "protocol"), {"seed": 5}, "the protocol in this record is invalid"),
        (("settings", "protocol"), {"dealy": 5}, "the protocol in this record is invalid"),
        (("settings", "protocol"), {"delay": 3}, "continue_pending must be an array"),
        (("settings", "trajectory"), "every", "the trajectory in this record is not one"),
        (("settings", "trajectory"), "windows", "the trajectory in this record is not one"),
    ],
)
def test_a_run_is_not_resumed_with_other_settings(
    folder: Path, keys: tuple[str, ...], value: Any, message: str
) -> None:
    change(folder, *keys, to=value)
    with pytest.raises(InputError, match=message):
        gamesim.Simulation.resume(gamesim.load(folder))


def test_a_header_with_a_pickle_is_not_followed(folder: Path) -> None:
    np.save(folder / "average.npy", np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"average\.npy must be numbers or labels, got an array of object"):
        gamesim.load(folder)


HOSTILE_STATES = """
import sys
import numpy as np
import gamesim

def play(name, part, value):
    game = gamesim.games.make("uniform", actions=[100, 2], seed=1)
    simulation = gamesim.Simulation(game, [name, "uniform"], horizon=100)
    simulation.run(3)
    simulation._tracks[0].state[part] = value
    simulation.run(3)

for name in sys.argv[1:]:
    for value in (1e9, -1e9, 1e18, -1.0, 100.0, np.nan, np.inf, -np.inf):
        play(name, slice(None), value)
        play(name, slice(None, None, 2), value)
"""


@pytest.mark.parametrize("names", [("internal-regret-matching", "stoltz-lugosi"), ("wavelet", "wavelet-continuous")])
def test_no_state_leads_a_kernel_out_of_its_arrays(names: tuple[str, ...]) -> None:
    """Run in another process, which a kernel would crash."""
    done = subprocess.run([sys.executable, "-c", HOSTILE_STATES, *names], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_no_class_is_run_for_a_damaged_reference(folder: Path) -> None:
    change(folder, "players", to=[{"learner": "a.py:B", "settings": {"rows": {"learner": 5}}}] * 2)
    record = gamesim.load(folder)
    assert repr(record.learners[0]) == "B(rows=5)"
    with pytest.raises(InputError, match="this run has the user-defined learner 5: to resume it"):
        gamesim.Simulation.resume(record)
