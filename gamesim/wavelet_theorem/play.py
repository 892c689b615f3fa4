"""Claim 5, games: the equilibria that learners reach in self-play, and a game that separates CE from CCE.

No external regret leads to coarse correlated equilibria (CCE), no swap regret to correlated equilibria (CE). In
"feeble-twin", bad rock-paper-scissors with a strictly dominated copy of scissors, a CCE may play the copy; no CE does.
"""

from pathlib import Path

import numpy as np

from gamesim import games, players
from gamesim.figures.style import styled, write
from gamesim.figures.surface import canvas
from gamesim.simulation import Simulation
from gamesim.study.results import Results
from gamesim.wavelet_theorem.findings import Finding, Section, compare, draw_line, log_axes, mean_text, table, titled
from gamesim.wavelet_theorem.instances import LEARNERS, OURS, PAPER
from gamesim.wavelet_theorem.points import Labels, Point, Values

NAME = "play"
SEPARATION = "feeble-twin"
TWIN = 3  # the dominated action
OTHERS = (
    "regret-matching", "regret-matching-plus", "predictive-rm-plus", "optimistic-hedge", "gradient", "fictitious-play"
)  # fmt: skip
CLASSICS = ("shapley", "bad-rps", "chicken", "matching-pennies")
FAMILIES = {"uniform 4×4": ("uniform", 4), "uniform 8×8": ("uniform", 8), "zero-sum 8×8": ("zero-sum", 8)}
FULL = (10_000, 100_000, 10)  # rounds, rounds of the separation, seeds
SMALL = (1000, 20_000, 2)
KEPT = 0.05  # minimum frequency in the second half of a run for an action to count as kept
STILL = 0.05  # mean distance from uniform strategies below which a learner has not moved
APART = 0.05  # gaps above this, in payoff units, count as not closing
EVERYONE = (*LEARNERS, *OTHERS)


def points(small: bool) -> list[Point]:
    """Return the self-play runs of every learner."""
    rounds, longer, seeds = SMALL if small else FULL
    chosen = (SEPARATION, "shapley", "uniform 4×4") if small else (SEPARATION, *CLASSICS, *FAMILIES)
    return [
        Point(NAME, {"game": game, "T": longer if game == SEPARATION else rounds, "learner": learner}, seed)
        for game in chosen
        for seed in range(seeds)
        for learner in EVERYONE
    ]


def measure(labels: Labels, seed: int) -> Values:
    """Run one learner in self-play from a perturbed first round; the seed draws the game of a family."""
    name, rounds = labels["game"], labels["T"]
    family, actions = FAMILIES.get(name, (name, 0))
    game = games.make(family, actions=actions, seed=seed) if actions else games.make(family)
    learner = LEARNERS[labels["learner"]]() if labels["learner"] in LEARNERS else players.make(labels["learner"])
    simulation = Simulation(
        game, [learner] * len(game.players), seed=seed, perturb=0.5, horizon=rounds, checkpoints=1
    )  # fmt: skip
    record = simulation.run(rounds, threads=1)
    measured: Values = {}
    for kind in ("ce", "cce"):
        gaps = record.curve.gap(kind)
        for at, gap in zip(record.curve.rounds, gaps, strict=True):
            if at >= 100:
                measured[f"{kind} gap {at}"] = float(gap)
        measured[f"{kind} gap"] = float(record.gap(kind))
        measured[f"{kind} distance"] = float(record.distance(kind))
    at, strategies = record.trajectory
    measured["away"] = float(np.mean([np.abs(one - 1 / one.shape[1]).sum(axis=1).mean() / 2 for one in strategies]))
    if name == SEPARATION:
        measured["dominated"] = float(np.mean([one[at > rounds / 2, TWIN].mean() for one in strategies]))
    return measured


def keepers(results: Results) -> list[str]:
    """Return the learners that keep playing the dominated action, in a CCE that is not a CE."""
    found = []
    for learner in EVERYONE:
        share, ce, cce = (
            results.mean(name, game=SEPARATION, learner=learner) for name in ("dominated", "ce gap", "cce gap")
        )
        if share and ce and cce and share.value > KEPT and ce.value > APART and cce.value < APART:
            found.append(learner)
    return found


def section(results: Results) -> Section:
    """Report the equilibria that learners reach in self-play."""
    findings = [_separation(results)] if results.labels("T", game=SEPARATION) else []
    for learner in (PAPER, OURS):
        found = {name: results.mean(name, game=SEPARATION, learner=learner) for name in ("dominated", "ce gap")}
        share, gap = found["dominated"], found["ce gap"]
        if share is not None and gap is not None:
            held = share.value <= KEPT and gap.value <= APART
            findings.append(
                Finding(
                    f"In {SEPARATION}, `{learner}` plays the dominated action with frequency {mean_text(share)} in the "
                    f"second half and has a CE gap of {mean_text(gap)}; the thresholds of {KEPT:g} and {APART:g} are "
                    f"{'met' if held else 'not met'}.",
                    held,
                    loss=not held,
                )
            )
    for flagship in (PAPER, OURS):
        away = {game: results.mean("away", game=game, learner=flagship) for game in results.labels("game")}
        resting = {game: found for game, found in away.items() if found is not None and found.value < STILL}
        if resting:
            listed = ", ".join(f"{game} ({mean_text(found)})" for game, found in resting.items())
            findings.append(
                Finding(
                    f"`{flagship}` hardly leaves its initial uniform strategies in {listed}; the numbers are mean "
                    "total variation distances over the run. Where uniform play is an equilibrium, the gap carries no "
                    "information about learning, so these games are excluded from its comparisons.",
                    held=None,
                )
            )
        cells = [{"game": game} for game in away if game not in resting]
        rivals = [name for name in EVERYONE if name not in (PAPER, OURS)]
        findings += compare(results, cells, flagship, rivals, "In self-play", "ce gap")
    tables = [_table(results, kind, measure) for measure in ("gap", "distance") for kind in ("ce", "cce")]
    return Section(
        "Games",
        "Which equilibria do learners reach in self-play? All runs start from a perturbed first round; for a family of "
        "games, each seed draws a new game. The gap is the maximum gain from a deviation, in payoff units. The "
        "distance is in total variation; unlike the gap, it can be ill-conditioned. "
        f"{SEPARATION} is bad rock-paper-scissors with a copy of scissors that is worse by 0.05 against every action. "
        "A learner that stays at uniform strategies has a small gap where these are an equilibrium, which carries no "
        "information about learning.",
        findings,
        [_separation_table(results), *tables],
        ["games"],
    )


def _separation(results: Results) -> Finding:
    kept = keepers(results)
    shares = ", ".join(
        f"`{name}` (frequency {mean_text(results.mean('dominated', game=SEPARATION, learner=name))}, CE gap "
        f"{mean_text(results.mean('ce gap', game=SEPARATION, learner=name))}, CCE gap "
        f"{mean_text(results.mean('cce gap', game=SEPARATION, learner=name))})"
        for name in kept
    )
    text = (
        "Learners that keep playing the strictly dominated action in the second half, in an approximate CCE that is "
        f"not an approximate CE: {shares}."
        if kept
        else "No learner keeps playing the dominated action in an approximate CCE that is not an approximate CE."
    )
    return Finding(text, held=bool(kept))


def _separation_table(results: Results) -> str:
    names = ("dominated", "ce gap", "cce gap", "ce distance", "cce distance")
    rows = [
        [learner, *(mean_text(results.mean(name, game=SEPARATION, learner=learner)) for name in names)]
        for learner in EVERYONE
    ]
    rounds = max(results.labels("T", game=SEPARATION), default=0)
    title = f"{SEPARATION}, T = {rounds:,}: frequency of the dominated action in the second half, gaps and distances"
    return table(title, ["", *map(titled, names)], rows)


def _table(results: Results, kind: str, measure: str) -> str:
    played = [game for game in results.labels("game") if game != SEPARATION]
    rows = [
        [learner, *(mean_text(results.mean(f"{kind} {measure}", game=game, learner=learner)) for game in played)]
        for learner in EVERYONE
    ]
    rounds = results.labels("T", game=played[0])[0] if played else 0
    return table(f"{kind.upper()} {measure} after {rounds:,} rounds of self-play", ["", *played], rows)


@styled
def draw(results: Results, folder: Path) -> None:
    """Draw the CE gap over the rounds of every game."""
    played = results.labels("game")
    columns = min(len(played), 3)
    rows = -(-len(played) // columns)
    figure, panels = canvas("CE gap of learners in self-play", columns, rows, size=(9.5, 2.9 * rows + 0.8))
    for panel, game in zip(panels, played, strict=False):
        rounds = results.labels("T", game=game)[0]
        at = [10**k for k in range(2, len(str(rounds)))]
        for index, learner in enumerate(LEARNERS):
            found = [results.mean(f"ce gap {t}", game=game, learner=learner) for t in at]
            draw_line(panel, at, found, index, learner)
        log_axes(panel)
        panel.set(title=game, xlabel="rounds", ylabel="CE gap")
    for panel in panels[len(played) :]:
        panel.set_axis_off()
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=7.5)
    write(figure, folder / "games")
