"""Run every command and every code block in README and in the documentation.

A block after `<!-- not run ... -->` is skipped; the comment gives the reason. A block after `<!-- file: NAME -->` is
saved under that name, and a block after `<!-- output -->` must equal the output of the block before it. Runs are
shortened to a few rounds and draw no figures, except in blocks about figures, whose pictures stay empty.
"""

import re
import shlex
import sys
import tomllib
from pathlib import Path
from textwrap import dedent
from typing import Any, NamedTuple

import pytest
from matplotlib.figure import Figure

from gamesim.cli.main import build_parser, main
from gamesim.figures import style
from gamesim.scenario import Scenario
from gamesim.scenario import schema as scenario_schema

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    *sorted((ROOT / "docs" / "explanation").glob("*.md")),
    ROOT / "docs" / "howto.md",
    ROOT / "docs" / "teaching.md",
    ROOT / "docs" / "classroom.md",
]
BLOCK = re.compile(
    r"(?:<!-- *(?P<note>[^\n]*?) *-->\n)?^(?P<indent> *)```(?P<kind>\w+)\n(?P<text>.*?)^ *```$", re.M | re.S
)


class Block(NamedTuple):
    kind: str
    text: str
    note: str


def blocks(page: Path) -> list[Block]:
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [Block(one["kind"], dedent(one["text"]), one["note"] or "") for one in found]


@pytest.fixture
def _empty_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make figures, but render none of them: no page looks at the pixels."""
    monkeypatch.setattr(style, "svg", lambda _: "<svg/>")
    monkeypatch.setattr(Figure, "savefig", lambda _, path, **__: Path(path).write_bytes(b""))


@pytest.mark.usefixtures("_empty_pictures")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.stem))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("mylearner", "test_mylearner"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    names: dict[str, Any] = {"__name__": page.stem}
    for block in blocks(page):
        if block.note.startswith("not run"):
            continue
        if block.note.startswith("file: "):
            Path(block.note.removeprefix("file: ")).write_text(block.text, encoding="utf-8")
        elif block.note == "output":
            _same_output(capsys.readouterr().out, block.text)
        elif block.kind == "python":
            capsys.readouterr()
            exec(compile(block.text, str(page), "exec"), names)
        elif block.kind == "sh":
            for line in block.text.splitlines():
                _run(line)
        elif block.kind == "toml":
            tomllib.loads(block.text)
    capsys.readouterr()


def _same_output(printed: str, shown: str) -> None:
    """Compare words exactly, and numbers up to rounding differences between processors."""
    number = r"\d+\.\d+"
    words = [[line.rstrip() for line in re.sub(number, "", text).strip("\n").splitlines()] for text in (printed, shown)]
    assert words[0] == words[1]
    numbers = [[float(one) for one in re.findall(number, text)] for text in (printed, shown)]
    assert numbers[0] == pytest.approx(numbers[1], rel=0.1)


def _run(line: str) -> None:
    command, _, comment = line.partition("#")
    program, *arguments = shlex.split(command)
    assert program == "gamesim", f"only gamesim commands are run; mark the block as not run: {line}"
    if arguments[0] == "run":
        arguments += [] if "--rounds" in arguments else ["--rounds", "300"]
        arguments += [] if "--no-figures" in arguments else ["--no-figures"]
        arguments += [] if "--out" in arguments else ["--force"]
    code = re.search(r"exit code (\d+)", comment)
    assert main(arguments) == int(code[1] if code else 0), line


def test_pages_can_be_followed_in_one_folder() -> None:
    saved: dict[str, str] = {}
    for page in PAGES:
        for block in blocks(page):
            if block.note.startswith("file: "):
                assert saved.setdefault(block.note, block.text) == block.text, (
                    f"{page}: {block.note} differs from an earlier page"
                )


def test_every_page_with_code_is_run() -> None:
    """Generated pages are exempt: their code comes from docstrings, which doctest runs."""
    written = [
        page for page in (ROOT / "docs").rglob("*.md") if page.parent.name not in ("games", "learners", "_build")
    ]
    for page in written:
        assert page in PAGES or all(block.kind not in ("python", "sh") for block in blocks(page)), page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.stem))
def test_commands_in_the_text_exist(page: Path) -> None:
    for command in re.findall(r"`gamesim ([a-z][^`]*)`", page.read_text(encoding="utf-8")):
        arguments = shlex.split(command)
        try:
            build_parser().parse_args(arguments if len(arguments) > 1 else [*arguments, "--help"])
        except SystemExit as stopped:
            assert stopped.code == 0, command


def test_few_blocks_are_skipped() -> None:
    skipped = [block for page in PAGES for block in blocks(page) if block.note.startswith("not run")]
    assert sum("it serves" not in block.note for block in skipped) <= 8  # a server runs until it is stopped
    assert sum(block.kind in ("python", "sh") for page in PAGES for block in blocks(page)) >= 40


def test_the_output_in_the_readme_matches_its_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario, output = (next(one for one in blocks(PAGES[0]) if one.kind == kind) for kind in ("toml", "text"))
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "mine.toml").write_text(scenario.text, encoding="utf-8")
    assert main(["run", str(tmp_path / "mine.toml"), "--no-figures", "--out", str(tmp_path / "run")]) == 0
    _same_output(capsys.readouterr().out, output.text)


def test_the_schema_has_every_key_of_a_scenario() -> None:
    made = scenario_schema.scenario_schema()
    assert set(made["properties"]) == set(Scenario.model_fields) and made["required"] == ["rounds", "game"]
    assert "wavelet" in made["$defs"]["PlayerPart"]["properties"]["learner"]["anyOf"][0]["enum"]
