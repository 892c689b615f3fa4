"""A lab and a browser that shows it, for the tests of the page."""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from gamesim.scenario import Scenario
from tests.chromium import Page
from tests.lab_server import Lab, running_lab

CHICKEN = {"rounds": 10_000, "game": {"name": "chicken"}, "players": [{"learner": "hedge"}, {"learner": "wavelet"}]}
SHAPLEY = {"rounds": 10**9, "game": {"name": "shapley"}, "players": [{"learner": "hedge", "perturb": 0.2}] * 2}
# The page is laid out and drawn.
SETTLED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
ALL = ["strategies", "tetrahedron", "regrets", "joint", "payoffs", "profile"]


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    wavelet = {**SHAPLEY, "players": [{"learner": "wavelet-continuous"}] * 2}
    for scenario in (CHICKEN, SHAPLEY, wavelet):
        Scenario.from_dict(scenario).simulation().run(10)  # compile the kernels before the pages need them
    with running_lab() as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    page = Page()
    yield page
    page.close()


@pytest.fixture
def page(lab: Lab, browser: Page) -> Iterator[Page]:
    """A page of the lab; after each test it must have logged no errors and sent no requests to other hosts."""
    browser.call("Page.navigate", url="about:blank")
    browser.resize(1280, 800)
    browser.requests.clear()
    browser.errors.clear()
    yield browser
    browser.run("1")  # receive pending events
    assert browser.errors == []
    home = (lab.origin, lab.origin.replace("http", "ws"), "data:,", "about:blank", "blob:")
    assert [one for one in browser.requests if not one.startswith(home)] == []


def visit(page: Page, lab: Lab, **state: Any) -> None:
    page.open(f"{lab.origin}/" + (f"#{quote(json.dumps(state))}" if state else ""))
    page.until("document.querySelector('#rounds').textContent !== '–'", 60)
    page.run("document.querySelector('#setup').open = true")


def text(page: Page, selector: str) -> Any:
    return page.run(f"document.querySelector({selector!r}).textContent")


def click(page: Page, selector: str) -> None:
    page.run(f"document.querySelector({selector!r}).click()")


def play_out(page: Page) -> None:
    page.run("(({ speed }) => { speed.value = 61; speed.dispatchEvent(new Event('input')); })(window)")
    click(page, "#play")
    page.until("document.querySelector('#play-word').textContent === 'Again'", 60)


def scenario_in_address(page: Page) -> Any:
    return page.run("JSON.parse(decodeURIComponent(location.hash.slice(1))).scenario")
