"""List and describe learners, games, scenarios and studies."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid

from gamesim import equilibrium, games, players, scenario, user_files
from gamesim.cli.docstrings import Documentation, documentation, flowing
from gamesim.errors import InputError, did_you_mean
from gamesim.formatting import number
from gamesim.game import Game, Table
from gamesim.games.io.files import FORMATS
from gamesim.games.nash import nash_equilibria
from gamesim.learner import PLAIN_REGRETS, default_guarantee
from gamesim.measure.distance import why_left_out
from gamesim.measure.incentives import EQUILIBRIUM_KINDS, pure_nash
from gamesim.report.ending import mixture
from gamesim.report.terminal import payoff_grids
from gamesim.scenario import Scenario
from gamesim.study import model as study

CELLS_SHOWN = 200  # largest payoff table that is printed
PLAYERS_WITH_RANGE = 4  # most players whose payoffs in correlated equilibria are printed one by one
CAN_BE_LISTED = {
    "learners": "learning algorithms, grouped by guarantee",
    "games": "games, with their sizes",
    "scenarios": "a game and learners, ready to run",
    "studies": "scenarios with varied learners, games or settings",
    "literature": "published results, each with a claim and a scenario",
}


def list_kinds(console: Console) -> None:
    """Print what can be listed, with the commands."""
    grid = _rows()
    for kind, description in CAN_BE_LISTED.items():
        grid.add_row(f"gamesim list {kind}", description)
    console.print(grid)


def list_learners(console: Console) -> None:
    """Print the learners, grouped by what they guarantee."""
    promises = {name: default_guarantee(learner) for name, learner in players.available().items()}
    for kind in (*reversed(PLAIN_REGRETS), None):
        found = {name: promise for name, promise in promises.items() if (promise.regret if promise else None) == kind}
        if found:
            heading = f"bounded {kind} regret" if kind else "no guarantee"
            console.print(f"\n{heading}", style="bold")
            grid = _rows()
            for name in sorted(found):
                promise = found[name]
                grid.add_row(
                    name,
                    documentation(players.available()[name]).first_line + (f"\n≤ {promise.formula}" if promise else ""),
                )
            console.print(grid)
    console.print(
        "\nBounds on total regret: T rounds, d actions, losses in [-1, 1]. Details: gamesim show NAME", style="dim"
    )


def list_games(console: Console) -> None:
    """Print the games with their sizes."""
    grid = _rows()
    for name, make in sorted(games.available().items()):
        grid.add_row(name, f"({_size(_default(make))}) {documentation(make).first_line}")
    console.print(grid)
    console.print("\nSizes are for the default settings. Details: gamesim show NAME", style="dim")


def list_scenarios(console: Console) -> None:
    """Print the built-in scenarios with their titles."""
    grid = _rows()
    for name, path in scenario.shipped().items():
        grid.add_row(name, scenario.read(path).title)
    console.print(grid)
    console.print("\nRun a scenario: gamesim run NAME. Details: gamesim show NAME", style="dim")


def list_studies(console: Console) -> None:
    """Print the built-in studies with their titles."""
    grid = _rows()
    for name, path in study.shipped().items():
        shown = study.read(path)
        grid.add_row(name, shown.title or shown.comment.split("\n")[0])
    console.print(grid)
    console.print(
        "\nRun a study: gamesim sweep NAME. Estimate its running time: gamesim sweep NAME --dry-run", style="dim"
    )


def list_literature(console: Console) -> None:
    """Print the published results with their claims."""
    from gamesim.literature import entries  # it imports matplotlib

    grid = _rows()
    for name, one in entries().items():
        grid.add_row(name, one.claim)
    console.print(grid)
    console.print("\nMeasure one: gamesim literature NAME. Run its scenario: gamesim run literature/NAME", style="dim")


def show(name: str, console: Console) -> None:
    """Describe every learner, game and scenario with this name, or the scenario or game at this path."""
    learners, known_games, shipped = players.available(), games.available(), scenario.shipped()
    parts: list[Callable[[], None]] = []
    if name in learners:
        parts.append(lambda: _show_learner(name, console))
    if name in known_games:
        parts.append(lambda: _show_game(name, console))
    if name in shipped or name.endswith(".toml"):
        parts.append(lambda: _show_scenario(name, console, with_game=name not in known_games))
    if not parts and Path(name).suffix.lower() in FORMATS:
        parts.append(lambda: _show_file(name, console))
    if not parts:
        known = [*learners, *known_games, *shipped]
        hint = did_you_mean(name, known)
        hint = hint if hint.startswith("did") else "see `gamesim list`"
        raise InputError(f"unknown learner, game or scenario {name!r}; {hint}")
    for k, part in enumerate(parts):
        if k:
            console.print()
        part()


def describe_scenario(shown: Scenario) -> str:
    """Return a one-line summary of a scenario."""
    game = shown.played_game
    learners = [shown.everyone.learner] if shown.everyone else [one.learner for one in shown.players or []]
    replicas = "" if shown.replicas is None else f", {shown.replicas} replicas"
    named = " and ".join(dict.fromkeys(map(user_files.shown, learners)))
    protocol = [
        *([f"{shown.order} moves"] if shown.order != "simultaneous" else []),
        *([f"delay {shown.delay:,}"] if shown.delay else []),
        *([f"noise {number(shown.noise)}"] if shown.noise else []),
    ]
    return ", ".join(
        [
            f"{game.name} ({_size(game)})",
            named,
            f"{shown.rounds:,} round{'' if shown.rounds == 1 else 's'}",
            f"{' and '.join(dict.fromkeys(shown.feedbacks))} feedback{replicas}",
            *protocol,
            f"seed {shown.seed}",
        ]
    )


def _show_learner(name: str, console: Console) -> None:
    kind = players.available()[name]
    console.print(f"learner {name}", style="bold")
    documented = documentation(kind)
    _show_text(documented, console)
    console.print()
    _show_settings(kind, documented, console)
    promise = default_guarantee(kind)
    console.print(f"Guarantee: {promise or 'none'}")
    if promise:
        console.print("  for T rounds, d actions and losses in [-1, 1]")
    console.print(f"Feedback: {', '.join(kind.feedback)}")
    _show_references(documented, console)


def _show_game(name: str, console: Console) -> None:
    make = games.available()[name]
    console.print(f"game {name}", style="bold")
    documented = documentation(make)
    _show_text(documented, console)
    console.print()
    _show_settings(make, documented, console)
    game = _default(make)
    if game is not None:
        _show_played(game, console)
    _show_references(documented, console)


def _show_file(name: str, console: Console) -> None:
    game = games.load(name)
    console.print(f"game {game.name}", style="bold")
    console.print(name, style="dim", soft_wrap=True)
    _show_played(game, console)


def _show_played(game: Game, console: Console) -> None:
    """Print the players of a game and, if it has a payoff table, its payoffs and equilibria."""
    console.print(f"\nPlayers: {', '.join(game.players[:12])}{' …' if len(game.players) > 12 else ''} ({_size(game)})")
    if isinstance(game, Table):
        _show_table(game, console)


def _show_table(game: Table, console: Console) -> None:
    """Print the payoffs of a small game, its Nash equilibria and the payoffs in its correlated equilibria."""
    if game.cells <= CELLS_SHOWN and max(game.sizes[1:], default=1) <= 8:
        for heading, grid in payoff_grids(game):
            console.print(heading)
            console.print(grid)
    cells = np.argwhere(pure_nash(game))  # millions, if all payoffs are equal
    found = [
        "(" + ", ".join(labels[a] for labels, a in zip(game.actions, cell, strict=True)) + ")" for cell in cells[:12]
    ]
    more = f" and {len(cells) - 12} more" if len(cells) > 12 else ""
    console.print(f"\nPure Nash equilibria: {', '.join(found) or 'none'}{more}")
    if len(game.players) == 2:
        _show_mixed(game, console)
    _show_welfare(game, console)


def _show_mixed(game: Table, console: Console) -> None:
    """Print the mixed Nash equilibria of a two-player game, and whether there may be more."""
    nash = nash_equilibria(game)
    found = [profile for profile in nash.profiles if max(map(np.count_nonzero, profile)) > 1]
    none = "none" if nash.is_complete else "none found"
    console.print(f"Mixed Nash equilibria:{'' if found else f' {none}'}")
    for profile in found[:12]:
        plays = [
            f"{who} {mixture(own, labels)}"
            for who, own, labels in zip(game.players, profile, game.actions, strict=True)
        ]
        console.print(Padding("; ".join(plays), (0, 0, 0, 2)))
    if len(found) > 12:
        console.print(f"  and {len(found) - 12} more")
    if not nash.is_complete:
        console.print(f"Equilibria may be missing: {nash.note}.", style="dim")


def _show_welfare(game: Table, console: Console) -> None:
    """Print the range of the total payoff over equilibria, or why it is not computed, and the maximum possible."""
    pay, missing = [], {}
    for kind in EQUILIBRIUM_KINDS:
        if (why := why_left_out(game)) is None:
            try:
                low, high = equilibrium.welfare_range(game, kind)
                pay.append(f"in {kind.upper()} {number(low)} to {number(high)}")
                if kind == "ce" and len(game.players) <= PLAYERS_WITH_RANGE:
                    console.print(f"Payoff per round in CE: {_ranges(game)}")
            except ArithmeticError as error:
                why = str(error)
        if why is not None:
            missing[kind.upper()] = why
    pay.append(f"maximum possible {number(float(game.payoffs.sum(axis=0).max()))}")
    console.print(f"Total payoff per round: {', '.join(pay)}")
    if len(set(missing.values())) == 1:
        missing = {" and ".join(missing): why for why in missing.values()}
    for kinds, why in missing.items():
        console.print(f"Its range in {kinds} is not computed: {why}.", style="dim")


def _ranges(game: Table) -> str:
    """Return the range of each player's payoff over all correlated equilibria."""
    equilibria = equilibrium.polytope(game, "ce")
    ranges = []
    for player, weights in enumerate(np.eye(len(game.players))):
        low, high = (equilibria.payoffs(equilibria.optimum(sign * weights))[player] for sign in (-1.0, 1.0))
        ranges.append(f"{game.players[player]} {number(low)} to {number(high)}")
    return ", ".join(ranges)


def _show_scenario(name: str, console: Console, *, with_game: bool) -> None:
    path = scenario.find(name)
    shown = scenario.read(path)
    console.print(f"scenario {path.stem}: {shown.title}", style="bold")
    console.print(flowing(shown.comment))
    console.print()
    console.print(describe_scenario(shown))
    console.print(str(path), style="dim", soft_wrap=True)
    if with_game:
        _show_played(shown.played_game, console)


def _show_text(shown: Documentation, console: Console) -> None:
    """Print the first line, the text and the notes of a docstring."""
    console.print(shown.first_line)
    for part in filter(None, (shown.text, shown.notes)):
        console.print()
        console.print(part)


def _show_references(shown: Documentation, console: Console) -> None:
    if shown.references:
        console.print("\nReferences:")
        for line in filter(None, shown.references.split("\n")):
            console.print(Padding(line, (0, 0, 0, 2)))


def _show_settings(make: Callable[..., Any], shown: Documentation, console: Console) -> None:
    takes = inspect.signature(make).parameters.values()
    if not takes:
        console.print("Settings: none")
        return
    console.print("Settings:")
    grid = _rows()
    for one in takes:
        kind = inspect.formatannotation(one.annotation).replace("collections.abc.", "").replace("typing.", "")
        default = "" if one.default is one.empty else f" = {'unset' if one.default is None else one.default}"
        described = shown.parameters.get(one.name, "")
        grid.add_row(
            f"  {one.name}", f"{kind.replace(' | None', '')}{default}" + (f"\n{described}" if described else "")
        )
    console.print(grid)


def _default(make: Callable[..., Game]) -> Game | None:
    """Return a game with its default settings, or None if a setting has no default."""
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
    """Return an empty table of names and descriptions."""
    grid = Grid(box=None, show_header=False, padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    return grid
