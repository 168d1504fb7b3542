"""Tests Ctrl-C and SIGTERM: the first signal requests a stop, a second Ctrl-C stops at once."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from gonie.training.interrupt import Interrupt


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_only_requests_a_stop(number: int) -> None:
    with Interrupt() as interrupt:
        assert not interrupt.requested
        os.kill(os.getpid(), number)
        assert interrupt.requested


def test_a_second_ctrl_c_stops_at_once() -> None:
    """The user must be able to stop a step that hangs."""
    with Interrupt():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_repeated_sigterm_does_not_stop_at_once() -> None:
    with Interrupt() as interrupt:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupt.requested


def test_signal_handlers_are_restored_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with pytest.raises(ZeroDivisionError), Interrupt():
        raise ZeroDivisionError
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_training_in_another_thread_ignores_signals() -> None:
    """Only the main thread can handle signals, but a notebook or a service may train in another one."""
    seen: list[bool] = []

    def work() -> None:
        with Interrupt() as interrupt:
            seen.append(interrupt.requested)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]


def test_nested_blocks_share_the_request() -> None:
    """Ctrl-C in one cell must stop the other cells too, and Ctrl-C while reading must stop training."""
    with Interrupt() as outer:
        with Interrupt() as inner:
            os.kill(os.getpid(), signal.SIGINT)
            assert inner.requested
        assert outer.requested
        with Interrupt() as later:
            assert later.requested
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
