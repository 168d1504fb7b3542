from __future__ import annotations

import pytest

from gonie.serve.stopwatch import Stopwatch
from gonie.tasks.loaded import load_model
from support.hostile_texts import FIXED
from support.running_service import FEATURES, LETTERS, TEXTS


@pytest.mark.parametrize("folder", [LETTERS, FEATURES, TEXTS], ids=lambda folder: str(folder.name))
def test_a_model_answers_the_same_with_a_stopwatch(folder: str) -> None:
    texts = [text for text in FIXED if len(text) < 2000]
    plain, timed = (load_model(folder, threads=1).model for _ in range(2))
    watch = Stopwatch()
    watch.attach(timed)
    assert list(timed.pipe(texts)) == list(plain.pipe(texts))
    seconds = watch.read()
    assert set(seconds) == {"tokenise", "run"}
    assert all(value > 0 for value in seconds.values())
    assert set(watch.read().values()) == {0.0}


def test_errors_of_a_timed_part_are_its_own() -> None:
    watch = Stopwatch()

    def fail() -> None:
        raise ValueError("mine")

    with pytest.raises(ValueError, match="mine"):
        watch.timed("run", fail)()
    assert watch.read()["run"] >= 0
