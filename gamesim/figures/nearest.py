"""The joint distribution of play next to the nearest correlated equilibrium."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from gamesim import equilibrium
from gamesim.figures.curves import ZERO
from gamesim.figures.joint import joint_of, matrix
from gamesim.figures.style import WIDTH, number, short, styled
from gamesim.figures.surface import surface
from gamesim.game import Table
from gamesim.record import Record

CELLS = 1024  # largest game for which the linear program takes about a second


@styled
def nearest(record: Record, *, ax: Axes | None = None, fig: Figure | SubFigure | None = None) -> Figure | None:
    """Plot the joint distribution of play and the nearest correlated equilibrium.

    Parameters
    ----------
    record : Record
        The record of a run; with several replicas, their mean is drawn.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into, if the figure has one panel for this run.
    fig : matplotlib.figure.Figure or SubFigure, optional
        An empty figure to draw into. By default a new one.

    Returns
    -------
    matplotlib.figure.Figure or None
        The figure; the equilibrium is the nearest in total variation.
        None unless the game is a payoff table of two players and not too large.

    Examples
    --------
    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
    >>> figures.title_of(figures.nearest(record))
    'Play in shapley is at a distance of 24.5% from the nearest correlated equilibrium'
    """
    game, joint = record.game, joint_of(record)
    if joint is None or not isinstance(game, Table) or len(game.players) != 2 or game.cells > CELLS:
        return None
    near = equilibrium.polytope(game, "ce").nearest(joint)
    moved = float(np.abs(near - joint).sum() / 2)
    name = short(game.name, 40)
    which = "" if record.single else f" (mean of {record.replicas} replicas)"
    title = (
        f"Play in {name} is within 10⁻⁹ of a correlated equilibrium, in total variation{which}"
        if moved <= ZERO
        else f"Play in {name} is at a distance of {number(100 * moved)}% from the nearest correlated equilibrium{which}"
    )
    top = float(max(joint.max(), near.max()))
    drawing = surface(title, 2, size=(WIDTH, 3.6), ax=ax, fig=fig, sharey=True)
    panels = drawing.panels
    for panel, cells, what in zip(panels, (joint, near), ("as played", "nearest CE"), strict=True):
        image = matrix(panel, cells, game.players, game.actions, top)
        panel.set_title(what)
    panels[1].set_ylabel("")
    drawing.colorbar(image, panels, "probability")
    return drawing.figure
