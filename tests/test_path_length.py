"""The path length and the last strategies, against every round stepped one by one."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import players

pytestmark = pytest.mark.slow


def stepped(game: str, learners: Any, rounds: int, **options: Any) -> Any:
    """Return the strategies of every round, concatenated over players, by steps of one round."""
    simulation = gamesim.Simulation(game, learners, **options)
    return np.array([np.concatenate(simulation.run(1).last) for _ in range(rounds)])


@pytest.mark.parametrize("feedback", ["expected", "sampled"])
@pytest.mark.parametrize("game", ["battle-of-the-sexes", "shapley"])
def test_path_length_is_the_sum_of_all_steps(game: str, feedback: Any) -> None:
    learners: Any = ["hedge", "regret-matching"]
    options: Any = {"perturb": 0.4, "seed": 3, "feedback": feedback}
    rounds = 1037  # no multiple of a block, and beyond the rows that a trajectory keeps
    every = stepped(game, learners, rounds, **options)
    record = gamesim.simulate(game, learners, rounds, **options)
    steps = np.abs(np.diff(every, axis=0)).reshape(rounds - 1, 2, -1).sum(axis=2).sum(axis=0)
    assert np.allclose(record.measure("path-length"), steps, rtol=1e-12)
    assert (np.concatenate(record.last) == every[-1]).all()


def test_it_is_counted_per_replica_and_at_every_checkpoint() -> None:
    record = gamesim.simulate("shapley", "hedge", 500, perturb=0.3, replicas=3)
    along = record.curve.measure("path-length")
    assert along.shape == (3, len(record.curve.rounds), 2)
    assert (np.diff(along, axis=1) >= 0).all() and (along[:, 0] == 0).all()
    assert (along[:, -1] == record.measure("path-length")).all()
    assert len({tuple(path) for path in record.measure("path-length")}) == 3


def test_a_record_of_an_older_version_has_none(tmp_path: Path) -> None:
    path = gamesim.simulate("chicken", "hedge", 50).save(tmp_path / "old")
    manifest = json.loads((path / "manifest.json").read_text())
    new = [name for name in manifest["arrays"] if name.rpartition("_")[2] in ("path", "last")]
    manifest["arrays"] = [name for name in manifest["arrays"] if name not in new]
    for seal in ("checksum", "checksums"):
        del manifest[seal]
    (path / "manifest.json").write_text(json.dumps(manifest))
    for name in new:
        (path / f"{name}.npy").unlink()
    old = gamesim.load(path)
    assert np.isnan(old.measure("path-length")).all() and old.gap("ce") >= 0


def test_a_period_of_two_is_seen_as_moving() -> None:
    game = gamesim.Table.from_payoffs([[[-2, -1], [-1, -2]], [[-2, -1], [-1, -2]]])
    start = [[0.2, 0.8], [0.2, 0.8]]
    record = gamesim.simulate(game, players.make("hedge", rate=3.0), 1000, start=start)
    late = record.curve_from(500).measure("path-length")
    moved = (late[-1] - late[0]) / (1000 - record.curve_from(500).rounds[0])
    assert (moved > 0.5).all()
