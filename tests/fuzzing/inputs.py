"""Inputs by number, and inputs that are saved: a folder per input, with its files and a note."""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from random import Random

from tests.fuzzing.kinds import KINDS, kind_of
from tests.fuzzing.values import Input, files_in, write

NOTE = "NOTE.txt"  # the outcome of a saved input, beside its files


def made(seed: int, number: int, only: Sequence[str] = ()) -> tuple[str, Input]:
    """Return the kind and the files of input number `number`; with `only`, of one of these kinds."""
    random = Random(f"{seed} {number}")
    kind = only[number % len(only)] if only else kind_of(random)
    return kind, KINDS[kind].make(random)


def save(folder: Path, kind: str, given: Input, note: str) -> Path:
    """Save an input below a folder, under a name that starts with its kind."""
    digest = hashlib.sha256(repr(sorted(given.items())).encode()).hexdigest()[:12]
    place = folder / f"{kind}-{digest}"
    place.mkdir(parents=True, exist_ok=True)
    write(place, given)
    (place / NOTE).write_text(note, encoding="utf-8", errors="backslashreplace")
    return place


def saved(folder: Path) -> list[tuple[Path, str, Input]]:
    """Return the saved inputs in a folder, or the one that the folder is: their paths, kinds and files."""
    places = [folder] if (folder / NOTE).exists() else sorted(folder.iterdir())
    return [(place, place.name.partition("-")[0], _without_note(files_in(place))) for place in places if place.is_dir()]


def _without_note(files: Input) -> Input:
    return {name: data for name, data in files.items() if name != NOTE}
