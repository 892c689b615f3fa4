"""Claim 5, games: in self-play with hints, total swap regret stops growing, so the CE gap falls as 1/T."""

from pathlib import Path

import numpy as np

from gamesim import games
from gamesim.figures.style import styled, write
from gamesim.figures.surface import canvas
from gamesim.game import Game, Table
from gamesim.learner import Learner
from gamesim.simulation import Simulation
from gamesim.study.results import Results
from gamesim.study.statistics import Mean, mean
from gamesim.wavelet_theorem.comparisons import NOISE, Comparison, compare, holm, p_value
from gamesim.wavelet_theorem.instances import (
    CONTINUOUS,
    LEARNERS,
    OPTIMISTIC,
    PAPER,
    PREDICTIVE,
    RIVALS,
    SEEDS,
    SMALL_SEEDS,
)
from gamesim.wavelet_theorem.points import Labels, Point, Values
from gamesim.wavelet_theorem.presentation import (
    LOOKS,
    SMALLEST,
    listed,
    log_axes,
    median_ratio,
    said,
    said_power,
    table,
)

NAME = "games"
TITLE = "With hints, total swap regret stops growing in self-play"
CRITERION = "in every game, the flagship's swap regret grows significantly more slowly than √T"
UNEVEN = ("matching-pennies", "shapley", "bad-rps", "jordan")
FAMILIES: dict[str, tuple[str, dict[str, int]]] = {
    "random 4×4×4": ("uniform", {"players": 3, "actions": 4}),
    "zero-sum 8×8": ("zero-sum", {"actions": 8}),
    "ordered 8×8": ("ordered-action", {"actions": 8}),
}
FULL, SMALL = 4096, 2048  # rounds
EARLY = 16  # regret after T / EARLY rounds is kept, too
STILL = 0.05  # mean distance from uniform strategies below which a learner has not moved


def points(small: bool) -> list[Point]:
    """Return all points."""
    chosen = ("shapley", "random 4×4×4") if small else (*UNEVEN, *FAMILIES)
    return [
        Point(NAME, {"game": game, "T": SMALL if small else FULL}, seed)
        for game in chosen
        for seed in (SMALL_SEEDS if small else SEEDS)
    ]


def game_of(title: str, seed: int) -> Game:
    """Return a game drawn with a seed; the payoffs of classic games, above the lowest, get factors from 0.3 to 1.

    Uniform play is an equilibrium of the classic games themselves, and some learners hardly leave it.
    """
    if title in FAMILIES:
        family, settings = FAMILIES[title]
        return games.make(family, **settings, seed=seed)
    game = games.make(title)
    assert isinstance(game, Table)
    factors = np.random.default_rng(seed).uniform(0.3, 1, game.payoffs.shape)
    return Table.from_payoffs(factors * (game.payoffs - game.payoffs.min()))


def measure(labels: Labels, seed: int) -> Values:
    """Run every learner in self-play from a perturbed first round."""
    game = game_of(labels["game"], seed)
    measured: Values = {}
    for name, make in LEARNERS.items():
        late, early, gap, away = _run(game, make(), labels["T"], seed)
        measured |= {name: late, f"early {name}": early, f"gap {name}": gap, f"away {name}": away}
    return measured


def _run(game: Game, learner: Learner, rounds: int, seed: int) -> tuple[float, float, float, float]:
    """Return the largest total swap regret in units of loss, also early, the CE gap, and the distance from uniform."""
    simulation = Simulation(
        game, [learner] * len(game.players), seed=seed, perturb=0.5, horizon=rounds, checkpoints=1
    )  # fmt: skip
    early = simulation.run(rounds // EARLY, threads=1).regret("swap")
    record = simulation.run(rounds - rounds // EARLY, threads=1)
    _, strategies = record.trajectory
    away = np.mean([np.abs(one - 1 / one.shape[1]).sum(axis=1).mean() / 2 for one in strategies])
    late, first = (float(np.max(one / game.scale)) for one in (record.regret("swap"), early))
    return late, first, float(record.gap("ce")), float(away)


def cells(results: Results) -> list[Labels]:
    """Return the cells of this claim."""
    return [{"game": one} for one in results.labels("game")]


def rests(results: Results, learner: str, cell: Labels) -> bool:
    """Return whether a learner hardly left uniform play; its regret then says nothing about learning."""
    away = results.mean(f"away {learner}", **cell)
    return away is not None and away.value < STILL


def compared(results: Results) -> list[Comparison]:
    """Compare the flagship with its rivals, where both have left uniform play."""
    return compare(
        results, OPTIMISTIC, RIVALS, cells(results), leave_out=lambda name, cell: rests(results, name, cell)
    )  # fmt: skip


def growth(results: Results, learner: str, cell: Labels) -> dict[int, float]:
    """Return by seed the exponent of total swap regret between T / `EARLY` and T; regrets below 1e-3 count as 1e-3."""
    late, early = (results.values(name, **cell) for name in (learner, f"early {learner}"))
    floor = 1e-3
    return {seed: float(np.log(max(late[seed], floor) / max(early[seed], floor)) / np.log(EARLY)) for seed in late}


def holds(results: Results) -> bool:
    """Return whether the flagship's regret grows significantly more slowly than √T in every game."""
    return all(
        holm([p_value(list(growth(results, OPTIMISTIC, cell).values()), 0.5, "less") for cell in cells(results)])
    )  # fmt: skip


def _median_growth(results: Results, learner: str) -> Mean | None:
    """Return the mean over games of the median exponent over seeds."""
    return mean(float(np.median(list(growth(results, learner, cell).values()))) for cell in cells(results))


def _hints(results: Results) -> float:
    """Return the median of regret with hints divided by regret without, over games in which one is above noise."""
    pairs = [[results.mean(name, **cell) for name in (OPTIMISTIC, CONTINUOUS)] for cell in cells(results)]
    known = [(own.value, other.value) for own, other in pairs if own is not None and other is not None]
    return float(np.median([own / other for own, other in known if max(own, other) >= NOISE]))


def finding(results: Results) -> str:
    """Summarise the claim in a clause."""
    return (
        f"in self-play, hints multiply total swap regret by {said(_hints(results))}, and it then grows as T to the "
        f"power {said_power(_median_growth(results, OPTIMISTIC))} ({PREDICTIVE}: "
        f"{said_power(_median_growth(results, PREDICTIVE))})"
    )


def paragraph(results: Results) -> str:
    """State what was found."""
    rounds, found = results.labels("T")[0], cells(results)
    names = (OPTIMISTIC, CONTINUOUS, PREDICTIVE)
    totals = {
        name: [one.value for cell in found if (one := results.mean(name, **cell)) is not None] for name in names
    }  # fmt: skip
    medians = [said(float(np.median(totals[name]))) for name in names]
    powers = [said_power(_median_growth(results, name)) for name in names]
    quiet = sum(value < NOISE for value in totals[OPTIMISTIC])
    worst = max(found, key=lambda cell: getattr(results.mean(OPTIMISTIC, **cell), "value", 0.0))
    resting = [cell["game"] for cell in found if rests(results, PAPER, cell)]
    stays = f" `{PAPER}` hardly leaves uniform play in {listed(resting)}." if resting else ""
    return (
        f"All players use the same learner for {rounds:,} rounds from a perturbed start, in {said(len(found))} kinds "
        f"of games; each seed draws new payoffs. The median over games of total swap regret, the largest of all "
        f"players', is {medians[0]} for `{OPTIMISTIC}`, {medians[1]} for `{CONTINUOUS}` and {medians[2]} for "
        f"{PREDICTIVE}. From "
        f"T/{EARLY} to T it grows as T to the power {powers[0]}, {powers[1]} and {powers[2]} (median over seeds, mean "
        f"over games). The "
        f"flagship's is below {NOISE:g} in {said(quiet)} kinds; the worst is {worst['game']}, with "
        f"{said(results.mean(OPTIMISTIC, **worst))}. The median ratio to the best rival is "
        f"{said(median_ratio(results, OPTIMISTIC, RIVALS, found))}.{stays}"
    )


def tables(results: Results) -> list[str]:
    """Return the tables of the appendix."""
    found, rounds = results.labels("game"), results.labels("T")[0]
    titles = {
        "": f"Self-play, T = {rounds:,}: total swap regret, the largest of all players, in units of loss",
        "gap ": f"Self-play, T = {rounds:,}: CE gap in payoff units",
        "away ": f"Self-play, T = {rounds:,}: mean distance of the strategies from uniform, in total variation",
    }
    return [
        table(
            title,
            ["", *found],
            [[name, *(said(results.mean(f"{what}{name}", game=one)) for one in found)] for name in LEARNERS],
        )
        for what, title in titles.items()
    ]


CAPTION = "Total swap regret in self-play; left of the grey line is less than one round can cost (0 is at 0.01)."


@styled
def draw(results: Results, folder: Path) -> None:
    """Draw the total swap regret of every learner, one row per game."""
    found = results.labels("game")
    figure, (panel,) = canvas("Total swap regret in self-play", size=(7.2, 0.45 * len(found) + 2.2))
    panel.axvline(NOISE, color="#BBBBBB", linewidth=5, alpha=0.6, zorder=0)
    for index, name in enumerate(LEARNERS):
        look = {key: LOOKS[name][key] for key in ("color", "marker", "markerfacecolor") if key in LOOKS[name]}
        values = [results.mean(name, game=game) for game in found]
        rows = [at + 0.06 * (index - len(LEARNERS) / 2) for at in range(len(found))]
        kept = [(one, row) for one, row in zip(values, rows, strict=True) if one is not None]
        centres = np.array([max(one.value, 1e-2) for one, _ in kept])
        halves = np.nan_to_num([one.half for one, _ in kept])
        spread = [np.minimum(halves, 0.9 * centres), halves]  # a logarithmic axis has no place for 0
        at = [row for _, row in kept]
        panel.errorbar(centres, at, xerr=spread, linestyle="", markersize=6.5, elinewidth=0.7, label=name, **look)
    panel.set_yticks(range(len(found)), found, fontsize=SMALLEST + 1)
    panel.set_ylim(len(found) - 0.5, -0.5)
    log_axes(panel, "x")
    panel.set_xlabel("total swap regret, in units of loss")
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, fontsize=SMALLEST)
    write(figure, folder / NAME)
