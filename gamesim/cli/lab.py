"""`gamesim lab`: an interactive page in the browser."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gamesim.cli.arguments import Commands, scenario_path, whole_number
from gamesim.cli.console import announce_compilation
from gamesim.errors import InputError

if TYPE_CHECKING:
    from gamesim.scenario import Scenario


def add_lab(commands: Commands) -> None:
    """Add the parser of `gamesim lab`."""
    lab = commands.add_parser("lab", help="open an interactive page in the browser")
    lab.add_argument(
        "scenario",
        metavar="SCENARIO",
        nargs="?",
        help="scenario to open: path of a file, or name of a built-in scenario",
    )
    lab.add_argument(
        "--port", type=whole_number, default=8765, metavar="N", help="port (default: 8765; 0 chooses a free one)"
    )
    lab.add_argument("--no-browser", action="store_true", help="print the address without opening a browser")
    lab.add_argument(
        "--host",
        metavar="ADDRESS",
        help="address to listen on (default: 127.0.0.1, or with --allow-network all addresses of this machine)",
    )
    lab.add_argument(
        "--allow-network",
        action="store_true",
        help="accept connections from other machines; prints links with a token, and a QR code",
    )
    lab.add_argument(
        "--allow-local-code",
        nargs="*",
        metavar="FILE",
        help="run the Python files that the scenario names and these files, and offer their learners; use it only with "
        "files you trust",
    )
    lab.set_defaults(command=_lab)


def _lab(arguments: argparse.Namespace) -> int:
    from gamesim.scenario import read

    try:
        from gamesim.lab.server import serve
    except ModuleNotFoundError as error:
        raise InputError(f"the lab requires {error.name}; install it with `pip install 'gamesim[lab]'`") from None
    allowed: list[str] | None = arguments.allow_local_code
    first = read(scenario_path(arguments.scenario), local_code=allowed is not None) if arguments.scenario else None
    own = _own_learners(allowed or [], first)
    announce_compilation()
    browser = not arguments.no_browser
    serve(first, arguments.host, arguments.port, allow_network=arguments.allow_network, browser=browser, own=own)
    return 0


def _own_learners(files: "list[str]", first: "Scenario | None") -> "list[str]":
    """Return references to the learners in files that are allowed, and to those of the scenario."""
    from gamesim.user_files import is_reference
    from gamesim.user_learners import learners_in

    chosen = [] if first is None else [part.learner for part in first.player_parts]
    found = [one for one in chosen if is_reference(one)]
    for file in files:
        if not file.endswith(".py"):
            raise InputError(f"{file} is not a Python file; a scenario must precede --allow-local-code")
        found += learners_in(Path(file))
    return list(dict.fromkeys(found))
