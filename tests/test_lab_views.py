"""The lab's phase portrait, cloud of runs and correlating device, in Chromium at three sizes, against Python."""

from typing import Any

import numpy as np
import pytest

from gamesim import equilibrium, games
from gamesim.formatting import number
from gamesim.lab import pictures
from gamesim.lab.limits import simulated
from gamesim.scenario import Scenario
from tests import lab_browser
from tests.chromium import PROGRAM, Page
from tests.lab_browser import SETTLED, play_out, scenario_in_address, visit
from tests.lab_server import Lab

lab, browser, page = lab_browser.lab, lab_browser.browser, lab_browser.page  # fixtures
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(PROGRAM is None, reason="Chromium is not installed"),
]

SIZES = [(390, 844), (1366, 768), (1920, 1080)]
BATTLE = {
    "rounds": 2000,
    "game": {"name": "battle-of-the-sexes"},
    "players": [{"learner": "hedge", "perturb": 0.5}] * 2,
}
CHICKEN = {**BATTLE, "game": {"name": "chicken"}}
JORDAN = {**BATTLE, "game": {"name": "jordan"}, "players": [{"learner": "hedge", "perturb": 0.2}] * 3}


def opened(page: Page, lab: Lab, size: tuple[int, int], view: str, scenario: Any = BATTLE, **state: Any) -> None:
    page.resize(*size)
    visit(page, lab, scenario=scenario, views=[view], speed=61, **state)
    page.until(f"!document.querySelector('#view-{view}').hidden")


def label(page: Page, view: str) -> str:
    return str(page.run(f"document.querySelector('#view-{view} canvas').getAttribute('aria-label')"))


def inks(page: Page, view: str) -> int:
    """Return how many different colours the picture of a view has."""
    return int(
        page.run(
            f"(() => {{ const canvas = document.querySelector('#view-{view} canvas');"
            " const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);"
            " return new Set(new Uint32Array(data.buffer)).size; })()"
        )
    )


def is_drawn_at_all_sizes(page: Page, view: str) -> bool:
    """Return whether a view is drawn, and nothing is wider than the screen, at each size."""
    for size in SIZES:
        page.resize(*size)
        page.run(SETTLED)
        wide = page.run("document.scrollingElement.scrollWidth")
        left, right = page.run(
            f"(({{ left, right }}) => [left, right])"
            f"(document.querySelector('#view-{view} canvas').getBoundingClientRect())"
        )
        if wide > size[0] or not 0 <= left < right <= size[0] or inks(page, view) <= 20:
            return False
    return True


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_click_in_the_portrait_starts_there(page: Page, lab: Lab, size: tuple[int, int]) -> None:
    opened(page, lab, size, "portrait")
    play_out(page)
    page.until("document.querySelector('#view-portrait canvas').getAttribute('aria-label').includes('is a saddle')")
    assert "(60% opera, 40% opera) is a saddle and a Nash equilibrium" in label(page, "portrait")
    assert inks(page, "portrait") > 20
    page.click("#view-portrait canvas")
    page.until("JSON.parse(decodeURIComponent(location.hash.slice(1))).scenario.players[0].start !== undefined")
    first, second = (one["start"] for one in scenario_in_address(page)["players"])
    assert sum(first) == pytest.approx(1) and sum(second) == pytest.approx(1)
    assert 0 < first[0] < 1 and 0 < second[0] < 1
    # The middle of the canvas lies above the middle of the square, whose legend and axis are below.
    assert abs(first[0] - 0.5) < 0.35 and abs(second[0] - 0.5) < 0.35
    page.until("document.querySelector('#round').textContent === '0'")


def test_the_portrait_explains_games_that_have_none(page: Page, lab: Lab) -> None:
    opened(page, lab, SIZES[1], "portrait", {**BATTLE, "game": {"name": "shapley"}})
    play_out(page)
    page.until("document.querySelector('#view-portrait canvas').getAttribute('aria-label').includes('not symmetric')")


def test_many_runs_are_counted_at_the_round_shown(page: Page, lab: Lab) -> None:
    opened(page, lab, SIZES[0], "cloud")
    play_out(page)
    page.until("document.querySelector('#view-cloud canvas').getAttribute('aria-label').includes('Of 40 runs')")
    scenario = Scenario.from_dict({**BATTLE, "replicas": 40})
    record = scenario.simulation().run(2000)
    ended = [f"{count} end at {place}" for place, count in list(record.endings().items())[:1]]
    assert ended[0] in label(page, "cloud")
    for shows in ("payoffs", "gaps", "strategies"):
        page.choose("#view-cloud select", shows)
        page.until(f'decodeURIComponent(location.hash).includes(\'"shows":"{shows}"\')')
        assert is_drawn_at_all_sizes(page, "cloud")


def test_the_device_reports_the_same_gains_as_python(page: Page, lab: Lab) -> None:
    opened(page, lab, SIZES[1], "device", CHICKEN)
    play_out(page)
    page.until("document.querySelector('#view-device select option[value=best]') !== null")
    page.choose("#view-device select", "best")
    page.until("document.querySelector('#view-device canvas').getAttribute('aria-label').includes('nobody gains')")
    assert page.run("document.querySelector('#view-device input').value") == "0.5000"
    for cell, value in enumerate(("0.7", "0.2", "0.1")):  # each keeps the proportions of the others
        field = f"#view-device tr:nth-child({2 + cell // 2}) td:nth-of-type({1 + cell % 2}) input"
        page.type(field, value)
    cells = [float(one) for one in page.run("[...document.querySelectorAll('#view-device input')].map((f) => f.value)")]
    assert sum(cells) == pytest.approx(1, abs=1e-3) and cells[2] == pytest.approx(0.1, abs=1e-3)
    found = equilibrium.obedience(games.make("chicken"), np.reshape(cells, (2, 2)) / sum(cells))
    page.until("document.querySelector('#view-device canvas').getAttribute('aria-label').includes('gains')")
    worst = found.broken()[0]
    said = label(page, "device")
    assert f"{worst.player} gains" in said and f"playing {worst.to} when {worst.recommended} is recommended" in said
    printed = float(said.split(" gains ")[1].split(" by ")[0])
    assert printed == pytest.approx(worst.gain, abs=2e-3) and float(number(printed)) == printed
    assert is_drawn_at_all_sizes(page, "device")


def test_dragging_the_point_moves_the_device(page: Page, lab: Lab) -> None:
    opened(page, lab, SIZES[1], "device", CHICKEN)
    play_out(page)
    page.until("document.querySelector('#view-device select option[value=entropy]') !== null")
    page.choose("#view-device select", "uniform")
    page.run("document.querySelector('#view-device').scrollIntoView()")
    # The uniform distribution is the centre of the tetrahedron, in the middle of the left or upper half.
    x, y = page.run(
        "(() => { const canvas = document.querySelector('#view-device canvas');"
        " const { x, y, width, height } = canvas.getBoundingClientRect();"
        " return width > 480 ? [x + 0.23 * width, y + height / 2] : [x + width / 2, y + 0.25 * height]; })()"
    )
    for kind, dx in (("mousePressed", 0), ("mouseMoved", 20), ("mouseMoved", 45), ("mouseReleased", 45)):
        page.call("Input.dispatchMouseEvent", type=kind, x=x + dx, y=y, button="left", buttons=1, clickCount=1)
    page.until("document.querySelector('#view-device select').value === 'own'")
    cells = page.run("JSON.parse(decodeURIComponent(location.hash.slice(1))).settings.device.cells")
    assert sum(cells) == pytest.approx(1, abs=1e-6) and max(cells) > 0.3 and min(cells) >= 0
    page.until("document.querySelector('#view-device canvas').getAttribute('aria-label').includes('gains')")


def test_three_players_have_a_cube_and_a_device(page: Page, lab: Lab) -> None:
    page.resize(*SIZES[1])
    visit(page, lab, scenario=JORDAN, views=["portrait", "device"], speed=61)
    play_out(page)
    page.until("document.querySelector('#view-portrait canvas').getAttribute('aria-label').includes('is a saddle')")
    page.until("document.querySelectorAll('#view-device input').length === 8")
    page.click("#view-portrait canvas")
    page.until("JSON.parse(decodeURIComponent(location.hash.slice(1))).scenario.players[2].start !== undefined")


def test_messages_state_why_there_is_no_picture() -> None:
    scenario = Scenario.from_dict({**BATTLE, "players": [{"learner": "fictitious-play"}] * 2})
    text = pictures.message("portrait", scenario, simulated(scenario), 3, 0)
    assert text.startswith('{"is": "portrait", "shape": 3, "run": 0, "why": "fictitious-play cannot start')
