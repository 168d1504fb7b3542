"""Tests one model shared by many threads: predictions equal those of a single thread."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import gonie
from gonie.runtime.form_cache import FormCache
from gonie.tasks.tagging.tagger import Tagger

BUNDLES = Path(__file__).parent.parent / "bundles" / "4"
WORDS = (
    "Anna",
    "Kim",
    "lives",
    "in",
    "Seoul",
    "Oslo",
    ".",
    "The",
    "film",
    "is",
    "dull",
    "lovely",
    "서울",
    "3",
)


def texts(seed: int, number: int) -> list[str]:
    """Return short and long texts of known and unknown words."""
    chance = random.Random(seed)
    return [
        " ".join(
            chance.choice(WORDS) if chance.random() < 0.7 else f"word{chance.randrange(500)}"
            for _ in range(chance.choice((1, 3, 6, 12)))
        )
        for _ in range(number)
    ]


def said(found: Any) -> Any:
    """Return a prediction without the last digits of its scores, which may depend on padding."""
    if isinstance(found, gonie.Classification):
        return found.label, {name: round(score, 4) for name, score in found.scores.items()}
    return found.tags, [(span.start, span.end, span.label) for span in found.spans]


@pytest.mark.parametrize(("number", "requests"), [(16, 10), pytest.param(200, 50, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["letters", "texts"])
def test_many_threads_get_the_same_predictions_as_one(name: str, number: int, requests: int) -> None:
    """All threads use one model at once. Its cache is so small that word forms are evicted constantly."""
    model = gonie.load(BUNDLES / name, threads=1)
    pool = texts(0, 2 * number)
    wanted = [said(model(text)) for text in pool]
    if isinstance(model, Tagger):
        model.scorer._forms._cache = FormCache(model.scorer._forms._cache.width, most=8)  # type: ignore[attr-defined]
    begin = Barrier(number)

    def ask(seed: int) -> int:
        chance = random.Random(seed)
        begin.wait()
        places = [chance.randrange(len(pool)) for _ in range(requests)]
        return sum(said(model(pool[place])) != wanted[place] for place in places)

    with ThreadPoolExecutor(number) as threads:
        assert sum(threads.map(ask, range(number))) == 0


def test_parallel_streams_keep_their_order() -> None:
    tagger = gonie.load(BUNDLES / "letters", threads=1)
    assert isinstance(tagger, Tagger)
    pool = texts(1, 60)
    wanted = [said(document) for document in tagger.pipe(pool)]

    def stream(_: int) -> bool:
        return [said(document) for document in tagger.pipe(pool)] == wanted

    with ThreadPoolExecutor(16) as threads:
        assert all(threads.map(stream, range(32)))
