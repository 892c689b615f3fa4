"""Zero-sum games: learners whose strategies converge, and learners for which only the averages do."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import gamesim
from gamesim import games, players
from gamesim.figures.style import COLOURS, styled
from gamesim.literature.drawing import axes, curves, shared_legend, sheet, thinned
from gamesim.literature.entry import Reference, Result, above, at_least, at_most, entry, scaled

START = [[0.6, 0.4], [0.3, 0.7]]
SMALLEST = 1e-12  # of the gaps in figures
UNSTABLE = np.array([[3, 0, -3], [0, 3, -4], [0, 0, 1]])  # losses of the first player, payoffs of the second


class Gaps(NamedTuple):
    """The duality gaps of the strategies of each round, and of the averages up to it."""

    last: NDArray[np.float64]
    average: NDArray[np.float64]


def _zero_sum(payoffs: NDArray[Any]) -> gamesim.Table:
    return gamesim.Table.from_payoffs([payoffs, -payoffs])


def _gaps(game: gamesim.Table, learner: str, rounds: int, *, settings: Mapping[str, Any], **options: Any) -> Gaps:
    """Play a zero-sum game and return the gaps in every round."""
    record = gamesim.simulate(game, players.make(learner, **settings), rounds, trajectory="every", **options)
    x, y = record.trajectory[1]
    counts = np.arange(1, rounds + 1)[:, None]
    payoffs = game.payoffs[0]

    def gap(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray((y @ payoffs.T).max(axis=1) - (x @ payoffs).min(axis=1))

    return Gaps(gap(x, y), gap(x.cumsum(axis=0) / counts, y.cumsum(axis=0) / counts))


@entry(
    "daskalakis-2018",
    Reference(
        "Daskalakis, Ilyas, Syrgkanis and Zeng",
        2018,
        "Training GANs with optimism",
        "theorem on the last iterate of optimistic mirror descent in bilinear games",
    ),
    "Gradient descent moves away from the equilibrium of a bilinear game, and only its average approaches it; with "
    "optimism, the last iterate does too.",
)
def optimism_stops_the_spiral(size: float) -> Result:
    """Start away from the equilibrium of matching pennies, with the same step size with and without optimism."""
    rounds = scaled(4000, size, 1000)
    found = {
        name: _gaps(games.make("matching-pennies"), name, rounds, settings={"rate": 0.1}, start=START)
        for name in ("gradient", "optimistic-gradient")
    }
    plain, optimistic = found.values()
    return Result(
        [
            above(
                "gap of the last tenth, gradient, relative to the start",
                1.0,
                _tail(plain) / plain.last[0],
                "divergence of gradient descent",
            ),
            at_most("gap of the last tenth, optimistic gradient", 1e-6, _tail(optimistic)),
            at_most("gap of the average, gradient", 0.05, float(plain.average[-1])),
        ],
        lambda: _last_and_average("Matching pennies: optimism makes the last iterate converge", found),
        "The publication is about strategies without constraints; here they are probabilities. Its theorem states that "
        "the last iterate converges, without these limits.",
    )


@entry(
    "daskalakis-panageas-2019",
    Reference(
        "Daskalakis and Panageas",
        2019,
        "Last-iterate convergence: zero-sum games and constrained min-max optimization",
        "main theorem",
    ),
    "In zero-sum games with a unique equilibrium, the last iterate of optimistic multiplicative weights converges from "
    "uniform strategies, while multiplicative weights move to the boundary.",
)
def optimistic_weights(_: float) -> Result:
    """Play a 3×3 game with an interior equilibrium, with the same rate with and without optimism."""
    rounds, game = 20_000, _zero_sum(-UNSTABLE)
    found = {name: _gaps(game, name, rounds, settings={"rate": 0.25}) for name in ("hedge", "optimistic-hedge")}
    plain, optimistic = found.values()
    return Result(
        [
            at_least("largest gap in the last tenth of the rounds, Hedge", 1.0, _tail(plain)),
            at_most("largest gap in the last tenth of the rounds, optimistic Hedge", 1e-3, _tail(optimistic)),
            at_most("gap of the average, Hedge", 0.1, float(plain.average[-1])),
        ],
        lambda: _last_and_average("A 3×3 game: optimistic Hedge converges, Hedge moves to the boundary", found),
        "The theorem has no rate, so that all limits are ours. The game is that of Cai et al. (2023), and the rate "
        "0.25, for losses in [-1, 1], is larger than the theorem permits.",
    )


@entry(
    "wei-2021",
    Reference(
        "Wei, Lee, Zhang and Luo",
        2021,
        "Linear last-iterate convergence in constrained saddle-point optimization",
        "Theorem 8",
    ),
    "The strategies of optimistic gradient descent converge to equilibrium at a linear rate in every zero-sum game: "
    "the distance shrinks by a constant factor per round.",
)
def linear_rate(size: float) -> Result:
    """Fit a line to the logarithm of the gap, at step size 1/8."""
    rounds = scaled(2000, size, 1000)
    found, fits = {}, {}
    for name in ("rock-paper-scissors", "penalty-kick"):
        found[name] = _gaps(games.make(name), "optimistic-gradient", rounds, settings={"rate": 0.125}, start="random")
        at = np.flatnonzero(found[name].last > 1e-11)
        at = at[len(at) // 5 :]
        logs = np.log(found[name].last[at])
        fits[name] = float(np.exp(np.polyfit(at, logs, 1)[0])), float(-np.corrcoef(at, logs)[0, 1])
    return Result(
        [
            *(at_least(f"correlation of -ln gap with the round, {name}", 0.99, fit[1]) for name, fit in fits.items()),
            *(at_most(f"factor per round, {name}", 0.99, fit[0]) for name, fit in fits.items()),
        ],
        lambda: _last_and_average("Optimistic gradient: the gap of the last iterate falls exponentially", found, "y"),
        "The theorem states that there is a factor below 1 that depends on the game, and not its value: both limits "
        "are ours. The step size 1/8 is the largest that the theorem permits.",
    )


@entry(
    "cai-2023",
    Reference(
        "Cai, Farina, Grand-Clément, Kroer, Lee, Luo and Zheng",
        2023,
        "Last-iterate convergence properties of regret-matching algorithms in games",
        "numerical example with a 3×3 game, and theorems on smooth predictive and extragradient RM⁺",
    ),
    "In a 3×3 game, the last iterates of RM⁺, alternating RM⁺ and predictive RM⁺ do not converge; those of smooth "
    "predictive and of extragradient RM⁺ do.",
)
def regret_matching_last_iterates(size: float) -> Result:
    """Play the game for the same number of rounds with each of the five."""
    rounds, game = scaled(100_000, size, 20_000), _zero_sum(-UNSTABLE)
    failing = {
        "RM⁺": _gaps(game, "regret-matching-plus", rounds, settings={}),
        "alternating RM⁺": _gaps(game, "regret-matching-plus", rounds, settings={}, order="alternating"),
        "predictive RM⁺": _gaps(game, "predictive-rm-plus", rounds, settings={}),
    }
    stable = {
        "smooth predictive RM⁺": _gaps(game, "smooth-predictive-rm-plus", rounds, settings={"rate": 0.1}),
        "extragradient RM⁺": _gaps(game, "extragradient-rm-plus", rounds, settings={"rate": 0.1}),
    }
    return Result(
        [
            *(at_least(f"largest gap in the last tenth, {name}", 0.1, _tail(gaps)) for name, gaps in failing.items()),
            *(at_most(f"largest gap in the last tenth, {name}", 1e-8, _tail(gaps)) for name, gaps in stable.items()),
        ],
        lambda: _last_and_average("A 3×3 game: smoothing makes regret matching⁺ converge", failing | stable),
        "The 3×3 game is that of the publication, with equilibrium (1, 1, 10)/12 against (4, 5, 3)/12. It states which "
        "learners converge; the limits on gaps are ours. The step size is 0.1, for losses in [-1, 1].",
    )


@entry(
    "cai-2024",
    Reference(
        "Cai, Farina, Grand-Clément, Kroer, Lee, Luo and Zheng",
        2024,
        "Fast last-iterate convergence of learning in games requires forgetful algorithms",
        "main theorem on 2×2 games",
    ),
    "For every δ there is a 2×2 game in which optimistic multiplicative weights still have a constant duality gap "
    "after 1/δ rounds; optimistic gradient descent converges at a rate that does not depend on δ.",
)
def forgetting(_: float) -> Result:
    """Play the game with losses 1/2 + δ, 1/2, 0 and 1 for the first player, and look at the rounds after 1/δ."""
    found, comparisons = {}, []
    for delta in (0.01, 0.001):
        game = _zero_sum(-np.array([[0.5 + delta, 0.5], [0, 1]]))
        for name, label in (("optimistic-hedge", "optimistic Hedge"), ("optimistic-gradient", "optimistic gradient")):
            gaps = _gaps(game, name, round(100 / delta), settings={"rate": "0.1 per payoff"})
            found[f"{label}, δ = {delta}"] = gaps
            largest = float(gaps.last[round(1 / delta) :].max())
            what = f"largest gap after 1/δ rounds, {label}, δ = {delta}"
            hedge = name == "optimistic-hedge"
            comparisons.append(at_least(what, 0.1, largest) if hedge else at_most(what, 0.05, largest))
    return Result(
        comparisons,
        lambda: _last_and_average("Optimistic Hedge remembers: a constant gap for more than 1/δ rounds", found),
        "The game is that of the publication. Its theorem states a constant gap without this value: 0.1 and 0.05 are "
        "our limits. The step size is 0.1 per unit of payoff.",
    )


@entry(
    "farina-2023",
    Reference(
        "Farina, Grand-Clément, Kroer, Lee and Luo",
        2023,
        "Regret matching⁺: (in)stability and fast convergence in games",
        "Section 4 (stable and smooth predictive RM⁺)",
    ),
    "Strategies of predictive RM⁺ can jump from round to round; those of smooth predictive RM⁺ are stable, and the sum "
    "of all regrets stays bounded.",
)
def stable_regrets(_: float) -> Result:
    """Follow the sum of regrets and the longest step of a strategy in a 3×3 game."""
    rounds, game = 400_000, _zero_sum(-UNSTABLE)
    sums, steps = {}, {}
    for name, settings in (("predictive-rm-plus", {}), ("smooth-predictive-rm-plus", {"rate": 0.1})):
        record = gamesim.simulate(game, players.make(name, **settings), rounds, trajectory="windows")
        sums[name] = record.curve.rounds, record.curve.regret("external").sum(axis=1)
        at, strategies = record.trajectory
        moves = np.abs(np.diff(strategies[0], axis=0)).sum(axis=1)[np.diff(at) == 1]
        steps[name] = float(moves[-50:].max())
    growth = {name: float(sum_[-1] / sum_[at.searchsorted(rounds // 10)]) for name, (at, sum_) in sums.items()}
    return Result(
        [
            at_most(
                "growth of the sum of regrets over the last decade, smooth", 1.01, growth["smooth-predictive-rm-plus"]
            ),
            at_least("for comparison, the same of predictive RM⁺", 1.5, growth["predictive-rm-plus"]),
            at_least("longest late step of the strategy, predictive RM⁺", 0.1, steps["predictive-rm-plus"]),
            at_most("longest late step of the strategy, smooth", 1e-3, steps["smooth-predictive-rm-plus"]),
        ],
        lambda: curves(
            "A 3×3 game: smooth predictive RM⁺ keeps the sum of regrets bounded",
            sums,
            "round",
            "sum of regrets",
            log="x",
            ylim=(0, None),
        ),
        "The theorem bounds the sum of regrets by a constant, and the publication shows that strategies of predictive "
        "RM⁺ can jump; all limits are ours. The game is the 3×3 game of Cai et al. (2023), not the instance of the "
        "proof.",
    )


def _tail(gaps: Gaps) -> float:
    """Return the largest gap of a strategy in the last tenth of the rounds."""
    return float(gaps.last[-max(1, len(gaps.last) // 10) :].max())


@styled
def _last_and_average(title: str, found: Mapping[str, Gaps], log: str = "xy") -> Figure:
    columns = 2 if len(found) != 3 else 1
    rows = -(-len(found) // columns)
    figure, panels = sheet(title, columns, rows, height=2.2 if rows > 1 else 2.8, sharey=True)
    for spare in panels[len(found) :]:
        spare.set_axis_off()
    for k, (panel, (name, gaps)) in enumerate(zip(panels, found.items(), strict=False)):
        at = np.arange(1, len(gaps.last) + 1)
        for values, colour, label in ((gaps.last, COLOURS[0], "last iterate"), (gaps.average, COLOURS[1], "average")):
            panel.plot(*thinned(at, np.maximum(values, SMALLEST), "x" in log), color=colour, lw=1, label=label)
        axes(panel, "round" if k >= len(found) - columns else "", "" if k % columns else "duality gap", log)
        panel.set_title(name)
    shared_legend(figure, panels[:1], 2)
    return figure
