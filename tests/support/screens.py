"""A screen for explanations that records its output, and example explanations."""

from __future__ import annotations

import io

from rich.console import Console

from gonie.reports.explanation import SpanExplanation, TagExplanation, TextExplanation, TokenWeights
from gonie.reports.explanations.screen import ExplanationScreen
from gonie.text.passages import Passage
from gonie.text.types import Candidate, Sentence


class Shown:
    """A screen that records its output."""

    def __init__(self, *, width: int = 100, colour: bool = False) -> None:
        self.file = io.StringIO()
        console = Console(
            file=self.file,
            width=width,
            force_terminal=colour,
            color_system="256" if colour else None,
            highlight=False,
        )
        self.screen = ExplanationScreen(console)

    @property
    def text(self) -> str:
        return self.file.getvalue()


def text_explanation(text: str = "not bad [red]", gold: tuple[str, ...] = ("negative",)) -> TextExplanation:
    sentence = Sentence(words=("not", "bad"), text=text, starts=(0, 4), ends=(3, 7))
    weights = (
        TokenWeights("attention", "positive", ((0.25, 0.75),), (1.0,)),
        TokenWeights("integrated gradients", "positive", ((0.5, -0.25),), (0.25,), gap=0.0125),
    )
    chances = {f"L{n}": 0.02 for n in range(9)} | {"positive": 0.8}
    passage = Passage((sentence,), text, path="a.tsv", line=7)
    return TextExplanation(text, passage, "positive", ("positive",), chances, weights, gold)


def tag_explanation() -> TagExplanation:
    sentence = Sentence(words=("Anna", "Kim", "naps"))
    tags = ("B-PER", "I-PER", "O")
    weights = TokenWeights("erasure", "PER", ((1.5, 0.5, -0.25),), (1.75,))
    return TagExplanation(
        sentence,
        tags,
        tuple({tag: 0.9375, "X": 0.0625} for tag in tags),
        (Candidate(tags, 0.75), Candidate(("O", "O", "O"), 0.125)),
        (SpanExplanation(0, 2, "PER", 0.875, (weights,)),),
    )
