"""The joint distribution of play next to the nearest correlated equilibrium."""

import numpy as np
from matplotlib.figure import Figure

from gamesim import equilibrium
from gamesim.figures.curves import ZERO
from gamesim.figures.joint import matrix
from gamesim.figures.style import WIDTH, canvas, number, short, styled
from gamesim.game import Table
from gamesim.record import Record

CELLS = 1024  # largest game for which the linear program takes about a second


@styled
def nearest(record: Record) -> Figure | None:
    """Plot the joint distribution of play and the nearest correlated equilibrium.

    Parameters
    ----------
    record : Record
        The record of a run; with several replicas, the first one is drawn.

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
    game, joint = record.game, record[0].joint
    if joint is None or not isinstance(game, Table) or len(game.players) != 2 or game.cells > CELLS:
        return None
    near = equilibrium.polytope(game, "ce").nearest(joint)
    moved = float(np.abs(near - joint).sum() / 2)
    name = short(game.name, 40)
    which = "" if record.single else f" (replica 1 of {record.replicas})"
    title = (
        f"Play in {name} is within 10⁻⁹ of a correlated equilibrium, in total variation{which}"
        if moved <= ZERO
        else f"Play in {name} is at a distance of {number(100 * moved)}% from the nearest correlated equilibrium{which}"
    )
    top = float(max(joint.max(), near.max()))
    figure, panels = canvas(title, 2, size=(WIDTH, 3.6), sharey=True)
    for panel, cells, what in zip(panels, (joint, near), ("as played", "nearest CE"), strict=True):
        image = matrix(panel, cells, game.players, game.actions, top)
        panel.set_title(what)
    panels[1].set_ylabel("")
    figure.colorbar(image, ax=panels, label="probability")
    return figure
