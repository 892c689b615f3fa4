"""Watching a run: the bar on a terminal, and Ctrl-C in each of its moments."""

import io
import os
import signal

import numpy as np
import pytest
from rich.console import Console

from gamesim.cli.progress import run_watched
from gamesim.interrupts import Stop
from gamesim.simulation import Simulation

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")


def terminal() -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=100)


def shown_on(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_bar_shows_speed_and_gap_and_changes_nothing() -> None:
    console = terminal()
    with Stop() as stop:
        watched = run_watched(Simulation("shapley", "hedge", perturb=0.2), 5000, "shapley", console, stop)
    assert "rounds/s" in shown_on(console) and "CE gap" in shown_on(console)
    alone = Simulation("shapley", "hedge", perturb=0.2).run(5000)
    np.testing.assert_array_equal(watched.joint, alone.joint)


def test_the_gap_so_far_is_that_of_the_record() -> None:
    simulation = Simulation("bad-rps", "hedge", perturb=0.2, replicas=3)
    record = simulation.run(101)
    assert simulation.gap("ce") == pytest.approx(np.mean(record.gap("ce")), abs=1e-12)


def test_the_first_ctrl_c_ends_the_rounds_and_the_second_raises() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Stop() as stop:
        stop.at_once = False
        signal.raise_signal(signal.SIGINT)
        assert stop.wished
        assert run_watched(Simulation("chicken", "hedge"), 10**9, "chicken", Console(quiet=True), stop).rounds < 10**9
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_ctrl_c_after_the_rounds_takes_the_quicker_way_once() -> None:
    def slow() -> str:
        signal.raise_signal(signal.SIGINT)
        return "slow"

    with Stop() as stop:
        assert stop.or_else(lambda: "slow", lambda: "quick") == "slow"
        assert not stop.wished
        assert stop.or_else(slow, lambda: "quick") == "quick"
        with pytest.raises(KeyboardInterrupt):
            stop.or_else(slow, lambda: "quick")


def test_ctrl_c_before_the_rounds_raises() -> None:
    with Stop(), pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
