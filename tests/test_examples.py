"""Run every example program and every notebook; the notebooks' stored outputs must match."""

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
def test_notebook_reproduces_its_stored_outputs(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {"__name__": "notebook"}
    for k, cell in enumerate(cells, start=1):
        printed = StringIO()
        with redirect_stdout(printed):
            exec("".join(cell["source"]), names)
        stored = "".join("".join(one.get("text", [])) for one in cell["outputs"] if one["output_type"] == "stream")
        _same(printed.getvalue(), stored, f"{path.name}, code cell {k}")
    assert any(cell["outputs"] for cell in cells)


def _same(printed: str, stored: str, place: str) -> None:
    """Compare words exactly, and numbers up to rounding differences between machines."""
    assert NUMBER.sub("#", printed).split() == NUMBER.sub("#", stored).split(), place
    for one, other in zip(NUMBER.findall(printed), NUMBER.findall(stored), strict=True):
        assert float(one) == pytest.approx(float(other), rel=0.02, abs=0.011), place
