"""Published results at reduced size: every claim has the verdict that the gallery states."""

import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

import gamesim
from gamesim.cli.main import main
from gamesim.literature import entries
from gamesim.literature.entry import SMALL, Result

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "literature.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (\S+-\d{4})\n\n(.*?)(?=^## )", PAGE, re.MULTILINE | re.DOTALL))


def without_numbers(text: str) -> str:
    return re.sub(r"\d[\d,.]*", "#", text)


@pytest.mark.parametrize("name", entries())
def test_literature(name: Any) -> None:
    one = entries()[name]
    result = one.measure(SMALL)
    assert result.verdict == one.expected, "\n".join(map(str, result.comparisons))
    assert isinstance(result.draw(), Figure)
    for row in result.comparisons:
        assert without_numbers(f"| {row.what} |") in without_numbers(SECTIONS[name])
        assert row.source in SECTIONS[name]


def test_literature_page_is_in_step() -> None:
    """Compare the page with the entries; `gamesim literature --all` writes it."""
    assert list(SECTIONS) == list(entries())
    assert {path.stem for path in (DOCS / "images" / "literature").iterdir()} == set(entries())
    for name, one in entries().items():
        assert SECTIONS[name].startswith(f"{one.claim} *{one.reference}.*")
        assert f"**{one.expected.capitalize()}.**" in SECTIONS[name]


def test_literature_has_scenarios_and_references(tmp_path: Any) -> None:
    for name, one in entries().items():
        options = ["--rounds", "20", "--no-figures", "--quiet", "--out", str(tmp_path / name)]
        assert main(["run", f"literature/{name}", *options]) == 0
        assert one.reference.where and one.claim.endswith(".")


def measured_with(monkeypatch: Any, learner: str, name: str) -> Result:
    """Measure an entry with another learner for all players."""
    simulate, face = gamesim.simulate, gamesim.face

    def simulate_wrongly(game: Any, _: Any, rounds: int, **options: Any) -> Any:
        unfit = {"opening", "start"} if learner == "uniform" else {"opening"}
        return simulate(game, learner, rounds, **{key: options[key] for key in options.keys() - unfit})

    def face_wrongly(_: Any, losses: Any, **options: Any) -> Any:
        return face(learner, losses, **options)

    monkeypatch.setattr(gamesim, "simulate", simulate_wrongly)
    monkeypatch.setattr(gamesim, "face", face_wrongly)
    return entries()[name].measure(SMALL)


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        ("uniform", "monderer-shapley-1996"),
        ("uniform", "kleinberg-2009"),
        ("uniform", "stoltz-lugosi-2005"),
        ("optimistic-hedge", "bailey-piliouras-2018"),
        ("hedge", "stoltz-lugosi-2005"),
        ("hedge", "wei-2021"),
        ("hedge", "cai-2023"),
        ("hedge", "farina-2023"),
        ("hedge", "bailey-gidel-piliouras-2020"),
        ("hedge", "deng-2019"),
        ("blum-mansour", "deng-2019"),
    ],
)
def test_literature_rejects_a_wrong_learner(monkeypatch: Any, learner: Any, name: Any) -> None:
    assert measured_with(monkeypatch, learner, name).verdict != "reproduced"


def test_literature_on_the_command_line(capsys: Any) -> None:
    assert main(["list", "literature"]) == 0
    listed = capsys.readouterr().out
    assert "hofbauer-1996" in listed
    assert max(map(len, listed.splitlines())) <= 80
    assert main(["literature", "hofbauer-1996", "--small"]) == 0
    assert main(["literature", "hofbauer"]) == 2
