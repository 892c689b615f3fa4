"""Split docstrings into the parts that `gamesim show` prints: plain docstrings and numpydoc sections alike."""

import inspect
import re
from dataclasses import dataclass, field

FULL_LINE = 90  # characters, with the next word, from which a line of a docstring counts as wrapped
SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}[ ]*(?:\n|\Z)", re.MULTILINE)
LABEL = re.compile(r"[A-Z][a-z]+: ")  # "Source: " and the like begin a new line in a plain docstring
LIST_ITEM = re.compile(r"[-*•] |\d+\. |\[\d+\] ")


@dataclass(frozen=True)
class Documentation:
    """The parts of a docstring; each part other than the first line is ready to be printed."""

    first_line: str = ""
    text: str = ""
    notes: str = ""
    references: str = ""
    parameters: dict[str, str] = field(default_factory=dict)  # descriptions by name


def documentation(thing: object) -> Documentation:
    """Return the docstring of a class or function in parts."""
    return split(inspect.getdoc(thing) or "")


def split(docstring: str) -> Documentation:
    r"""Split a docstring without indentation into its parts.

    >>> split("Play.\n\nMore\ntext.\n\n>>> 1 + 1").text
    'More text.'
    >>> found = split("Play.\n\nParameters\n----------\nrate : float\n    The rate.\n\nNotes\n-----\np = 1\nq = 2\n")
    >>> found.parameters, found.notes
    ({'rate': 'The rate.'}, 'p = 1\nq = 2')
    """
    head, *rest = SECTION.split(docstring)
    sections = dict(zip(rest[::2], (text.strip("\n") for text in rest[1::2]), strict=True))
    first_line, _, text = head.split(">>>")[0].partition("\n")
    return Documentation(
        first_line=first_line.strip(),
        text=flowing(text.strip()),
        notes=_lines(sections.get("Notes", "")),
        references=_references(sections.get("References", "")),
        parameters=_parameters(sections.get("Parameters", "")),
    )


def flowing(text: str) -> str:
    r"""Join the lines of each paragraph, so that the terminal wraps them; "Source:" and the like begin a new line.

    >>> flowing("One\ntwo.\n\nSource: a\nbook.\nTeaches: much.")
    'One two.\n\nSource: a book.\nTeaches: much.'
    """
    return re.sub(rf"(?<!\n)\n(?!\n|{LABEL.pattern})", " ", text)


def _lines(text: str) -> str:
    """Return notes line by line, without reST markup; only the lines of wrapped sentences are joined."""
    plain = re.sub(r"^\.\. math::[ ]*\n?", "", text, flags=re.MULTILINE).replace("``", "`")
    joined: list[str] = []
    previous = ""
    for line in plain.split("\n"):
        words = line.split(maxsplit=1)
        full = bool(previous.strip() and words and len(previous) + 1 + len(words[0]) > FULL_LINE)
        if full and not LIST_ITEM.match(line.lstrip()):
            joined[-1] += " " + line.strip()
        else:
            joined.append(line.rstrip())
        previous = line
    return "\n".join(joined).strip("\n")


def _references(text: str) -> str:
    """Return one line per reference."""
    plain = re.sub(r"^\.\. (?=\[)", "", text, flags=re.MULTILINE)
    return _lines(re.sub(r"\n[ ]+", " ", plain))


def _parameters(text: str) -> dict[str, str]:
    """Return the descriptions of a Parameters section by name."""
    found: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", text):
        head, _, description = entry.partition("\n")
        for name in head.partition(":")[0].split(","):
            found[name.strip()] = " ".join(description.split()).replace("``", "`")
    found.pop("", None)
    return found
