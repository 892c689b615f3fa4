"""Run every example program and every notebook; the notebooks' stored outputs must match."""

import json
import re
import runpy
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import distributed
import pytest

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parents[1] / "examples"
PROGRAMS = sorted(FOLDER.glob("*.py"))
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
SHORT = ("cluster", "last_iterate", "swap_log_barrier", "four_hundred_starts")  # user-defined parts take few lines
NUMBER = re.compile(r"-?\d+\.?\d*(?:e-?\d+)?")


def test_there_are_programs_and_notebooks() -> None:
    assert 8 <= len(PROGRAMS) <= 14 and len(NOTEBOOKS) == 3


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.stem))
def test_program(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    workers = partial(distributed.LocalCluster, processes=False, protocol="tcp://")  # processes take long to start
    monkeypatch.setattr(distributed, "LocalCluster", workers)
    assert len(path.read_text().splitlines()) <= (30 if path.stem in SHORT else 40)
    runpy.run_path(str(path), run_name="__main__")
    printed = capsys.readouterr().out
    assert printed.count("\n") >= 2
    if path.stem == "last_iterate":
        last = [float(line.split()[-3]) for line in printed.splitlines()[1:]]
        assert last[3] > last[0] and last[7] < 0.02 < last[4]  # optimism makes the last strategies converge
    if path.stem == "four_hundred_starts":
        assert re.findall(r": (\d+)", printed) == ["190", "190", "20"]
    if path.stem == "swap_log_barrier":
        regret, bound = map(float, re.findall(r"swap regret (\S+) ≤ (\d+)", printed)[0])
        assert 0 < regret < bound


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
