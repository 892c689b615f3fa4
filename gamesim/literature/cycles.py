"""Fictitious play and its relatives: where averages cycle for ever, and where they converge."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gamesim
from gamesim import equilibrium, games
from gamesim.figures.style import COLOURS, number, styled
from gamesim.figures.triangles import CORNERS, frame
from gamesim.literature.drawing import axes, bars, legend, shared_legend, sheet, thinned
from gamesim.literature.entry import DERIVED, Reference, Result, at_least, at_most, entry, equal, scaled

Vector = NDArray[np.float64]

GOLDEN = (1 + np.sqrt(5)) / 2  # the root of x² = x + 1
SUPERGOLDEN = 1.4655712318767680  # the root of x³ = x² + 1
TRIANGLE = np.array([np.roll([4, 1, 2], k) for k in range(3)]) / 7


@entry(
    "shapley-1964",
    Reference("Shapley", 1964, "Some topics in two-person games", "Section 5"),
    "In a 3×3 game, fictitious play cycles through six action profiles in runs whose lengths grow exponentially, so "
    "that the average strategies never converge.",
)
def growing_runs(size: float) -> Result:
    """Play Shapley's game, and count the rounds between changes of the action profile."""
    opening = [[0.6, 0.3, 0.1], [0.5, 0.2, 0.3]]
    record = gamesim.simulate("shapley", "fictitious-play", scaled(200_000, size), opening=opening, trajectory="every")
    starts, lengths = _runs(record)
    profiles = {tuple(int(one[start].argmax()) for one in record.trajectory[1]) for start in starts[6:]}
    ratios = lengths[-4:] / lengths[-5:-1]
    return Result(
        [
            equal("action profiles in the cycle", 6, len(profiles), 0, "Section 5"),
            equal("largest length of a run, relative to the run before", SUPERGOLDEN, ratios.max(), 0.01, DERIVED),
            equal("smallest length of a run, relative to the run before", SUPERGOLDEN, ratios.min(), 0.01, DERIVED),
        ],
        lambda: _growth(
            "Shapley's game: each run of fictitious play is 1.466 times as long as the run before",
            lengths,
            SUPERGOLDEN,
            record,
        ),
        "The publication proves that runs grow exponentially, and gives no rate. Solving for runs in a geometric "
        "progression gives the ratio λ with λ³ = λ² + 1, which is the number compared here.",
    )


def _runs(record: gamesim.Record[float]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where runs of the same action profile begin, and the lengths of those that are complete."""
    profiles = np.stack([one.argmax(axis=1) for one in record.trajectory[1]], axis=1)
    starts = np.flatnonzero((profiles[1:] != profiles[:-1]).any(axis=1)) + 1
    return starts[:-1], np.diff(starts)


def _averages(record: gamesim.Record[float], player: int) -> Vector:
    """Return the average strategy of a player up to each round."""
    played = record.trajectory[1][player]
    found: Vector = np.cumsum(played, axis=0) / np.arange(1, len(played) + 1)[:, None]
    return found


@entry(
    "jordan-1993",
    Reference(
        "Jordan",
        1993,
        "Three problems in learning mixed-strategy Nash equilibria",
        "the example of three-player pennies",
    ),
    "In matching pennies for three players, the averages of fictitious play approach a cycle around the only "
    "equilibrium instead of the equilibrium.",
)
def three_player_pennies(size: float) -> Result:
    """Play Jordan's game, and follow the Nash gap of the averages."""
    heads = [[1.0, 0.0]] * 3
    record = gamesim.simulate(
        "jordan", "fictitious-play", scaled(200_000, size, 100_000), opening=heads, trajectory="every"
    )
    _, lengths = _runs(record)
    averages = np.stack([2 * _averages(record, player)[:, 0] - 1 for player in range(3)], axis=1)
    gaps = _gaps_in_pennies(averages)
    late = gaps[len(gaps) // 10 :]
    openings = gamesim.simulate("jordan", "fictitious-play", 2001, perturb=1.0, replicas=40)
    converged = int((openings.nash_gap() < 0.05).sum())
    return Result(
        [
            equal("smallest Nash gap in the last nine tenths", 1 / GOLDEN**2, float(late.min()), 0.002, DERIVED),
            equal("largest Nash gap in the last nine tenths", GOLDEN / 4, float(late.max()), 0.002, DERIVED),
            equal(
                "length of the last run, relative to the run before", GOLDEN, lengths[-1] / lengths[-2], 0.01, DERIVED
            ),
        ],
        lambda: _orbit("Jordan's game: the averages of fictitious play cycle", averages, gaps),
        "The publication states that the averages cycle, and gives none of these numbers. They are those of the limit "
        "cycle, solved here by hand: runs grow by the golden ratio φ, and the Nash gap of the averages varies between "
        "φ⁻² ≈ 0.382 and φ/4 ≈ 0.405. The start is our choice too: all players open with heads. Not every opening "
        f"leads to this cycle: from {converged} of 40 random ones, every run has one round, and the averages converge "
        "to the equilibrium.",
    )


def _gaps_in_pennies(averages: Vector) -> Vector:
    """Return the largest gain from deviating, for the averages of ±1 for heads and tails."""
    faced = np.stack([averages[:, 1], averages[:, 2], -averages[:, 0]], axis=1)
    gains: Vector = (np.abs(faced) - faced * averages).max(axis=1)
    return gains


@entry(
    "gaunersdorfer-hofbauer-1995",
    Reference(
        "Gaunersdorfer and Hofbauer",
        1995,
        "Fictitious play, Shapley polygons, and the replicator equation",
        "the section on rock-scissors-paper games",
    ),
    "In rock-paper-scissors where a loss costs twice what a win gains, fictitious play and the time averages of the "
    "replicator equation approach the same triangle, with vertices (4, 2, 1)/7 in cyclic order.",
)
def same_triangle(size: float) -> Result:
    """Start both players at the same strategy, and measure the distance of averages from the triangle."""
    start = [[0.5, 0.3, 0.2]] * 2
    record = gamesim.simulate("bad-rps", "fictitious-play", scaled(200_000, size), opening=start, trajectory="every")
    played = _averages(record, 0)
    turns = played[_runs(record)[0] - 1]
    path = gamesim.flow("bad-rps", max(100_000.0 * size, 5000.0), start=start, points=2001)
    flown = path.averages[0]
    return Result(
        [
            at_most("distance of a vertex from the last turn of fictitious play", 0.002, _nearest(turns[-1:])),
            at_most(
                "distance of fictitious play from the triangle, second half", 0.002, _apart(played[len(played) // 2 :])
            ),
            at_most("distance of the replicator equation's averages from it, second half", 0.002, _apart(flown[1000:])),
        ],
        lambda: _triangle("Both averages approach the triangle with vertices (4, 2, 1)/7", played, flown),
        "The publication gives the triangle as the limit; the distance of 0.002 is ours, for these runs. Scissors "
        "come before rock, and paper after it, so that in the order rock, paper, scissors a vertex is (4, 1, 2)/7. "
        "The same start for both players makes the game one of a single population, as in the publication.",
    )


def _nearest(points: Vector) -> float:
    """Return the largest distance of points from the nearest vertex."""
    return float(np.linalg.norm(points[:, None] - TRIANGLE, axis=2).min(axis=1).max())


def _apart(points: Vector) -> float:
    """Return the largest distance of points from the triangle."""
    distances = []
    for a, b in zip(TRIANGLE, np.roll(TRIANGLE, 1, axis=0), strict=True):
        along = np.clip((points - a) @ (b - a) / ((b - a) @ (b - a)), 0, 1)
        distances.append(np.linalg.norm(points - a - along[:, None] * (b - a), axis=1))
    return float(np.min(distances, axis=0).max())


@entry(
    "monderer-shapley-1996",
    Reference(
        "Monderer and Shapley", 1996, "Fictitious play property for games with identical interests", "main theorem"
    ),
    "In every potential game, fictitious play converges to the set of Nash equilibria.",
)
def potential_games(size: float) -> Result:
    """Play random potential games of three players, and Jordan's game for comparison."""
    rounds, gaps = scaled(100_000, size, 10_000), []
    for seed in range(scaled(40, size, 8)):
        game = games.make("potential", actions=[2, 3, 4], seed=seed)
        record = gamesim.simulate(game, "fictitious-play", rounds, perturb=0.5, seed=seed)
        gaps.append(np.asarray(record.curve.nash_gap()))
    jordan = gamesim.simulate("jordan", "fictitious-play", rounds, opening=[[1, 0]] * 3)
    at, final = record.curve.rounds, np.array(gaps)[:, -1]
    return Result(
        [
            at_most("largest Nash gap of the averages at the end", 100 / rounds, float(final.max())),
            at_least("for comparison, Nash gap in Jordan's game", 0.38, float(jordan.nash_gap())),
        ],
        lambda: _convergence(
            "Potential games: fictitious play converges to a Nash equilibrium", at, np.array(gaps), jordan
        ),
        "The theorem has no rate; the limit of 100 / rounds is ours.",
    )


@entry(
    "viossat-zapechelnyuk-2013",
    Reference(
        "Viossat and Zapechelnyuk", 2013, "No-regret dynamics and fictitious play", "the example of the Hannan set"
    ),
    "Coarse correlated equilibria (the Hannan set) can put all weight on strictly dominated actions, but no-regret "
    "learners based on regrets behave like fictitious play and give them up.",
)
def dominated_actions(size: float) -> Result:
    """Test an equilibrium on dominated actions, and play the game with regret matching."""
    game = games.make("dominated-twins")
    late = np.zeros(game.sizes)
    late[2, 2] = late[3, 3] = 0.5  # always late, at a place chosen by a public coin
    dominated = np.ones(game.sizes)
    dominated[:2, :2] = 0
    played = gamesim.simulate(game, "regret-matching", scaled(20_000, size, 1000), perturb=0.9, replicas=10)
    weights = {
        "a CCE": float((late * dominated).sum()),
        "every CE": max(float((one * dominated).sum()) for one in equilibrium.polytope(game, "ce").vertices()),
        "regret matching,\nworst of 10 runs": float((np.asarray(played.joint) * dominated).sum(axis=(1, 2)).max()),
    }
    first, second, third = weights.values()
    return Result(
        [
            equal(
                "gain from a fixed action, always late", 0.0, equilibrium.gap(game, late, "cce"), 1e-12, "the example"
            ),
            equal("weight of dominated profiles in this equilibrium", 1.0, first, 1e-12, DERIVED),
            equal("largest weight in a correlated equilibrium", 0.0, second, 1e-9, DERIVED),
            at_most("largest weight under regret matching", 0.02, third),
        ],
        lambda: bars(
            "All weight of a coarse correlated equilibrium can be on dominated actions",
            weights,
            "weight of profiles with a dominated action",
        ),
        "The observation is the publication's; the game here, of meeting at one of two places and being late, is "
        "constructed. The publication gives no number for learners; the limit of 0.02 is ours.",
    )


@styled
def _growth(title: str, lengths: NDArray[np.int64], ratio: float, record: gamesim.Record[float]) -> Figure:
    figure, (runs, path) = sheet(title, rows=2, height=2.8)
    runs.plot(np.arange(1, len(lengths) + 1), lengths, "o", color=COLOURS[0], label="length of the run")
    last = np.arange(5, len(lengths) + 1)
    runs.plot(
        last, lengths[-1] * ratio ** (last - len(lengths)), color=COLOURS[1], label=f"growth by {number(ratio)} per run"
    )
    axes(runs, "number of the run", "rounds in the run", "y")
    legend(runs, 2)
    _in_triangle(path, _averages(record, 0), COLOURS[0], "average strategy of Row", record.game.actions[0])
    path.set_title("average strategy of Row")
    return figure


def _in_triangle(panel: Axes, averages: Vector, colour: str, label: str, names: tuple[str, ...], **look: Any) -> None:
    """Draw a path of averages, at rounds in equal ratios, in which its cycles take equal numbers of points."""
    frame(panel, names)
    at = np.unique(np.geomspace(1, len(averages), 1500).astype(int)) - 1
    panel.plot(*(averages[at] @ CORNERS).T, color=colour, label=label, **look)


@styled
def _orbit(title: str, averages: Vector, gaps: Vector) -> Figure:
    figure, (path, over_time) = sheet(title, rows=2, height=2.9)
    at = np.unique(np.geomspace(10, len(averages), 1500).astype(int)) - 1
    shares = (averages[at] + 1) / 2
    path.plot(shares[:, 0], shares[:, 1], color=COLOURS[0], label="averages")
    path.plot(0.5, 0.5, "*", color=COLOURS[1], mec="black", ms=11, label="Nash equilibrium", linestyle="none")
    axes(path, "First, share of heads", "Second, share of heads", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    path.legend(loc="center left", bbox_to_anchor=(1.03, 0.5), borderaxespad=0)
    over_time.plot(*thinned(at + 1, gaps[at], log=True), color=COLOURS[0], label="averages of fictitious play")
    over_time.axhspan(1 / GOLDEN**2, GOLDEN / 4, color=COLOURS[1], alpha=0.3, label="limit cycle: 0.382 to 0.405")
    axes(over_time, "round", "Nash gap", "x", ylim=(0, 0.6))
    legend(over_time, 1)
    return figure


@styled
def _triangle(title: str, played: Vector, flown: Vector) -> Figure:
    figure, panels = sheet(title, columns=2, height=2.9)
    pairs = ((played[9:], "averages of fictitious play"), (flown[1:], "averages of the replicator equation"))
    for panel, (averages, name), colour in zip(panels, pairs, (COLOURS[0], COLOURS[3]), strict=True):
        closed = np.vstack([TRIANGLE, TRIANGLE[:1]]) @ CORNERS
        _in_triangle(panel, averages, colour, name, ("rock", "paper", "scissors"), linewidth=1)
        panel.plot(
            *closed.T, color=COLOURS[1], marker="o", linestyle="--", label="published: (4, 2, 1)/7 and rotations"
        )
    shared_legend(figure, panels)
    return figure


@styled
def _convergence(title: str, rounds: NDArray[np.int64], gaps: Vector, jordan: gamesim.Record[float]) -> Figure:
    figure, (panel,) = sheet(title, height=3.3)
    lines = panel.plot(rounds, np.maximum(gaps, 1e-7).T, color=COLOURS[0], linewidth=0.7)
    lines[0].set_label(f"{len(gaps)} random potential games, 2×3×4")
    panel.plot(
        jordan.curve.rounds, jordan.curve.nash_gap(), color=COLOURS[1], label="Jordan's game, not a potential game"
    )
    axes(panel, "round", "Nash gap of the averages", "xy")
    legend(panel)
    return figure
