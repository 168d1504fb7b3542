"""Times the tokenizer and the scorer of a model. What remains of an answer is features, decoding and JSON."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from time import perf_counter
from typing import Any

from gonie.tasks.tagging.tagger import Tagger


class Stopwatch:
    """Adds up the seconds that parts of models take, by the name of the step."""

    def __init__(self) -> None:
        self.seconds = {"tokenise": 0.0, "run": 0.0}

    def attach(self, model: Any) -> None:
        """Time the tokenizer and the scorer of a model."""
        model.scorer = TimedPart(self, "run", model.scorer)
        if isinstance(model, Tagger):
            model.tokenizer = TimedPart(self, "tokenise", model.tokenizer)
            return
        texts = getattr(model.encoding, "texts", model.encoding)  # a pair model encodes by a text encoding
        timed: Any = TimedPart(self, "tokenise", texts.passages.tokenizer)
        texts.passages = replace(texts.passages, tokenizer=timed)

    def read(self) -> dict[str, float]:
        """Return the seconds since the last call."""
        found = dict(self.seconds)
        self.seconds = dict.fromkeys(self.seconds, 0.0)
        return found

    def timed(self, step: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that adds the time of each call to ``step``."""

        def run(*arguments: Any, **named: Any) -> Any:
            begin = perf_counter()
            try:
                return call(*arguments, **named)
            finally:
                self.seconds[step] += perf_counter() - begin

        return run


class TimedPart:
    """A part whose calls are timed. Everything else is that of the part."""

    TIMED = ("scores", "score_texts", "outputs")

    def __init__(self, watch: Stopwatch, step: str, part: Any) -> None:
        self._part = part
        if callable(part):
            self._call = watch.timed(step, part)
        for name in self.TIMED:
            if hasattr(part, name):
                setattr(self, name, watch.timed(step, getattr(part, name)))

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Call the part."""
        return self._call(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)
