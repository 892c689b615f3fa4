"""Sets of equilibria: what they contain, what they pay, and learners that lead to them."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gamesim
from gamesim import equilibrium, games
from gamesim.figures.style import COLOURS, styled
from gamesim.figures.triangles import CORNERS, frame
from gamesim.games.nash import nash_equilibria
from gamesim.literature.drawing import Line, bars, curves, legend, sheet
from gamesim.literature.entry import DERIVED, Reference, Result, above, at_least, at_most, entry, equal, scaled


@entry(
    "aumann-1974",
    Reference(
        "Aumann",
        1974,
        "Subjectivity and correlation in randomized strategies",
        "the example of correlated equilibria that pay more than all Nash equilibria",
    ),
    "A device that recommends actions can pay both players of chicken more than any mixture of Nash equilibria.",
)
def chicken_device(_: float) -> Result:
    """Compare the best symmetric correlated equilibrium of chicken with its Nash equilibria."""
    game = games.make("chicken")
    equilibria = equilibrium.polytope(game, "ce")
    third = np.array([[1, 1], [1, 0]]) / 3
    best = equilibria.optimum([1, 1])
    nash = [sum(game.payoffs[i] @ y @ x for i in range(2)) for x, y in _nash(game)]
    return Result(
        [
            equal("largest gain from disobeying (1/3, 1/3, 1/3)", 0.0, _largest_gain(game, third), 1e-12, DERIVED),
            equal("payoff of (1/3, 1/3, 1/3)", 5.0, float(equilibria.payoffs(third)[0]), 1e-12, DERIVED),
            equal(
                "payoff of the best symmetric correlated equilibrium",
                5.25,
                float(equilibria.payoffs(best)[0]),
                1e-9,
                DERIVED,
            ),
            equal("half the total payoff of the best Nash equilibrium", 14 / 3, max(nash) / 2, 1e-9, DERIVED),
        ],
        lambda: bars(
            "Chicken: a device pays more than Nash equilibria",
            {
                "pure Nash, mean": 4.5,
                "mixed Nash": max(nash) / 2,
                "(1/3, 1/3, 1/3)": float(equilibria.payoffs(third)[0]),
                "best device": float(equilibria.payoffs(best)[0]),
            },
            "payoff per player",
            lines=[Line("most that a mixture of Nash equilibria pays: 14/3", 14 / 3)],
        ),
        "Payoffs are 6 for two who yield, 7 and 2 if one does, and 0 if none does. The numbers are solved by hand.",
    )


def _nash(game: gamesim.Table) -> Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    return [tuple(one) for one in nash_equilibria(game).profiles]  # type: ignore[misc]


def _largest_gain(game: gamesim.Table, joint: NDArray[np.float64]) -> float:
    """Return the largest expected gain from disobeying one recommendation, by the definition."""
    gains = [0.0]
    for player in range(2):
        payoffs = game.payoffs[player] if player == 0 else game.payoffs[player].T
        mass = joint if player == 0 else joint.T
        gains += [float(mass[i] @ (payoffs[j] - payoffs[i])) for i in range(len(mass)) for j in range(len(mass))]
    return max(gains)


@entry(
    "nau-2004",
    Reference(
        "Nau, Gomez Canovas and Hansen",
        2004,
        "On the geometry of Nash equilibria and correlated equilibria",
        "Proposition 1",
    ),
    "Every Nash equilibrium lies on the boundary of the set of correlated equilibria: at least one obedience "
    "constraint or one probability is exactly 0.",
)
def nash_on_the_boundary(size: float) -> Result:
    """Find the Nash equilibria of random games, and how far each is from the boundary."""
    slacks = []
    for seed in range(scaled(100, size, 10)):
        game = games.make("uniform", actions=3, seed=seed)
        for x, y in _nash(game):
            slacks.append(_slack(game, np.outer(x, y)))
    chicken = games.make("chicken")
    middle = equilibrium.polytope(chicken, "ce").vertices().mean(axis=0).reshape(chicken.sizes)
    center = _slack(chicken, middle)
    return Result(
        [
            equal(
                f"largest distance from the boundary, {len(slacks)} Nash equilibria",
                0.0,
                max(slacks),
                1e-9,
                "Proposition 1",
            ),
            at_least("for comparison, the distance of the mean of the vertices in chicken", 0.01, center),
        ],
        lambda: _symmetric("Chicken: the mixed Nash equilibrium lies on the boundary of the correlated equilibria"),
    )


@styled
def _symmetric(title: str) -> Figure:
    """Draw the symmetric correlated equilibria of chicken as a triangle: both yield, one yields, none yields."""
    game = games.make("chicken")
    weights = np.array([(i, j, 100 - i - j) for i in range(101) for j in range(101 - i)]) / 100
    joints = np.stack([weights[:, 0], weights[:, 1] / 2, weights[:, 1] / 2, weights[:, 2]], axis=1).reshape(-1, 2, 2)
    inside = np.array([_largest_gain(game, joint) <= 1e-12 for joint in joints])
    figure, (panel,) = sheet(title, height=3.4)
    frame(panel, ("both yield", "one yields", "none yields"))
    panel.plot(*(weights[inside] @ CORNERS).T, "h", ms=2.2, mew=0, color=COLOURS[0])
    panel.plot([], [], "s", ms=8, color=COLOURS[0], label="correlated equilibria")
    mixed = np.array([[4 / 9, 4 / 9, 1 / 9], [0, 1, 0]])
    for place, marker, label in zip(
        mixed, "*D", ("mixed Nash", "both pure Nash, with probability 1/2 each"), strict=True
    ):
        panel.plot(
            *(place @ CORNERS), marker, color=COLOURS[1], mec="black", ms=10 if marker == "*" else 6, label=label
        )
    legend(panel)
    return figure


def _slack(game: gamesim.Table, joint: NDArray[np.float64]) -> float:
    """Return the smallest of all probabilities, and of all losses from disobeying."""
    slacks = [float(joint.min())]
    for player in range(2):
        payoffs, mass = (one if player == 0 else one.T for one in (game.payoffs[player], joint))
        slacks += [
            float(mass[i] @ (payoffs[i] - payoffs[j])) for i in range(len(mass)) for j in range(len(mass)) if i != j
        ]
    return max(min(slacks), 0.0)


@entry(
    "roughgarden-2009",
    Reference(
        "Roughgarden",
        2009,
        "Intrinsic robustness of the price of anarchy",
        "the extension theorem for repeated play, with affine congestion games as example",
    ),
    "The cost of every coarse correlated equilibrium of an affine congestion game is at most 5/2 of the optimum, and "
    "this is attained.",
)
def smooth_games(size: float) -> Result:
    """Solve for the worst equilibrium of a tight game, and of random affine congestion games."""
    tight = games.make("affine-congestion")
    worst = equilibrium.welfare_range(tight, "cce")[0] / equilibrium.optimum(tight)
    ratios = []
    for seed in range(scaled(60, size, 6)):
        game = _congestion(np.random.default_rng(seed))
        ratios.append(equilibrium.welfare_range(game, "cce")[0] / equilibrium.optimum(game))
    return Result(
        [
            equal("worst ratio in the tight game", 2.5, worst, 1e-9, "the price of anarchy 5/2"),
            at_most("largest ratio in random games", 2.5, max(ratios), "the price of anarchy 5/2"),
        ],
        lambda: bars(
            "Affine congestion games: no coarse correlated equilibrium costs more than 5/2 of the optimum",
            {
                "tight game": worst,
                f"worst of {len(ratios)}\nrandom games": max(ratios),
                "median of them": float(np.median(ratios)),
            },
            "worst cost of a CCE / optimum",
            lines=[Line("published bound: 5/2", 2.5)],
        ),
    )


def _congestion(random: np.random.Generator) -> gamesim.Table:
    """Return a game of three players who each choose one of two random sets of four resources with affine costs."""
    slope, offset = random.uniform(0, 1, 4), random.uniform(0, 0.5, 4)
    uses = random.random((3, 2, 4)) < 0.5
    uses[..., 0] |= ~uses.any(axis=2)
    payoffs = np.zeros((3, 2, 2, 2))
    for profile in np.ndindex(2, 2, 2):
        chosen = np.array([uses[i, action] for i, action in enumerate(profile)])
        cost = slope * chosen.sum(axis=0) + offset
        payoffs[(slice(None), *profile)] = -(chosen * cost).sum(axis=1)
    return gamesim.Table.from_payoffs(payoffs)


@entry(
    "hart-mas-colell-2000",
    Reference(
        "Hart and Mas-Colell", 2000, "A simple adaptive procedure leading to correlated equilibrium", "Main Theorem"
    ),
    "If all players switch from their last action with probabilities proportional to their regrets, the empirical "
    "distribution of play converges to the set of correlated equilibria.",
)
def switching(size: float) -> Result:
    """Play the procedure in Shapley's game, where fictitious play does not approach a correlated equilibrium."""
    rounds = scaled(1_000_000, size, 50_000)
    record = gamesim.simulate("shapley", "inertial-regret-matching", rounds, feedback="sampled", seed=1, replicas=4)
    play = gamesim.simulate("shapley", "fictitious-play", rounds, perturb=0.2)
    curve = record.curve
    gap = np.asarray(curve.gap("ce")).mean(axis=0)
    early = gap[np.searchsorted(curve.rounds, rounds // 100)]
    return Result(
        [
            at_most("CE gap at the end, relative to that at a hundredth of the rounds", 0.35, float(gap[-1] / early)),
            at_least("CE gap of fictitious play at the end", 0.1, float(play.gap("ce"))),
        ],
        lambda: curves(
            "Shapley's game: regret-based switching approaches the correlated equilibria",
            {
                "inertial regret matching": (curve.rounds[1:], gap[1:]),
                "fictitious play": (play.curve.rounds[1:], np.asarray(play.curve.gap("ce"))[1:]),
            },
            "round",
            "CE gap",
            log="xy",
        ),
        "The theorem is about the limit, so that both limits are ours.",
    )


@entry(
    "moulin-vial-1978",
    Reference(
        "Moulin and Vial",
        1978,
        "Strategically zero-sum games: the class of games whose completely mixed equilibria cannot be improved upon",
        "the concept of a simple extension, now called coarse correlated equilibrium",
    ),
    "Players who must commit to a device before it recommends actions can be paid more than in every correlated, and "
    "hence in every Nash equilibrium.",
)
def commitment(_: float) -> Result:
    """Solve for the best equilibria of a dominance-solvable game, and of rock-paper-scissors with costly losses."""
    row = np.array([[3, 1, 4], [1, 5, 0], [1, 0, 2]])
    column = np.array([[3, 1, 1], [4, 2, 0], [1, 0, 5]])
    game = gamesim.Table.from_payoffs([row, column])
    diagonal = np.eye(3) / 3
    bad = games.make("bad-rps")
    least, most = equilibrium.welfare_range(game, "ce")
    best = equilibrium.welfare_range(game, "cce")[1]
    shares = {name: equilibrium.welfare_range(bad, name)[1] / 2 for name in ("ce", "cce")}
    return Result(
        [
            equal("payoff in every correlated equilibrium, least", 3.0, least / 2, 1e-9, DERIVED),
            equal("payoff in every correlated equilibrium, most", 3.0, most / 2, 1e-9, DERIVED),
            equal(
                "gain from a fixed action, diagonal device", -2 / 3, _best_fixed_gain(game, diagonal), 1e-12, DERIVED
            ),
            equal("payoff of the diagonal device", 10 / 3, float((row * diagonal).sum()), 1e-12, DERIVED),
            above("payoff of the best coarse correlated equilibrium", 3.0, best / 2, "the concept"),
            equal("bad rock-paper-scissors: payoff of the best CE", -1 / 3, shares["ce"], 1e-9, DERIVED),
            equal("bad rock-paper-scissors: payoff of the best CCE", 0.0, shares["cce"], 1e-9, DERIVED),
        ],
        lambda: bars(
            "Commitment to a device pays more than every correlated equilibrium",
            {
                "every CE (and Nash)": most / 2,
                "device on the diagonal": float((row * diagonal).sum()),
                "best CCE, mean of both": best / 2,
            },
            "payoff per player",
            lines=[Line("the only correlated equilibrium: 3", 3.0)],
        ),
        "The payoffs are those of the 3×3 example with which later work presents the concept: (3, 3), (1, 1), (4, 1); "
        "(1, 4), (5, 2), (0, 0); (1, 1), (0, 0), (2, 5). We have not compared them with the text of 1978. All numbers "
        "are solved by hand: dominance leaves only the first actions, which pay 3. A device that draws a profile of "
        "the diagonal pays 10/3, and no fixed action pays more than 8/3 against it.",
    )


def _best_fixed_gain(game: gamesim.Table, joint: NDArray[np.float64]) -> float:
    """Return the largest expected gain of a player from one fixed action instead of following a device."""
    own = [game.payoffs[0] @ joint.sum(axis=0), joint.sum(axis=1) @ game.payoffs[1]]
    return max(float(pay.max() - (one * joint).sum()) for pay, one in zip(own, game.payoffs, strict=True))
