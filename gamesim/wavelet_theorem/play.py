"""Claim 5, games: what learners that play each other reach, and a game that tells the two kinds of no regret apart.

No external regret leads to coarse correlated equilibria (CCE), no swap regret to correlated equilibria (CE). In
"feeble-twin", bad rock-paper-scissors with a strictly dominated copy of scissors, CE never play the copy and CCE may.
"""

from pathlib import Path

import numpy as np

from gamesim import games, players
from gamesim.figures.style import canvas, styled, write
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
KEPT = 0.05  # an action played this much in the second half of a long run has been kept
STILL = 0.05  # who stays this near to uniform strategies, on average, has not moved
APART = 0.05  # a gap beyond this, in payoff units, is not about to close
EVERYONE = (*LEARNERS, *OTHERS)


def points(small: bool) -> list[Point]:
    """Return the runs of every learner against itself."""
    rounds, longer, seeds = SMALL if small else FULL
    chosen = (SEPARATION, "shapley", "uniform 4×4") if small else (SEPARATION, *CLASSICS, *FAMILIES)
    return [
        Point(NAME, {"game": game, "T": longer if game == SEPARATION else rounds, "learner": learner}, seed)
        for game in chosen
        for seed in range(seeds)
        for learner in EVERYONE
    ]


def measure(labels: Labels, seed: int) -> Values:
    """Let all players run one learner, from a perturbed first round; a family's game is drawn by the seed."""
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
    """Return the learners that still play the dominated action, in what is a CCE and no CE."""
    found = []
    for learner in EVERYONE:
        share, ce, cce = (
            results.mean(name, game=SEPARATION, learner=learner) for name in ("dominated", "ce gap", "cce gap")
        )
        if share and ce and cce and share.value > KEPT and ce.value > APART and cce.value < APART:
            found.append(learner)
    return found


def section(results: Results) -> Section:
    """Tell what learners reach when they play each other."""
    findings = [_separation(results)] if results.labels("T", game=SEPARATION) else []
    for learner in (PAPER, OURS):
        found = {name: results.mean(name, game=SEPARATION, learner=learner) for name in ("dominated", "ce gap")}
        share, gap = found["dominated"], found["ce gap"]
        if share is not None and gap is not None:
            held = share.value <= KEPT and gap.value <= APART
            findings.append(
                Finding(
                    f"In {SEPARATION} `{learner}` plays the dominated action {mean_text(share)} of the time in the "
                    f"second half, with a CE gap of {mean_text(gap)}: {'' if held else 'not '}within {KEPT:g} and "
                    f"{APART:g}.",
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
                    f"`{flagship}` hardly leaves the uniform strategies that it starts from in {listed}: mean distance "
                    "in total variation over the run. Where they are an equilibrium, its gap says nothing about "
                    "learning; these games are left out of its comparisons.",
                    held=None,
                )
            )
        cells = [{"game": game} for game in away if game not in resting]
        rivals = [name for name in EVERYONE if name not in (PAPER, OURS)]
        findings += compare(results, cells, flagship, rivals, "In self-play", "ce gap")
    tables = [_table(results, kind, measure) for measure in ("gap", "distance") for kind in ("ce", "cce")]
    return Section(
        "Games",
        "What do learners reach that play themselves? All start from a perturbed first round; a family's game is drawn "
        "anew for each seed. The gap is the most that a player gains by deviating, in payoff units; the distance is "
        f"in total variation, and ill-conditioned where the gap is not. {SEPARATION} is bad rock-paper-scissors with a "
        "copy of scissors that is worse by 0.05 whatever the other plays. A learner that rests at the uniform "
        "strategies has a small gap where these are an equilibrium, which says nothing about learning.",
        findings,
        [_separation_table(results), *tables],
        ["games"],
    )


def _separation(results: Results) -> Finding:
    kept = keepers(results)
    shares = ", ".join(
        f"`{name}` ({mean_text(results.mean('dominated', game=SEPARATION, learner=name))} of the time, CE gap "
        f"{mean_text(results.mean('ce gap', game=SEPARATION, learner=name))}, CCE gap "
        f"{mean_text(results.mean('cce gap', game=SEPARATION, learner=name))})"
        for name in kept
    )
    text = (
        f"Learners that still play the strictly dominated action in the second half, in a CCE that is no CE: {shares}."
        if kept
        else "No learner keeps playing the strictly dominated action in a CCE that is no CE."
    )
    return Finding(text, held=bool(kept))


def _separation_table(results: Results) -> str:
    names = ("dominated", "ce gap", "cce gap", "ce distance", "cce distance")
    rows = [
        [learner, *(mean_text(results.mean(name, game=SEPARATION, learner=learner)) for name in names)]
        for learner in EVERYONE
    ]
    rounds = max(results.labels("T", game=SEPARATION), default=0)
    title = f"{SEPARATION}, T = {rounds:,}: share of the dominated action in the second half, gaps, distances"
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
