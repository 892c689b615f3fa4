import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from gamesim.cli.main import main
from gamesim.formatting import number
from gamesim.scenario import Scenario
from tests import lab_browser
from tests.chromium import PROGRAM, Page, wait
from tests.lab_browser import ALL, CHICKEN, SETTLED, SHAPLEY, click, play_out, scenario_in_address, text, visit
from tests.lab_server import Lab

lab, browser, page = lab_browser.lab, lab_browser.browser, lab_browser.page  # fixtures
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]


def measured(scenario: Any, tmp_path: Path, capsys: Any) -> dict[str, Any]:
    """Return the output of `gamesim run` for a scenario."""
    path = tmp_path / "scenario.toml"
    path.write_text(scenario if isinstance(scenario, str) else Scenario.from_dict(scenario).to_toml(), encoding="utf-8")
    run = ["run", str(path), "--json", "--quiet", "--no-figures", "--force", "--out", str(tmp_path / "out")]
    assert main(run) == 0
    printed: dict[str, Any] = json.loads(capsys.readouterr().out)
    return printed


def test_from_a_cold_start_to_the_numbers_of_the_command_line(
    page: Page, lab: Lab, tmp_path: Path, capsys: Any
) -> None:
    downloads = tmp_path / "downloads"
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(downloads))
    visit(page, lab)
    page.choose("#game", "shapley")  # and back, so that Chicken is selected rather than preset
    page.until("document.querySelector('#payoff-0-2-2') !== null")
    page.choose("#game", "chicken")
    page.until("document.querySelector('#payoff-0-2-2') === null")
    page.choose("#player-0-learner", "hedge")
    page.choose("#player-1-learner", "wavelet")
    page.until("document.querySelector('#setup-line').textContent.includes('hedge, wavelet')", 90)
    page.type("#scenario-rounds", "10000")
    page.type("#scenario-perturb", "0")
    page.until("document.querySelector('#rounds').textContent === '10,000'")
    page.until("!location.hash.includes('perturb')")
    play_out(page)
    page.until("document.querySelector('#ce-0').textContent !== '–'")
    expected = measured(CHICKEN, tmp_path, capsys)
    for kind in ("ce", "cce"):
        assert text(page, f"#gap_{kind}-0") == number(expected["gap"][kind])
        assert float(text(page, f"#{kind}-0")) == pytest.approx(expected["distance"][kind], rel=0.006, abs=1e-7)
    assert text(page, "#round") == "10,000"
    assert "CE gap is " + number(expected["gap"]["ce"]) in text(page, "#spoken")
    click(page, "#save")
    (saved,) = wait(lambda: list(downloads.glob("*.toml")), "no file was saved", 20)
    assert measured(saved.read_text(encoding="utf-8"), tmp_path, capsys)["gap"] == expected["gap"]
    links = page.run("[...document.querySelectorAll('#keep-runs a')].map((link) => link.getAttribute('href'))")
    assert [link.split("/")[-1] for link in links] == ["report.html", "record.zip"]
    assert page.run(f"fetch({links[1]!r}).then((answer) => answer.status)") == 200


def test_a_page_is_there_after_few_requests(page: Page, lab: Lab) -> None:
    visit(page, lab)
    asked = [one.partition(f":{lab.address.port}")[2].partition("#")[0] for one in page.requests]
    assert sorted(filter(None, asked)) == [
        "/",
        "/choices.json",
        "/lab.js",
        "/live",
        "/static/style.css",
        "/static/views.css",
    ]
    sizes = page.run("performance.getEntriesByType('resource').map(({ encodedBodySize }) => encodedBodySize)")
    assert sum(sizes) < 120_000, sizes


@contextmanager
def held(lab: Lab) -> Iterator[None]:
    """Keep all workers of a lab busy, so that answers are delayed until exit."""
    gate = threading.Event()
    for pool in (lab.workers.turns, lab.workers.commands, lab.workers.builds):
        for _ in range(pool._max_workers):
            pool.submit(gate.wait)
    try:
        yield
    finally:
        gate.set()


def test_changes_made_while_the_server_is_slow_are_kept(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario={**CHICKEN, "players": [{"learner": "hedge", "perturb": 0.2}] * 2}, speed=61, views=[])
    with held(lab):
        page.type("#scenario-rounds", "3000")
        page.type("#scenario-perturb", "0")
        page.type("#payoff-0-0-1", "3.5")
        page.type("#payoff-1-1-0", "4")
        page.type("#payoff-0-0-1", "2")  # the original value
        page.type("#action-0-1", "drive")
        page.choose("#player-0-learner", "regret-matching")
        page.choose("#player-1-learner", "wavelet")
        page.run("document.querySelector('#player-1-more').open = true")
        page.type("#player-1-perturb", "0.3")
        page.run("document.querySelector('#scenario-seed').focus(), document.querySelector('#scenario-seed').select()")
        page.call("Input.insertText", text="17")
        page.until("document.querySelector('#status').textContent.startsWith('getting ready')")
    page.until("document.querySelector('#status').textContent === 'ready'")
    page.until("document.querySelector('#rounds').textContent === '3,000'")
    page.until("location.hash.includes('0.3')")
    assert page.run("document.activeElement.id") == "scenario-seed"
    assert page.run("document.activeElement.value") == "17"  # neither read nor overwritten yet
    page.key("Tab")
    page.until("location.hash.includes('seed')")
    scenario = scenario_in_address(page)
    assert scenario["game"]["payoffs"] == [[[6, 2], [7, 0]], [[6, 7], [4, 0]]]
    assert scenario["game"]["actions"][0][1] == "drive"
    assert scenario["players"] == [{"learner": "regret-matching"}, {"learner": "wavelet", "perturb": 0.3}]
    assert (scenario["rounds"], scenario["seed"]) == (3000, 17)
    assert page.run("document.querySelector('#player-1-learner').value") == "wavelet"


def test_a_click_is_not_lost_when_an_answer_arrives_during_it(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario=CHICKEN, speed=61, views=[])
    page.type("#payoff-0-0-1", "3.5")
    page.until("location.hash.includes('3.5')")
    place = page.run(
        "(() => { const button = document.querySelector('#size-1-more'); button.scrollIntoView({ block: 'center' });"
        " const { x, y, width, height } = button.getBoundingClientRect(); return [x + width / 2, y + height / 2]; })()"
    )
    mouse = {"x": place[0], "y": place[1], "button": "left", "clickCount": 1}
    page.run("document.querySelector('#payoff-0-0-1').focus()")
    page.call("Input.insertText", text="4.5")
    page.call("Input.dispatchMouseEvent", type="mousePressed", **mouse)
    page.until("location.hash.includes('4.5')")  # leaving the field changed the game while the button is held
    page.call("Input.dispatchMouseEvent", type="mouseReleased", **mouse)
    page.until("location.hash.includes(encodeURIComponent('[6,4.5,0]'))")
    assert page.run("document.querySelector('#payoff-0-0-2').value") == "0"


def test_payoffs_are_edited_and_invalid_numbers_reported(page: Page, lab: Lab, tmp_path: Path, capsys: Any) -> None:
    visit(page, lab, scenario={**CHICKEN, "rounds": 2000}, speed=61, views=["payoffs"])
    page.type("#payoff-0-0-1", "3.5")
    page.until("document.querySelector('#game').value === 'custom table'")
    assert scenario_in_address(page)["game"]["payoffs"] == [[[6, 3.5], [7, 0]], [[6, 7], [2, 0]]]
    for wrong, message in (
        ("abc", "expected a number, got ‘abc’"),
        ("", "got nothing"),
        ("1e400", "a finite number"),
    ):
        page.type("#payoff-1-1-0", wrong)
        assert message in text(page, "#table-mistake"), wrong
        assert page.run("document.querySelector('#payoff-1-1-0').getAttribute('aria-invalid')") == "true"
        assert scenario_in_address(page)["game"]["payoffs"][1][1][0] == 2  # the run keeps the last valid value
    page.type("#payoff-1-1-0", "2.5")
    page.until("JSON.parse(decodeURIComponent(location.hash.slice(1))).scenario.game.payoffs[1][1][0] === 2.5")
    assert text(page, "#table-mistake") == ""
    page.type("#action-1-0", "brake")
    page.until("location.hash.includes('brake')")
    page.type("#player-1-name", "Bert")
    page.until("location.hash.includes('Bert')")
    click(page, "#size-1-more")
    page.until("document.querySelector('#payoff-0-0-2') !== null")
    page.type("#scenario-rounds", "many")
    assert "expected an integer" in text(page, "#scenario-rounds-mistake")
    page.type("#scenario-rounds", "1500")
    page.until("document.querySelector('#rounds').textContent === '1,500'")
    scenario = scenario_in_address(page)
    assert scenario["game"]["payoffs"] == [[[6, 3.5, 0], [7, 0, 0]], [[6, 7, 0], [2.5, 0, 0]]]
    assert scenario["game"]["actions"][1] == ["brake", "dare", "3"]
    page.call("Page.reload")
    page.until("document.querySelector('#rounds')?.textContent === '1,500'", 60)
    page.run("document.querySelector('#setup').open = true")
    assert scenario_in_address(page) == scenario
    assert page.run("document.querySelector('#payoff-1-1-0').value") == "2.5"
    play_out(page)
    expected = measured(scenario, tmp_path, capsys)
    for kind in ("ce", "cce"):
        assert text(page, f"#gap_{kind}-0") == number(expected["gap"][kind])


def test_a_number_out_of_range_is_reported_with_the_range(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario=CHICKEN, speed=61, views=[])
    for field, typed, expected in (
        ("rounds", "99999999999999999999", "an integer from 1 to 1,000,000,000"),
        ("rounds", "1e400", "an integer from 1 to 1,000,000,000"),
        ("rounds", "0", "an integer from 1 to 1,000,000,000"),
        ("rounds", "1.5", "an integer"),
        ("seed", "99999999999999999999", "an integer from 0 to 9,007,199,254,740,991"),
        ("perturb", "-0.1", "a number from 0 to 1"),
    ):
        page.type(f"#scenario-{field}", typed)
        assert text(page, f"#scenario-{field}-mistake") == f"expected {expected}, got ‘{typed}’"


def test_stationary_play_can_be_perturbed(page: Page, lab: Lab) -> None:
    still = {**SHAPLEY, "rounds": 2000, "players": [{"learner": "hedge"}] * 2}
    visit(page, lab, scenario=still, speed=61, views=["strategies"])
    assert page.run("document.querySelector('#rest').hidden")
    play_out(page)
    assert not page.run("document.querySelector('#rest').hidden")
    assert text(page, "#gap_ce-0") == "0"
    click(page, "#push")
    page.until("location.hash.includes('perturb')")
    assert scenario_in_address(page) == {**still, "players": [{"learner": "hedge", "perturb": 0.1}] * 2}
    page.until("document.querySelector('#play-word').textContent === 'Again'")  # it plays without a click
    assert page.run("document.querySelector('#rest').hidden")
    assert text(page, "#gap_ce-0") == number(
        Scenario.from_dict(scenario_in_address(page)).simulation().run(2000).gap("ce")
    )
    assert page.run("document.querySelector('#scenario-perturb').value") == "0.1"


@pytest.mark.parametrize(
    "scenario",
    [
        CHICKEN,  # play moves
        {**CHICKEN, "rounds": 500, "players": [{"learner": "uniform"}] * 2},  # play does not move, but deviations gain
        {  # play moves once, from one equilibrium to another
            "rounds": 500,
            "game": {"payoffs": [[[1, 1], [1, 1]], [[2, 2], [2, 2]]]},
            "players": [{"learner": "hedge", "opening": [1, 0]}, {"learner": "hedge"}],
        },
    ],
    ids=["moves", "gains", "moved"],
)
def test_other_play_is_not_reported_as_stationary(page: Page, lab: Lab, scenario: Any) -> None:
    visit(page, lab, scenario=scenario, speed=61, views=["strategies"])
    play_out(page)
    assert page.run("document.querySelector('#rest').hidden")


def test_a_change_of_feedback_reports_replaced_learners(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario=CHICKEN, speed=61, views=[])
    page.run(  # keep notices visible even if the server is slow
        "(() => { const timed = setTimeout;"
        " window.setTimeout = (act, wait) => (wait > 5000 ? 0 : timed(act, wait)); })()"
    )
    option = "document.querySelector('#player-1-learner option[value={}]')"
    assert page.run(option.format("exp3") + ".disabled")
    assert page.run(option.format("exp3") + ".textContent") == "exp3: needs bandit feedback"
    page.choose("#scenario-feedback", "bandit")
    assert page.run(option.format("hedge") + ".disabled")  # at once, before the server has answered
    page.until("document.querySelector('#setup-line').textContent.includes('exp3-ix')")
    assert not page.run("document.querySelector('#notice').hidden")
    assert text(page, "#notice-text") == (
        "hedge needs expected or sampled feedback: replaced by exp3-ix for Row. "
        "wavelet needs expected or sampled feedback: replaced by exp3-ix for Column."
    )
    assert page.run(option.format("exp3") + ".textContent") == "exp3"
    click(page, "#side-by-side")
    page.until("document.querySelector('#setup-line').textContent.includes('exp3-ix | exp3,')")
    page.choose("#scenario-feedback", "sampled")
    page.until("document.querySelector('#setup-line').textContent.includes('hedge | hedge')")
    assert text(page, "#notice-text") == (
        "exp3-ix needs bandit feedback: replaced by hedge for Row and Column. "
        "exp3 needs bandit feedback: replaced by hedge for Row and Column."
    )


# Drawings: texts with their bounding boxes, and lines, recorded from canvas calls.

NOTED = """{
  const pen = CanvasRenderingContext2D.prototype;
  const noting = (name, note) => {
    const draw = pen[name];
    pen[name] = function (...rest) { note(this, ...rest); return draw.apply(this, rest); };
  };
  noting("clearRect", ({ canvas }) => { canvas.words = []; canvas.lines = []; });
  noting("beginPath", ({ canvas }) => { canvas.path = []; });
  for (const name of ["moveTo", "lineTo"]) noting(name, ({ canvas }, x, y) => canvas.path.push([x, y]));
  noting("stroke", ({ canvas }) => canvas.lines.push(canvas.path));
  noting("fillText", (context, words, x, y) => {
    const box = context.measureText(words);
    const [left, up] = [x - box.actualBoundingBoxLeft, y - box.actualBoundingBoxAscent];
    context.canvas.words.push([words, left, up, x + box.actualBoundingBoxRight, y + box.actualBoundingBoxDescent]);
  });
  const get = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind) { return kind === "webgl2" ? null : get.call(this, kind); };
}"""


@pytest.fixture
def noted(page: Page) -> Iterator[Page]:
    """A page that records what it draws, with WebGL disabled."""
    script = page.call("Page.addScriptToEvaluateOnNewDocument", source=NOTED)["identifier"]
    yield page
    page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def written(page: Page, view: str) -> list[Any]:
    found: list[Any] = page.run(f"document.querySelector('#view-{view} canvas[role=img]').words")
    return found


@pytest.mark.parametrize("game", ["matching-pennies", "chicken"])
def test_texts_of_a_drawing_overlap_neither_each_other_nor_edges(noted: Page, lab: Lab, game: str) -> None:
    visit(noted, lab, scenario={**CHICKEN, "game": {"name": game}}, speed=61, views=ALL)
    play_out(noted)
    noted.until("document.querySelector('#ce-0').textContent !== '–'")
    for width in (390, 800, 1280):
        noted.resize(width, 844)
        noted.run(SETTLED)
        for view in ALL:
            words = written(noted, view)
            assert words, view
            for k, (one, left, up, right, down) in enumerate(words):
                for other, *box in words[:k]:
                    apart = max(left - box[2], box[0] - right, up - box[3], box[1] - down)
                    assert apart >= 2, (width, view, one, other)
        ticks = [words for words, *_ in written(noted, "regrets") if words.startswith("1")]
        assert len(ticks) > 5 and all(words.startswith("10") and words[2:] for words in ticks)
        assert {"10⁰", "10¹"} <= set(ticks) and "10" not in ticks
        edges = noted.run("document.querySelector('#view-tetrahedron canvas[role=img]').lines.slice(0, 6)")
        corners = [words for words in written(noted, "tetrahedron") if ", " in words[0]]
        assert len(corners) == 4
        for name, left, up, right, down in corners:
            for start, end in edges:
                points = [[a + (b - a) * k / 500 for a, b in zip(start, end, strict=True)] for k in range(501)]
                assert not [1 for x, y in points if left <= x <= right and up <= y <= down], name


def test_a_legend_of_three_players_leaves_room_for_its_lines(noted: Page, lab: Lab) -> None:
    three = {**CHICKEN, "game": {"name": "jordan"}, "players": [{"learner": "hedge"}] * 3}
    visit(noted, lab, scenario=three, speed=61, views=["regrets"])
    noted.until("document.querySelector('#view-regrets canvas[role=img]').words?.length > 3")
    for width in (390, 1280):
        noted.resize(width, 844)
        noted.run(SETTLED)
        key = [one for one in written(noted, "regrets") if one[0].startswith(("First", "Second", "Third"))]
        assert len(key) == 3
        for (_, _, _, right, _), (name, left, *_) in itertools.pairwise(key):
            assert left - right > 21, name
        assert key[-1][3] <= noted.run("document.querySelector('#view-regrets canvas[role=img]').clientWidth")


def test_the_legend_of_a_large_game_lists_only_what_is_drawn(noted: Page, lab: Lab) -> None:
    large = {**CHICKEN, "rounds": 30, "game": {"name": "kuhn-poker"}, "players": [{"learner": "hedge"}] * 2}
    visit(noted, lab, scenario=large, speed=61, views=["joint", "payoffs"])
    play_out(noted)
    headings = [one[0] for one in written(noted, "joint") if " " in one[0]]
    assert headings == ["play so far (nearest CE not computed)", "rows: First; columns: Second"]
    legend = [one[0] for one in written(noted, "payoffs")][-2:]
    assert legend == ["average", "feasible"]


def test_views_off_screen_are_drawn_too(page: Page, lab: Lab) -> None:
    pictures = "[...document.querySelectorAll('.card:not([hidden]) canvas[role=img]')].map((one) => one.toDataURL())"
    light = "matchMedia('(prefers-color-scheme: light)').matches"
    page.resize(390, 400)
    visit(page, lab, scenario=SHAPLEY, speed=20, views=ALL)
    assert page.run(light)
    page.until(f"{pictures}.every((one) => one.length > 3000)")
    click(page, "#play")
    page.until("parseInt(document.querySelector('#round').textContent) > 0")  # now only views on screen are drawn
    before = page.run(pictures)
    click(page, "#theme")
    click(page, "#theme")
    dark = page.run(pictures)
    assert text(page, "#theme-name") == "dark"
    assert all(one != other for one, other in zip(before, dark, strict=True))
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert all(one != other for one, other in zip(page.run(pictures), dark, strict=True))
    assert page.run("getComputedStyle(document.documentElement).colorScheme") == "light"
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run("getComputedStyle(document.documentElement).colorScheme") == "dark"
    click(page, "#theme")
    assert text(page, "#theme-name") == "system"


@pytest.mark.parametrize(
    "state", ["%7Bnonsense", quote("[1]"), quote('{"scenario": {"rounds": -1}}'), quote('{"scenario": null}')]
)
def test_an_invalid_address_opens_a_working_page(page: Page, lab: Lab, state: str) -> None:
    page.open(f"{lab.origin}/#{state}")
    page.until("document.querySelector('#rounds').textContent === '10,000'")
    assert scenario_in_address(page)["game"] == {"name": "prisoners-dilemma"}


def test_two_runs_stay_in_step_and_every_view_draws(page: Page, lab: Lab) -> None:
    beside = [{"learner": "wavelet"}, {"learner": "hedge"}]
    page.resize(1280, 4000)
    visit(page, lab, scenario=CHICKEN, beside=beside, speed=61, views=ALL)
    play_out(page)
    page.until("[0, 1].every((k) => document.querySelector(`#ce-${k}`).textContent !== '–')")
    drawn = page.run(
        "(async () => { await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame);"
        " const colours = (canvas) => new Set(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)"
        ".data).size; return [...document.querySelectorAll('.card:not([hidden])')].map((card) => [card.dataset.view,"
        " ...[...card.querySelectorAll('canvas[role=img]')].map(colours)]) })()"
    )
    assert [name for name, *_ in drawn] == ALL
    for name, *colours in drawn:
        assert len(colours) == 2 and min(colours) > 8, name
    page.until(
        "[...document.querySelectorAll('.card:not([hidden]) canvas[role=img]')]"
        ".every((c) => c.getAttribute('aria-label').length > 30)"
    )
    labels = page.run("[...document.querySelectorAll('#view-joint canvas')].map((c) => c.getAttribute('aria-label'))")
    assert all("nearest correlated equilibrium" in label for label in labels)


def test_the_tetrahedron_rotates_by_key_and_is_drawn_without_webgl(page: Page, lab: Lab) -> None:
    source = (
        "{ const get = HTMLCanvasElement.prototype.getContext; HTMLCanvasElement.prototype.getContext ="
        " function (kind, ...rest) { return kind === 'webgl2' ? null : get.call(this, kind, ...rest); }; }"
    )
    pixels = (
        "(async () => { await new Promise(requestAnimationFrame); await new Promise(requestAnimationFrame);"
        " return document.querySelector('#view-tetrahedron canvas[role=img]').toDataURL(); })()"
    )
    script = page.call("Page.addScriptToEvaluateOnNewDocument", source=source)["identifier"]
    visit(page, lab, scenario=CHICKEN, speed=61, views=["tetrahedron"])
    page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    play_out(page)
    before = page.run(pixels)
    page.run("document.querySelector('#view-tetrahedron canvas[role=img]').focus()")
    page.key("ArrowLeft")
    assert page.run(pixels) != before
    assert text(page, "#round") == "10,000"  # the arrow key rotates the tetrahedron and plays no round


def test_keys_do_what_buttons_do(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario=SHAPLEY, speed=20, views=["strategies", "regrets"])
    page.run("document.activeElement.blur()")
    page.key("ArrowRight")
    page.until("document.querySelector('#round').textContent === '1'")
    page.key(" ")
    page.until("document.querySelector('#play-word').textContent === 'Pause'")
    page.until("Number(document.querySelector('#round').textContent.replace(/,/g, '')) > 5")
    page.key(" ")
    page.until("document.querySelector('#play-word').textContent === 'Play'")
    page.key("ArrowLeft")
    page.key("r")
    page.until("document.querySelector('#round').textContent === '0'")
    page.key("+")
    assert text(page, "#speed-shown") == "316 rounds/s"
    page.key("1")
    assert page.run("document.querySelector('#view-strategies').hidden")
    page.key("p")
    assert page.run("getComputedStyle(document.documentElement).fontSize") == "22px"
    page.key("p")
    for _ in range(3):  # the focus is always visible
        page.key("Tab")
        assert page.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_everything_has_a_name_and_fits_on_a_phone(page: Page, lab: Lab) -> None:
    page.resize(390, 844, dark=True, reduced_motion=True)
    visit(page, lab, scenario=CHICKEN, beside=CHICKEN["players"], speed=61, views=ALL)
    page.run("document.querySelector('#setup').open = true")
    for width in (390, 1280):
        page.resize(width, 844, dark=True, reduced_motion=True)
        assert page.run("document.scrollingElement.scrollWidth") <= width
        click(page, "#projector")
        assert page.run("document.scrollingElement.scrollWidth") <= width
        click(page, "#projector")
    nameless = page.run(
        "[...document.querySelectorAll('button, input, select, canvas[role=img], a, progress')].filter((one) => !("
        "one.getAttribute('aria-label') || one.textContent.trim() || one.closest('label')?.textContent.trim()"
        ")).map((one) => one.outerHTML)"
    )
    assert nameless == []
    assert page.run("document.querySelector('#view-tetrahedron button').disabled")  # no automatic rotation
    ids = page.run("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))


def test_the_layout_does_not_shift(page: Page, lab: Lab) -> None:
    visit(page, lab)
    play_out(page)
    moved = page.run(
        "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => {"
        " const seen = new PerformanceObserver(() => {}); seen.observe({ type: 'layout-shift', buffered: true });"
        " requestAnimationFrame(() => done(seen.takeRecords().filter((one) => !one.hadRecentInput)"
        ".reduce((sum, one) => sum + one.value, 0))); })))"
    )
    assert moved < 0.05


def test_a_lost_connection_is_restored(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario=CHICKEN, speed=61, views=["regrets"])
    for session in list(lab.workers.sessions.values()):
        session._inbox.close()  # as if the page had disconnected: the server closes the connection
    page.until("document.querySelector('#status').textContent.startsWith('connection lost')")
    page.until("document.querySelector('#status').textContent === 'ready'", 60)
    page.until("!document.querySelector('#play').disabled")
    play_out(page)


def test_frames_keep_coming_at_full_speed(page: Page, lab: Lab) -> None:
    """Frames are drawn while rounds are played; benchmarks/lab.py measures how many."""
    visit(page, lab, scenario=SHAPLEY, speed=61, views=["strategies", "regrets", "joint"])
    page.resize(1920, 1080)
    click(page, "#play")
    for _ in range(5):
        before = text(page, "#round")
        page.until(f"document.querySelector('#round').textContent !== {before!r}")
    page.until("/[1-9]\\d* frames/.test(document.querySelector('#rate').textContent)")
    click(page, "#play")
