"""Find scenario files by name or path, and read them."""

import re
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

from gamesim.errors import InputError, unknown
from gamesim.formatting import shortened
from gamesim.scenario.model import SCENARIO_FILE, Scenario

LITERATURE = "literature"  # the folder of published results
LARGEST_FILE = 2**24  # bytes
MOST_VALUES = 2**19  # commas, lines and equals signs, of which tomllib and all checks take up to 5 seconds
DEEPEST_KEY = 100  # parts of a dotted key; tomllib takes a time that grows with their square
_LIMIT = "the limit for TOML; store large payoff tables in a game file (.npz), and name it with file = ..."
_DEEP_KEY = re.compile(rf"""(?<![\w."'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){{{DEEPEST_KEY}}}""")


def shipped() -> dict[str, Path]:
    """Return the scenarios that come with gamesim, by name.

    Returns
    -------
    dict of str to Path
        The path of each scenario file, sorted by name.

    Examples
    --------
    >>> "chicken" in shipped()
    True
    """
    return _scenarios_in("")


def _scenarios_in(folder: str) -> dict[str, Path]:
    """Return the scenarios in a folder of those that ship, by name with the folder."""
    home = Path(str(files("gamesim.scenarios"))) / folder
    prefix = f"{folder}/" if folder else ""
    return {prefix + path.stem: path for path in sorted(home.iterdir()) if path.suffix == ".toml"}


def find(name: str) -> Path:
    """Return the path of a scenario given by path or by name.

    Parameters
    ----------
    name : str
        The path of a scenario file, or the name of a shipped scenario.

    Returns
    -------
    Path
        The path of the scenario file.

    Raises
    ------
    InputError
        If there is no such file or scenario, or if the path is a folder.

    Examples
    --------
    >>> find("chikcen")
    Traceback (most recent call last):
        ...
    gamesim.errors.InputError: unknown scenario 'chikcen'; did you mean 'chicken'?
    >>> find("shapley").name
    'shapley.toml'
    """
    path, known = Path(name), shipped()
    of_literature = _scenarios_in(LITERATURE)
    if name in of_literature and not path.exists():
        return of_literature[name]
    if name.startswith(f"{LITERATURE}/") and path.suffix != ".toml" and not path.exists():
        raise unknown("published result", name, of_literature)
    is_path = path.suffix == ".toml" or len(path.parts) > 1
    if not is_path and name in known:
        return known[name]
    try:
        is_folder, exists = path.is_dir(), path.exists()
    except OSError as error:
        raise InputError(f"cannot read {shortened(name)}: {error.strerror}") from None
    if is_folder:
        hint = (
            f"did you mean '{path / SCENARIO_FILE}'?"
            if (path / SCENARIO_FILE).is_file()
            else "give the path of a scenario file (TOML)"
        )
        raise InputError(f"{name} is a folder; {hint}")
    if not exists:
        if is_path:
            raise InputError(
                f"there is no file {name}; give the path of a scenario, or the name of a shipped one: "
                f"{', '.join(known)}"
            )
        raise unknown("scenario", name, known)
    return path


def read(path: str | Path, *, local_code: bool = False) -> Scenario:
    """Read a scenario file.

    Parameters
    ----------
    path : str or Path
        The path of the file.
    local_code : bool, default False
        Whether to run the Python files that the scenario names, such as ``mylearner.py:MyHedge``.

    Returns
    -------
    Scenario
        The validated scenario. Paths in it are relative to the folder of the file.

    Raises
    ------
    InputError
        If the file cannot be read, is not TOML or is a study, or if there are mistakes in its values; the message lists
        all of them.

    Examples
    --------
    >>> scenario = read(find("shapley"))
    >>> scenario.game.name, scenario.rounds
    ('shapley', 20000)
    """
    path = Path(path)
    raw, comment = read_toml(path)
    if "base" in raw and "game" not in raw:
        raise InputError(f"{path} is a study, not a scenario; run it with `gamesim sweep {path}`")
    return Scenario.from_dict(raw, source=str(path), folder=path.parent, comment=comment, local_code=local_code)


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Return the values in a TOML file and its opening comment."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)  # a device or a pipe has no size to check before
        if len(data) > LARGEST_FILE:
            raise InputError(f"{path} has more than {LARGEST_FILE:,} bytes, {_LIMIT}")
        if sum(map(data.count, (b",", b"\n", b"="))) > MOST_VALUES:
            raise InputError(f"{path} has more than {MOST_VALUES:,} values, {_LIMIT}")
        text = data.decode("utf-8-sig")
        if _DEEP_KEY.search(text):
            raise InputError(f"{path} is not valid TOML: a key has more than {DEEPEST_KEY} parts")
        values = tomllib.loads(text)
        repr(values)  # raises a ValueError for a hexadecimal integer that Python cannot print in decimal
        return values, opening_comment(text)
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8 text ({error.reason} at byte {error.start}); save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not valid TOML: {error}") from None
    except InputError:
        raise
    except ValueError:  # tomllib passes this one on
        raise InputError(f"{path} is not valid TOML: an integer has more than 4300 digits") from None
    except RecursionError:
        raise InputError(f"{path} is not valid TOML: its arrays are nested too deeply") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None


def opening_comment(text: str) -> str:
    """Return the comment at the start of a file.

    >>> opening_comment("# Look at the gap.\\n#\\n# It shrinks.\\n\\nrounds = 5  # few")
    'Look at the gap.\\n\\nIt shrinks.'
    """
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append("".join(c for c in line.lstrip("#").strip() if c.isprintable()))
    return "\n".join(lines)
