"""Explanations on the terminal: doubts first, every figure there, whether it has colours or not."""

from __future__ import annotations

import io
from dataclasses import replace
from math import inf

import pytest
from rich.console import Console

from gonie.cli.views.explain_display import ExplanationDisplay
from gonie.reports.explanation import (
    Faithfulness,
    LayerShares,
    SpanExplanation,
    TagExplanation,
    TextExplanation,
    TokenWeights,
    Transitions,
)
from gonie.text.passages import Passage
from gonie.text.types import Candidate, Sentence

FIGURES = [
    Faithfulness("random", 0.125, 0.25, 40),
    Faithfulness("attention", 0.125, 0.25, 40),
    Faithfulness("erasure", 0.5, 0.0625, 40),
]


class Screen:
    """A display, and what it has shown."""

    def __init__(self, *, width: int = 100, colour: bool = False) -> None:
        self.file = io.StringIO()
        console = Console(
            file=self.file,
            width=width,
            force_terminal=colour,
            color_system="256" if colour else None,
            highlight=False,
        )
        self.display = ExplanationDisplay(console)

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


MOVES = Transitions(("O", "B-X"), ((0.5, -1.25), (-inf, 2.0)), (0.25, 0.0), (0.0, 1.0))


def test_the_warning_comes_first_and_the_figures_before_the_texts() -> None:
    screen = Screen()
    screen.display.begin("Attention is not an explanation.", FIGURES, noun="text", notes=["A [b]note."])
    screen.display.text(text_explanation())
    figures = ("beats chance", "over 40 texts", "Most faithful")
    due = ("Attention is not an explanation.", *figures, "A [b]note.", "✗ gold")
    places = [screen.text.index(words) for words in due]
    assert places == sorted(places)


def test_a_text_is_shown_with_its_labels_and_every_method() -> None:
    screen = Screen()
    screen.display.text(text_explanation())
    for due in ("positive · 0.8000", "gold is negative", "a.tsv:7", "2 more", "not(0.25) bad(0.75) [red]",
                "not(+0.500) bad(-0.250)", "; 0.0125 unexplained"):  # fmt: skip
        assert due in screen.text, due


def test_colours_where_there_are_some_and_none_where_they_are_not_wanted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    coloured = Screen(colour=True)
    coloured.display.text(text_explanation(gold=("positive",)))
    assert "\x1b[" in coloured.text
    assert "(0.75)" not in coloured.text
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Screen(colour=True)
    plain.display.text(text_explanation())
    assert "bad(0.75)" in plain.text


def test_a_tagged_sentence_has_marginals_alternatives_and_weights() -> None:
    screen = Screen()
    screen.display.tags(tag_explanation())
    for due in ("Anna", "B-PER", "0.938", "X 0.062", "0.1250", "Anna: B-PER → O, Kim: I-PER → O",
                "Anna Kim PER 0.875", "Anna(+1.500) Kim(+0.500) naps(-0.250)"):  # fmt: skip
        assert due in screen.text, due


def test_moves_are_a_table_where_it_fits_and_the_strongest_where_not() -> None:
    wide, narrow = Screen(), Screen(width=20)
    wide.display.moves(MOVES)
    narrow.display.moves(MOVES)
    assert "✕" in wide.text
    assert "(start)" in wide.text
    rows = narrow.text.splitlines()
    assert "+2.00" in rows[2]
    assert "strongest" in narrow.text.replace("\n", " ")


def test_shares_of_layers_have_numbers_bars_and_how_to_read_them() -> None:
    screen = Screen()
    one = LayerShares(place="input", shares=(0.1, 0.3, 0.6), scale=1.05, normalized=False)
    screen.display.layers([one, LayerShares(place="output", shares=(1.0,), scale=2.0, normalized=False)])
    rows = [line.split() for line in screen.text.splitlines()]
    assert rows[1] == ["At", "the", "input", "(what", "the", "encoder", "reads):", "γ", "=", "1.0500"]
    assert rows[2][-2:] == ["0.1000", "█" * 3]
    assert rows[4] == ["layer", "2", "0.6000", "█" * 18]
    assert "more of meaning" in screen.text
    assert "does not say how much a layer counts" in " ".join(screen.text.split())


def test_long_lines_are_whole_in_a_file() -> None:
    sentence = Sentence(words=("long",) * 100)
    starts, ends = zip(*sentence.offsets(), strict=True)
    located = Sentence(sentence.words, text=sentence.surface, starts=starts, ends=ends)
    weights = TokenWeights("erasure", "x", ((1.0,) * 100,), (100.0,))
    screen = Screen(width=40)
    passage = Passage((located,), sentence.surface)
    screen.display.text(TextExplanation(sentence.surface, passage, "x", ("x",), {"x": 1.0}, (weights,)))
    assert any(line.count("long") == 100 for line in screen.text.splitlines())


@pytest.mark.parametrize("width", [40, 50, 70])
def test_names_and_numbers_are_whole_on_a_narrow_screen(width: int) -> None:
    """Figures without the method they belong to, or tags without their token, say nothing."""
    screen = Screen(width=width)
    screen.display.begin("", [*FIGURES, Faithfulness("uniform attention", 0.25, 0.5, 40)], noun="text")
    screen.display.tags(tag_explanation())
    rows = [line.split() for line in screen.text.splitlines()]
    for name, numbers in (("erasure", "0.500 0.062"), ("uniform", "0.250 0.500"), ("Anna", "B-PER 0.938")):
        assert any(row[:1] == [name] and " ".join(row).count(numbers) for row in rows), name


def test_a_text_that_may_have_several_labels_is_shown_with_those_it_gets() -> None:
    each = replace(text_explanation(gold=("L1", "positive")), probabilities={"positive": 0.8, "L1": 0.6})
    for given, answer in (
        (("L1", "positive"), "positive · 0.8000, L1 · 0.6000  ✓ as gold"),
        (("positive",), "positive · 0.8000  ✗ gold is L1, positive"),
        ((), "–  ✗ gold is L1, positive"),
    ):
        screen = Screen()
        screen.display.text(replace(each, given=given))
        assert screen.text.splitlines()[1].startswith(answer)
