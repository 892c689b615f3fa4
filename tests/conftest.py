"""What holds for all tests: a busy machine fails none of them, and what one makes known is forgotten after it."""

import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from gamesim.measure import registry
from tests.chromium import Page

settings.register_profile("gamesim", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gamesim")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background of a shell; children would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _forget_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the measures that a test, or an example in a docstring, has made known."""
    monkeypatch.setattr(registry, "_known", dict(registry._known))


@pytest.fixture(scope="session")
def browser() -> Iterator[Page]:
    """One browser for all tests of a process: to start it takes longer than most of them."""
    page = Page()
    yield page
    page.close()
