"""Ctrl-C and SIGTERM: a wish to stop, heard once, and a second Ctrl-C that does not wait."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from gonie.training.interrupt import Interrupt


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_and_lets_the_step_end(number: int) -> None:
    with Interrupt() as interrupt:
        assert not interrupt.requested
        os.kill(os.getpid(), number)
        assert interrupt.requested


def test_a_second_ctrl_c_stops_at_once() -> None:
    """A step that hangs must not take the terminal with it."""
    with Interrupt():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_scheduler_that_repeats_its_signal_still_gets_a_checkpoint() -> None:
    with Interrupt() as interrupt:
        os.kill(os.getpid(), signal.SIGTERM)
        os.kill(os.getpid(), signal.SIGTERM)
        assert interrupt.requested


def test_afterwards_signals_mean_what_they_did() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with pytest.raises(ZeroDivisionError), Interrupt():
        raise ZeroDivisionError
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_in_another_thread_training_works_without_signals() -> None:
    """Python lets only the main thread take them; a notebook or a service trains elsewhere."""
    seen: list[bool] = []

    def work() -> None:
        with Interrupt() as interrupt:
            seen.append(interrupt.requested)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False]


def test_a_block_within_another_shares_its_wish() -> None:
    """Ctrl-C while one cell of many ends must stop the others too, and one while data is read, training."""
    with Interrupt() as outer:
        with Interrupt() as inner:
            os.kill(os.getpid(), signal.SIGINT)
            assert inner.requested
        assert outer.requested
        with Interrupt() as later:
            assert later.requested
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
