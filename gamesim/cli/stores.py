"""Where the stores of studies are, and which one somebody means."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gamesim import scenario
from gamesim.errors import InputError
from gamesim.study.model import find
from gamesim.study.store import FILE

STUDIES_FOLDER = Path("studies")  # where stores are kept unless a person says otherwise


def folder_of(path: Path, out: str | None) -> Path:
    """Return the folder that a study's store is kept in."""
    return Path(out) if out else STUDIES_FOLDER / path.stem


def store_of(name: str) -> Path:
    """Return the store that somebody means: the file, its folder, or a study that was swept into its usual place."""
    path = Path(name)
    swept = {store.parent.name: store for store in sorted(STUDIES_FOLDER.glob(f"*/{FILE}"))}
    if name in swept and not (path / FILE).is_file():
        return swept[name]
    if path.is_dir():
        return path / FILE
    if path.suffix in (".sqlite", ".db"):
        return path
    with told_from_a_scenario(name):
        return folder_of(find(name, swept), None) / FILE


@contextmanager
def told_from_a_scenario(name: str) -> Iterator[None]:
    """Where no study is found or read, tell who gave a scenario how to run it."""
    try:
        yield
    except InputError:
        try:
            scenario.read(scenario.find(name))
        except InputError:
            pass
        else:
            raise InputError(f"{name} is a scenario, which a study varies: run it with `gamesim run {name}`") from None
        raise
