"""Progress of a running simulation, and Ctrl-C that stops it without losing rounds."""

from collections.abc import Callable
from time import perf_counter

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn

from gamesim.formatting import rate
from gamesim.interrupts import Stop
from gamesim.record import Record
from gamesim.simulation import Simulation

Keep = Callable[[Simulation], object]

BAR_EVERY, GAP_EVERY = 0.1, 0.25  # seconds
GAP_SHARE = 0.05  # of the running time may be spent on the gap in the progress bar


def run_watched(
    simulation: Simulation, rounds: int, name: str, console: Console, stop: Stop, keep: Keep | None = None
) -> Record:
    """Run up to round `rounds` or until Ctrl-C; on a terminal, show the speed and the current CE gap.

    `keep` is called many times per second, to write checkpoints.
    """
    stop.at_once = False  # from now on there are rounds to keep
    so_far = f" ({simulation.rounds:,} already played)" if simulation.rounds else ""
    console.print(
        f"running {name}: {rounds:,} round{'' if rounds == 1 else 's'}{so_far}, seed {simulation.seed}", style="dim"
    )
    left = rounds - simulation.rounds
    if left == 0:  # killed after the last round, before the run folder was written
        return simulation.record()
    if not console.is_terminal or console.quiet:
        return simulation.run(left, progress=_Watch(stop, keep))
    columns: tuple[ProgressColumn, ...] = (
        BarColumn(bar_width=None),
        TextColumn("{task.percentage:>3.0f}%"),
        TextColumn("{task.fields[speed]} rounds/s", justify="right"),
        TextColumn("CE gap {task.fields[gap]}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=console, transient=True, expand=True, refresh_per_second=10) as progress:
        return simulation.run(left, progress=_WatchWithBar(progress, simulation.rounds, rounds, stop, keep))


class _Watch:
    """Called by the simulation many times per second: writes checkpoints and returns whether to stop."""

    def __init__(self, stop: Stop, keep: Keep | None) -> None:
        self._stop, self._keep = stop, keep

    def __call__(self, simulation: Simulation) -> bool:
        if self._keep is not None:
            self._keep(simulation)
        return self._stop.wished


class _WatchWithBar(_Watch):
    """Also updates the progress bar at intervals."""

    def __init__(self, progress: Progress, first: int, rounds: int, stop: Stop, keep: Keep | None) -> None:
        super().__init__(stop, keep)
        self._progress, self._first = progress, first
        self._task = progress.add_task("", total=rounds, completed=first, speed="–", gap="–")
        self._began = perf_counter()
        self._next_bar = self._next_gap = self._began

    def __call__(self, simulation: Simulation) -> bool:
        now = perf_counter()
        if now >= self._next_gap:
            gap = simulation.gap("ce")
            took = perf_counter() - now
            self._next_gap = now + max(GAP_EVERY, took / GAP_SHARE)
            self._progress.update(self._task, gap=f"{gap:.3g}")
        if now >= self._next_bar:
            speed = (simulation.rounds - self._first) / max(now - self._began, 1e-9)
            self._progress.update(self._task, completed=simulation.rounds, speed=rate(speed))
            self._next_bar = now + BAR_EVERY
        return super().__call__(simulation)
