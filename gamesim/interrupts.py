"""Ctrl-C, handled where nothing is lost."""

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import TypeVar

Result = TypeVar("Result")


class Stop:
    """Handle Ctrl-C: the first sets `wished`, so that the program stops where nothing is lost; the second raises.

    While `at_once` is set, there is nothing to lose, and the first raises KeyboardInterrupt too.
    """

    def __init__(self, *, at_once: bool = True) -> None:
        self.wished = False
        self.at_once = at_once

    def __enter__(self) -> "Stop":
        self._main = threading.current_thread() is threading.main_thread()
        if self._main:  # only the main thread can handle signals
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._main:
            signal.signal(signal.SIGINT, self._before)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self.wished or self.at_once:
            raise KeyboardInterrupt
        self.wished = True

    def or_else(self, do: Callable[[], Result], instead: Callable[[], Result]) -> Result:
        """Call `do`; if the first Ctrl-C interrupts it, call the faster `instead`."""
        before, self.at_once = self.at_once, True
        try:
            return do()
        except KeyboardInterrupt:
            if self.wished:
                raise
            self.wished = True
        finally:
            self.at_once = before
        return instead()
