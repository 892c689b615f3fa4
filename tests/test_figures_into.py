"""Figures drawn into axes and figures of the user's: what is drawn, and what stays as it was."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import gamesim
from gamesim import InputError, Record, figures

pytestmark = pytest.mark.slow

matplotlib.use("agg")


@cache
def run(game: str, **settings: Any) -> Record:
    return gamesim.simulate(gamesim.games.make(game, **settings), "hedge", rounds=60, perturb=0.3, seed=1)


@cache
def alone() -> Record:
    """Return a run of one player with three actions, whose figures have one panel."""
    return gamesim.face("hedge", [[0.3, -0.4, 0.9], [0.5, 0.2, -1.0]], rounds=60)


SEVERAL = {"a": run("chicken"), "b": run("matching-pennies")}
ONE_PANEL: dict[str, Callable[..., Figure | None]] = {
    "joint": lambda **into: figures.joint(run("chicken"), **into),
    "joint-bars": lambda **into: figures.joint(run("public-goods"), **into),
    "tetrahedron": lambda **into: figures.tetrahedron(run("chicken"), **into),
    "payoff-space": lambda **into: figures.payoff_space(run("shapley"), **into),
    "network": lambda **into: figures.network(run("network-coordination"), **into),
    "network-actions": lambda **into: figures.network(run("polymatrix"), **into),
    "gaps": lambda **into: figures.gaps(run("network-coordination"), **into),
    "compare": lambda **into: figures.compare(SEVERAL, **into),
    "strategies": lambda **into: figures.strategies(alone(), **into),
    "strategies-crowd": lambda **into: figures.strategies(run("network-coordination"), **into),
    "triangles": lambda **into: figures.triangles(alone(), **into),
    "profile": lambda **into: figures.profile(alone(), **into),
    "phase-space": lambda **into: figures.phase_space(run("chicken"), **into),
}
SEVERAL_PANELS: dict[str, Callable[..., Figure | None]] = {
    "cloud": lambda **into: figures.cloud(gamesim.simulate("chicken", "hedge", 60, replicas=3, perturb=0.3), **into),
    "frequencies": lambda **into: figures.frequencies(gamesim.observed("chicken", [[0, 1], [1, 1]] * 9), **into),
    "joint": lambda **into: figures.joint(run("jordan"), **into),
    "gaps": lambda **into: figures.gaps(run("shapley"), **into),
    "regrets": lambda **into: figures.regrets(run("shapley"), **into),
    "profile": lambda **into: figures.profile(run("shapley"), **into),
    "strategies": lambda **into: figures.strategies(run("shapley"), **into),
    "triangles": lambda **into: figures.triangles(run("shapley"), **into),
    "nearest": lambda **into: figures.nearest(run("shapley"), **into),
    "tetrahedra": lambda **into: figures.tetrahedra(SEVERAL, **into),
}


def test_every_public_figure_can_be_drawn_into_axes_or_a_figure() -> None:
    drawn: list[Any] = [*figures.figure_functions().values(), figures.compare, figures.tetrahedra]
    assert all({"ax", "fig"} <= set(inspect.signature(one).parameters) for one in drawn)
    tested = {name.partition("-")[0] for name in (*ONE_PANEL, *SEVERAL_PANELS)}
    assert {one.__name__.partition("_")[0] for one in drawn} == tested


def _artists(panel: Axes) -> list[Any]:
    """Return what is drawn in a panel, as numbers and texts."""
    found: list[Any] = [one.get_xydata() for one in panel.lines]
    found += [one.get_path().vertices for one in panel.patches]
    found += [path.vertices for one in panel.collections for path in one.get_paths()]
    found += [one.get_offsets() for one in panel.collections] + [one.get_array() for one in panel.images]
    return [np.round(np.ma.filled(one, 0), 9).tolist() for one in found] + [one.get_text() for one in panel.texts]


@pytest.mark.parametrize("name", ONE_PANEL)
def test_axes_are_drawn_into_and_nothing_else_changes(name: str) -> None:
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    left.plot([1, 2], [3, 4])
    figure.draw_without_rendering()
    settings, place = dict(matplotlib.rcParams), [one.get_position().bounds for one in (left, right)]
    others = (_artists(left), left.get_title(), left.get_xlim(), left.get_ylim(), left.get_legend())
    assert ONE_PANEL[name](ax=right) is figure
    figure.draw_without_rendering()
    own = ONE_PANEL[name]()
    assert own is not None and own is not figure
    assert _artists(right) == _artists(own.axes[0]) and _artists(right)
    assert " ".join(right.get_title(loc="left").split()).startswith(figures.title_of(own))
    assert (_artists(left), left.get_title(), left.get_xlim(), left.get_ylim(), left.get_legend()) == others
    assert figure.get_suptitle() == "" and not figure.legends and figure.axes == [left, right]
    assert dict(matplotlib.rcParams) == settings
    assert figure.get_size_inches().tolist() == [9, 4] and figure.get_layout_engine() is None
    spots = [one.get_position(original=True).bounds for one in (left, right)]
    assert spots == place
    plt.close(figure)


@pytest.mark.parametrize("name", [*ONE_PANEL, *SEVERAL_PANELS])
def test_a_given_figure_holds_the_same_panels(name: str) -> None:
    draw = (ONE_PANEL | SEVERAL_PANELS)[name]
    figure, own = plt.figure(figsize=(8, 5)), draw()
    assert own is not None and draw(fig=figure) is figure
    assert [_artists(one) for one in figure.axes] == [_artists(one) for one in own.axes]
    assert figures.title_of(figure) == figures.title_of(own)
    assert figure.get_size_inches().tolist() == [8, 5]
    figure.draw_without_rendering()
    plt.close(figure)


def test_subfigures_stay_apart() -> None:
    figure = plt.figure(figsize=(12, 5), layout="constrained")
    subfigures: Any = figure.subfigures(1, 2)
    left, right = subfigures
    panel = left.subplots()
    assert figures.regrets(run("shapley"), fig=right) is figure
    assert left.axes == [panel] and not panel.has_data() and len(right.axes) == 3
    assert figure.get_suptitle() == "" and right.get_suptitle() != ""
    plt.close(figure)


@pytest.mark.parametrize("name", SEVERAL_PANELS)
def test_one_ax_for_several_panels_is_refused(name: str) -> None:
    figure, panel = plt.subplots()
    with pytest.raises(InputError, match=r"^this figure has \d panels for this run, .*; give fig=\.\.\.$"):
        SEVERAL_PANELS[name](ax=panel)
    assert not panel.has_data() and panel.get_title(loc="left") == ""
    plt.close(figure)


def test_other_things_are_refused() -> None:
    figure, panels = plt.subplots(1, 2)
    polar = plt.figure().add_subplot(projection="polar")
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"ax": panels}, "ax must be one matplotlib Axes, got ndarray"),
        ({"ax": polar}, "ax must have rectangular coordinates, got polar axes"),
        ({"ax": panels[0], "fig": figure}, "ax and fig exclude each other"),
        ({"fig": panels[0]}, "fig must be a matplotlib Figure or SubFigure, got Axes"),
        ({"fig": figure}, "fig must be empty"),
    ]
    for into, words in wrong:
        with pytest.raises(InputError, match=words):
            figures.joint(run("chicken"), **into)
    plt.close("all")
