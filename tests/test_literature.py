"""Published results at reduced size: every claim has the verdict that the gallery states."""

from typing import Any

import pytest
from matplotlib.figure import Figure

from gamesim import scenario
from gamesim.cli.main import main
from gamesim.literature import entries
from gamesim.literature.entry import SMALL


@pytest.mark.parametrize("name", entries())
def test_literature(name: Any) -> None:
    one = entries()[name]
    result = one.measure(SMALL)
    assert result.verdict == one.expected, "\n".join(map(str, result.comparisons))
    assert isinstance(result.draw(), Figure)


def test_literature_has_scenarios_and_references() -> None:
    for name, one in entries().items():
        scenario.read(scenario.find(f"literature/{name}"))
        assert one.reference.where and one.claim.endswith(".")


def test_literature_on_the_command_line(capsys: Any) -> None:
    assert main(["list", "literature"]) == 0
    assert "hofbauer-1996" in capsys.readouterr().out
    assert main(["literature", "hofbauer-1996", "--small"]) == 0
    assert main(["literature", "hofbauer"]) == 2
