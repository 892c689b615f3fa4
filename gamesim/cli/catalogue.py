"""What there is: learners, games, scenarios and studies, as lists and one by one."""

import inspect
import re
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table as Grid

from gamesim import equilibrium, games, players, scenario
from gamesim.errors import InputError, did_you_mean
from gamesim.formatting import number
from gamesim.game import Game, Table
from gamesim.games.io.files import FORMATS
from gamesim.learner import PLAIN_REGRETS, default_guarantee
from gamesim.report.summary import why_left_out
from gamesim.scenario import Scenario
from gamesim.study import model as study

CELLS_SHOWN = 200  # of a payoff table


def list_learners(console: Console) -> None:
    """Print the learners, grouped by what they guarantee."""
    promises = {name: default_guarantee(learner) for name, learner in players.available().items()}
    for kind in (*reversed(PLAIN_REGRETS), None):
        found = {name: promise for name, promise in promises.items() if (promise.regret if promise else None) == kind}
        if found:
            heading = f"guarantee no {kind} regret" if kind else "guarantee nothing"
            console.print(f"\n{heading}", style="bold")
            grid = _rows()
            for name in sorted(found):
                promise = found[name]
                grid.add_row(
                    name, _first_line(players.available()[name]) + (f"\n≤ {promise.formula}" if promise else "")
                )
            console.print(grid)
    console.print("\nT rounds, d actions, losses in [-1, 1]. Details: gamesim show NAME", style="dim")


def list_games(console: Console) -> None:
    """Print the games with their sizes."""
    grid = _rows()
    for name, make in sorted(games.available().items()):
        grid.add_row(name, f"({_size(_default(make))}) {_first_line(make)}")
    console.print(grid)
    console.print("\nSizes are those of the default settings. Details: gamesim show NAME", style="dim")


def list_scenarios(console: Console) -> None:
    """Print the shipped scenarios with their titles."""
    grid = _rows()
    for name, path in scenario.shipped().items():
        grid.add_row(name, scenario.read(path).title)
    console.print(grid)
    console.print("\nRun one: gamesim run NAME. What to look for: gamesim show NAME", style="dim")


def list_studies(console: Console) -> None:
    """Print the shipped studies with their titles."""
    grid = _rows()
    for name, path in study.shipped().items():
        shown = study.read(path)
        grid.add_row(name, shown.title or shown.comment.split("\n")[0])
    console.print(grid)
    console.print("\nWhat one takes: gamesim sweep NAME --dry-run. Run it: gamesim sweep NAME", style="dim")


def show(name: str, console: Console) -> None:
    """Print everything of this name: a learner, a game, a scenario, or a scenario or a game by its path."""
    learners, known_games, shipped = players.available(), games.available(), scenario.shipped()
    parts: list[Callable[[], None]] = []
    if name in learners:
        parts.append(lambda: _show_learner(name, console))
    if name in known_games:
        parts.append(lambda: _show_game(name, console))
    if name in shipped or name.endswith(".toml"):
        parts.append(lambda: _show_scenario(name, console))
    if not parts and Path(name).suffix.lower() in FORMATS:
        parts.append(lambda: _show_file(name, console))
    if not parts:
        known = [*learners, *known_games, *shipped]
        hint = did_you_mean(name, known)
        hint = hint if hint.startswith("did") else "see gamesim list learners, games, scenarios or studies"
        raise InputError(f"there is no learner, game or scenario called {name!r}: {hint}")
    for k, part in enumerate(parts):
        if k:
            console.print()
        part()


def scenario_in_a_line(shown: Scenario) -> str:
    """Say a scenario in one line."""
    game = shown.played_game
    learners = [shown.everyone.learner] if shown.everyone else [one.learner for one in shown.players or []]
    replicas = "" if shown.replicas is None else f", {shown.replicas} replicas"
    return (
        f"{game.name} ({_size(game)}), {' and '.join(dict.fromkeys(learners))}, {shown.rounds:,} rounds, "
        f"{shown.feedback} feedback{replicas}, seed {shown.seed}"
    )


def _show_learner(name: str, console: Console) -> None:
    kind = players.available()[name]
    console.print(f"learner {name}", style="bold")
    console.print(_documentation(kind))
    promise = default_guarantee(kind)
    console.print(
        f"\nGuarantee: {promise or 'none'}" + (" (T rounds, d actions, losses in [-1, 1])" if promise else "")
    )
    console.print(f"Feedback: {', '.join(kind.feedback)}")
    _show_settings(kind, console)


def _show_game(name: str, console: Console) -> None:
    make = games.available()[name]
    console.print(f"game {name}", style="bold")
    console.print(_documentation(make))
    _show_settings(make, console)
    game = _default(make)
    if game is not None:
        _show_played(game, console)


def _show_file(name: str, console: Console) -> None:
    game = games.load(name)
    console.print(f"game {game.name}", style="bold")
    console.print(name, style="dim", soft_wrap=True)
    _show_played(game, console)


def _show_played(game: Game, console: Console) -> None:
    """Print a game's players and, if it has a table, what is in it."""
    console.print(f"\nPlayers: {', '.join(game.players[:12])}{' …' if len(game.players) > 12 else ''} ({_size(game)})")
    if isinstance(game, Table):
        _show_table(game, console)


def _show_table(game: Table, console: Console) -> None:
    """Print the payoffs of a small game, its pure Nash equilibria, and what its equilibria pay in all."""
    if game.cells <= CELLS_SHOWN and max(game.sizes[1:], default=1) <= 8:
        for heading, grid in _payoff_grids(game):
            console.print(heading)
            console.print(grid)
    found = [
        "(" + ", ".join(labels[a] for labels, a in zip(game.actions, cell, strict=True)) + ")"
        for cell in np.argwhere(_pure_nash(game))
    ]
    more = f" and {len(found) - 12} more" if len(found) > 12 else ""
    console.print(f"\nPure Nash equilibria: {', '.join(found[:12]) or 'none'}{more}")
    if why_left_out(game, 1, "auto") is None:
        ends = {kind: equilibrium.welfare_range(game, kind) for kind in ("ce", "cce")}
        pay = [f"{kind.upper()} {number(low)} to {number(high)}" for kind, (low, high) in ends.items()]
        console.print(f"Total payoff: {', '.join(pay)}, the most there is {number(equilibrium.optimum(game))}")


def _pure_nash(game: Table) -> NDArray[np.bool_]:
    """Return where nobody gains by another action, up to rounding."""
    best = [table >= table.max(axis=i, keepdims=True) - 1e-12 for i, table in enumerate(game.payoffs)]
    return np.asarray(np.logical_and.reduce(best))


def _payoff_grids(game: Table) -> Iterator[tuple[str, Grid]]:
    """Give a table of the first two players' actions for each choice of the others'."""
    rows, columns = game.actions[0], game.actions[1] if len(game.actions) > 1 else ("payoff",)
    payoffs: Any = game.payoffs if len(game.players) > 1 else game.payoffs[..., None]
    for others in product(*map(range, game.sizes[2:])):
        chosen = [
            f"{who} plays {labels[a]}"
            for who, labels, a in zip(game.players[2:], game.actions[2:], others, strict=True)
        ]
        grid = Grid(*("", *columns), box=None, header_style="dim", padding=(0, 3, 0, 0))
        for a, label in enumerate(rows):
            cells = [", ".join(number(u) for u in payoffs[(slice(None), a, b, *others)]) for b in range(len(columns))]
            grid.add_row(label, *cells)
        yield "\n" + "; ".join(chosen) if chosen else "", grid


def _show_scenario(name: str, console: Console) -> None:
    path = scenario.find(name)
    shown = scenario.read(path)
    console.print(f"scenario {path.stem}: {shown.title}", style="bold")
    console.print(_flowing(shown.comment))
    console.print()
    console.print(scenario_in_a_line(shown))
    console.print(str(path), style="dim", soft_wrap=True)


def _show_settings(make: Callable[..., Any], console: Console) -> None:
    takes = inspect.signature(make).parameters.values()
    if not takes:
        console.print("Settings: none")
        return
    console.print("Settings:")
    grid = _rows()
    for one in takes:
        kind = inspect.formatannotation(one.annotation).replace("collections.abc.", "").replace("typing.", "")
        default = "" if one.default is one.empty else f" = {'unset' if one.default is None else one.default}"
        grid.add_row(f"  {one.name}", f"{kind.replace(' | None', '')}{default}")
    console.print(grid)


def _documentation(thing: object) -> str:
    """Return what the docstring says, up to its examples."""
    return _flowing((inspect.getdoc(thing) or "").split(">>>")[0].rstrip())


def _flowing(text: str) -> str:
    r"""Join the lines of a paragraph, so that the terminal breaks them; "Source:" and the like begin a new line.

    >>> _flowing("One\ntwo.\n\nSource: a\nbook.\nTeaches: much.")
    'One two.\n\nSource: a book.\nTeaches: much.'
    """
    return re.sub(r"(?<!\n)\n(?!\n|[A-Z][a-z]+: )", " ", text)


def _first_line(thing: object) -> str:
    return (inspect.getdoc(thing) or "").split("\n")[0]


def _default(make: Callable[..., Game]) -> Game | None:
    """Return a game with its default settings, if it has a default for each."""
    needs = [one for one in inspect.signature(make).parameters.values() if one.default is one.empty]
    return None if needs else make()


def _size(game: Game | None) -> str:
    if game is None:
        return "any"
    if len(game.sizes) <= 3:
        return "×".join(map(str, game.sizes)) + ("" if len(game.sizes) > 1 else " actions")
    if len(set(game.sizes)) == 1:
        return f"{len(game.sizes):,} players × {game.sizes[0]}"
    return f"{len(game.sizes):,} players"


def _rows() -> Grid:
    """Return an empty table of names and what is said of them."""
    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    return grid
