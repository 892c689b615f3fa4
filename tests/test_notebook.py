"""Cards in notebooks, one-line representations, and exports to pandas and xarray."""

import doctest
import sys
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import InputError, Record, Table, games, players
from gamesim.study.model import Study
from tests.chromium import PROGRAM, Page

pytestmark = pytest.mark.slow

EVIL = "<script>document.title='bad'</script><img src=x onerror=\"document.title='bad'\">"
ODD = Table.from_payoffs(
    [[[3, 0, 2], [5, 1, 7]], [[3, 5, 1], [0, 1, 4]]],
    name=f"{EVIL}\nsecond line",
    players=["<b>Row</b>", "Col\"umn'"],
    actions=[["<i>a</i>", "b & c"], ["x'y", "</td></table>", "z"]],
)


def study() -> Study:
    raw = {
        "title": f"Title {EVIL}",
        "base": {"rounds": 10, "game": {"name": "chicken"}, "everyone": {"learner": "hedge"}},
        "grid": {"rounds": list(range(1, 21)), "start": {EVIL: {"everyone.perturb": 0.5}}},
        "seeds": 3,
    }
    return Study.from_dict(raw)


def things() -> list[Any]:
    replicas = gamesim.simulate("network-coordination", "hedge", 20, replicas=3, perturb=0.4)
    named = [games.make(name) for name in ("chicken", "network-coordination", "blotto", "braess")]
    records = [gamesim.simulate(ODD, ["hedge", "uniform"], 20), replicas, gamesim.face("hedge", [[0.5, -1.0]])]
    learners = [kind() for kind in players.available().values()]
    return [ODD, *named, *records, *learners, players.BlumMansour(rows=players.FTRL()), study()]


class Tags(HTMLParser):
    """Collect tags, their balance, and the text of a card."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize("thing", things(), ids=lambda thing: type(thing).__name__)
def test_cards_are_small_escaped_and_self_contained(thing: Any) -> None:
    html = thing._repr_html_()
    found = Tags(html)
    assert not found.open
    assert found.tags <= {"div", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    assert found.attributes <= {"style"} and "url(" not in html and len(html) < 20_000
    assert "#" not in "".join(html.split('style="')[1:]).split('"')[0]  # no colours but those of the notebook


def test_a_card_shows_the_numbers_of_its_record() -> None:
    record = gamesim.simulate("commitment", ["hedge", "uniform"], 200)
    text = Tags(record._repr_html_()).text
    assert text[:2] == ["Record", " commitment"]
    assert text[text.index("Leader") : text.index("Follower")] == ["Leader", "hedge", "2.98", "3.26", "3.26"]
    assert np.allclose([record.payoffs[0], record.regret("external")[0]], [2.98, 3.26], atol=0.006)
    assert any("CE gap 0.484" in line for line in text)
    replicas = gamesim.simulate("chicken", "hedge", 50, replicas=4, perturb=1.0)
    shown = Tags(replicas._repr_html_()).text
    assert "means of 4 replicas" in shown
    assert float(shown[shown.index("hedge") + 1]) == pytest.approx(replicas.payoffs.mean(axis=0)[0], rel=0.005)


def test_a_bimatrix_has_the_first_players_actions_as_rows() -> None:
    text = Tags(ODD._repr_html_()).text
    at = text.index("b & c")
    assert text[at + 1 : at + 4] == ["5, 0", "1, 1", "7, 4"]


def test_long_tables_are_cut_off() -> None:
    many = games.make("network-coordination", graph_settings={"n": 100})
    html = many._repr_html_()
    assert "and 92 more" in html and len(Tags(html).text) < 40


@pytest.mark.skipif(PROGRAM is None, reason="needs Chromium")
def test_names_from_files_are_not_executed(tmp_path: Path) -> None:
    cards = "".join(f"<section>{thing._repr_html_()}</section>" for thing in things())
    path = tmp_path / "cards.html"
    path.write_text(
        f"<!doctype html><meta charset=utf-8><meta name=viewport content=width=device-width><title>good</title>{cards}",
        encoding="utf-8",
    )
    page = Page()
    try:
        for width in (390, 1280):
            page.resize(width, 900)
            page.open(path.as_uri())
            assert page.run("document.title") == "good" and not page.errors
            assert page.run("document.querySelectorAll('script, img, b, i').length") == 0
            assert page.run("document.documentElement.scrollWidth") <= width
    finally:
        page.close()


def test_representations_are_one_short_line() -> None:
    record = gamesim.simulate(ODD, ["hedge", "uniform"], 20)
    simulation = gamesim.Simulation(ODD, "hedge")
    shown = [ODD, record, simulation, study(), *(games.make(name) for name in ("blotto", "polymatrix", "routing"))]
    for thing in shown:
        assert "\n" not in repr(thing) and len(repr(thing)) < 200, thing
    assert repr(games.make("chicken")) == "<Table: chicken, 2 players (Row, Column), 2×2 actions>"
    assert repr(games.make("network-coordination")).endswith(": network-coordination, 10 players, 2 actions each>")
    assert repr(players.make("hedge").start(3)) == "<CompiledLearner: Hedge(rate=None), 3 actions>"
    assert repr(study()) == "<Study: study, 60 points, 3 seeds>"


def test_the_version_is_that_of_the_package() -> None:
    assert gamesim.__version__ == version("gamesim") and "__version__" in dir(gamesim)


@pytest.fixture(scope="module")
def runs() -> list[Record]:
    game = games.make("uniform", players=3, actions=[2, 3, 4], seed=1)
    return [gamesim.simulate(game, "hedge", 60, perturb=0.4, replicas=replicas) for replicas in (None, 3)]


def test_a_tidy_table_holds_every_value_once(runs: list[Record]) -> None:
    pandas = pytest.importorskip("pandas")
    for record in runs:
        table = record.to_pandas()
        keys = ["round", "player", "action", "measure"] + ([] if record.single else ["replica"])
        assert set(table.columns) == {*keys, "value"} and not table.duplicated(keys).any()
        assert isinstance(table, pandas.DataFrame) and not table["value"].isna().any()
        one = record[0] if record.single else record[2]
        chosen = table if record.single else table[table.replica == 2]
        last = chosen[chosen["round"] == record.rounds]

        def values(measure: str, of: Any = last) -> list[float]:
            return list(of[of.measure == measure].value)

        assert values("payoffs") == one.payoffs.tolist()
        assert values("swap-regret") == one.regret("swap").tolist()
        assert values("ce-gap") == [one.gap("ce")]
        assert values("average-strategies") == np.concatenate(one.average).tolist()
        third = last[(last.player == "Player 3") & (last.measure == "last-strategies")]
        assert list(third.action) == ["1", "2", "3", "4"] and list(third.value) == one.last[2].tolist()
        assert last[last.measure == "ce-gap"].player.isna().all()
        curve = chosen[(chosen.measure == "nash-gap")]
        assert list(curve["round"]) == one.curve.rounds.tolist() and list(curve.value) == one.curve.nash_gap().tolist()


def test_the_trajectory_as_a_table(runs: list[Record]) -> None:
    pytest.importorskip("pandas")
    table = runs[1].to_pandas(["trajectory"])
    rounds, played = runs[1].trajectory
    chosen = table[(table.replica == 1) & (table.player == "Player 2") & (table["round"] == rounds[7])]
    assert list(chosen.value) == played[1][1, 7].tolist()


def test_a_dataset_has_named_dimensions_and_units(runs: list[Record]) -> None:
    pytest.importorskip("xarray")
    for record in runs:
        data = record.to_xarray(["payoffs", "average-strategies", "joint", "ce-gap", "trajectory"])
        one = data if record.single else data.sel(replica=2)
        exact = record[0] if record.single else record[2]
        assert data["payoffs"].attrs["units"] == "payoff units per round" and data.attrs["game"] == "uniform"
        assert float(one["payoffs"].sel(player="Player 2", round=60)) == exact.payoffs[1]
        second = one["average-strategies"].sel(player="Player 2", round=60)
        assert second.values[:3].tolist() == exact.average[1].tolist() and np.isnan(second.values[3])
        assert list(second["label"].values) == ["1", "2", "3", ""]
        joint = one["joint"].sel(round=60)
        assert joint.dims == tuple(f"action of Player {i}" for i in (1, 2, 3)) and (joint == exact.joint).all()
        assert one["trajectory"].sel(recorded_round=5, player="Player 1").values[:2].tolist() == (
            exact.trajectory[1][0][list(exact.trajectory[0]).index(5)].tolist()
        )
    alike = gamesim.simulate("chicken", "hedge", 10).to_xarray()
    assert list(alike["action"].values) == ["chicken out", "dare"]


def test_what_cannot_be_exported_is_refused(runs: list[Record]) -> None:
    pytest.importorskip("pandas")
    wrong: list[tuple[Any, str]] = [
        (["joint"], "joint has one number per action profile"),
        ([], "at least one measure"),
        (["ce-gab"], "did you mean 'ce-gap'"),
        (["quantile-regret"], "needs epsilon"),
        ([lambda moment: moment.profile], "must give one number per run"),
        (["ce-gap", "ce-gap"], "'ce-gap' twice"),
    ]
    for measures, words in wrong:
        with pytest.raises(InputError, match=words):
            runs[0].to_pandas(measures)
    own = runs[0].to_pandas([lambda moment: float(moment.rounds)])
    assert list(own.value) == list(own["round"])


@pytest.mark.parametrize("library", ["pandas", "xarray"])
def test_a_missing_library_is_named(library: str, runs: list[Record], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    words = rf"^to_{library} requires {library}; install it with: pip install 'gamesim\[{library}\]'$"
    with pytest.raises(InputError, match=words):
        getattr(runs[0], f"to_{library}")()


@pytest.mark.parametrize("library", ["pandas", "xarray"])
def test_examples_are_run_where_the_library_is_installed(library: str) -> None:
    pytest.importorskip(library)
    text = (getattr(Record, f"to_{library}").__doc__ or "").replace("  # doctest: +SKIP", "")
    test = doctest.DocTestParser().get_doctest(text, {}, library, None, None)
    runner = doctest.DocTestRunner()
    assert runner.run(test).failed == 0 and len(test.examples) > 4
