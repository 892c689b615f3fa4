"""Swap regret: learners that bound it, what it protects from, and how much of it is unavoidable."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gamesim
from gamesim import games, players
from gamesim.figures.style import COLOURS, DASHES, styled
from gamesim.formatting import number
from gamesim.literature.drawing import Line, axes, bars, curves, legend, sheet
from gamesim.literature.entry import DERIVED, Reference, Result, above, at_least, at_most, entry, equal, scaled

Vector = NDArray[np.float64]


def _phases(rounds: int, actions: int, count: int, random: np.random.Generator) -> Vector:
    """Return losses under which learners that follow the leader are always late, and so have linear swap regret.

    Action k < count loses 0 before its phase, -1 in it and 1 after it. The other actions lose 0 or 1 at random.
    """
    phase = np.arange(rounds) * count // rounds
    losses = random.integers(0, 2, (rounds, actions)).astype(np.float64)
    since = phase[:, None] - np.arange(count)
    losses[:, :count] = np.where(since < 0, 0.0, np.where(since == 0, -1.0, 1.0))
    return losses


@entry(
    "blum-mansour-2007",
    Reference("Blum and Mansour", 2007, "From external to internal regret", "the main reduction and its corollary"),
    "A master that runs one external-regret learner per action has swap regret O(√(d T ln d)), against any losses.",
)
def one_learner_per_action(size: float) -> Result:
    """Face losses in phases, under which leaders change, and random losses; compare with Hedge."""
    rounds, found = scaled(100_000, size, 10_000), {}
    for actions in (4, 16):
        random = np.random.default_rng(actions)
        faced = {
            "phases": _phases(rounds, actions, actions, random),
            "random": random.choice([-1.0, 1.0], (rounds, actions)),
        }
        for kind, losses in faced.items():
            for name in ("blum-mansour", "hedge"):
                regret = float(gamesim.face(name, losses, trajectory="none").regret("swap")[0])
                found[f"{name}, {kind}, d = {actions}"] = regret / np.sqrt(actions * rounds * np.log(actions))
    constant = 3 / np.sqrt(2) * np.sqrt(1 + 16 / rounds)
    return Result(
        [
            *(
                at_most(f"swap regret / √(d T ln d), {name}", constant, value, DERIVED)
                for name, value in found.items()
                if name.startswith("blum")
            ),
            *(
                above(f"for comparison, the same of {name}", constant, value)
                for name, value in found.items()
                if name.startswith("hedge, phases")
            ),
        ],
        lambda: bars(
            "Swap regret against changing leaders: bounded for Blum–Mansour, not for Hedge",
            found,
            "swap regret / √(d T ln d)",
            lines=[Line("bound for Blum–Mansour", constant)],
        ),
        "The publication has the order √(d T ln d). The constant 3/√2, for rows that are Hedge with a first-order rate "
        "and losses in [-1, 1], is derived here.",
    )


@entry(
    "stoltz-lugosi-2005",
    Reference(
        "Stoltz and Lugosi",
        2005,
        "Internal regret in on-line portfolio selection",
        "Section 3, the conversion of external to internal regret",
    ),
    "Hedge over all pairs of actions, with the fixed point of the mixture, has internal regret of at most "
    "B √(2 T ln(d (d-1))), with B the range of the losses.",
)
def pairs_of_actions(size: float) -> Result:
    """Play against an adversary and against losses in phases, and compare with the bound."""
    rounds, found = scaled(50_000, size, 5000), {}
    for actions in (3, 8):
        bound = 2 * np.sqrt(2 * rounds * np.log(actions * (actions - 1)))
        losses = _phases(rounds, actions, 3, np.random.default_rng(actions))
        game = games.make("zero-sum", actions=actions, seed=actions)
        for name in ("stoltz-lugosi", "hedge"):
            versus = gamesim.simulate(game, [name, "adversary"], rounds, trajectory="none")
            found[f"{name}, adversary, d = {actions}"] = float(versus.regret("internal")[0] / game.scale[0] / bound)
            faced = gamesim.face(name, losses, trajectory="none")
            found[f"{name}, phases, d = {actions}"] = float(faced.regret("internal")[0] / bound)
    late = [value for name, value in found.items() if name.startswith("hedge, phases")]
    return Result(
        [
            *(
                at_most(f"internal regret / bound, {name}", 1.0, value, "the bound")
                for name, value in found.items()
                if name.startswith("stoltz")
            ),
            above("for comparison, the same of Hedge against phases, least", 1.0, min(late)),
        ],
        lambda: bars(
            "Stoltz–Lugosi: internal regret stays below its bound",
            found,
            "internal regret / bound",
            lines=[Line("published bound", 1.0)],
        ),
        "The losses are constructed: a random zero-sum game against a player who sees the strategy, and three phases "
        "with another best action in each.",
    )


@entry(
    "deng-2019",
    Reference(
        "Deng, Schneider and Sivan",
        2019,
        "Strategizing against no-regret learners",
        "the theorems on mean-based and on no-swap-regret learners",
    ),
    "In a game of Stackelberg value 0, an optimiser earns 1 - √γ per round from mean-based learners with three "
    "actions, but nothing from learners without swap regret.",
)
def strategizing(size: float) -> Result:
    """Let the optimiser play its first action in the first half of the rounds, and its second action then."""
    gamma, half = 0.01, scaled(25_000, size, 2500)
    learning = np.array([[np.sqrt(gamma), -1, 0], [-1, 1, 0]])  # payoffs of the learner
    optimising = np.repeat([[0, -1, -2], [0, -2, 2]], half, axis=0)  # payoffs of the optimiser in each round
    earned = {}
    for name in ("fictitious-play", "regret-matching", "hedge", "blum-mansour", "internal-regret-matching"):
        record = gamesim.face(name, -np.repeat(learning, half, axis=0), trajectory="every")
        earned[name] = (optimising * record.trajectory[1][0]).sum(axis=1).cumsum() / (2 * half)
    last = {name: float(values[-1]) for name, values in earned.items()}
    mean_based, swap = list(earned)[:2], list(earned)[3:]
    published = 1 - float(np.sqrt(gamma))
    return Result(
        [
            *(
                equal(f"per round, against {name}", published, last[name], 0.03, "the theorem on mean-based learners")
                for name in mean_based
            ),
            at_least("per round, against hedge, which is mean-based in the limit", 0.8, last["hedge"]),
            *(at_most(f"per round, against {name}", 0.0, last[name], "the theorem on no swap regret") for name in swap),
        ],
        lambda: curves(
            "An optimiser exploits mean-based learners, not swap learners",
            {name: (np.linspace(0, 1, 2 * half), values) for name, values in earned.items()},
            "share of the rounds",
            "optimiser's earnings / T",
            lines=[Line("published: 1 - √γ = 0.9", published)],
        ),
        "γ = 0.01. We could not take all payoffs from the publication; the game here is constructed so that its claim "
        "applies. In particular the payoffs of the optimiser against the learner's second action, -1 and -2, are our "
        "choice; they keep the Stackelberg value at 0. Against swap learners only this one plan was tried.",
    )


@entry(
    "braverman-2018",
    Reference(
        "Braverman, Mao, Schneider and Weinberg",
        2018,
        "Selling to a no-regret buyer",
        "the result on mean-based buyers (abstract)",
    ),
    "A seller who changes prices over time earns more from a buyer who runs a mean-based learner than the best fixed "
    "price does, up to the whole expected value.",
)
def selling(size: float) -> Result:
    """Sell for nothing, then at 1, then offer a second contract at 1/2, to buyers of value 1/2 and 1."""
    quarter = scaled(25_000, size, 1000)
    prices = np.ones((4 * quarter, 3))  # of no contract, the first and the second, in each round
    items = np.zeros((4 * quarter, 3))
    prices[:, 0], prices[:quarter, 1] = 0.0, 0.0
    items[:, 1] = 1
    prices[:, 2] = items[:, 2] = 0
    prices[2 * quarter :, 2], items[2 * quarter :, 2] = 0.499, 1
    names = ("fictitious-play", "hedge", "regret-matching", "blum-mansour", "internal-regret-matching")
    revenue = {}
    for name in names:
        paid = np.zeros(4 * quarter)
        for value in (0.5, 1.0):
            record = gamesim.face(name, prices - value * items, trajectory="every")
            paid += 0.5 * (prices * record.trajectory[1][0]).sum(axis=1)
        revenue[name] = paid.cumsum() / (4 * quarter)
    last = {name: float(values[-1]) for name, values in revenue.items()}
    return Result(
        [
            equal("revenue per round, fictitious play", 0.625, last["fictitious-play"], 0.005, DERIVED),
            above("revenue per round, Hedge", 0.5, last["hedge"], "the result on mean-based buyers"),
        ],
        lambda: curves(
            "A buyer who follows averages pays more than the best fixed price",
            {name: (np.linspace(0, 1, 4 * quarter), values) for name, values in revenue.items()},
            "share of the rounds",
            "revenue / T",
            lines=[Line("best fixed price: 0.5", 0.5), Line("expected value: 0.75", 0.75)],
        ),
        "The plan is constructed here, for values of 1/2 and 1 with probability 1/2 each, which the best fixed price "
        "sells to for 1/2. The first contract is free for a quarter of the rounds, and costs 1 from then on. The "
        "second is offered in the last half, for a little less than 1/2. The buyer of value 1 stays with the first "
        "contract, which did well on average; the other leaves it after half of the rounds. By hand, that pays 5/8 "
        "per round. The publication's auction, which extracts the whole expected value of 3/4, is longer and was not "
        "built. Its learner against which no plan beats the best fixed price was not built either; that a learner per "
        f"value has no swap regret is not enough: Blum–Mansour pays {number(last['blum-mansour'])}, internal regret "
        f"matching {number(last['internal-regret-matching'])}.",
    )


@entry(
    "ito-2020",
    Reference("Ito", 2020, "A tight lower bound and efficient reduction for swap regret", "the lower bound (abstract)"),
    "Whatever the learner, an adversary that reacts to the actions played can force swap regret of order √(d T ln d).",
)
def unavoidable(size: float) -> Result:
    """Let several learners draw actions, and exhaust each of the good actions when it has been used for long."""
    names = ("blum-mansour", "internal-regret-matching", "hedge", "adahedge", "uniform")
    seeds, rounds = scaled(4, size, 1), (1000, 4000, 16_000) if size == 1 else (1000, 4000)
    cases = [(d, horizon) for d in (8, 16, 32) for horizon in rounds]
    ratios = {
        name: [
            np.mean([_exhausted(name, d, horizon, seed) for seed in range(seeds)]) / np.sqrt(d * horizon * np.log(d))
            for d, horizon in cases
        ]
        for name in names
    }
    losses = np.random.default_rng(0).choice([-1.0, 1.0], (rounds[-1], 32))
    easy = float(gamesim.face("blum-mansour", losses, trajectory="none").regret("swap")[0])
    hard = ratios["blum-mansour"][-1] * np.sqrt(32 * rounds[-1] * np.log(32))
    return Result(
        [
            *(
                at_least(f"swap regret / √(d T ln d), mean over d and T, {name}", 0.25, float(np.mean(values)))
                for name, values in ratios.items()
            ),
            *(
                at_least(f"the same at the largest d and T, {name}", 0.25, float(values[-1]))
                for name, values in ratios.items()
            ),
            at_most(
                "most swap regret / √(d T ln d), blum-mansour", 3 / np.sqrt(2), max(ratios["blum-mansour"]), DERIVED
            ),
            at_least("swap regret of blum-mansour relative to that against random losses, d = 32", 2.0, hard / easy),
        ],
        lambda: curves(
            "No learner escapes: swap regret is of order √(d T ln d) for all d and T",
            {name: (range(len(cases)), values) for name, values in ratios.items()},
            "actions d, rounds T",
            "swap regret / √(d T ln d)",
            marker="o",
            lines=[Line("our limit: 0.25", 0.25)],
            ylim=(0, None),
            xticks=range(len(cases)),
            xticklabels=[f"d={d}\n{horizon:,}" for d, horizon in cases],
        ),
        "The publication proves the order; the limit of 0.25 is ours. The adversary here is constructed to "
        "the same end. Half of the actions lose ±1 by fair coins. The others lose -δ, δ = 0.7 √(d ln(d/2) / 2T), until "
        "they have been drawn in 2T/d rounds, and 1 from then on. A learner who avoids them loses δ per round; one who "
        "uses them cannot know which coin did best in the meantime. Regret is that of the actions drawn: against "
        f"learners judged by their distributions this adversary is weaker. Means of {seeds} runs.",
    )


def _exhausted(name: str, actions: int, rounds: int, seed: int) -> float:
    """Return the swap regret of the actions that a learner draws, against the adversary of Ito's lower bound."""
    half = actions // 2
    random = np.random.default_rng(seed)
    coins = random.choice([-1.0, 1.0], size=(rounds, half))
    advantage = 0.7 * np.sqrt(half * np.log(half) / rounds)
    learner = players.make(name).with_horizon(rounds).start(actions, seed=seed)
    used, gains, loss = np.zeros(half), np.zeros((actions, actions)), np.zeros(actions)
    for coin in coins:
        action = learner.draw()
        loss[:half] = np.where(used < rounds / half, -advantage, 1.0)
        loss[half:] = coin
        if action < half:
            used[action] += 1
        gains[action] += loss[action] - loss
        learner.observe(loss)
    return float(gains.max(axis=1).sum())


@entry(
    "dagan-2024",
    Reference(
        "Dagan, Daskalakis, Fishelson and Golowich; Peng and Rubinstein",
        2024,
        "From external to swap regret 2.0; Fast swap regret minimization and applications to approximate correlated "
        "equilibria",
        "Theorem 1.1 of each",
    ),
    "Swap regret of ε per round takes a number of rounds that is polylogarithmic in the number d of actions, far fewer "
    "than d, for which the bound of Blum and Mansour is vacuous.",
)
def many_actions(_: float) -> Result:
    """Face 2,048 actions for 64 to 1,024 rounds, in 16 phases with another best action in each."""
    actions, rounds = 2048, [64, 256, 1024]
    found: dict[str, list[float]] = {"treeswap": [], "hedge": [], "uniform": []}
    bounds: dict[str, list[float]] = {"treeswap": [], "blum-mansour": []}
    for horizon in rounds:
        losses = _phases(horizon, actions, 16, np.random.default_rng(horizon))
        for name, values in found.items():
            values.append(_swap_regret(name, losses) / horizon)
        for name, values in bounds.items():
            guarantee = players.make(name).with_horizon(horizon).guarantee()
            values.append((guarantee.bound_on("swap", horizon, actions) if guarantee else None) or np.inf)
            values[-1] /= horizon
    return Result(
        [
            *(
                at_most(f"swap regret per round, TreeSwap, T = {horizon}", bound, value, "Theorem 1.1")
                for horizon, bound, value in zip(rounds, bounds["treeswap"], found["treeswap"], strict=True)
            ),
            at_most("the same at T = 1,024, relative to T = 64", 0.5, found["treeswap"][-1] / found["treeswap"][0]),
            at_least("for comparison, swap regret per round of Hedge, T = 1,024", 0.4, found["hedge"][-1]),
            at_least(
                "bound of Blum–Mansour per round, T = 1,024 (2 is trivial)", 2.0, bounds["blum-mansour"][-1], DERIVED
            ),
        ],
        lambda: _below(rounds, found, bounds),
        "All T are below d = 2,048. The constants of both bounds, for losses in [-1, 1], are derived here: the "
        "theorem for TreeSwap is T (ε + 1/D) up to scaling, with T = M^D. The losses are constructed, so that "
        "learners that follow the leader have linear swap regret. With D = 2, which the bound prefers for these T, "
        "TreeSwap does best; with D = 3 its swap regret per round at T = 1,024 is 0.40.",
    )


def _swap_regret(name: str, losses: Vector) -> float:
    """Return the swap regret of a learner, without a record, which would keep a d × d matrix per checkpoint."""
    learner = players.make(name).with_horizon(len(losses)).start(losses.shape[1])
    played = np.zeros_like(losses)
    for strategy, loss in zip(played, losses, strict=True):
        strategy[:] = learner.play()
        learner.observe(loss)
    exchanged = played.T @ losses
    return float((np.diag(exchanged) - exchanged.min(axis=1)).sum())


@styled
def _below(rounds: list[int], found: dict[str, list[float]], bounds: dict[str, list[float]]) -> Figure:
    figure, (panel,) = sheet("2,048 actions, fewer rounds: TreeSwap's swap regret per round keeps falling", height=3.4)
    for k, (name, values) in enumerate(found.items()):
        panel.plot(rounds, values, "o", linestyle=DASHES[k], color=COLOURS[k], label=f"{name}, measured")
    for k, (name, values) in enumerate(bounds.items(), start=len(found)):
        panel.plot(rounds, values, linestyle=(0, (2, 2)), color=COLOURS[k], label=f"bound of {name}")
    panel.axhline(2, color="black", linewidth=0.8, label="trivial bound: 2")
    axes(panel, "rounds T", "swap regret per round", "xy", xlim=(55, 1200))
    panel.set_xticks(rounds, [f"{one:,}" for one in rounds])
    legend(panel, 2)
    return figure
