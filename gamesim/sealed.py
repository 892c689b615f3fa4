"""JSON documents with checksums, of themselves and of the files that belong to them.

A bit that flips on a disk would otherwise change a result silently. The manifest of a record, the summary of a run and
the settings of a run with checkpoints are such documents. Documents of earlier versions have no checksums.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gamesim.errors import InputError

REMEDY = "restore it from a copy or run the scenario again"
SHOWN = 16  # digits of a checksum in messages

_SEAL = re.compile(rb'(.*),\n "checksum": "([0-9a-f]{64})"\n}\n', re.DOTALL)


@dataclass(frozen=True)
class Document:
    """A document whose own checksum is right, and the checksums of its files by their relative paths.

    `checksums` is None if the document was written by an earlier version.
    """

    path: Path
    content: dict[str, Any]
    checksums: dict[str, str] | None

    def damages(self) -> Iterator[str]:
        """Yield one message for each file that is damaged or missing."""
        for name, expected in (self.checksums or {}).items():
            path = self.path.parent / name
            try:
                found = checksum(path)
            except FileNotFoundError:
                yield f"{path} is missing, although {self.path.name} lists it; {REMEDY}"
            except OSError as error:
                yield f"cannot read {path}: {error.strerror}"
            else:
                if found != expected:
                    yield (
                        f"{path} is damaged or was edited: its checksum is {found[:SHOWN]}…, {self.path.name} says "
                        f"{expected[:SHOWN]}…; {REMEDY}"
                    )


def checksum(path: Path) -> str:
    """Return the SHA-256 checksum of a file, as sha256sum prints it."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write(path: Path, content: dict[str, Any], files: Iterable[str]) -> None:
    """Write a document, with its own checksum and those of files at these paths relative to its folder."""
    checksums = {name: checksum(path.parent / name) for name in sorted(files)}
    text = json.dumps({**content, "checksums": checksums}, ensure_ascii=False, indent=1)
    body = text.removesuffix("\n}").encode()
    path.write_bytes(body + f',\n "checksum": "{hashlib.sha256(body).hexdigest()}"\n}}\n'.encode())


def read(path: Path) -> dict[str, Any]:
    """Return the content of a document; raise an InputError if it or one of its files is damaged."""
    document = examine(path)
    for damage in document.damages():
        raise InputError(damage)
    return document.content


def examine(path: Path) -> Document:
    """Read a document without reading its files; raise an InputError if the document itself is damaged."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path} is missing; {REMEDY}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    seal = _SEAL.fullmatch(data)
    if seal is not None and hashlib.sha256(seal[1]).hexdigest().encode() != seal[2]:
        raise InputError(f"{path} is damaged or was edited: it does not match the checksum at its end; {REMEDY}")
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged: it is not valid JSON ({error}); {REMEDY}") from None
    if not isinstance(content, dict) or (seal is None and "checksums" in content):
        raise InputError(f"{path} is damaged or was edited: it does not end with its checksum; {REMEDY}")
    content.pop("checksum", None)
    return Document(path, content, content.pop("checksums", None))
