"""Tests the figure of word vectors: file formats, texts, fonts and label placement."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from gonie.errors import OutputError
from gonie.experiments.drawing import find_fonts
from gonie.experiments.vector_picture import (
    COLORS,
    MARKERS,
    Room,
    VectorPicture,
    limits,
    picture_files,
    styles,
)
from gonie.experiments.word_vectors import UNSEEN, Word

WORDS = [
    Word("seoul", 2, "LOC"),
    Word("anna", 3, "PER"),
    Word("the", 4, "O"),
    Word("서울", 5, "LOC"),
    Word("$a_b$", 6, "_hidden"),
    Word("yak", 7, UNSEEN),
]


def picture(words: list[Word] = WORDS, spread: float = 1.0, **changes: str) -> VectorPicture:
    places = np.random.default_rng(1).normal(size=(2, len(words), 2)) * spread
    texts = {"title": "The word vectors of $run$", "note": "by hand", **changes}
    return VectorPicture(words, before=places[0], after=places[1], **texts)


def test_each_format_has_its_file_signature() -> None:
    assert picture().draw(".png").startswith(b"\x89PNG\r\n")
    assert b"<svg" in picture().draw(".svg")


def test_words_labels_and_titles_are_text_in_an_svg() -> None:
    """Text in an SVG can be searched and uses the reader's fonts; no word is parsed as a formula."""
    page = picture().draw(".svg").decode("utf-8")
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", page)
    for word in WORDS:
        assert texts.count(word.text) == 2, word
    for label in ("LOC", "PER", "O", "_hidden", UNSEEN, "before training", "after training", "by hand"):
        assert label in texts, label
    assert "The word vectors of $run$" in texts


@pytest.mark.parametrize("suffix", [".png", ".svg"])
def test_the_same_words_give_identical_files(suffix: str) -> None:
    assert picture().draw(suffix) == picture().draw(suffix)


def test_letters_without_a_font_are_listed_without_a_warning() -> None:
    """Warnings are errors in these tests."""
    drawn = picture([Word("서𒀀𓀀", 2, "X")])
    assert drawn.draw(".png")
    assert drawn.draw(".svg")
    assert set(drawn.unknown) == set(find_fonts(["서𒀀𓀀"])[1])


def test_words_without_room_are_left_out() -> None:
    many = [Word(f"word{n}", n, "X") for n in range(300)]
    page = picture(many, spread=0.0).draw(".svg").decode("utf-8")
    assert 2 <= len(re.findall(r">word\d+</text>", page)) < 20


def test_a_single_word_can_be_drawn() -> None:
    assert picture(WORDS[:1]).draw(".png")


def test_texts_neither_overlap_nor_leave_the_panel() -> None:
    figure = Figure(figsize=(4, 4))
    FigureCanvasAgg(figure)
    panel = figure.subplots()
    panel.set(xlim=(0, 1), ylim=(0, 1))
    frame = panel.get_window_extent()
    spots = panel.transData.transform(np.random.default_rng(3).random((200, 2)))
    room = Room(panel, spots)
    text = panel.annotate("some word", (0, 0), fontsize=7)
    box = text.get_window_extent()
    corners = [
        spot + np.array(offset) * figure.dpi / 72
        for spot in spots
        if (offset := room.place(spot, box)) is not None
    ]
    assert 10 < len(corners) < 200
    for at, (x, y) in enumerate(corners):
        assert frame.x0 <= x <= frame.x1 - box.width
        assert frame.y0 <= y <= frame.y1 - box.height
        for u, v in corners[:at]:
            assert abs(x - u) >= box.width or abs(y - v) >= box.height


def test_every_label_has_its_own_style() -> None:
    made = styles([f"L{n}" for n in range(len(COLORS) * len(MARKERS))] + ["O", UNSEEN])
    assert len(set(made.values())) == len(made)
    assert list(made)[-2:] == ["O", UNSEEN]


def test_axis_limits_leave_a_margin_around_equal_values() -> None:
    low, high = limits(np.array([[1.0, 2.0], [3.0, 2.0]]))
    assert (low < [1, 2]).all()
    assert (high > [3, 2]).all()


def test_the_suffix_selects_the_format_and_none_selects_both() -> None:
    assert picture_files(Path("a.svg")) == [Path("a.svg")]
    assert picture_files(Path("a.PNG")) == [Path("a.PNG")]
    assert picture_files(Path("x/a")) == [Path("x/a.png"), Path("x/a.svg")]
    with pytest.raises(OutputError, match=r"\.png or \.svg"):
        picture_files(Path("a.pdf"))
