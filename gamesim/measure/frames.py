"""Measures as a tidy table of pandas and as a dataset of xarray, both optional."""

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gamesim.errors import InputError
from gamesim.game import Game
from gamesim.measure.registry import Per

TRAJECTORY = "trajectory"  # the strategies of all recorded rounds, which are more than the checkpoints
MAIN = (
    "ce-gap",
    "cce-gap",
    "nash-gap",
    "payoffs",
    "external-regret",
    "internal-regret",
    "swap-regret",
    "average-strategies",
    "last-strategies",
)


class Column(NamedTuple):
    """A measure over rounds; its values have the axes replica, round, and then those of `per`."""

    unit: str
    per: Per
    rounds: NDArray[np.int64]
    values: NDArray[np.float64]


def required(name: str, method: str) -> Any:
    """Return an optional library, or raise an InputError that says how to install it."""
    try:
        return import_module(name)
    except ImportError:
        raise InputError(f"{method} requires {name}; install it with: pip install 'gamesim[{name}]'") from None


def to_pandas(game: Game, columns: Mapping[str, Column], *, single: bool) -> Any:
    """Return one row per value, with the columns replica (unless single), round, player, action, measure and value."""
    pandas = required("pandas", "to_pandas")
    labels = list(dict.fromkeys(label for of_player in game.actions for label in of_player))
    parts = [_long(game, labels, name, column) for name, column in columns.items()]
    measure = np.repeat(np.arange(len(parts)), [len(part["value"]) for part in parts])
    found = {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
    categories = {"player": list(game.players), "action": labels}
    table: dict[str, Any] = {} if single else {"replica": found["replica"]}
    table["round"] = found["round"]
    for key, names in categories.items():
        table[key] = pandas.Categorical.from_codes(found[key], names)
    table["measure"] = pandas.Categorical.from_codes(measure, list(columns))
    table["value"] = found["value"]
    return pandas.DataFrame(table)


def _long(game: Game, labels: Sequence[str], name: str, column: Column) -> dict[str, NDArray[Any]]:
    """Return the values of a measure one below the other, with the number of their player and action, or -1."""
    code = {label: k for k, label in enumerate(labels)}
    shape = column.values.shape
    per = _per(game, name, column)
    if per == "cell":
        raise InputError(
            f"{name} has one number per action profile, which a table by player and action cannot hold; "
            "use record.to_xarray, or record.measure"
        )
    who = {
        "run": np.array([-1]),
        "player": np.arange(len(game.players)),
        "action": np.repeat(np.arange(len(game.players)), game.sizes),
    }[per]
    what = np.array([code[label] for of_player in game.actions for label in of_player])
    replica, rounds, entry = (axis.ravel() for axis in np.indices((*shape[:2], len(who))))
    return {
        "replica": replica,
        "round": column.rounds[rounds],
        "player": who[entry],
        "action": what[entry] if per == "action" else np.full(len(entry), -1),
        "value": column.values.ravel(),
    }


def _per(game: Game, name: str, column: Column) -> Per:
    """Return what a measure has one number for; a function of the user's must have one per run."""
    if column.per != "any":
        return column.per
    if column.values.ndim > 2:
        raise InputError(f"{name} must give one number per run to be exported, got shape {column.values.shape[2:]}")
    return "run"


def to_xarray(game: Game, columns: Mapping[str, Column], *, single: bool, attributes: Mapping[str, Any]) -> Any:
    """Return one variable per measure, with named dimensions, labels and units."""
    xarray = required("xarray", "to_xarray")
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {"player": list(game.players), **_actions(game)}
    for name, column in columns.items():
        time = "recorded_round" if name == TRAJECTORY else "round"
        per, values = _per(game, name, column), column.values
        across = {"run": (), "player": ("player",), "action": ("player", "action"), "cell": _profile(game)}[per]
        if per == "action":
            values = _padded(game, values)
        if per == "cell":
            coordinates |= dict(zip(across, map(list, game.actions), strict=True))
        dimensions = (*(() if single else ("replica",)), time, *across)
        variables[name] = (dimensions, values[0] if single else values, {"units": column.unit})
        coordinates[time] = column.rounds
    if not single:
        coordinates["replica"] = np.arange(len(next(iter(columns.values())).values))
    return xarray.Dataset(variables, coordinates, dict(attributes))


def _profile(game: Game) -> tuple[str, ...]:
    """Return the dimensions of a joint distribution, one per player."""
    return tuple(f"action of {player}" for player in game.players)


def _actions(game: Game) -> dict[str, Any]:
    """Return the coordinates of actions: their labels, or if players have different ones, numbers and a table."""
    if len(set(game.actions)) == 1:
        return {"action": list(game.actions[0])}
    most = max(game.sizes)
    table = [[*labels, *[""] * (most - len(labels))] for labels in game.actions]
    return {"action": np.arange(most), "label": (("player", "action"), table)}


def _padded(game: Game, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values over all players' actions with an axis for players; NaN where a player has fewer actions."""
    result = np.full((*values.shape[:-1], len(game.players), max(game.sizes)), np.nan)
    for i, part in enumerate(np.split(values, np.cumsum(game.sizes)[:-1], axis=-1)):
        result[..., i, : game.sizes[i]] = part
    return result
