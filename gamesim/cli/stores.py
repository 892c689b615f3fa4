"""Locate the stores of studies."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gamesim import scenario
from gamesim.errors import InputError
from gamesim.study.model import find
from gamesim.study.store import FILE

STUDIES_FOLDER = Path("studies")  # the default location


def folder_of(path: Path, out: str | None) -> Path:
    """Return the folder of a study's store."""
    return Path(out) if out else STUDIES_FOLDER / path.stem


def store_of(name: str) -> Path:
    """Return the store given as a file, as its folder, or as the name of a study in the default location."""
    path = Path(name)
    swept = {store.parent.name: store for store in sorted(STUDIES_FOLDER.glob(f"*/{FILE}"))}
    if name in swept and not (path / FILE).is_file():
        return swept[name]
    if path.is_dir():
        return path / FILE
    if path.suffix in (".sqlite", ".db"):
        return path
    with hint_if_scenario(name):
        return folder_of(find(name, swept), None) / FILE


@contextmanager
def hint_if_scenario(name: str) -> Iterator[None]:
    """If reading a study fails because the name is a scenario, explain how to run it."""
    try:
        yield
    except InputError:
        try:
            scenario.read(scenario.find(name))
        except InputError:
            pass
        else:
            raise InputError(f"{name} is a scenario, not a study; run it with `gamesim run {name}`") from None
        raise
