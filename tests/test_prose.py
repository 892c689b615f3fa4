"""The project's English: phrases that readers stumbled over do not come back.

The rules are those of plain technical prose: "per round" for "a round", "got X" for "and X came", "reports" or
"observes" for "tells" or "is told". They are checked in everything that a user or contributor reads: messages,
docstrings and comments of all Python files, Markdown, notebooks, scenarios, and the texts of the live page.
"""

import io
import json
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("gamesim", "players", "games", "scenarios", "tests", "examples", "benchmarks", "docs", "")
LEFT_OUT = (  # generated from docstrings, which are checked themselves
    "docs/_build",
    "docs/reference/learners",
    "docs/reference/games",
    "docs/reference/pictures",
    "docs/reference/files.md",
)
STORED = ("blum-mansour, one solve a round",)  # part of the keys of stored results
HERE = Path(__file__).resolve()

# Each rule: what to write instead, what it finds, and a sentence of the kind that it is there for.
RULES: dict[str, tuple[str, str]] = {
    "got X": (r",? and [^\n]{1,90}? came\b", "rate must be a positive number, and -1.0 came"),
    "per round": (
        r" a round\b(?! trip| worked| computed)(?<!^ a round)"
        r"(?<!\bin a round)(?<!\bof a round)(?<!\bafter a round)(?<!\bbefore a round)(?<!\bduring a round)"
        r"(?<!\bwithin a round)(?<!\bfor a round)(?<!\bone a round)(?<!\bplay a round)(?<!\bplays a round)"
        r"(?<!\brun a round)(?<!\bruns a round)(?<!\bwhen a round)(?<!\bstart a round)(?<!\bthat a round)"
        r"(?<!\bfrom a round)(?<!\bto a round)(?<!\bas a round)(?<!\bis a round)(?<!\bwith a round)"
        r"(?<!\bbetween a round)(?<!\bby a round)(?<!\bon a round)(?<!\bat a round)(?<!\bif a round)"
        r"(?<!\bcloses a round)(?<!\bends a round)(?<!\bfinish a round)(?<!\bhas a round)",
        "Payoffs and regrets are a round",
    ),
    "per second": (r"\b(rounds|frames|times|messages|points|calls) a second\b", "at most 30 frames a second"),
    "per X": (
        r"\b(row|axis|entry|line|table|column|sheet|one|learner|file|function|checkpoints|test|bettor) an? "
        r"(round|player|file|action|replica|row|kind|decade|learner|command|point|game|day)\b",
        "an axis a player, a row a round",
    ),
    "reports, observes, prints": (r"\b([Tt]ell|[Tt]ells|[Tt]old|[Tt]elling)\b", "each learner is told its loss"),
    "returns, results": (r"\b(comes?|came|coming) back\b|\bwhat (came|comes) of\b", "a float comes back"),
    "custom, user-defined": (
        r"\bof (its|your|one's|the user's|their|his|our) own\b|\bthe own (bid|action|drawn|one|card|loss)",
        "an axis of your own",
    ),
    "a player, the user, you": (
        r"\b([Ss]omebody|[Aa]nybody|[Ww]hoever|[Ww]homever|[Ee]verybody)\b|\ba person\b|\b(for|to|by|what|as) people\b",
        "whoever calls holds the arrays",
    ),
    "the joint distribution": (
        r"\b([Tt]he|[Aa]|[Tt]his|[Ii]ts|[Oo]ne|[Ee]ach|[Ee]very) joints?\b"
        r"(?! (distribution|play|probabilit|strateg|state|cumulative)|$)",
        "the joint of the rounds",
    ),
    "maximum": (r"\bthe most there is\b|\bthe most that there is\b", "the most there is 12"),
    "rounds rounds, every seconds seconds": (r"\b[Ss]o (many|often) (rounds|players|seconds)?", "so many rounds"),
    "continues, fails, permits": (
        r"\b(goes|go|went|going) (on|astray|to and fro)\b|\b(gives?|gave) leave\b|\b(lets?|letting) in\b",
        "a run that goes on",
    ),
    "a gap is not a distance": (
        r"within [\w.{}']+ of (a|an|the|no) [\w ]{0,12}(correlated|equilibri)",
        "within 0.01 of a correlated equilibrium",
    ),
    "is not a …": (r"\b(is|are|was) none\b", "a test that would pass is none"),
    "CSV file, architecture, animation": (
        r"(?<!style )\b([Ss]heets?|[Ff]ilms?)\b|\b[Tt]he house\b",
        "a sheet per player",
    ),
    "a noun phrase or a verb": (
        r"^\W*(What there is|How (it|they) (is|are) (done|found|read|told)|What (anybody|a sweep) (reads|writes))",
        "What there is: learners and games",
    ),
    "distinguishable": (
        r"\b(said|says|say) (so|that it|which|what)\b|\bspeaks? of\b|\bspoken of\b",
        "the test says which",
    ),
}


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Give the lines of a file that a person reads, with their numbers."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            kinds = (tokenize.STRING, tokenize.COMMENT, getattr(tokenize, "FSTRING_MIDDLE", -1))
            if token.type in kinds:
                yield from enumerate(token.string.split("\n"), token.start[0])
    elif path.suffix == ".ipynb":
        for cell in json.loads(text)["cells"]:
            yield from enumerate("".join(cell["source"]).split("\n"), 1)
    else:
        yield from enumerate(text.split("\n"), 1)


def files() -> list[Path]:
    """Return all files that have prose."""
    found = []
    for folder in FOLDERS:
        here = ROOT / folder
        pattern = "**/*" if folder else "*"
        for path in here.glob(pattern):
            place = path.relative_to(ROOT).as_posix()
            left_out = place.startswith(LEFT_OUT) or "__pycache__" in place or path.resolve() == HERE
            if path.suffix in (".py", ".md", ".ipynb", ".toml", ".js", ".html", ".cff") and not left_out:
                found.append(path)
    return sorted(set(found))


def test_phrases_are_not_used() -> None:
    found = []
    for path in files():
        text = path.read_text(encoding="utf-8")
        # most files match no rule even with their code, and need not be parsed
        rules = {rule: re.compile(one) for rule, (one, _) in RULES.items() if re.search(one.lstrip("^"), text, re.M)}
        for number, line in prose(path) if rules else ():
            if not any(kept in line for kept in STORED):
                place = f"{path.relative_to(ROOT).as_posix()}:{number}"
                found += [f"{place}: write {rule!r}: {line.strip()}" for rule, one in rules.items() if one.search(line)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("rule", RULES)
def test_rule_can_fail(rule: str) -> None:
    pattern, sentence = RULES[rule]
    assert re.search(pattern, sentence), f"{rule}: the rule does not find {sentence!r}"
