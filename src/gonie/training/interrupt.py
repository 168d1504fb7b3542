"""Handling Ctrl-C and SIGTERM after the current step, so that a checkpoint is never inconsistent."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any


class Interrupt:
    """Sets ``requested`` at the first signal during the block. A second Ctrl-C stops at once.

    A nested block shares the request with the outer block.
    """

    def __init__(self) -> None:
        self.requested = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():  # elsewhere Python cannot set handlers
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._request)
        self.requested = self._outer is not None and self._outer.requested
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _request(self, number: int, frame: FrameType | None) -> None:
        if self.requested and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.requested = True
        if self._outer is not None:
            self._outer.requested = True

    @property
    def _outer(self) -> Interrupt | None:
        """The enclosing block, if any."""
        owner = getattr(self._before.get(signal.SIGINT), "__self__", None)
        return owner if isinstance(owner, Interrupt) else None
