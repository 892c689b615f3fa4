"""The replay in a report: one file, opened without a server, that shows the numbers of the record."""

import gzip
import json
import re
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gamesim
from gamesim import Record, Simulation, Table, games
from gamesim.formatting import number
from gamesim.report import replay
from gamesim.report import summary as report
from gamesim.report.html import report_html
from gamesim.user_learners import UserLearner
from gamesim.views import equilibria, frames
from tests.chromium import PROGRAM, Page, wait

pytestmark = pytest.mark.slow

KINDS: list[tuple[str, dict[str, Any]]] = [  # of games, with settings of the run
    ("chicken", {}),
    ("bad-rps", {"perturb": 0.3}),
    ("jordan", {"perturb": 0.3}),
    ("battle-of-the-sexes", {"replicas": 8, "start": "random"}),
    ("uniform 3 4", {}),
    ("el-farol", {}),
]
FAULTS = """(view) => new Promise((done) => {
  const make = URL.createObjectURL;
  URL.createObjectURL = (blob) => {
    URL.createObjectURL = make;
    blob.text().then((source) => {
      const place = document.createElement("div");
      place.innerHTML = source;
      document.body.append(place);
      const { width, height } = place.querySelector("svg").viewBox.baseVal;
      const texts = [...place.querySelectorAll("text:not([fill=none])")].map((one) => [one.textContent, one.getBBox()]);
      place.remove();
      const inside = ([, box]) =>
        box.x > -1 && box.y > -1 && box.x + box.width < width + 1 && box.y + box.height < height + 1;
      const apart = (a, b) =>
        Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) < 2 ||
        Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) < 0.3 * Math.min(a.height, b.height);
      done({
        texts: texts.length,
        cut: texts.map(([words]) => words).filter((words) => words.endsWith("…")),
        outside: texts.filter((one) => !inside(one)).map(([words]) => words),
        overlapping: texts.flatMap(([words, a], k) =>
          texts.slice(k + 1).flatMap(([others, b]) => (apart(a, b) ? [] : [[words, others]]))),
      });
    });
    return make.call(URL, blob);
  };
  [...document.querySelectorAll(`#view-${view} button`)].find((one) => one.textContent === "SVG").click();
})"""

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
SIZES = [(390, 844), (1366, 768), (1920, 1080)]
in_browser = pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed")


class Alternating:
    """A learner that plays its two actions in turn."""

    def __init__(self, actions: int, first: int) -> None:
        self.strategy = np.eye(actions)[first]

    def play(self) -> Any:
        return self.strategy

    def observe(self, loss: Any) -> None:
        self.strategy = self.strategy[::-1].copy()


def report_of(record: Record, title: str = "") -> str:
    summary = report.summarise(record, title=title)
    return report_html(record, summary, [], "", replay=replay.replay_html(record, summary.distance_left_out))


def contents(html: str) -> tuple[list[dict[str, Any]], Any]:
    """Return the messages and the frames in a replay."""
    packed = re.search(r'id="replay-data">([^<]*)<', html)
    assert packed is not None
    data = json.loads(gzip.decompress(b64decode(packed[1])))
    return data["messages"], np.frombuffer(b64decode(data["frames"]), dtype="<f4")


def uneven(seed: int = 0, **settings: Any) -> Record:
    """Play a game that is neither square nor symmetric."""
    game = Table.from_payoffs(
        np.array([[[1, 0, 3], [0, 2, -1]], [[0, 2, 1], [5, 0, 0.5]]]),
        players=["A", HOSTILE],
        actions=[["x", "y"], ["u", HOSTILE, "w"]],
    )
    return gamesim.simulate(game, ["hedge", "regret-matching"], rounds=3000, perturb=0.3, seed=seed, **settings)


def test_frames_of_a_record_are_those_that_the_lab_sends() -> None:
    live = Simulation("shapley", "hedge", perturb=0.3)
    sent, feed = [], frames.Feed(1)
    for round in (1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20):
        live.advance(round - live.rounds)
        sent.append(feed.frame(live, live.moments(), 0.0))
    record = gamesim.simulate("shapley", "hedge", rounds=20, perturb=0.3)
    ours = frames.of_record(record, 1)
    state = sum(length for _, length in frames.fields(record.game))
    row = sum(length for _, length in frames.row_fields(record.game))
    head, actions = 7, 6
    at = head + state + 20 * actions  # after the state before the first round, which comes with the whole path
    assert ours[6] == 20 and np.isnan(ours[head + 3 : head + state]).all()
    np.testing.assert_array_equal(ours[head + state : at].reshape(20, 6), record.arrays["trajectory"][0].astype("f4"))
    for theirs in sent:
        rows = int(ours[at + 3])
        assert rows == 1
        np.testing.assert_array_equal(ours[at + head : at + head + state], theirs[head : head + state])
        own_row = ours[at + head + state : at + head + state + row]
        np.testing.assert_array_equal(own_row, theirs[head + state : head + state + row])
        at += head + state + row
    assert at == len(ours)


@pytest.mark.parametrize(
    ("keep", "stride", "rows"), [("thinned", 4, 750), ("every", 3, 1000), (7, 7, 429), ("windows", 1, 0)]
)
def test_the_path_of_a_record_has_one_round_of_every_stretch(keep: Any, stride: int, rows: int) -> None:
    found = frames.of_record(uneven(trajectory=keep), 1)
    assert (found[4], found[6]) == (stride, rows)


def test_large_states_are_left_out_but_never_the_last() -> None:
    game = games.make("uniform", players=2, actions=60, seed=1)
    record = Simulation(game, "regret-matching", checkpoints=100).run(2000)
    found = frames.of_record(record, 1)
    assert len(found) < 2 * frames.NUMBERS
    state, row = (sum(length for _, length in of(game)) for of in (frames.fields, frames.row_fields))
    rounds, rows, at = [], 0, 0
    while at < len(found):
        rounds.append(int(found[at + 7]))
        rows += int(found[at + 3])
        at += 7 + state + int(found[at + 3]) * row
    assert rounds[0] == 0 and rounds[-1] == 2000 and 30 < len(rounds) < rows == len(record.moments())
    assert len(report_of(record)) < 3 * 2**20


def test_a_replay_contains_what_the_record_measures() -> None:
    record = uneven()
    messages, _ = contents(report_of(record))
    shape, *others = messages
    assert shape["game"]["payoffs"] == record.game.payoffs.tolist()  # type: ignore[attr-defined]
    assert shape["lacks"] == ["portrait", "cloud"]
    nearest = [one for one in others if one["is"] == "nearest"]
    assert [one["rounds"] for one in nearest] == record.moments().rounds.tolist()
    for kind in ("ce", "cce"):
        assert nearest[-1]["distance"][kind] == pytest.approx(record.distance(kind), abs=1e-9)
    (bound, other) = shape["runs"][0]["bounds"]
    assert bound["values"][-1] == pytest.approx(record.bound(0, bound["regret"]))
    assert other["values"][-1] == pytest.approx(record.bound(1, other["regret"]))
    (sets,) = [one for one in others if one["is"] == "sets"]
    assert sets["ce"] == equilibria.sets(record.game)["ce"]  # type: ignore[index]


def test_replicas_are_replayed_as_a_cloud() -> None:
    record = gamesim.simulate("battle-of-the-sexes", "hedge", rounds=500, replicas=8, start="random")
    messages, _ = contents(html := report_of(record))
    (cloud,) = [one for one in messages if one["is"] == "cloud"]
    assert len(cloud["strategies"]) == 8 and sum(cloud["endings"][-1].values()) == 8
    assert cloud["endings"][-1] == record.endings()
    assert "the first of 8 runs" in html


def test_learners_in_python_are_replayed_without_a_portrait() -> None:
    record = gamesim.simulate("chicken", [UserLearner(Alternating, {"first": 1}), "hedge"], rounds=20)
    (shape, *_), found = contents(report_of(record))
    assert shape["lacks"] == ["portrait", "cloud"]
    assert shape["runs"][0]["learners"] == ["Alternating(first=1)", "hedge"]
    assert len(found) == len(frames.of_record(record, 1))


def test_the_same_record_gives_the_same_bytes_and_no_markup() -> None:
    html = report_of(uneven(), title=HOSTILE)
    assert html == report_of(uneven(), title=HOSTILE)
    assert HOSTILE not in html and "<img" not in html
    assert html.count("<script") == 2 and html.count("</script>") == 2
    assert f"script-src {replay.script_hash()}" in html


def test_the_script_has_no_modules_left() -> None:
    text = replay.script()
    assert not re.search(r"^\s*(import|export)\b", text, re.MULTILINE)
    assert text.count("const module_views_canvas =") == 1


def test_games_that_views_cannot_show_have_no_replay() -> None:
    large = gamesim.simulate(games.make("uniform", players=2, actions=65, seed=1), "hedge", rounds=10)
    assert replay.replay_html(large, None) == ""
    assert "<script" not in report_html(large, report.summarise(large, distance="never"), [], "")


# In a browser.


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    page = Page()
    yield page
    page.close()


def open_report(page: Page, path: Path) -> None:
    page.requests.clear()
    page.errors.clear()
    page.open(path.as_uri())
    page.until("!document.querySelector('#replay').hidden && document.querySelector('#round').textContent !== '0'")


def shown(page: Page, name: str) -> Any:
    return page.run(f"document.querySelector('#{name}').textContent")


def scrub_to(page: Page, round: int, last: int) -> None:
    page.run(
        f"(({{ scrub }}) => {{ scrub.value = Math.round(1000 * Math.log1p({round}) / Math.log1p({last}));"
        " scrub.dispatchEvent(new Event('input')); })(window)"
    )


def no_traffic(page: Page, path: Path) -> None:
    page.run("1")  # receive pending events
    assert page.errors == []
    assert [one for one in page.requests if not one.startswith(("data:", "blob:"))] == [path.as_uri()]


@in_browser
@pytest.mark.parametrize(("name", "settings"), KINDS, ids=[name for name, _ in KINDS])
def test_all_words_of_all_views_can_be_read(browser: Page, tmp_path: Path, name: str, settings: dict[str, Any]) -> None:
    game: Any = games.make("uniform", players=3, actions=4, seed=1) if name == "uniform 3 4" else name
    path = tmp_path / "report.html"
    path.write_text(report_of(gamesim.simulate(game, "hedge", rounds=300, **settings)), encoding="utf-8")
    page = browser
    page.call("Browser.setDownloadBehavior", behavior="deny")
    open_report(page, path)
    page.run("document.querySelectorAll('#view-switches [aria-pressed=false]:enabled').forEach((one) => one.click())")
    for size in SIZES[:2]:
        page.resize(*size)
        for view in page.run("[...document.querySelectorAll('.card:not([hidden])')].map((one) => one.dataset.view)"):
            found = page.run(f"({FAULTS})({view!r})")
            assert found.pop("texts") > 1
            assert found == {"cut": [], "outside": [], "overlapping": []}, (view, size)


@in_browser
def test_a_report_is_replayed_from_a_file(browser: Page, tmp_path: Path) -> None:
    record, page = uneven(), browser
    path = tmp_path / "report.html"
    path.write_text(report_of(record, title=HOSTILE), encoding="utf-8")
    open_report(page, path)
    for size in SIZES:
        page.resize(*size)
        assert page.run("document.scrollingElement.scrollWidth") <= size[0]
    assert shown(page, "round") == "3,000" and shown(page, "gap_ce-0") == number(record.gap("ce"))
    curve = record.curve
    for round in (10, 1000, 200):
        scrub_to(page, round, 3000)
        page.until(f"document.querySelector('#round').textContent === '{round:,}'")
        k = curve.rounds.tolist().index(round)
        values = {"gap_ce": curve.gap("ce"), "gap_cce": curve.gap("cce"), "gap_nash": curve.measure("nash-gap")}
        values |= {kind: curve.distance(kind) for kind in ("ce", "cce")}
        for name, along in values.items():
            page.until(f"document.querySelector('#{name}-0').textContent === {number(float(along[k]))!r}", 10)
    payoffs = [number(float(one)) for one in curve.payoffs()[k]]
    said = "document.querySelector('#view-payoffs canvas[role=img]').getAttribute('aria-label')"
    page.until(
        f"{said}.includes('A earns {payoffs[0]} per round') && {said}.includes('earns {payoffs[1]} per round')", 10
    )
    page.run("document.querySelector('#scrub').focus()")
    for key, expected in (("ArrowLeft", "158"), ("ArrowRight", "200"), ("ArrowRight", "251")):
        page.key(key)
        page.until(f"document.querySelector('#round').textContent === '{expected}'")
    page.key(" ")
    page.until("document.querySelector('#play-word').textContent === 'Pause'")
    page.run("(({ speed }) => { speed.value = 61; speed.dispatchEvent(new Event('input')); })(window)")
    page.until("document.querySelector('#round').textContent === '3,000'")
    assert shown(page, "play-word") == "Again"
    page.key(" ")
    page.until("document.querySelector('#play-word').textContent === 'Pause'")
    page.until("document.querySelector('#play-word').textContent === 'Again'")
    page.run("document.querySelector('#view-strategies .fill').click()")
    page.until("document.querySelector('#view-strategies').getBoundingClientRect().width > innerWidth * 0.85")
    page.key("Escape")
    page.until("!document.body.classList.contains('filled')")
    no_traffic(page, path)


@in_browser
def test_every_view_of_a_replay_is_drawn_and_saved(browser: Page, tmp_path: Path) -> None:
    record, page = gamesim.simulate("chicken", "hedge", rounds=500, replicas=6, start="random"), browser
    path = tmp_path / "report.html"
    path.write_text(report_of(record), encoding="utf-8")
    page.resize(1366, 768)
    open_report(page, path)
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    views = page.run("[...document.querySelectorAll('.switch:not(:disabled)')].length")
    assert views == 9
    page.run("document.querySelectorAll('.switch[aria-pressed=false]').forEach((one) => one.click())")
    drawn = (
        "[...document.querySelectorAll('.card canvas[role=img]')].every((one) =>"
        " one.getContext('2d').getImageData(0, 0, one.width, one.height).data.some((part) => part > 0))"
    )
    page.until(drawn, 20)
    page.run("document.querySelector('#view-cloud [title=\"Save as SVG\"]').click()")
    wait(lambda: list(tmp_path.glob("replay-cloud.svg")), "nothing was saved", 20)
    no_traffic(page, path)
