"""`gamesim class` and `gamesim play`: people as players, in a room that students join, or alone."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gamesim.cli.arguments import Commands, game_named, seconds, whole_number
from gamesim.errors import InputError, unknown

if TYPE_CHECKING:
    from gamesim.classroom.seats import Matching
    from gamesim.game import Game

MATCHINGS = ("learner", "groups", "reshuffled", "population")


def add_class(commands: Commands) -> None:
    """Add the parser of `gamesim class`."""
    room = commands.add_parser(
        "class",
        help="let a class play: students join from their phones",
        description="Open a room in which a class plays a game. Students join from their browsers with a code and a "
        "name. Everything that is played is written to a log before it is acknowledged; the same command continues a "
        "session that was interrupted.",
    )
    room.add_argument("game", metavar="GAME", help="scenario file, game file, or name of a built-in scenario or game")
    room.add_argument(
        "--matching",
        choices=MATCHINGS,
        default="groups",
        help="who plays with whom: each student with learners, groups that stay, groups reshuffled in every round, or "
        "all together (default: groups)",
    )
    room.add_argument("--rounds", type=whole_number, default=20, metavar="N", help="number of rounds (default 20)")
    room.add_argument("--seconds", type=seconds, metavar="S", help="seconds per round (default: until all have chosen)")
    room.add_argument(
        "--learner",
        default="regret-matching",
        metavar="NAME",
        help="learner in seats without a student (default: regret-matching)",
    )
    room.add_argument(
        "--device",
        metavar="DEVICE",
        help="draw private recommendations from a distribution over action profiles: the correlated equilibrium with "
        "the highest (best) or lowest (worst) total payoff or the highest entropy (max-entropy), uniform, or "
        "probabilities such as 0,0.5,0.5,0, which need not be an equilibrium",
    )
    room.add_argument("--log", metavar="FILE", help="log of the session (default: runs/class-GAME.sqlite)")
    room.add_argument("--port", type=whole_number, default=8766, metavar="N", help="port (default: 8766)")
    room.add_argument(
        "--seed", type=whole_number, default=0, metavar="N", help="seed of learners and devices (default 0)"
    )
    room.add_argument(
        "--allow-network", action="store_true", help="accept connections from other machines, such as students' phones"
    )
    room.add_argument("--no-browser", action="store_true", help="print the addresses without opening a browser")
    room.set_defaults(command=_class)


def add_play(commands: Commands) -> None:
    """Add the parser of `gamesim play`."""
    play = commands.add_parser(
        "play",
        help="play a game against learners in the browser",
        description="Play a game against learners in the browser. At the end the page shows your regrets and theirs.",
    )
    play.add_argument("game", metavar="GAME", help="scenario file, game file, or name of a built-in scenario or game")
    play.add_argument("--as", dest="role", metavar="PLAYER", help="your role (default: the first player)")
    play.add_argument("--rounds", type=whole_number, default=50, metavar="N", help="number of rounds (default 50)")
    play.add_argument("--seconds", type=seconds, metavar="S", help="seconds per round (default: no limit)")
    play.add_argument(
        "--learner", default="regret-matching", metavar="NAME", help="the others' learner (default: regret-matching)"
    )
    play.add_argument("--port", type=whole_number, default=0, metavar="N", help="port (default: a free one)")
    play.add_argument("--seed", type=whole_number, default=0, metavar="N", help="seed of the learners (default 0)")
    play.add_argument("--no-browser", action="store_true", help="print the address without opening a browser")
    play.set_defaults(command=_play)


def _play(arguments: argparse.Namespace) -> int:
    import tempfile

    game = _game(arguments.game)
    if arguments.role is not None and arguments.role not in game.players:
        raise unknown("player", arguments.role, game.players)
    role = game.players.index(arguments.role) if arguments.role is not None else 0
    with tempfile.TemporaryDirectory() as folder:
        _serve(arguments, game, "learner", Path(folder) / "play.sqlite", role=role, alone=True)
    return 0


def _class(arguments: argparse.Namespace) -> int:
    game = _game(arguments.game)
    log = Path(arguments.log) if arguments.log else Path("runs") / f"class-{Path(arguments.game).stem}.sqlite"
    log.parent.mkdir(parents=True, exist_ok=True)
    device = _device(game, arguments.device) if arguments.device else ()
    _serve(arguments, game, arguments.matching, log, device=device, allow_network=arguments.allow_network)
    return 0


def _device(game: "Game", text: str) -> tuple[float, ...]:
    from gamesim.classroom import devices

    return devices.named(game, text)


def _game(name: str) -> "Game":
    from gamesim import games

    if name in games.available():  # first, because scenarios take longer to import
        game = game_named(name)
    else:
        from gamesim import scenario

        game = scenario.read(scenario.shipped()[name]).played_game if name in scenario.shipped() else game_named(name)
    if game.timed:
        raise InputError(f"{game.name} varies over the rounds; people need a game that does not")
    return game


def _serve(
    arguments: argparse.Namespace,
    game: "Game",
    matching: "Matching",
    log: Path,
    *,
    role: int = 0,
    device: tuple[float, ...] = (),
    allow_network: bool = False,
    alone: bool = False,
) -> None:
    """Check the rest of the settings, and serve the room."""
    try:
        from gamesim.classroom.server import serve
    except ImportError as error:
        raise InputError(f"this needs {error.name}; install it with: pip install 'gamesim[lab]'") from None
    from gamesim import players
    from gamesim.classroom.room import Settings

    learner = players.from_text(arguments.learner)
    if learner.informed or "sampled" not in learner.feedback:
        raise InputError(f"{arguments.learner} cannot fill a seat; choose a learner that learns from losses, as hedge")
    if arguments.rounds < 1:
        raise InputError(f"rounds must be positive, got {arguments.rounds}")
    settings = Settings(
        matching, arguments.rounds, arguments.seconds or 0.0, arguments.learner, arguments.seed, role, device
    )
    browser = not arguments.no_browser
    serve(game, settings, log, arguments.port, allow_network=allow_network, browser=browser, alone=alone)
