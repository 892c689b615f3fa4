"""What is written about the architecture is true of the code, and generated files are up to date."""

import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DESIGN = (ROOT / "docs" / "explanation" / "design.md").read_text(encoding="utf-8")
UPDATE = runpy.run_path(str(ROOT / "docs" / "update.py"))
GENERATED: dict[Path, str] = UPDATE["generated"]()


def test_the_layers_in_the_documentation_are_those_that_are_enforced() -> None:
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    enforced = [line for line in contract["contracts"][0]["layers"] if line != "__main__"]
    table = DESIGN.partition("| layer | contents |")[2].partition("\n\n")[0]
    documented = [" : ".join(re.findall(r"`(\w+)`", row.split("|")[1])) for row in table.splitlines()[2:]]
    joined = " ".join(enforced).replace("record record_files", "record : record_files")
    assert " ".join(documented) == joined


def test_the_walk_through_one_run_names_modules_that_exist_each_once() -> None:
    walk = DESIGN.partition("## One run")[2].partition("\n## ")[0]
    named = re.findall(r"`([a-z_/]+(?:\.py|/))`", walk)
    assert len(named) > 30
    assert len(set(named)) == len(named)
    for name in named:
        inside = ROOT / name if name.startswith(("games", "players")) else ROOT / "gamesim" / name
        assert inside.exists(), name


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: str(path.relative_to(ROOT)))
def test_generated_file_is_up_to_date(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == GENERATED[path], f"{path.name} is stale: run {UPDATE['COMMAND']}"
