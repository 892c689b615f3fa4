import re
import shutil
import subprocess
from functools import cache
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

import gamesim
from gamesim import Record, Table, figures, games
from gamesim.formatting import number
from gamesim.measure.trend_words import in_words
from gamesim.report import html as page
from gamesim.report import summary as report

pytestmark = pytest.mark.slow

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;"
EMPTY = {"meta", "link", "br", "img"}


class Reader(HTMLParser):
    """Reads a page, and refuses tags that do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, words: str) -> None:
        if not {"style", "svg"} & set(self.open):
            self.words.append(words)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def as_read(words: str) -> str:
    """Return a text as a reader of the page finds it: with powers of T raised."""
    return re.sub(r"T\^(-?)([0-9.]+)", lambda one: f"T {one[1] and '−'}{one[2]}", words)


@cache
def shapley() -> Record:
    return gamesim.simulate("shapley", "hedge", rounds=2000, perturb=0.3, seed=7)


def page_of(record: Record, folder: Path, title: str = "Shapley", scenario: str = 'title = "Shapley"\n') -> str:
    summary = report.summarise(record, title=title)
    paths = [path for name in ("gaps", "joint") for path in _drawn(record, name, folder)]
    return page.report_html(record, summary, paths, scenario)


def _drawn(record: Record, name: str, folder: Path) -> list[Path]:
    figure = figures.figure_functions()[name](record)
    return [] if figure is None else figures.write(figure, folder / name)


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> str:
    return page_of(shapley(), tmp_path_factory.mktemp("figures"))


def test_the_report_covers_the_whole_run(text: str) -> None:
    record, reader = shapley(), Reader(text)
    summary = report.summarise(record)
    assert as_read(summary.verdict) in reader.text
    for value in (*summary.gap.values(), *summary.distance.values(), summary.welfare):
        assert number(value) in reader.text
    for one in summary.players:
        assert f"{one.name} {one.learner} {number(one.payoff)}" in reader.text
        assert number(one.regret["swap"] / record.rounds) in reader.text
    assert 'title = "Shapley"' in reader.text
    assert f"gamesim run scenario.toml --seed {record.seed}" in reader.text
    for name, version in summary.versions.items():
        assert f"{name} {version}" in reader.text
    assert sum(tag == "svg" for tag, _ in reader.tags) == 2


def test_the_most_profitable_deviations_are_named(text: str) -> None:
    joint = shapley().joint
    assert joint is not None
    best = gamesim.equilibrium.polytope(shapley().game, "ce").deviations(joint, 1)[0]
    assert f"{best.player} {best.recommended} {best.to} {number(best.gain)}" in Reader(text).text


def test_figures_keep_their_names_apart_and_their_sentences(text: str) -> None:
    reader = Reader(text)
    names = [attributes["id"] for _, attributes in reader.tags if "id" in attributes]
    assert len(names) == len(set(names))
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', text))
    assert used
    assert used <= set(names)
    said = [attributes["aria-label"] for tag, attributes in reader.tags if tag == "svg"]
    for name, sentence in zip(("gaps", "joint"), said, strict=True):
        figure = figures.figure_functions()[name](shapley())
        assert figure is not None
        assert sentence == figures.title_of(figure)


def test_every_figure_has_a_caption(text: str) -> None:
    assert {*figures.figure_functions(), "ce-gaps", "cce-gaps"} == set(page.CAPTIONS)
    assert [tag for tag, _ in Reader(text).tags].count("figcaption") == 2
    assert page.CAPTIONS["gaps"] in Reader(text).text


def test_trends_and_certificates_are_as_on_the_terminal() -> None:
    record = gamesim.simulate("shapley", ["hedge", "wavelet-continuous"], rounds=2000, perturb=0.1)
    summary = report.summarise(record)
    shown = Reader(page.report_html(record, summary, [], "")).text
    assert "gap trend distance" in shown
    for kind in ("ce", "cce"):
        words = in_words(summary.trends[kind])
        assert re.sub(r"\^-([0-9.]+)", r" −\1", words) in shown
    proved = summary.players[1].certificate["swap"]
    assert proved is not None
    assert f"proved {number(proved / record.rounds)}" in shown
    assert "proved is the bound that the gradients of this run certify" in shown


def test_nothing_is_loaded_from_anywhere(text: str) -> None:
    for tag, attributes in Reader(text).tags:
        assert tag not in ("script", "iframe", "object", "embed", "base", "form")
        for key, value in attributes.items():
            if key in ("src", "href", "xlink:href"):
                assert str(value).startswith(("#", "data:"))
    assert "@import" not in text
    assert not re.search(r"url\((?!#)", text)
    assert "default-src 'none'" in text


def test_user_input_stays_text(tmp_path: Path) -> None:
    game = Table.from_payoffs(
        [[[1, 2], [3, 0]], [[0, 1], [2, 5]]],
        name=HOSTILE,
        players=[f"{HOSTILE}1", f"{HOSTILE}2"],
        actions=[[f"{HOSTILE}a", "b"], ["c", f"{HOSTILE}d"]],
    )
    record = gamesim.simulate(game, "hedge", rounds=20)
    text = page_of(record, tmp_path, title=HOSTILE, scenario=f"# {HOSTILE}")
    reader = Reader(text)
    assert not {"script", "img"} & {tag for tag, _ in reader.tags}
    assert not any(key.startswith("on") for _, attributes in reader.tags for key in attributes)
    assert reader.text.count(HOSTILE) >= 5


def test_only_the_first_of_many_players_are_listed(tmp_path: Path) -> None:
    game = games.make("network-coordination", graph="cycle", graph_settings={"n": 40})
    record = gamesim.simulate(game, "hedge", rounds=20, perturb=0.5)
    reader = Reader(page.report_html(record, report.summarise(record), [], ""))
    assert f"For {40 - report.PLAYERS_SHOWN} more players, see summary.json" in reader.text
    assert "Deviations are not listed" in reader.text
    assert "Distances and welfare ranges are not computed" in reader.text
    assert not {"svg", "pre"} & {tag for tag, _ in reader.tags}


def test_play_in_equilibrium_has_nothing_to_change() -> None:
    record = gamesim.simulate("rock-paper-scissors", "uniform", rounds=10)
    reader = Reader(page.report_html(record, report.summarise(record), [], ""))
    assert "Up to rounding, no player gains by any deviation" in reader.text


def test_replicas_are_reported_as_means() -> None:
    record = gamesim.simulate("chicken", "hedge", rounds=50, replicas=3, feedback="sampled")
    reader = Reader(page.report_html(record, report.summarise(record), [], ""))
    assert "mean of 3 replicas" in reader.text
    assert "≤ with probability 0.99" in reader.text


def test_a_comparison_has_a_row_for_each_run() -> None:
    records = {
        name: gamesim.simulate("shapley", name, rounds=500, perturb=0.3) for name in ("hedge", "regret-matching")
    }
    summaries = {f"<{name}>": report.summarise(record) for name, record in records.items()}
    reader = Reader(page.comparison_html("Who wins?", summaries, []))
    best = min(summaries, key=lambda label: summaries[label].gap["ce"])
    assert f"{best} ends with the smallest CE gap, " in reader.text
    for label, one in summaries.items():
        assert f"{label} 500 {number(one.gap['ce'])}" in reader.text
        assert as_read(one.verdict) in reader.text


# In a browser.

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
in_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium is installed")
WIDTHS = (390, 1280, 1920)
MEASURE = """
addEventListener("load", () => {
  const found = [...document.querySelectorAll("iframe")].map(frame => {
    const page = frame.contentDocument, view = frame.contentWindow;
    const cards = [...page.querySelectorAll("figure")];
    return [page.documentElement.clientWidth, page.documentElement.scrollWidth,
      view.getComputedStyle(page.body).backgroundColor.replace(/ /g, ""),
      cards.every(card => view.getComputedStyle(card).backgroundColor === "rgb(255, 255, 255)"),
      Math.min(...cards.map(card => card.querySelector("svg").getBoundingClientRect().height)) > 150,
      view.performance.getEntriesByType("resource").length].join(" ");
  });
  document.getElementById("found").textContent = found.join("\\n");
});
"""


QUIET = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--hide-scrollbars",
    "--enable-logging=stderr",
]


def browse(folder: Path, *options: str) -> tuple[str, list[str]]:
    """Run the browser once and return what it printed, and what its console said."""
    assert BROWSER is not None
    done = subprocess.run(
        [BROWSER, *QUIET, f"--user-data-dir={folder / 'profile'}", *options],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


@in_browser
@pytest.mark.parametrize(("scheme", "paper"), [(1, "rgb(255,255,255)"), (0, "rgb(20,23,27)")], ids=["light", "dark"])
def test_the_page_fits_every_width_in_light_and_dark(text: str, tmp_path: Path, scheme: int, paper: str) -> None:
    frames = "".join(f'<iframe width="{width}" height="900" srcdoc="{escape(text)}"></iframe>' for width in WIDTHS)
    harness = tmp_path / "harness.html"
    head = f"<!doctype html><meta charset=utf-8><style>iframe {{ border: 0 }}</style><script>{MEASURE}</script>"
    harness.write_text(f'{head}<pre id="found"></pre>{frames}', encoding="utf-8")
    printed, console = browse(
        tmp_path, f"--blink-settings=preferredColorScheme={scheme}", "--virtual-time-budget=5000", "--dump-dom",
        harness.as_uri(),
    )  # fmt: skip
    assert console == []
    found = re.search(r'<pre id="found">(.*?)</pre>', printed, re.DOTALL)
    assert found is not None
    assert found[1].splitlines() == [f"{width} {width} {paper} true true 0" for width in WIDTHS]


@in_browser
def test_the_page_prints(text: str, tmp_path: Path) -> None:
    file, printed = tmp_path / "report.html", tmp_path / "report.pdf"
    file.write_text(text, encoding="utf-8")
    _, console = browse(tmp_path, "--no-pdf-header-footer", f"--print-to-pdf={printed}", file.as_uri())
    assert console == []
    assert printed.read_bytes().startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", printed.read_bytes())) >= 2
