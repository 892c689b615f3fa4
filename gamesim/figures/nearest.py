"""The joint beside the correlated equilibrium nearest to it."""

import numpy as np
from matplotlib.figure import Figure

from gamesim import equilibrium
from gamesim.figures.joint import matrix
from gamesim.figures.style import WIDTH, canvas, number, short, styled
from gamesim.game import Table
from gamesim.record import Record

CELLS = 1024  # of a joint up to which the linear program takes about a second


@styled
def nearest(record: Record) -> Figure | None:
    """The joint of two players, and beside it the CE that is nearest in total variation.

    >>> import gamesim
    >>> from gamesim import figures
    >>> record = gamesim.simulate("shapley", "hedge", rounds=1000, perturb=0.2)
    >>> figures.title_of(figures.nearest(record))
    'To make the joint of shapley a correlated equilibrium, 24.5% of play has to move'
    """
    game, joint = record.game, record[0].joint
    if joint is None or not isinstance(game, Table) or len(game.players) != 2 or game.cells > CELLS:
        return None
    near = equilibrium.polytope(game, "ce").nearest(joint)
    moved = float(np.abs(near - joint).sum() / 2)
    name = short(game.name, 40)
    which = "" if record.single else f" (replica 1 of {record.replicas})"
    title = (
        f"The joint of {name} is itself a correlated equilibrium{which}"
        if moved < 1e-9
        else f"To make the joint of {name} a correlated equilibrium, {number(100 * moved)}% of play has to move{which}"
    )
    top = float(max(joint.max(), near.max()))
    figure, panels = canvas(title, 2, size=(WIDTH, 3.6), sharey=True)
    for panel, cells, what in zip(panels, (joint, near), ("as played", "nearest CE"), strict=True):
        image = matrix(panel, cells, game.players, game.actions, top)
        panel.set_title(what)
    panels[1].set_ylabel("")
    figure.colorbar(image, ax=panels, label="probability")
    return figure
