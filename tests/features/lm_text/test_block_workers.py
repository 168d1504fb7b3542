"""Worker processes that tokenise: same blocks in the same order for any number, and errors are raised."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Iterator

import pytest

from gonie.errors import GonieError
from gonie.features.lm_text import block_workers as module
from gonie.features.lm_text.block_workers import KIWI, WORTH_IT, block_workers, worker_count
from gonie.features.lm_text.blocks import TokenBlock
from gonie.text.tokenizers.settings import TokenizerSettings

BLOCKS = [["A slow one. " * 20_000], *([f"word{number} and more."] for number in range(25))]
"""The first block takes so long that the following ones finish before it."""


def spelled(blocks: Iterator[TokenBlock]) -> list[tuple[list[int], list[str]]]:
    return [(block.tokens.tolist(), block.forms) for block in blocks]


def test_several_workers_give_the_same_blocks_as_one() -> None:
    with block_workers(1, TokenizerSettings("en", "word")) as alone:
        expected = spelled(alone(BLOCKS))
    with block_workers(3, TokenizerSettings("en", "word")) as together:
        assert spelled(together(BLOCKS)) == expected
        assert spelled(together([])) == []
        assert spelled(together(BLOCKS[:2])) == expected[:2], "the workers stay for the next file"
    assert not multiprocessing.active_children()


@pytest.mark.long
def test_a_killed_worker_is_reported() -> None:
    """The kernel kills processes that run out of memory; waiting for their results would never end."""

    def killing() -> Iterator[list[str]]:
        yield BLOCKS[0]
        os.kill(multiprocessing.active_children()[0].pid or 0, signal.SIGKILL)
        yield from BLOCKS

    def run() -> None:
        with block_workers(2, TokenizerSettings("en", "word")) as together:
            list(together(killing()))

    with pytest.raises(GonieError, match=r"ended by signal 9.*fewer workers"):
        run()
    assert not multiprocessing.active_children()


def test_errors_of_workers_are_raised() -> None:
    with (
        pytest.raises(GonieError, match="xx/word"),
        block_workers(2, TokenizerSettings("xx", "word")) as together,
    ):
        list(together(BLOCKS))
    with (
        pytest.raises(RuntimeError, match="Traceback"),
        block_workers(2, TokenizerSettings("en", "word")) as together,
    ):
        list(together([[3]]))  # type: ignore[list-item]


# --- number of workers -------------------------------------------------------------------------------------


def test_small_texts_and_large_tokenizers_get_fewer_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)
    monkeypatch.setattr(module, "_memory", lambda: 10 * KIWI)
    assert worker_count(0, TokenizerSettings("en", "word"), size=WORTH_IT) == 64
    assert worker_count(0, TokenizerSettings("en", "word"), size=WORTH_IT - 1) == 1
    assert worker_count(0, TokenizerSettings("ko", "morpheme"), size=WORTH_IT) == 5, (
        "half the memory, not one for each core"
    )
    assert worker_count(7, TokenizerSettings("ko", "morpheme"), size=1) == 7, "who asks for a number gets it"
    monkeypatch.setattr(module, "_memory", lambda: 0)
    assert worker_count(0, TokenizerSettings("ko", "morpheme"), size=WORTH_IT) == 1


def test_one_worker_starts_no_process() -> None:
    with block_workers(1, TokenizerSettings("en", "word")) as alone:
        assert len(list(alone(BLOCKS[1:]))) == len(BLOCKS) - 1
        assert not multiprocessing.active_children()
