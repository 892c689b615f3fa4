"""What hints gain in games and what they cost against adversaries: `wavelet-optimistic` beside its rivals.

    python benchmarks/optimism.py games [rounds seeds [title]]  # CE gaps in self-play; 100,000 rounds, 10 seeds
    python benchmarks/optimism.py losses [rounds]               # swap regret against ten families of losses

In games, every run starts from a perturbed first round. The seed also draws the game of a random family, and in the
games marked ~ a factor from 0.3 to 1 for every payoff above the lowest: uniform play is an equilibrium of the classics,
and some learners hardly leave it. The table has the mean CE gap with its 95 % confidence interval, and the medians over
seeds of the ratio to the best rival of that seed, to Blum-Mansour with predictive RM⁺ rows and to `wavelet-continuous`.
At the end stand the medians of these over the games in which some learner has a gap. Against losses, it has the swap
regret without and with hints, their ratio, and the largest share of its allowance that the hints of a feature have
spent in any round.
"""

import sys
from collections.abc import Sequence

import numpy as np

from gamesim import games, players
from gamesim.game import Game
from gamesim.measure import regrets
from gamesim.simulation import Simulation
from gamesim.study.statistics import mean
from gamesim.wavelet_theorem import self_play
from gamesim.wavelet_theorem.hints import FAMILIES, suffer

OURS, PLAIN = "wavelet-optimistic", "wavelet-continuous"
RIVALS = (
    "blum-mansour:rows=predictive-rm-plus",
    "blum-mansour:rows=optimistic-hedge",
    "blum-mansour:rows=adahedge",
    "blum-mansour-log-barrier",
    "internal-regret-matching",
)
CLASSICS = ("matching-pennies", "shapley", "bad-rps", "jordan")
FAMILIES_OF_GAMES: dict[str, tuple[str, dict[str, int]]] = {
    "random 4×4×4": ("uniform", {"players": 3, "actions": 4}),
    "zero-sum 16×16": ("zero-sum", {"actions": 16}),
    "zero-sum 64×64": ("zero-sum", {"actions": 64}),
    "ordered 64×64": ("ordered-action", {"actions": 64}),
}
TITLES = (*CLASSICS, *(f"{name} ~" for name in CLASSICS), *FAMILIES_OF_GAMES)


def game_of(title: str, seed: int) -> Game:
    """Return a game of the table."""
    if title in FAMILIES_OF_GAMES:
        family, settings = FAMILIES_OF_GAMES[title]
        return games.make(family, **settings, seed=seed)
    name, _, uneven = title.partition(" ")
    return self_play.game_of(name, seed) if uneven else games.make(name)


def gap(game: Game, learner: str, rounds: int, seed: int) -> float:
    """Return the CE gap of self-play."""
    chosen = [players.from_text(learner)] * len(game.players)
    record = Simulation(game, chosen, seed=seed, perturb=0.5, horizon=rounds, checkpoints=1).run(rounds, threads=1)
    return float(record.gap("ce"))


def in_games(rounds: int, seeds: int, only: str = "") -> None:
    """Print the table of games."""
    medians: list[list[float]] = []
    for title in TITLES:
        if only not in title:
            continue
        found: dict[str, list[float]] = {learner: [] for learner in (OURS, PLAIN, *RIVALS)}
        for seed in range(seeds):
            for learner, gaps in found.items():
                gaps.append(gap(game_of(title, seed), learner, rounds, seed))
        best = np.min([found[rival] for rival in RIVALS], axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = [np.median(np.array(found[OURS]) / others) for others in (best, found[RIVALS[0]], found[PLAIN])]
        medians.append(ratios)
        print(f"{title}: {described(ratios)}")
        for learner, gaps in found.items():
            print(f"    {learner:40} {mean(gaps)}", flush=True)
    print(f"median over games: {described(np.nanmedian(medians, axis=0).tolist())}")


def described(ratios: Sequence[float]) -> str:
    """Return the ratios in words."""
    return f"ratio to the best rival {ratios[0]:.2f}, to {RIVALS[0]} {ratios[1]:.2f}, to {PLAIN} {ratios[2]:.3f}"


def against_losses(rounds: int) -> None:
    """Print the table of losses."""
    print(f"{'':30}{PLAIN:>20}{OURS:>20}{'ratio':>8}{'spent':>8}")
    for actions in (4, 16):
        for family in FAMILIES:
            plain, _ = suffer(players.make(PLAIN), family, rounds, actions)
            ours, spent = suffer(players.make(OURS), family, rounds, actions)
            before, after = regrets.swap(plain), regrets.swap(ours)
            ratio = f"{after / before:8.2f}" if before > 1e-6 * rounds else "       –"
            print(f"d = {actions:2}  {family:24}{before:18.1f}{after:20.1f}{ratio}{spent:8.4f}", flush=True)


def main() -> None:
    what, *numbers = sys.argv[1:] or ["games"]
    if what == "games":
        rounds, seeds, only = [*numbers, *("100000", "10", "")[len(numbers) :]]
        in_games(int(rounds), int(seeds), only)
    else:
        against_losses(int(numbers[0]) if numbers else 100_000)


if __name__ == "__main__":
    main()
