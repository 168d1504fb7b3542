"""Tests delays and deadlines of retries, with a clock and random numbers of the test."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from gonie.client.retries import LONGEST_DELAY, SHORTEST, RetryPolicy, Tries, retry_after


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def started(policy: RetryPolicy) -> Tries:
    return policy.start(policy.deadline())


def test_delays_double_up_to_a_limit() -> None:
    tries = started(RetryPolicy(retries=8, timeout=1000, clock=Clock(), chance=lambda: 1.0))
    assert [tries.delay() for _ in range(9)] == [
        0.1,
        0.2,
        0.4,
        0.8,
        1.6,
        3.2,
        LONGEST_DELAY,
        LONGEST_DELAY,
        None,
    ]


def test_delays_are_between_zero_and_their_limit() -> None:
    for chance in (0.0, 0.5, 0.99):
        tries = started(RetryPolicy(clock=Clock(), chance=lambda chance=chance: chance))  # type: ignore[misc]
        assert [tries.delay() for _ in range(2)] == [0.1 * chance, 0.2 * chance]


def test_the_delay_of_the_service_comes_first() -> None:
    assert started(RetryPolicy(clock=Clock(), chance=lambda: 0.5)).delay(2.0) == 2.05


def test_no_delay_passes_the_deadline() -> None:
    clock = Clock()
    tries = started(RetryPolicy(timeout=10, clock=clock, chance=lambda: 0.0))
    assert (tries.left(), tries.delay(9.9)) == (10, 9.9)
    clock.now += 5
    assert (tries.left(), tries.left(after=2), tries.delay(5.0)) == (5, 3, None)
    clock.now += 50
    assert tries.left() == SHORTEST


def test_retry_after_is_a_number_or_a_date() -> None:
    assert retry_after({}) == retry_after({"retry-after": "soon"}) == retry_after({"retry-after": ""}) == 0
    assert retry_after({"retry-after": " 3 "}) == 3
    assert retry_after({"retry-after": "0.5"}) == 0.5
    assert retry_after({"retry-after": "-1"}) == 0
    later = format_datetime(datetime.now(UTC) + timedelta(hours=2), usegmt=True)
    assert retry_after({"retry-after": later}) == pytest.approx(2 * 3600, abs=60)
    assert retry_after({"retry-after": "Fri, 31 Dec 1999 23:59:59 GMT"}) == 0
