"""The page in front of a class: keys, layout, time, lessons, pictures, and how others join."""

import json
import re
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import numpy as np
import pytest

from gamesim.formatting import number
from gamesim.lab.course import course
from gamesim.scenario import Scenario
from tests import lab_browser
from tests.chromium import PROGRAM, Page, wait
from tests.lab_browser import ALL, CHICKEN, SETTLED, click, play_out, scenario_in_address, text, visit
from tests.lab_server import Lab, running_lab

lab, browser, page = lab_browser.lab, lab_browser.browser, lab_browser.page  # fixtures
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]

SIZES = [(390, 844), (1366, 768), (1920, 1080)]
SMALL: dict[str, Any] = {**CHICKEN, "rounds": 2000, "players": [{"learner": "hedge", "perturb": 0.5}] * 2}
BOTTOMS = """(names) => names.flatMap((name) => {
  document.querySelector(`[data-lesson=${name}]`).click();
  return [0, 1, 2, 3, 4].map((step) => {
    document.querySelectorAll(".stages button")[step].click();
    (document.querySelector("#lesson-solution") ?? {}).open = true;
    const last = document.querySelector("#lesson-next") ?? document.querySelector("#lesson-back");
    return [name, step, last.getBoundingClientRect().bottom];
  });
})"""
SHOWN = (
    "[...document.querySelectorAll('.card:not([hidden])')].sort((a, b) => a.style.order - b.style.order)"
    ".map((card) => card.dataset.view)"
)
WORD = "document.querySelector('#play-word').textContent"


def rounds(page: Page) -> int:
    return int(text(page, "#round").replace(",", ""))


def near(round: int) -> str:
    """Return the condition that a round is shown, up to one percent."""
    return f"Math.abs(document.querySelector('#round').textContent.replace(',', '') - {round}) <= {round / 100}"


def at_round(page: Page, round: int) -> None:
    page.until(f"document.querySelector('#round').textContent === '{round:,}'")


def fits(page: Page) -> bool:
    """Return whether nothing is wider than the screen, at any size."""
    for size in SIZES:
        page.resize(*size)
        if page.run("document.scrollingElement.scrollWidth") > size[0]:
            return False
    return True


def box(page: Page, selector: str) -> Any:
    """Return left, top, right and bottom of an element on the screen."""
    return page.run(
        f"(() => {{ const one = document.querySelector({selector!r}).getBoundingClientRect();"
        " return [one.left, one.top, one.right, one.bottom]; })()"
    )


def open_lesson(page: Page, lab: Lab, name: str, **state: Any) -> None:
    page.open("about:blank")
    page.open(f"{lab.origin}/#{quote(json.dumps({'lesson': name, **state}))}")
    page.until("document.querySelector('#rounds')?.textContent !== '–'", 60)


# Driving.


def test_space_plays_and_pauses_whatever_has_the_focus(page: Page, lab: Lab) -> None:
    open_lesson(page, lab, "shapley", views=["strategies"])
    page.run("document.querySelector('#setup').open = true")
    before = scenario_in_address(page)
    selectors = (
        *("body", "#play", "#step", "#reset", "#speed", "#scrub", "#until", "#accelerate", "#lesson-next"),
        *("#answer-0", ".view-switches button", "summary", "#game", "#player-0-learner", ".term", "#course-button"),
    )
    for k, selector in enumerate(selectors):
        page.resize(*SIZES[k % len(SIZES)])
        page.run(f"document.querySelector({selector!r}).focus()")
        for word in ("Pause", "Play"):
            page.key(" ")
            page.until(f"{WORD} === {word!r}")
    click(page, "#step")
    page.click("#back")
    page.key(" ")
    page.until(f"{WORD} === 'Pause'")
    page.key(" ")
    page.until(f"{WORD} === 'Play'")
    click(page, "#reset")
    page.key(" ")
    page.until(f"{WORD} === 'Pause'")
    assert scenario_in_address(page) == before  # no key has changed anything
    assert page.run("document.querySelector('#course').hidden")
    assert page.run("[...document.querySelectorAll('.votes')].every((one) => one.textContent === '')")


def test_keys_neither_type_into_a_list_nor_move_a_slider(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario=SMALL, speed=30, views=["strategies"])
    for selector in ("#game", "#player-0-learner", "#scenario-feedback", "#until"):
        before = page.run(f"document.querySelector({selector!r}).focus(), document.querySelector({selector!r}).value")
        for key in ("s", "b", "x", "w", "ArrowRight", "ArrowLeft"):
            page.key(key)
        assert page.run(f"document.querySelector({selector!r}).value") == before, selector
    page.run("document.querySelector('#speed').focus()")
    page.key("r")
    at_round(page, 0)
    page.key("ArrowRight")
    at_round(page, 1)
    page.key("ArrowRight")
    at_round(page, 2)
    page.key("ArrowLeft")
    at_round(page, 1)
    assert text(page, "#speed-shown") == "1,000 rounds/s"
    page.key("ArrowUp")
    assert text(page, "#speed-shown") == "1,259 rounds/s"
    page.key("ArrowRight", shift=True)  # jumps along the scrubber, at least by a round
    page.key("ArrowRight", shift=True)
    page.until("parseInt(document.querySelector('#round').textContent) >= 2")
    page.run("document.querySelector('#player-0-name').focus()")  # but a text can be typed
    page.key(" ")
    page.key("b")
    assert page.run("document.querySelector('#player-0-name').value").endswith(" b")


def test_the_settings_open_and_close_at_every_width(page: Page, lab: Lab) -> None:
    page.resize(1000, 800)
    open_lesson(page, lab, "chicken")
    page.run("localStorage.clear()")
    is_open = "document.querySelector('#setup').open"
    for width in (1000, 1600, 390, 1366, 1920):
        page.resize(width, 800)
        for control in ("#setup > summary", "#setup-button"):
            was = page.run(is_open)
            for state in (not was, was):
                page.click(control)
                page.until(f"{is_open} === {'true' if state else 'false'}")
        assert page.run("document.scrollingElement.scrollWidth") <= width
    page.click("#setup-button")
    state = page.run(is_open)
    page.call("Page.reload")
    page.until("document.querySelector('body.ready') !== null")
    assert page.run(is_open) == state
    page.run("localStorage.clear()")


@pytest.mark.parametrize("name", ["chicken", "shapley", "el-farol"])
def test_the_first_pictures_are_fully_visible_below_the_controls(page: Page, lab: Lab, name: str) -> None:
    page.resize(1366, 768)
    open_lesson(page, lab, name)
    page.key(" ")
    page.until("document.querySelector('#round').textContent !== '0'")
    page.key(" ")
    page.until(f"{WORD} === 'Play'")
    row = sorted(page.run(SHOWN)[:2])
    for width, height, large in ((1366, 768, False), (1024, 768, True), (1920, 1080, True)):
        page.resize(width, height)
        if large:
            page.key("p")
        page.run(SETTLED)
        left, top, right, bottom = box(page, f"#view-{page.run(SHOWN)[0]} canvas[role=img]")
        assert box(page, ".transport")[3] <= top and bottom <= height and 0 <= left < right <= width
        assert bottom - top >= 250 and right - left >= 250
        for view in row:
            assert large or box(page, f"#view-{view} .about")[3] <= height, view  # with its caption
        assert box(page, ".transport")[1] >= 0 and page.run("scrollY") == 0
        if large:
            page.key("p")


def test_any_view_fills_the_screen(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario=SMALL, speed=20, views=ALL)
    for size in SIZES:
        page.resize(*size)
        for view in ALL:
            page.run(f"document.querySelector('#view-{view} .fill').click()")
            left, top, right, bottom = box(page, f"#view-{view} canvas[role=img]")
            assert right - left >= 0.85 * size[0] and bottom - top >= 0.5 * size[1], (view, size)
            assert bottom <= size[1] and box(page, ".transport")[3] <= top
    address = page.run("location.href")
    page.key("Escape")
    assert box(page, "#view-strategies canvas[role=img]")[2] > 0
    assert not page.run("document.body.classList.contains('filled')")
    page.open("about:blank")
    page.open(address)  # a copied link shows the same view
    page.until("document.querySelector('body.filled #view-profile:not([hidden])') !== null")
    page.key("f")
    page.until("!document.body.classList.contains('filled')")
    page.key("f")
    page.until("document.querySelector('.full')?.id === 'view-strategies'")


def test_the_choice_of_views_survives_reloads_and_is_part_of_the_link(page: Page, lab: Lab) -> None:
    open_lesson(page, lab, "chicken")
    assert page.run(SHOWN) == ["strategies", "tetrahedron", "payoffs"]
    page.key("1")
    page.key("6")
    page.key("1")
    expected = ["tetrahedron", "payoffs", "profile", "strategies"]
    assert page.run(SHOWN) == expected
    page.call("Page.reload")
    page.until("document.querySelector('#rounds')?.textContent === '10,000'")
    assert page.run(SHOWN) == expected
    assert text(page, "#lesson-title") == "Chicken"


# Time.


def scrub_to(page: Page, round: int, last: int) -> None:
    page.run(
        f"(({{ scrub }}) => {{ scrub.value = Math.round(1000 * Math.log1p({round}) / Math.log1p({last}));"
        " scrub.dispatchEvent(new Event('input')); })(window)"
    )


def served(lab: Lab) -> set[int]:
    """Return the rounds at which the sessions are; a page that was left may still have one."""
    return {one.runs[0].simulation.rounds for one in list(lab.workers.sessions.values()) if one.runs}


def test_every_round_can_be_shown_again(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario=SMALL, speed=61, views=["strategies", "regrets"])
    picture = "document.querySelector('#view-strategies canvas[role=img]').toDataURL()"
    play_out(page)
    end = text(page, "#gap_ce-0")
    for size, place in zip(SIZES, (40, 900, 60), strict=True):
        page.resize(*size)
        scrub_to(page, place, 2000)
        page.until(f"{WORD} === 'Play' && {near(place)}")
        there = rounds(page)
        exact = number(Scenario.from_dict(SMALL).simulation().run(there).gap("ce"))
        page.until(f"document.querySelector('#gap_ce-0').textContent === {exact!r}")
        wait(lambda: there in served(lab), "the server has not followed", 30)  # noqa: B023  # called at once
        assert rounds(page) == there and text(page, "#gap_ce-0") == exact
    before = page.run(picture)
    page.key("ArrowRight")
    at_round(page, there + 1)
    page.until(f"{picture} !== {before!r}")
    page.key("ArrowLeft")
    at_round(page, there)
    page.until(f"{picture} === {before!r}")  # the same picture as before, to the pixel
    click(page, "#play")
    page.until(f"{WORD} === 'Again'")
    assert rounds(page) == 2000 and text(page, "#gap_ce-0") == end
    assert page.run("getComputedStyle(document.querySelector('#scrub')).getPropertyValue('--kept')") == "100%"


def test_play_pauses_at_a_round_or_an_event_and_continues(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario={**SMALL, "game": {"name": "matching-pennies"}}, speed=61, views=["strategies"])
    page.choose("#until", "round")
    page.type("#until-value", "137")
    click(page, "#play")
    at_round(page, 137)
    page.until(f"{WORD} === 'Play'")
    page.until("document.querySelector('#status').textContent.includes('paused after round 137')")
    page.choose("#until", "cycle")
    click(page, "#play")
    page.until("document.querySelector('#status').textContent.includes('the first cycle')")
    page.until(f"{WORD} === 'Play'")
    stopped = re.search(r"round ([\d,]+)", text(page, "#status"))
    assert stopped is not None and 137 < int(stopped[1].replace(",", "")) < 2000
    at_round(page, int(stopped[1].replace(",", "")))  # the frame may come after the message
    click(page, "#play")
    page.until(f"{WORD} === 'Again'")  # it does not pause at further cycles
    page.choose("#until", "cce-gap")
    page.type("#until-value", "much")
    page.until("document.querySelector('#notice-text').textContent.includes('expected a number')")
    page.type("#until-value", "0.5")
    click(page, "#reset")
    at_round(page, 0)
    click(page, "#play")
    page.until("document.querySelector('#status').textContent.includes('CCE gap below 0.5')")
    page.until(f"{WORD} === 'Play'")
    page.until("Number(document.querySelector('#gap_cce-0').textContent) < 0.5")
    address = page.run("location.href")
    page.open("about:blank")
    page.open(address)
    page.until("document.querySelector('#until')?.value === 'cce-gap'")
    assert page.run("document.querySelector('#until-value').value") == "0.5"


def test_the_transition_of_chicken_is_seen(page: Page, lab: Lab) -> None:
    """In its lesson, play leaves the mixed equilibrium slowly enough to be watched."""
    open_lesson(page, lab, "chicken", step=1, views=["strategies"])
    page.run(
        "(() => { const { send } = WebSocket.prototype; window.sent = []; WebSocket.prototype.send = function (text) {"
        " sent.push(JSON.parse(text)); send.call(this, text); }; })()"
    )
    click(page, "#lesson-run")
    page.until("parseInt(document.querySelector('#round').textContent.replace(',', '')) > 480")  # and it is played
    (play,) = page.run("sent.filter((one) => one.do === 'play')")
    speed, growth = play["speed"], play["growth"]
    seconds = np.log((speed + growth * 480) / (speed + growth * 30)) / growth
    assert seconds >= 3  # one probability falls from 0.8 to 0.01 between rounds 30 and 480


# Lessons.


def test_a_lesson_asks_first_and_reveals_later(page: Page, lab: Lab) -> None:
    page.resize(*SIZES[0])
    open_lesson(page, lab, "shapley")
    (lesson,) = [one for group in course() for one in group.lesson if one.scenario == "shapley"]
    everything = "document.documentElement.innerHTML"
    hidden = [lesson.reveal[:20], lesson.why[:20], lesson.exercise[:20], lesson.solution[:20]]
    steps = ["Predict", "Run", "Reveal", "Why", "Exercise"]
    assert page.run("[...document.querySelectorAll('.stages button')].map((one) => one.textContent)") == steps
    assert text(page, "#lesson-question") == lesson.question
    assert not [one for one in hidden if one in re.sub("<[^>]*>", "", page.run(everything))]
    for k in (1, 1, 0, 1):
        page.click(f"#answer-{k}")
    assert page.run("[...document.querySelectorAll('.votes')].map((one) => one.textContent)") == ["1", "3", ""]
    page.key("PageDown")
    assert text(page, "#lesson-watch") == lesson.watch
    assert not [one for one in hidden if one in re.sub("<[^>]*>", "", page.run(everything))]
    page.click("#lesson-run")
    page.until(f"{WORD} === 'Pause'")
    page.key("n")
    assert text(page, "#lesson-reveal") == lesson.reveal
    assert text(page, ".answer.right") == f"✓ {lesson.answers[lesson.right]}3"
    page.key("n")
    assert text(page, "#lesson-why") == lesson.why
    page.key("n")
    assert text(page, "#lesson-exercise") == lesson.exercise
    assert not page.run("document.querySelector('#lesson-solution').open")
    page.key("b")
    page.key("PageUp")
    assert text(page, "#lesson-reveal") == lesson.reveal
    page.call("Page.reload")
    page.until("document.querySelector('#lesson-reveal') !== null")
    for _ in range(3):
        page.key("n")
    page.until("document.querySelector('#lesson-title').textContent === \"Shapley's game with other learners\"")
    page.until("location.hash.includes('wavelet-continuous')")
    assert text(page, ".stages [aria-current]") == "Predict"
    assert fits(page)


def test_equilibria_are_not_shown_before_the_prediction(page: Page, lab: Lab) -> None:
    open_lesson(page, lab, "prisoners-dilemma")
    page.until("document.querySelector('#equilibria').textContent.includes('CE payoffs')")  # the page knows them
    picture = "document.querySelector('#view-payoffs canvas[role=img]').toDataURL()"
    page.until(f"window.seen === {picture} || (window.seen = {picture}, false)")  # fully drawn
    before = page.run(picture)
    page.key("n")
    page.until(f"{picture} !== {before!r}")
    page.key("b")
    page.until(f"{picture} === {before!r}")


@pytest.mark.parametrize("size", SIZES)
def test_a_step_of_a_lesson_opens_the_views_it_talks_about(page: Page, lab: Lab, size: tuple[int, int]) -> None:
    page.resize(*size)
    open_lesson(page, lab, "battle-of-the-sexes")
    before = page.run(SHOWN)
    page.key("n")
    assert page.run(SHOWN) == before  # they would give the answer away
    click(page, "#lesson-run")
    page.until("document.querySelector('#round').textContent !== '0'")
    _, top, _, bottom = box(page, ".card:not([hidden]) .drawing")
    assert top > -1 and bottom <= size[1]  # what is to be seen is on the screen, also that of a phone
    page.key("n")
    assert page.run(SHOWN) == ["cloud", *before]
    _, top, _, bottom = box(page, "#lesson")
    assert top > -1 and bottom <= size[1]
    assert size[0] < 500 or page.run("scrollY") == 0
    assert page.run("document.querySelector('#view-cloud .drawing').clientHeight") >= 300
    page.until("document.querySelector('#view-cloud canvas').getAttribute('aria-label').includes('runs of')")
    page.key("n")
    assert page.run(SHOWN) == ["portrait", "cloud", *before]
    page.until("document.querySelector('#view-portrait canvas').getAttribute('aria-label').includes('Rest points')")
    if size[0] > 500:
        assert box(page, "#view-portrait .about")[3] <= size[1] and box(page, "#view-cloud .about")[3] <= size[1]
    assert fits(page)


def test_the_device_and_its_editor_are_on_the_screen(page: Page, lab: Lab) -> None:
    page.resize(*SIZES[1])
    open_lesson(page, lab, "shapley")
    page.key("n")
    page.key("n")
    page.until("document.querySelector('#view-device .device-editor table') !== null")
    assert page.run(SHOWN)[0] == "device"
    for size in SIZES[1:]:
        page.resize(*size)
        page.run(SETTLED)
        assert box(page, "#view-device .device-editor")[3] <= box(page, "#view-device .about")[3] <= size[1]


def test_the_controls_do_not_grow_while_rounds_are_played(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario={**SMALL, "rounds": 10**9}, speed=61, views=["strategies"])
    for size in SIZES:
        page.resize(*size)
        before = page.run("document.querySelector('.transport').clientHeight")
        click(page, "#play")
        page.until("document.querySelector('#rate').textContent.includes('frames/s')")
        assert page.run("document.querySelector('.transport').clientHeight") == before
        click(page, "#play")
        page.until(f"{WORD} === 'Play'")
        assert page.run("document.querySelector('.transport').clientHeight") == before


def test_panels_are_spread_evenly_over_the_rows(page: Page, lab: Lab) -> None:
    page.resize(1920, 1080)
    open_lesson(page, lab, "el-farol")
    page.run(
        "URL.createObjectURL = (blob) => (blob.text().then((source) => (window.drawing = source)), 'data:,'),"
        "[...document.querySelectorAll('#view-strategies button')].find((one) => one.textContent === 'SVG').click()"
    )
    drawn = ElementTree.fromstring(page.until("window.drawing"))
    heights = Counter(one.get("y") for one in drawn.iter() if (one.text or "").startswith("Player"))
    assert list(heights.values()) == [4, 3]


def test_the_whole_course_fits_on_the_screen(page: Page, lab: Lab) -> None:
    open_lesson(page, lab, "chicken")
    titles = [group.title for group in course()]
    for size in SIZES:
        page.resize(*size)
        page.key("c")
        assert page.run("[...document.querySelectorAll('#course h2')].map((one) => one.textContent)") == titles
        left, _, right, bottom = box(page, "#course")
        assert 0 <= left < right <= size[0] and bottom <= size[1]
        page.key("Escape")
        assert page.run("document.querySelector('#course').hidden")
    page.run("WebSocket.prototype.send = () => {}")  # the lessons are read, not run
    names = [lesson.scenario for group in course() for lesson in group.lesson]
    for width in (1366, 1024):
        page.resize(width, 768)
        bottoms = page.run(f"({BOTTOMS})({names!r})")
        assert len(bottoms) == 5 * len(names)
        assert [one for one in bottoms if not 0 < one[2] <= 768] == []  # no step is cut off
        page.key("p")  # large letters, and back


def test_technical_words_open_the_glossary(page: Page, lab: Lab) -> None:
    open_lesson(page, lab, "shapley", step=2)
    words = page.run("[...document.querySelectorAll('.term')].map((one) => one.textContent)")
    assert {"CE gap", "CCE gap", "coarse correlated equilibrium", "swap regret"} <= set(words)
    for size in SIZES:
        page.resize(*size)
        for k in range(len(words)):
            page.run(f"document.querySelectorAll('.term')[{k}].click()")
            assert page.run("document.querySelector('#term').matches(':popover-open')")
            left, top, right, bottom = box(page, "#term")
            assert left >= 0 and right <= size[0] and bottom - top > 40
        assert len(text(page, "#term-text")) > 40
        page.key("Escape")
        assert not page.run("document.querySelector('#term').matches(':popover-open')")


def test_lessons_games_and_learners_are_found(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario=SMALL, speed=30, views=["strategies"])
    for size in SIZES:
        page.resize(*size)
        page.key("/")
        page.run("document.querySelector('#find').select()")
        page.call("Input.insertText", text="bar")
        assert "The El Farol bar" in text(page, "#found")
        left, _, right, _ = box(page, "#found")
        assert left >= 0 and right <= size[0]
    page.key("Enter")
    page.until("document.querySelector('#lesson-title')?.textContent === 'The El Farol bar'")
    page.until("location.hash.includes('el-farol')")
    page.key("/")
    page.call("Input.insertText", text="stag")
    page.key("Enter")
    page.until("document.querySelector('#setup-line').textContent.startsWith('stag-hunt')")
    page.key("/")
    page.call("Input.insertText", text="regret matching plus")
    page.key("Enter")
    page.until("document.querySelector('#setup-line').textContent.includes('regret-matching-plus,')")
    page.key("/")
    page.call("Input.insertText", text="zzz")
    assert text(page, "#found") == "nothing found"
    page.key("Escape")
    assert page.run("document.activeElement === document.body")


# Pictures and joining.


def _are_saved(folder: Path, pattern: str) -> bool:
    return len(list(folder.glob(pattern))) == len(ALL)


@pytest.mark.parametrize("size", SIZES)
def test_every_picture_can_be_saved(page: Page, lab: Lab, tmp_path: Path, size: tuple[int, int]) -> None:
    page.resize(*size)
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    for kind in ("svg", "png"):  # Chromium saves at most ten files of a page in a row
        page.open("about:blank")
        visit(page, lab, scenario={**SMALL, "rounds": 200}, speed=61, views=ALL)
        play_out(page)
        page.until("document.querySelector('#ce-0').textContent !== '–'")
        for view in ALL:
            click(page, f"#view-{view} [title='Save as {kind.upper()}']")
        pattern = f"chicken-*.{kind}"
        wait(partial(_are_saved, tmp_path, pattern), "pictures are missing", 20)
    for view in ALL:
        wide, high = page.run(
            f"(({{ clientWidth, clientHeight }}) => [clientWidth, clientHeight])"
            f"(document.querySelector('#view-{view} canvas[role=img]'))"
        )
        drawn = ElementTree.fromstring((tmp_path / f"chicken-{view}.svg").read_text(encoding="utf-8"))
        assert (float(drawn.attrib["width"]), float(drawn.attrib["height"])) == (wide, high)
        marks = [one.tag.rpartition("}")[2] for one in drawn.iter()]
        assert marks.count("text") >= 4 and marks.count("path") >= 6, view
        words = [one.text for one in drawn.iter() if one.tag.endswith("}text")]
        assert {"strategies": "Row", "tetrahedron": "dare, dare", "joint": "play so far"}.get(view, words[0]) in words
        png = (tmp_path / f"chicken-{view}.png").read_bytes()
        assert png[:8] == b"\x89PNG\r\n\x1a\n"
        assert [int.from_bytes(png[k : k + 4], "big") for k in (16, 20)] == [3 * wide, 3 * high]
        assert len(png) > 5000


def test_labels_of_a_saved_picture_are_escaped(page: Page, lab: Lab, tmp_path: Path) -> None:
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    evil = '</text><script>alert(1)</script>&"'
    game = {"payoffs": [[[1, 0], [0, 1]], [[0, 1], [1, 0]]], "actions": [[evil, "b"], ["c", "d"]]}
    visit(page, lab, scenario={**SMALL, "rounds": 50, "game": game}, speed=61, views=["strategies"])
    play_out(page)
    click(page, "#view-strategies [title='Save as SVG']")
    (path,) = wait(lambda: list(tmp_path.glob("*.svg")), "no picture was saved", 20)
    drawn = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    assert not [one for one in drawn.iter() if "script" in one.tag]
    assert [one.text for one in drawn.iter() if (one.text or "").startswith("</text>")]


def test_others_join_with_a_code(browser: Page, page: Page, lab: Lab) -> None:
    open_lesson(page, lab, "chicken")
    click(page, "#share-button")
    assert "--allow-network" in text(page, "#join")
    page.open("about:blank")
    with running_lab(token="only-for-friends") as guarded:
        browser.open(f"{guarded.address.links[0]}#{quote(json.dumps({'lesson': 'shapley'}))}")
        browser.until("document.querySelector('#rounds')?.textContent !== '–'", 60)
        click(browser, "#share-button")
        browser.until("document.querySelector('#join img').naturalWidth > 100")
        assert browser.run("document.querySelector('#join img').getAttribute('src')") == "code.svg?lesson=shapley"
        assert guarded.address.links[0] in text(browser, "#join")
        assert fits(browser)
        browser.open("about:blank")
        browser.run("1")
        browser.requests.clear()


# Own games.


SHEET = "\tL\tC\tR\nT\t3,1\t0,0\t1/2,-1\nB\t0,0\t1,3\t0,2"  # neither square nor symmetric
PAYOFFS = [[[3, 0, 0.5], [0, 1, 0]], [[1, 0, -1], [0, 3, 2]]]


def paste(page: Page, content: str) -> None:
    page.run(
        f"(() => {{ const data = new DataTransfer(); data.setData('text/plain', {content!r});"
        " const about = { clipboardData: data, bubbles: true, cancelable: true };"
        " document.body.dispatchEvent(new ClipboardEvent('paste', about)); })()"
    )


def drop(page: Page, *files: tuple[str, str]) -> None:
    page.run(
        f"(() => {{ const data = new DataTransfer(); for (const [name, text] of {[list(one) for one in files]!r})"
        " data.items.add(new File([text], name)); document.body.dispatchEvent("
        "new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true })); })()"
    )


def test_a_game_is_pasted_from_a_spreadsheet(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario=SMALL, speed=61, views=["strategies"])
    paste(page, SHEET)
    page.until("document.querySelector('#setup-line').textContent.startsWith('pasted game')")
    game = scenario_in_address(page)["game"]
    assert game["payoffs"] == PAYOFFS and game["actions"] == [["T", "B"], ["L", "C", "R"]]
    page.until("document.querySelectorAll('#payoff-1-1-2').length === 1")
    assert page.run("document.querySelector('#payoff-0-0-2').value") == "0.5"
    page.until("document.querySelector('#equilibria').textContent.includes('CE payoffs')")
    found = text(page, "#equilibria")
    assert "2 pure Nash equilibria(T, L): payoffs 3, 1(B, C): payoffs 1, 3" in found
    assert "1 mixed Nash equilibrium(0.750 T + 0.250 B, 0.250 L + 0.750 C): payoffs 0.75, 0.75" in found
    page.type("#game-name", "Ann's game")
    page.until("document.querySelector('#setup-line').textContent.startsWith(\"Ann's game\")")
    page.type("#payoff-0-1-0", "1/4")
    page.until("location.hash.includes('0.25')")
    play_out(page)
    before = page.run("location.href")
    paste(page, "1\t2\n3\tmuch\n")
    page.until("!document.querySelector('#notice').hidden")
    assert "expected the payoffs of both players in each cell, as in 3,1" in text(page, "#notice-text")
    assert page.run("location.href") == before and rounds(page) == 2000
    assert fits(page)


def test_games_are_typed_and_dropped(page: Page, lab: Lab) -> None:
    visit(page, lab, scenario=SMALL, speed=61, views=["strategies"])
    page.run("document.querySelector('#own-game').open = true")
    page.run(
        f"document.querySelector('#paste').value = {'1,2' + chr(10) + '3,4' + chr(10) * 2 + '5,6' + chr(10) + '7,8'!r}"
    )
    page.click("#use-pasted")
    page.until("document.querySelector('#setup-line').textContent.startsWith('pasted game')")
    assert scenario_in_address(page)["game"]["payoffs"] == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    drop(page, ("three.nfg", 'NFG 1 R "Three" { "A" "B" "C" } { 2 1 2 } 1 2 3 4 5 6 7 8 9 10 11 12'))
    page.until("document.querySelector('#setup-line').textContent.startsWith('Three')")
    assert len(scenario_in_address(page)["players"]) == 3
    page.until("document.querySelector('#equilibria').textContent.includes('only pure')")
    drop(page, ("g.2.csv", ",L,R\nT,5,6\nB,7,8"), ("g.1.csv", ",L,R\nT,1,2\nB,3,4"))
    page.until("document.querySelector('#setup-line').textContent.startsWith('g:')")
    assert scenario_in_address(page)["game"]["payoffs"] == [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]
    drop(page, ("picture.png", "x"))
    page.until("document.querySelector('#notice-text').textContent.startsWith('picture.png: expected a .csv')")
