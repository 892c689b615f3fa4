"""Find the scenario that `gamesim run` simulates; a game with the learners given becomes one."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gamesim.cli.arguments import scenario_path
from gamesim.errors import InputError

if TYPE_CHECKING:
    from gamesim.scenario import Scenario

DEFAULT_LEARNER = "hedge"
DEFAULT_ROUNDS = 10_000
PERTURB = 0.1  # of the first round: uniform play is a rest point of many games


def scenario_and_name(name: str, learners: Sequence[str] | None, *, local_code: bool = False) -> "tuple[Scenario, str]":
    """Return a scenario, or the scenario of a game with these learners, and its name in the run folder."""
    from gamesim import games, scenario
    from gamesim.games.io.files import FORMATS

    path = Path(name)
    is_file = path.suffix.lower() in FORMATS
    is_game = name in games.available() and not path.is_file()
    if is_file or (is_game and (learners or name not in scenario.shipped())):
        part = {"file": path.name} if is_file else {"name": name}
        return _of_game(name, part, learners or [DEFAULT_LEARNER], local_code=local_code), path.stem
    found = scenario_path(name)
    if learners:
        raise InputError(f"{name} is a scenario, which names its learners; --learner needs a game or a game file")
    return scenario.read(found, local_code=local_code), found.stem


def _of_game(name: str, game: dict[str, Any], learners: Sequence[str], *, local_code: bool) -> "Scenario":
    """Return the scenario in which these learners play a game: one for all players, or one per player."""
    from gamesim import games
    from gamesim.learner import Learner
    from gamesim.report.compare import contender
    from gamesim.scenario import Scenario
    from gamesim.scenario.settings import made_learner

    players = (games.load(name) if "file" in game else games.make(name)).players
    if len(learners) not in (1, len(players)):
        raise InputError(
            f"{name} has {len(players)} players ({', '.join(players[:10])}{', …' if len(players) > 10 else ''}); give "
            f"--learner once for all of them, or {len(players)} times, got {len(learners)}"
        )
    chosen = [contender(label, local_code=local_code) for label in learners]
    made = [made_learner(one.learner, one.settings) for one in chosen]
    drawn = not all("expected" in one.feedback for one in made if isinstance(one, Learner))
    entries: list[dict[str, Any]] = []
    for one, learner in zip(chosen, made, strict=True):
        entry = {"learner": one.learner, "settings": one.settings}
        known = learner if isinstance(learner, Learner) else None
        perturb = {} if known and known.informed else {"perturb": PERTURB}  # an informed learner moves last
        feedback = {"feedback": "bandit" if known and "bandit" in known.feedback else "sampled"} if drawn else {}
        entries.append(entry | perturb | feedback)
    raw: dict[str, Any] = {"rounds": DEFAULT_ROUNDS, "game": game}
    if len(entries) == 1:
        raw |= {"feedback": entries[0].pop("feedback", "expected"), "everyone": entries[0]}
    else:
        raw |= {"players": entries}
    return Scenario.from_dict(raw, source=name, folder=Path(name).parent)
