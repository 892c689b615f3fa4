"""Congestion games: small steps lead to pure equilibria, large ones to cycles of two rounds and then to chaos."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.optimize import brentq

import gamesim
from gamesim import games
from gamesim.figures.style import COLOURS, number, styled
from gamesim.literature.drawing import axes, legend, shared_legend, sheet
from gamesim.literature.entry import Reference, Result, above, at_least, at_most, entry, equal, scaled

Vector = NDArray[np.float64]

UNEQUAL, EQUAL = (0.25, 0.35), (0.25, 0.25)  # cost of each of two roads, per driver on it


def _two_roads(costs: tuple[float, float]) -> gamesim.Table:
    """Return the game of two drivers who choose between two roads, whose cost is proportional to their load."""
    row = -np.array([[2 * costs[0], costs[0]], [costs[1], 2 * costs[1]]])
    return gamesim.Table.from_payoffs([row, row.T], name="two-roads")


def _shares(costs: tuple[float, float], rate: float, rounds: int, first: float = 0.3) -> Vector:
    """Return the share of the first road in every round, if both drivers play Hedge from the same start."""
    learner = gamesim.players.make("hedge", rate=f"{rate} per payoff")
    record = gamesim.simulate(
        _two_roads(costs), [learner, learner], rounds, start=[[first, 1 - first]] * 2, trajectory="every"
    )
    return np.asarray(record.trajectory[1][0][:, 0])


def _next_share(share: Vector, step: Vector | float, target: float) -> Vector:
    """Return the share of the next round, by the map to which the publications reduce the game."""
    after: Vector = share / (share + (1 - share) * np.exp(step * (share - target)))
    return after


def _lyapunov(shares: Vector, step: float) -> float:
    """Return the mean logarithm of the derivative of the map along a run: positive if nearby starts drift apart."""
    return float(np.log(np.abs(1 - step * shares * (1 - shares))).mean())


class _LinearWeights:
    """Multiply the probability of each road by 1 - ε · cost: the linear variant of multiplicative weights."""

    game = _two_roads(UNEQUAL)

    def __init__(self, actions: int) -> None:
        self.strategy = np.array([0.3, 0.7])

    def play(self) -> Vector:
        return self.strategy

    def observe(self, loss: Vector) -> None:
        costs = self.game.scale[0] * loss - self.game.middle[0]  # at most 0.7
        weights = self.strategy * (1 - 1.4 * costs)
        self.strategy = weights / weights.sum()


@entry(
    "palaiopanos-2017",
    Reference(
        "Palaiopanos, Panageas and Piliouras",
        2017,
        "Multiplicative weights update with constant step-size in congestion games: convergence, limit cycles and "
        "chaos",
        "Section 4",
    ),
    "With a large constant step, two drivers on two roads who play Hedge run into a cycle of two rounds if the roads "
    "are equal, and can be chaotic if they differ, while the linear variant of multiplicative weights converges.",
)
def two_drivers(size: float) -> Result:
    """Let two drivers start alike, with the step of 40 per unit of cost, and look for a cycle of three rounds."""
    rounds, step, target = scaled(20_000, size, 1000), 40 * sum(UNEQUAL), 0.75
    equal_roads, unequal = _shares(EQUAL, 40, rounds), _shares(UNEQUAL, 40, rounds)
    linear = gamesim.simulate(_two_roads(UNEQUAL), _LinearWeights, 400, trajectory="every").trajectory[1][0][:, 0]

    def after_three(share: float) -> float:
        return float(_third(np.array(share), step, target) - share)

    grid = np.linspace(0.01, 0.7, 500)
    found = np.flatnonzero(np.diff(np.sign([after_three(one) for one in grid])))[0]
    cycle = _shares(UNEQUAL, 40, 4, first=float(brentq(after_three, grid[found], grid[found + 1], xtol=1e-15)))
    return Result(
        [
            equal(
                "equal roads: change after two rounds",
                0.0,
                float(abs(equal_roads[-1] - equal_roads[-3])),
                1e-9,
                "Section 4, cycle of two rounds",
            ),
            at_least("equal roads: change after one round", 0.5, float(abs(equal_roads[-1] - equal_roads[-2]))),
            above("unequal roads: Lyapunov exponent", 0.0, _lyapunov(unequal, step)),
            equal(
                "unequal roads: change after a cycle of three rounds",
                0.0,
                float(abs(cycle[3] - cycle[0])),
                1e-6,
                "Section 4, chaos by Li and Yorke",
            ),
            at_least("unequal roads: change within that cycle", 0.1, float(np.ptp(cycle))),
            equal(
                "unequal roads, linear variant: share of the first road",
                target,
                float(linear[-1]),
                1e-6,
                "the convergence theorem",
            ),
        ],
        lambda: _three_paths({"equal roads": equal_roads, "unequal roads": unequal, "unequal, linear variant": linear}),
        "A cycle of three rounds implies chaos by the theorem of Li and Yorke. The game here is constructed: the "
        "costs per driver are 0.25 on both roads, or 0.25 and 0.35, and the step is 40 per unit of cost. The limits "
        "on changes are ours.",
    )


def _third(share: Vector, step: float, target: float) -> Vector:
    for _ in range(3):
        share = _next_share(share, step, target)
    return share


@entry(
    "chotibut-2020",
    Reference(
        "Chotibut, Falniowski, Misiurewicz and Piliouras",
        2020,
        "The route to chaos in routing games: when is price of anarchy too optimistic?",
        "the bifurcation diagrams and the theorems on two roads",
    ),
    "As the step a grows beyond 2/(b(1-b)), with b the equilibrium share of the first road, Hedge leaves the "
    "equilibrium for a cycle of two rounds, and then, unless b = 1/2, for chaos; yet the average share stays b.",
)
def route_to_chaos(size: float) -> Result:
    """Sweep the step of two drivers on equal and on unequal roads."""
    runs, rounds, spread = scaled(300, size, 15), scaled(5000, size, 2000), {}
    sweeps = {}
    for costs, b in ((EQUAL, 0.5), (UNEQUAL, 0.75)):
        steps = np.linspace(4.1, 32, runs)  # not a = 8, where convergence is slow
        sweeps[b] = steps, np.array([_shares(costs, one / sum(costs), rounds) for one in steps])
        for factor in (0.97, 1.03):
            shares = _shares(costs, factor * 2 / (b * (1 - b)) / sum(costs), 2000)
            spread[b, factor] = float(abs(shares[-1] - shares[-2]))
    averages = max(float(np.abs(shares.mean(axis=1) - b).max()) for b, (_, shares) in sweeps.items())
    balanced, (steps, shares) = sweeps[0.5][1], sweeps[0.75]
    following = np.abs(shares[:, 1:] - _next_share(shares[:, :-1], steps[:, None], 0.75)).max()
    return Result(
        [
            at_most("change per round at 0.97 · 2/(b(1-b)), both b", 1e-6, max(spread[0.5, 0.97], spread[0.75, 0.97])),
            at_least("change per round at 1.03 · 2/(b(1-b)), both b", 0.05, min(spread[0.5, 1.03], spread[0.75, 1.03])),
            equal(
                "b = 1/2: change after two rounds, all a of the sweep",
                0.0,
                float(np.abs(balanced[:, -1] - balanced[:, -3]).max()),
                1e-6,
                "the theorem on b = 1/2",
            ),
            above(
                "b = 3/4: largest Lyapunov exponent of the sweep",
                0.0,
                max(map(_lyapunov, shares, steps)),
                "the theorem on chaos",
            ),
            equal("largest distance of an average share from b", 0.0, averages, 1e-3, "the theorem on averages"),
            equal("difference of a round from the published map", 0.0, float(following), 1e-9, "the published map"),
        ],
        lambda: _bifurcations(sweeps),
        "The sweep is our choice: the publication draws other values of b and a. Two drivers who start alike follow "
        "the same map as the many of the publication. Chaos in its sense, that of Li and Yorke, does not exclude that "
        "a run ends in a cycle: beyond a = 29 the figure shows one of four rounds, and at a = 32 the Lyapunov "
        f"exponent is {number(_lyapunov(shares[-1], steps[-1]))}, which is not chaotic. The limits on changes are "
        "ours.",
    )


@entry(
    "kleinberg-2009",
    Reference(
        "Kleinberg, Piliouras and Tardos",
        2009,
        "Multiplicative updates outperform generic no-regret learning in congestion games",
        "theorem on pure equilibria",
    ),
    "In almost all congestion games, multiplicative weights with small steps converge to pure Nash equilibria, though "
    "no regret alone does not imply it.",
)
def pure_equilibria(size: float) -> Result:
    """Play random congestion games from random starts, and look at the last strategies."""
    rounds, purity, gaps = 20_000, [], []
    learner = gamesim.players.make("hedge", rate=0.2)
    for seed in range(scaled(80, size, 8)):
        game = games.make("congestion", players=3, actions=3, resources=12, seed=seed)
        record = gamesim.simulate(game, learner, rounds, start="random", replicas=4, seed=seed, trajectory=10)
        purity.append(np.min([one.max(axis=-1) for one in record.trajectory[1]], axis=0))
        gaps.append(np.asarray(record.measure("last-nash-gap")))
    at, pure = record.trajectory[0], np.concatenate(purity)
    return Result(
        [
            equal(
                "share of runs that end at a pure profile, up to 0.01",
                1.0,
                float((pure[:, -1] > 0.99).mean()),
                0.0,
                "the theorem on pure equilibria",
            ),
            equal("largest Nash gap at the end", 0.0, float(np.max(gaps)), 1e-3, "the theorem on pure equilibria"),
        ],
        lambda: _purity(at, pure),
        "Twelve resources make it unlikely that two actions are the same set. The publication has no number of rounds; "
        "the limits are ours.",
    )


@styled
def _three_paths(paths: dict[str, Vector]) -> Figure:
    figure, panels = sheet(
        "Two drivers, two roads, large steps: a cycle of two rounds, chaos, and convergence",
        rows=3,
        height=1.75,
        sharey=True,
        sharex=True,
    )
    for panel, (name, shares), colour in zip(panels, paths.items(), COLOURS, strict=False):
        panel.plot(np.arange(1, 61), shares[:60], "-o", color=colour, markersize=2.5, linewidth=0.8)
        panel.axhline(0.5 if name == "equal roads" else 0.75, color="black", lw=0.8, ls="--", label="equilibrium share")
        axes(panel, "round" if panel is panels[-1] else "", "share of\nfirst road", ylim=(-0.03, 1.03))
        panel.set_title(name)
    shared_legend(figure, panels)
    return figure


@styled
def _bifurcations(sweeps: dict[float, tuple[Vector, Vector]]) -> Figure:
    figure, panels = sheet(
        "As the step grows: equilibrium, a cycle of two rounds, and chaos unless b = 1/2",
        rows=2,
        height=2.8,
        sharex=True,
    )
    for panel, (b, (steps, shares)) in zip(panels, sweeps.items(), strict=True):
        last = shares[:, -150:]
        at = np.repeat(steps, last.shape[1])
        panel.plot(at, last.ravel(), ".", color=COLOURS[0], markersize=0.7, rasterized=True)
        panel.plot(steps, shares.mean(axis=1), color=COLOURS[1], label="average share, all rounds")
        threshold = 2 / (b * (1 - b))
        panel.axvline(threshold, color=COLOURS[2], linewidth=0.8, linestyle="--", label="published a = 2/(b(1-b))")
        axes(panel, "step a" if panel is panels[-1] else "", "share of the first road,\nlast 150 rounds")
        panel.set(ylim=(-0.02, 1.02))
        panel.set_title(f"equilibrium share b = {number(b)}")
    shared_legend(figure, panels[:1], 2)
    return figure


@styled
def _purity(rounds: NDArray[np.int64], pure: Vector) -> Figure:
    figure, (panel,) = sheet("Random congestion games: Hedge ends at pure equilibria", height=3.2)
    shown = np.unique(np.geomspace(1, len(rounds) - 1, 120).astype(int))
    lines = panel.plot(rounds[shown], pure[:60, shown].T, color=COLOURS[0], linewidth=0.7)
    lines[0].set_label(f"{len(lines)} of {len(pure)} runs from random starts")
    axes(panel, "round", "probability of the likeliest\naction, least of three players", "x", ylim=(0.3, 1.02))
    legend(panel)
    return figure
