"""Draw the figures of README and the explanations: `python docs/pictures.py` writes them to docs/images."""

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import gamesim
from gamesim import equilibrium, figures, games, scenario
from gamesim.figures.style import COLOURS, DARK, LIGHT, TIME, number, styled, write
from gamesim.figures.surface import canvas

IMAGES = Path(__file__).parent / "images"
HEIGHT = np.sqrt(3) / 2
PORTRAITS = {  # game and learner by the name of the picture
    "pennies": ("matching-pennies", "hedge"),
    "chicken": ("chicken", "replicator:step=0.2"),
    "coordination": ("stag-hunt", "replicator:step=0.2"),
    "rps": ("rock-paper-scissors", "hedge"),
    "rps-hedge": ("rock-paper-scissors", "hedge:rate=0.5"),
    "bad-rps": ("bad-rps", "hedge"),
    "good-rps": ("good-rps", "hedge"),
    "zeeman": ("zeeman", "replicator:step=0.2"),
    "zeeman-logit": ("zeeman", "logit:step=0.05:temperature=0.2"),
    "jordan": ("jordan", "hedge"),
}
ROUNDS = 300  # of the chase: the learner has found a good deviation but is still moving


@styled
def striking() -> None:
    """Draw Shapley's game with a learner that bounds external regret and one that bounds swap regret."""
    runs = {
        name: gamesim.simulate("shapley", name, rounds=20_000, perturb=0.2) for name in ("hedge", "wavelet-continuous")
    }
    title = "Shapley's game: with Hedge the CE gap stays large, with the wavelet learner it vanishes"
    figure, panels = canvas(title, 3, size=(10.5, 3.7), width_ratios=[1, 1, 1.35])
    for panel, (name, record) in zip(panels[:2], runs.items(), strict=True):
        _triangle(panel, record)
        panel.set_title(f"{name}", loc="left")
    for (name, record), colour, marker in zip(runs.items(), COLOURS, "os", strict=False):
        curve = record.curve
        for kind, line in (("ce", "-"), ("cce", ":")):
            label = f"{name}, {kind.upper()}"
            if (name, kind) == ("wavelet-continuous", "cce"):
                continue  # it is 0 from round 30
            shown = np.maximum(curve.gap(kind), 1e-7)
            panels[2].plot(curve.rounds, shown, line, color=colour, marker=marker, markevery=5, label=label)
    panels[2].set(xscale="log", yscale="log", ylim=(1e-4, 1), xlabel="rounds")
    for axis in (panels[2].xaxis, panels[2].yaxis):
        axis.set_major_formatter(lambda x, _: number(x))
    panels[2].set_title("gap: largest gain per round by deviating", loc="left")
    panels[2].legend(loc="lower left")
    write(figure, IMAGES / "shapley")


def _triangle(panel: Any, record: Any) -> None:
    """Draw the first player's strategies in the simplex of its three actions, with early rounds in light colours."""
    _, (strategies, _) = record.trajectory
    corners = np.array([[0, 0], [1, 0], [0.5, HEIGHT]])
    outline = corners[[0, 1, 2, 0]]
    panel.plot(*outline.T, color=LIGHT, linewidth=1.2)
    points = strategies @ corners
    panel.plot(*points.T, color=LIGHT, linewidth=0.6)
    panel.scatter(*points.T, c=np.arange(len(points)), cmap=TIME, s=5, zorder=3, linewidths=0)
    for corner, label, side in zip(corners, record.game.actions[0], ("left", "right", "center"), strict=True):
        below = corner[1] == 0
        panel.text(corner[0], corner[1] + (-0.03 if below else 0.03), label, ha=side, va="top" if below else "bottom")
    panel.set(xlim=(-0.05, 1.05), ylim=(-0.12, 1.05))
    panel.set_aspect("equal")
    panel.axis("off")


@styled
def payoffs() -> None:
    """Draw the total payoffs of learners and of equilibria in bad rock-paper-scissors."""
    game = games.make("bad-rps")
    names = ("hedge", "regret-matching", "internal-regret-matching", "blum-mansour", "wavelet-continuous")
    figure, (panel,) = canvas(
        "Bad rock-paper-scissors: which learners earn more than every correlated equilibrium?", size=(7.2, 3)
    )
    for place, name in enumerate(names):
        record = gamesim.simulate(game, name, rounds=20_000, perturb=0.2)
        swap = name not in ("hedge", "regret-matching")
        panel.plot(record.welfare, place, "os"[swap], color=COLOURS[swap], markersize=8)
    low, high = equilibrium.welfare_range(game, "cce")
    panel.axvspan(low, high, color=LIGHT, zorder=0, label="coarse correlated equilibria")
    panel.axvline(equilibrium.welfare_range(game, "ce")[1], color=DARK, label="correlated equilibria")
    panel.set(
        yticks=range(len(names)), yticklabels=names, xlabel="total payoff per round", xlim=(-0.8, 0.1), ylim=(-0.6, 6.4)
    )
    panel.legend(loc="upper center", frameon=True, facecolor="white", edgecolor="none", framealpha=1)
    write(figure, IMAGES / "bad-rps")


@styled
def wavelet(actions: int = 16) -> None:
    """Draw the matrices of the wavelet learner, stage by stage, in a game with a simple best deviation."""
    haar = np.zeros((actions, actions))
    haar[0] = 1
    for row in range(1, actions):
        half = row & -row
        haar[row, row - half : row], haar[row, row : row + half] = 1, -1
    chase = scenario.read(scenario.find("ordered-well"))  # places in the same room call for the same deviation
    record = chase.simulation().run(ROUNDS)
    learner, state = record.learners[0], record.arrays["continue_state"][0]
    parts = learner.parts(state, actions)
    improper = learner.own_parts(state, actions).improper.reshape(actions, actions)
    phi = parts.matrix.reshape(actions, actions)
    shown = {
        "1. Haar vectors (rows)": haar,
        "2. predicted matrix": improper,
        "3. φ: positive part, rows normalised": phi,
    }
    title = "Inside the wavelet learner: a matrix in a Haar basis, made stochastic, and its fixed point"
    figure, panels = canvas(title, 4, size=(11.5, 3.4))
    for panel, (name, matrix) in zip(panels, shown.items(), strict=False):
        largest = np.abs(matrix).max()
        panel.imshow(matrix, cmap="RdBu_r", vmin=-largest, vmax=largest)
        panel.set_title(name, loc="left")
        panel.set(xticks=range(0, actions, 4), yticks=range(0, actions, 4), xlabel="action")
        panel.grid(visible=False)
    panels[3].bar(range(actions), parts.strategy, color=COLOURS[0])
    panels[3].set_title("4. strategy: p = pφ", loc="left")
    panels[3].set(xticks=range(0, actions, 4), xlabel="action", box_aspect=1)
    write(figure, IMAGES / "wavelet-stages")


def chicken() -> None:
    """Draw the correlated equilibria of chicken and the joint distribution of play under Hedge."""
    record = gamesim.simulate("chicken", "hedge", rounds=10_000, perturb=0.5)
    drawn = figures.figure_functions()["tetrahedron"](record)
    if drawn is not None:
        figures.write(drawn, IMAGES / "chicken")


def portraits() -> None:
    """Draw the gallery of phase portraits, and a correlating device."""
    for name, (game, learner) in PORTRAITS.items():
        _write_small(figures.portrait(gamesim.portrait(game, learner)), f"portrait-{name}")
    device = equilibrium.obedience(games.make("chicken"), [[0.7, 0.2], [0.1, 0]])
    _write_small(figures.obedience(device), "device")
    record = gamesim.simulate("battle-of-the-sexes", "hedge", rounds=2000, replicas=40, start="random")
    drawn = figures.cloud(record)
    if drawn is not None:
        _write_small(drawn, "cloud")


def _write_small(figure: Any, name: str) -> None:
    """Write a picture with few colours, to keep the repository small."""
    path = IMAGES / f"{name}.png"
    figure.savefig(path, dpi=100, metadata={"Software": None})
    Image.open(path).convert("RGB").quantize(96).save(path, optimize=True)


def main() -> None:
    """Draw all pictures."""
    IMAGES.mkdir(exist_ok=True)
    portraits()
    for picture in (striking, payoffs, wavelet, chicken):
        picture()
    for drawing in ("shapley", "bad-rps", "wavelet-stages", "chicken"):
        (IMAGES / f"{drawing}.svg").unlink()  # only the PNG is committed, to keep the repository small


if __name__ == "__main__":
    main()
