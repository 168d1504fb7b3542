"""When a failed request is sent again: exponential back-off with full jitter, within a deadline."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_DELAY, LONGEST_DELAY = 0.1, 5.0  # seconds: the largest delay before the first retry, and before any
SHORTEST = 0.001  # seconds: the timeout of a request at its deadline, since 0 would mean not to wait at all


@dataclass(frozen=True, kw_only=True)
class RetryPolicy:
    """The number of retries, and the seconds that all tries of a request may take together.

    The delay before retry n is random between 0 and ``first_delay`` · 2ⁿ seconds, at most ``longest_delay``.
    If the service asks for a delay (``Retry-After``), it comes before this one.
    """

    retries: int = 5
    timeout: float = 30.0
    first_delay: float = FIRST_DELAY
    longest_delay: float = LONGEST_DELAY
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random

    def deadline(self) -> float:
        """Return the time by which a request that begins now must be answered."""
        return self.clock() + self.timeout

    def start(self, deadline: float) -> Tries:
        """Return the tries of a new request."""
        return Tries(self, deadline)


class Tries:
    """The tries of one request."""

    def __init__(self, policy: RetryPolicy, deadline: float) -> None:
        self._policy = policy
        self._deadline = deadline
        self._failed = 0

    def left(self, *, after: float = 0.0) -> float:
        """Return the seconds until the deadline, at least ``SHORTEST``, if ``after`` seconds pass before."""
        return max(SHORTEST, self._deadline - self._policy.clock() - after)

    def delay(self, asked: float = 0.0) -> float | None:
        """Count a failure. Return the seconds to wait before the next try, or None to give up.

        ``asked`` are the seconds that the service asks for.
        """
        most = min(self._policy.longest_delay, self._policy.first_delay * 2**self._failed)
        delay = asked + self._policy.chance() * most
        self._failed += 1
        return None if self._failed > self._policy.retries or delay >= self.left() else delay


def retry_after(headers: Mapping[str, str]) -> float:
    """Return the seconds of the header ``Retry-After``, a number or a date. 0 if there is none."""
    given = headers.get("retry-after", "").strip()
    if given.isascii() and given.replace(".", "", 1).isdigit():
        return float(given)
    try:
        when = parsedate_to_datetime(given)
    except ValueError:
        return 0.0
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - datetime.now(UTC)).total_seconds())
