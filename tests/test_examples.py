"""Every example runs and says something; every notebook runs, and says what it holds."""

import json
import re
import runpy
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
PROGRAMS = sorted(FOLDER.glob("*.py"))
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def test_there_are_programs_and_notebooks() -> None:
    assert 8 <= len(PROGRAMS) <= 10 and len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.stem))
def test_program(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(path.read_text().splitlines()) <= 40
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out.count("\n") >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.stem))
def test_notebook_holds_what_it_says(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {"__name__": "notebook"}
    for k, cell in enumerate(cells, start=1):
        said = StringIO()
        with redirect_stdout(said):
            exec("".join(cell["source"]), names)
        held = "".join("".join(one.get("text", [])) for one in cell["outputs"] if one["output_type"] == "stream")
        _same(said.getvalue(), held, f"{path.name}, code cell {k}")
    assert any(cell["outputs"] for cell in cells)


def _same(said: str, held: str, place: str) -> None:
    """The same words, and numbers that differ by no more than another machine's rounding may make of them."""
    assert NUMBER.sub("#", said).split() == NUMBER.sub("#", held).split(), place
    for one, other in zip(NUMBER.findall(said), NUMBER.findall(held), strict=True):
        assert float(one) == pytest.approx(float(other), rel=0.02, abs=0.011), place
