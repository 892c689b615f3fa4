"""`gamesim lab`: an interactive page in the browser."""

import argparse

from gamesim.cli.arguments import Commands, scenario_path, whole_number
from gamesim.cli.console import announce_compilation
from gamesim.errors import InputError


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
    lab.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="address to listen on (default: 127.0.0.1)")
    lab.add_argument(
        "--allow-network", action="store_true", help="accept connections from other machines; the link contains a token"
    )
    lab.set_defaults(command=_lab)


def _lab(arguments: argparse.Namespace) -> int:
    from gamesim.scenario import read

    try:
        from gamesim.lab.server import serve
    except ModuleNotFoundError as error:
        raise InputError(f"the lab requires {error.name}; install it with `pip install 'gamesim[lab]'`") from None
    first = read(scenario_path(arguments.scenario)) if arguments.scenario else None
    announce_compilation()
    browser = not arguments.no_browser
    serve(first, arguments.host, arguments.port, allow_network=arguments.allow_network, browser=browser)
    return 0
