"""Zero-sum games: what is conserved in continuous time, and grows in discrete time."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gamesim
from gamesim import games
from gamesim.figures.style import COLOURS, number, styled
from gamesim.figures.triangles import CORNERS, frame
from gamesim.learner import Regulariser
from gamesim.literature.drawing import Line, axes, curves, legend, sheet, thinned
from gamesim.literature.entry import DERIVED, Reference, Result, above, at_least, at_most, entry, equal, scaled
from gamesim.simulation.protocol import Order

Vector = NDArray[np.float64]

ORDERS: tuple[Order, ...] = ("alternating", "simultaneous")
MIDDLE = [[1 / 3] * 3] * 2
START = [[0.6, 0.2, 0.2], [0.25, 0.35, 0.4]]


@entry(
    "hofbauer-1996",
    Reference(
        "Hofbauer",
        1996,
        "Evolutionary dynamics for bimatrix games: a Hamiltonian system?",
        "the constant of motion of zero-sum games",
    ),
    "In zero-sum games with an interior equilibrium, the sum of relative entropies to it is constant along the "
    "replicator equation, so that play never converges.",
)
def constant_divergence(size: float) -> Result:
    """Integrate the replicator equation in rock-paper-scissors, and play Hedge from the same start."""
    path = gamesim.flow("rock-paper-scissors", 500.0 * max(size, 0.1), start=START, points=scaled(2000, size, 200))
    divergence = path.divergence(MIDDLE)
    change = float(np.abs(divergence / divergence[0] - 1).max())
    away = float(np.abs(path.strategies[0][-1] - 1 / 3).max())
    rounds, discrete = _divergence_of_hedge(0.02, scaled(25_000, size, 2500))
    times = 0.02 * (rounds - 1)
    return Result(
        [
            equal("largest relative change of the divergence", 0.0, change, 1e-6, "the constant of motion"),
            above("distance of the last strategy from the equilibrium", 0.0, away, "the constant of motion"),
            above("for comparison, growth of the divergence under Hedge", 1.0, float(discrete[-1] / discrete[0])),
        ],
        lambda: curves(
            "Rock-paper-scissors: the divergence from equilibrium is constant in continuous time",
            {"replicator equation": (path.times, divergence), "Hedge, rate 0.02": (times, discrete)},
            "time (rounds times rate, for Hedge)",
            "sum of KL divergences",
            lines=[Line("constant of motion: its first value", float(divergence[0]))],
            ylim=(0, None),
        ),
        "The tolerance of 1e-6 is that of the ODE solver, not a number of the publication.",
    )


def _divergence_of_hedge(rate: float, rounds: int) -> tuple[NDArray[np.int64], Vector]:
    """Return the rounds, and in each the divergence of Hedge in rock-paper-scissors from the equilibrium."""
    learner = gamesim.players.make("hedge", rate=rate)
    record = gamesim.simulate("rock-paper-scissors", [learner, learner], rounds, start=START, trajectory="every")
    at, strategies = record.trajectory
    return at, np.sum([-np.log(3 * one).mean(axis=1) for one in strategies], axis=0)


@entry(
    "bailey-piliouras-2018",
    Reference(
        "Bailey and Piliouras",
        2018,
        "Multiplicative weights update in zero-sum games",
        "theorem on interior equilibria (abstract)",
    ),
    "With a fixed rate, multiplicative weights move away from an interior equilibrium of a zero-sum game: the sum of "
    "relative entropies to it rises in every round.",
)
def divergence_rises(size: float) -> Result:
    """Play Hedge with a fixed rate in rock-paper-scissors, and follow the divergence in every round."""
    at, divergence = _divergence_of_hedge(0.1, scaled(4000, size, 200))
    rising = float((np.diff(divergence) > 0).mean())
    return Result(
        [
            equal("share of rounds in which the divergence rises", 1.0, rising, 0.0, "the theorem"),
            above(
                "divergence at the end, relative to the start",
                1.0,
                float(divergence[-1] / divergence[0]),
                "the theorem",
            ),
        ],
        lambda: curves(
            "Rock-paper-scissors with Hedge: the divergence from equilibrium rises in every round",
            {"Hedge, rate 0.1": (at, divergence)},
            "round",
            "sum of KL divergences",
            lines=[Line("value at the start", float(divergence[0]))],
            ylim=(0, None),
        ),
    )


@entry(
    "mertikopoulos-2018",
    Reference(
        "Mertikopoulos, Papadimitriou and Piliouras",
        2018,
        "Cycles in adversarial regularized learning",
        "the recurrence theorem for zero-sum games (abstract)",
    ),
    "In zero-sum games with an interior equilibrium, regularised leaders in continuous time are recurrent: almost all "
    "starts are returned to, arbitrarily closely and infinitely often.",
)
def recurrence(size: float) -> Result:
    """Integrate two flows in rock-paper-scissors, and measure how closely they return to their starts."""
    time = max(2000 * size, 200.0)
    regularisers: tuple[Regulariser, ...] = ("entropic", "log-barrier")
    paths = {
        one: gamesim.flow("rock-paper-scissors", time, start=START, regulariser=one, points=int(20 * time) + 1)
        for one in regularisers
    }
    apart = {name: np.sqrt(sum(((p - p[0]) ** 2).sum(axis=1) for p in path.strategies)) for name, path in paths.items()}
    away = {name: int(np.argmax(far > 0.2)) for name, far in apart.items()}
    return Result(
        [
            at_most(f"closest return to the start, {one}", 0.05, float(apart[one][away[one] :].min()))
            for one in regularisers
        ]
        + [at_least(f"largest distance from the start, {one}", 0.4, float(apart[one].max())) for one in regularisers],
        lambda: _returns(paths["entropic"], apart["entropic"]),
        f"The theorem has no rate, so that all limits are ours, for {number(time)} units of time.",
    )


@entry(
    "cheung-piliouras-2019",
    Reference(
        "Cheung and Piliouras",
        2019,
        "Vortices instead of equilibria in min-max optimization",
        "volume expansion of MWU",
    ),
    "Multiplicative weights expand every area of starts in a zero-sum game: in the space of cumulative payoffs it "
    "grows in each round by the Jacobian determinant, which exceeds 1, so that nearby starts drift apart.",
)
def growing_area(size: float) -> Result:
    """Start matching pennies on a small circle, and follow the area that it encloses."""
    rate, rounds, angles = 0.1, scaled(401, size, 201), 2 * np.pi * np.arange(64) / 64
    circle = np.vstack([np.zeros(2), 1e-4 * np.stack([np.cos(angles), np.sin(angles)], axis=1)])
    first = 1 / (1 + np.exp(-(np.array([0.4, 0.3]) + circle)))  # log odds near (0.4, 0.3), the first is the centre
    learner = gamesim.players.make("hedge", rate=rate)
    start = [np.stack([p, 1 - p], axis=1) for p in first.T]
    record = gamesim.simulate(
        "matching-pennies", [learner, learner], rounds, start=start, replicas=65, trajectory="every"
    )
    p, q = (one[..., 0] for one in record.trajectory[1])
    odds = np.stack([np.log(p / (1 - p)), np.log(q / (1 - q))], axis=-1)
    area = _area(odds[1:] - odds[0])
    determinants = 1 + 16 * rate**2 * (p * (1 - p) * q * (1 - q))[0, :-1]
    predicted = np.concatenate([[1.0], np.cumprod(determinants)])
    return Result(
        [
            equal(
                f"area after {rounds - 1} rounds, relative to the start",
                predicted[-1],
                area[-1] / area[0],
                1e-4 * predicted[-1],
                DERIVED,
            ),
            equal(
                "rounds in which the area shrinks", 0, int((np.diff(area) <= 0).sum()), 0, "the theorem on expansion"
            ),
        ],
        lambda: _spread(odds, area / area[0], predicted),
        "The publication states that the determinant exceeds 1. Its value in matching pennies, 1 + 16 η² p(1-p) "
        "q(1-q), is derived here, and multiplied along the run that starts at the centre of the circle.",
    )


def _area(corners: Vector) -> Vector:
    """Return the areas of polygons, whose corners are along the first axis."""
    x, y = np.moveaxis(corners, -1, 0)
    found: Vector = 0.5 * np.abs((x * np.roll(y, -1, axis=0) - y * np.roll(x, -1, axis=0)).sum(axis=0))
    return found


@entry(
    "bailey-gidel-piliouras-2020",
    Reference(
        "Bailey, Gidel and Piliouras",
        2020,
        "Finite regret and cycles with fixed step-size via alternating gradient descent-ascent",
        "conserved energy of alternating play",
    ),
    "If two gradient learners with a fixed step take turns in a zero-sum game, an energy close to their squared "
    "distance from equilibrium is conserved, so that they cycle at a bounded distance; simultaneous ones spiral out.",
)
def taking_turns(size: float) -> Result:
    """Play rock-paper-scissors with gradient learners, in turns and at the same time."""
    rate, rounds = 0.1, scaled(1_000_000, size, 20_000)
    learner = gamesim.players.make("gradient", rate=rate)
    start = [[0.4, 0.3, 0.3], [0.32, 0.36, 0.32]]  # the run stays in the interior, where no projection acts
    payoffs = games.make("rock-paper-scissors").payoffs[0]

    def run(order: Order, length: int, every: int) -> tuple[NDArray[np.int64], Vector, Vector]:
        record = gamesim.simulate(
            "rock-paper-scissors", [learner, learner], length, start=start, order=order, trajectory=every
        )
        at, (x, y) = record.trajectory
        distance = ((x - 1 / 3) ** 2).sum(axis=1) + ((y - 1 / 3) ** 2).sum(axis=1)
        return at, distance, rate * ((x @ payoffs) * y).sum(axis=1)

    early = {order: run(order, 1000, 1) for order in ORDERS}
    at, distance, product = run("alternating", rounds, rounds // 2000 | 1)
    energy, norm = distance + product, float(np.linalg.norm(payoffs, 2))
    largest = (1 + rate * norm / 2) / (1 - rate * norm / 2)
    return Result(
        [
            equal(
                "largest relative change of the energy",
                0.0,
                float(np.abs(energy / energy[0] - 1).max()),
                1e-9,
                "the conserved energy",
            ),
            at_most(
                "largest squared distance, in units of the first",
                largest,
                float((distance / distance[0]).max()),
                DERIVED,
            ),
            at_least(
                "the same for simultaneous play, 1,000 rounds",
                10.0,
                float((early["simultaneous"][1] / distance[0]).max()),
            ),
        ],
        lambda: _turns({order: one[:2] for order, one in early.items()}, at, distance, energy),
        "The publication is about strategies without constraints. Here they are probabilities, and the run starts so "
        "close to the equilibrium that no projection acts. The energy is |x|² + |y|² + η xᵀAy, with x and y relative "
        "to the equilibrium; the bound on the distance follows from it, with the norm of A.",
    )


@styled
def _returns(path: gamesim.Flow, apart: Vector) -> Figure:
    figure, (over_time, section) = sheet(
        "Rock-paper-scissors in continuous time: play returns close to its start again and again", rows=2, height=2.9
    )
    away = int(np.argmax(apart > 0.2))
    closest = apart[away:].min()
    shown = path.times <= 250
    over_time.plot(path.times[shown], apart[shown], color=COLOURS[0], linewidth=1, label="distance")
    over_time.axhline(
        closest, color=COLOURS[1], label=f"closest return up to time {number(path.times[-1])}: {number(closest)}"
    )
    axes(over_time, "time", "distance from the start", ylim=(0, 1.05 * apart.max()))
    legend(over_time, 2)
    row, column = path.strategies
    upward = np.flatnonzero((column[:-1, 0] < 1 / 3) & (column[1:, 0] >= 1 / 3))
    frame(section, path.game.actions[0])
    section.plot(*(row[upward[:400]] @ CORNERS).T, ".", color=COLOURS[0], markersize=2.5)
    section.set_title("Poincaré section: Row's strategy whenever Column's share\nof rock rises to 1/3")
    return figure


@styled
def _spread(odds: Vector, area: Vector, predicted: Vector) -> Figure:
    figure, (plane, over_time) = sheet(
        "Matching pennies with Hedge: the area of a set of starts grows in every round", rows=2, height=3.1
    )
    plane.plot(*odds[0, :161].T, color="#BBBBBB", linewidth=0.8, zorder=0)
    for k, colour in zip((0, 40, 80, 120, 160), COLOURS, strict=False):
        shape = odds[0, k] + 2000 * (odds[1:, k] - odds[0, k])
        plane.fill(*shape.T, color=colour, alpha=0.6, label=f"round {k + 1}")
    axes(plane, "log odds of heads, Row", "log odds of heads,\nColumn", aspect="equal")
    plane.set_title("starts on a small circle, enlarged 2,000 times")
    plane.legend(loc="center left", bbox_to_anchor=(1.03, 0.5), borderaxespad=0)
    rounds = np.arange(1, len(area) + 1)
    over_time.plot(*thinned(rounds, area), color=COLOURS[0], linewidth=3, label="area, measured")
    over_time.plot(*thinned(rounds, predicted), color=COLOURS[1], linestyle="--", label="product of determinants")
    axes(over_time, "round", "area, relative to the start", "y")
    legend(over_time, 2)
    return figure


@styled
def _turns(
    early: dict[Order, tuple[NDArray[np.int64], Vector]], at: NDArray[np.int64], distance: Vector, energy: Vector
) -> Figure:
    figure, (first, later) = sheet(
        "Gradient learners that take turns stay at their distance from equilibrium", rows=2, height=2.7
    )
    for (order, (rounds, distances)), colour in zip(early.items(), COLOURS, strict=False):
        first.plot(*thinned(rounds, distances), color=colour, label=f"{order} moves", linewidth=1)
    axes(first, "round", "squared distance\nfrom equilibrium", "y", ylim=(1e-3, 2))
    legend(first, 2)
    later.plot(at[::4] / 1e3, distance[::4], ".", markersize=1.5, color=COLOURS[0])
    later.plot([], [], ".", markersize=8, color=COLOURS[0], label="squared distance, alternating")
    later.plot(*thinned(at / 1e3, energy), color=COLOURS[1], label="conserved energy")
    axes(later, "thousands of rounds", "distance and energy", ylim=(0, 1.2 * distance.max()))
    legend(later, 2)
    return figure
