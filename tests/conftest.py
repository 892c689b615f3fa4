"""What holds for all tests: a busy machine fails none of them, and what one makes known is forgotten after it."""

import gc
import signal

import pytest
from hypothesis import HealthCheck, settings

from gamesim.measure import registry

settings.register_profile("gamesim", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gamesim")
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background of a shell; children would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish() -> None:
    """Collect garbage rarely, and never among what has been imported, which takes a twentieth of the time of tests."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True)
def _forget_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget the measures that a test, or an example in a docstring, has made known."""
    monkeypatch.setattr(registry, "_known", dict(registry._known))
