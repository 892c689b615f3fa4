"""Sets of equilibria: what they contain, what they pay, and learners that lead to them."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gamesim
from gamesim import equilibrium, games
from gamesim.figures.style import COLOURS, number, styled
from gamesim.figures.surface import canvas
from gamesim.games.nash import nash_equilibria
from gamesim.literature.entry import Reference, Result, at_least, at_most, entry, equal, scaled


@entry(
    "aumann-1974",
    Reference("Aumann", 1974, "Subjectivity and correlation in randomized strategies", "Section 9, example 9.1"),
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
            equal("largest gain from disobeying (1/3, 1/3, 1/3)", 0.0, float(_largest_gain(game, third)), 1e-12),
            equal("payoff of (1/3, 1/3, 1/3)", 5.0, float(equilibria.payoffs(third)[0]), 1e-12),
            equal(
                "payoff of the best symmetric correlated equilibrium", 5.25, float(equilibria.payoffs(best)[0]), 1e-9
            ),
            at_most("half the total payoff of the best Nash equilibrium", 4.6667, max(nash) / 2),
        ],
        lambda: _bars(
            "Chicken: a device pays more than Nash equilibria",
            {"mixed Nash": 14 / 3, "pure Nash, mean": 4.5, "(1/3, 1/3, 1/3)": 5.0, "best device": 5.25},
            "payoff per player",
        ),
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
            equal("largest distance of a Nash equilibrium from the boundary", 0.0, max(slacks), 1e-9),
            at_least("for comparison, the distance of the mean of the vertices in chicken", 0.01, center),
        ],
        lambda: _histogram("Nash equilibria of random 3×3 games lie on the boundary", slacks, center),
    )


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
    Reference("Roughgarden", 2009, "Intrinsic robustness of the price of anarchy", "Theorem 3.2 with Example 2.2"),
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
            equal("worst ratio in the tight game", 2.5, worst, 1e-9),
            at_most("largest ratio in random games", 2.5, max(ratios)),
        ],
        lambda: _bars_of(
            "Affine congestion games: no coarse correlated equilibrium costs more than 5/2 of the optimum",
            ratios,
            2.5,
            "worst cost of a CCE / optimum",
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
        "Hart and Mas-Colell", 2000, "A simple adaptive procedure leading to correlated equilibrium", "main theorem"
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
        lambda: _curves(
            "Shapley's game: regret-based switching approaches the correlated equilibria",
            {
                "inertial regret matching": (curve.rounds, gap),
                "fictitious play": (play.curve.rounds, np.asarray(play.curve.gap("ce"))),
            },
        ),
    )


@entry(
    "blum-mansour-2007",
    Reference("Blum and Mansour", 2007, "From external to internal regret", "Theorem 5 and Section 6"),
    "A master that runs one external-regret learner per action has swap regret O(√(d T ln d)), against any losses.",
)
def one_learner_per_action(size: float) -> Result:
    """Face random losses in which each action has another better action from time to time."""
    rounds, ratios = scaled(100_000, size, 5000), {}
    for actions in (4, 16):
        random = np.random.default_rng(actions)
        losses = random.choice([-1.0, 1.0], size=(rounds, actions))
        for name in ("blum-mansour", "hedge"):
            record = gamesim.face(name, losses)
            ratios[name, actions] = float(record.regret("swap")[0] / np.sqrt(actions * rounds * np.log(actions)))
    return Result(
        [at_most(f"swap regret / √(d T ln d), d = {d}", 2.0, ratios["blum-mansour", d]) for d in (4, 16)],
        lambda: _bars(
            "Blum–Mansour: swap regret is of the order of √(d T ln d)",
            {f"{name}, d = {d}": value for (name, d), value in ratios.items()},
            "swap regret / √(d T ln d)",
        ),
    )


@entry(
    "stoltz-lugosi-2005",
    Reference("Stoltz and Lugosi", 2005, "Internal regret in on-line portfolio selection", "Section 3, Theorem 2"),
    "Hedge over all pairs of actions, with the fixed point of the mixture, has internal regret of at most "
    "B √(2 T ln(d (d-1))), with B the range of the losses.",
)
def pairs_of_actions(size: float) -> Result:
    """Play against an adversary in matching pennies with three actions, and compare with the bound."""
    rounds = scaled(100_000, size, 5000)
    found = {}
    for actions in (3, 8):
        game = games.make("zero-sum", actions=actions, seed=actions)
        record = gamesim.simulate(game, ["stoltz-lugosi", "adversary"], rounds)
        regret = float(record.regret("internal")[0] / game.scale[0])
        found[actions] = regret / (2 * np.sqrt(2 * rounds * np.log(actions * (actions - 1))))
    return Result(
        [at_most(f"internal regret relative to the bound, d = {d}", 1.0, found[d]) for d in found],
        lambda: _bars(
            "Stoltz–Lugosi: internal regret against an adversary stays below its bound",
            {f"d = {d}": value for d, value in found.items()} | {"bound": 1.0},
            "internal regret / bound",
        ),
    )


@styled
def _bars(title: str, values: Mapping[str, float], axis: str) -> Figure:
    figure, (panel,) = canvas(title, 1, size=(7, 3.4))
    panel.barh(range(len(values)), list(values.values()), color=COLOURS[0])
    for k, value in enumerate(values.values()):
        panel.text(value, k, f" {number(value)}", va="center")
    panel.set_yticks(range(len(values)), list(values))
    panel.set(xlabel=axis, xlim=(0, 1.15 * max(values.values())))
    panel.invert_yaxis()
    return figure


@styled
def _bars_of(title: str, values: Sequence[float], bound: float, axis: str) -> Figure:
    figure, (panel,) = canvas(title, 1, size=(7, 3.4))
    panel.hist(values, bins=20, color=COLOURS[0])
    panel.axvline(bound, color=COLOURS[1], label=f"bound {number(bound)}")
    panel.set(xlabel=axis, ylabel="games")
    panel.legend()
    return figure


@styled
def _histogram(title: str, slacks: Sequence[float], center: float) -> Figure:
    figure, (panel,) = canvas(title, 1, size=(7, 3.4))
    panel.hist(slacks, bins=np.linspace(0, max(center, 1e-3), 30).tolist(), color=COLOURS[0], label="Nash equilibria")
    panel.axvline(center, color=COLOURS[1], label="mean of the vertices, chicken")
    panel.set(xlabel="smallest slack of a constraint", ylabel="equilibria")
    panel.legend()
    return figure


@styled
def _curves(title: str, curves: Mapping[str, tuple[NDArray[np.int64], NDArray[np.float64]]]) -> Figure:
    figure, (panel,) = canvas(title, 1, size=(7, 3.6))
    for (name, (rounds, gaps)), colour in zip(curves.items(), COLOURS, strict=False):
        panel.plot(rounds, np.maximum(gaps, 1e-9), color=colour, label=name)
    panel.set(xscale="log", yscale="log", xlabel="round", ylabel="CE gap")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_formatter(lambda x, _: number(x))
    panel.legend()
    return figure
