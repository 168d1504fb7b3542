"""Inline marks: they are removed from the text, and each becomes a span with exact offsets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.text.marks import cut_marks, mark_words, with_marks
from gonie.text.types import Span


def test_marks_become_offsets() -> None:
    text, marks = cut_marks("The <e1>staff</e1> of a <e2>shop</e2>.", ("e1", "e2"))
    assert text == "The staff of a shop."
    assert marks == (Span(4, 9, "e1", "staff"), Span(15, 19, "e2", "shop"))


def test_marks_may_nest_cross_and_repeat() -> None:
    text, marks = cut_marks("<a>x<b>y</a>z</b><a></a><a>w</a>", ("a", "b"))
    assert text == "xyzw"
    assert [(m.start, m.end, m.label) for m in marks] == [
        (0, 2, "a"),
        (1, 3, "b"),
        (3, 4, "a"),
        (3, 3, "a"),
    ]


def test_only_the_named_marks_are_removed() -> None:
    assert cut_marks("a <b>c</b>", ()) == ("a <b>c</b>", ())
    assert cut_marks("1 < 2 <i>x</i> <E1>", ("e1",)) == ("1 < 2 <i>x</i> <E1>", ())


@pytest.mark.parametrize(
    ("text", "got"),
    [("<a>x", "<a> without </a>"), ("x</a>", "</a> without <a>"), ("</a><a>", "</a> without")],
)
def test_an_unpaired_mark_is_refused(text: str, got: str) -> None:
    with pytest.raises(InputError, match=f"f:3: unpaired mark: {got}"):
        cut_marks(text, ("a",), path="f", line=3)


@given(st.lists(st.tuples(st.text("xy ", max_size=3), st.sampled_from(["a", "b", ""])), max_size=6))
def test_removing_marks_restores_the_text(pieces: list[tuple[str, str]]) -> None:
    written = "".join(
        piece if not name else mark_words(name)[0] + piece + mark_words(name)[1] for piece, name in pieces
    )
    text, marks = cut_marks(written, ("a", "b"))
    assert text == "".join(piece for piece, _ in pieces)
    assert sorted((mark.label, mark.text) for mark in marks) == sorted(
        (name, piece) for piece, name in pieces if name
    )
    assert all(text[mark.start : mark.end] == mark.text for mark in marks)


def balanced(pieces: list[str]) -> list[str]:
    """Drop marks that close nothing, and close those that are still open at the end."""
    names = {mark: name for name in "ab" for mark in mark_words(name)}
    opened: list[str] = []
    kept: list[str] = []
    for piece in pieces:
        name = names.get(piece)
        if name and piece == mark_words(name)[0]:
            opened.append(name)
        elif name and name in opened:
            opened.remove(name)
        elif name:
            continue
        kept.append(piece)
    return [*kept, *(mark_words(name)[1] for name in opened)]


@settings(deadline=None)
@given(
    st.lists(
        st.one_of(st.text("xy ", max_size=2), st.sampled_from([*mark_words("a"), *mark_words("b")])),
        max_size=12,
    )
)
def test_marks_survive_writing_and_reading(pieces: list[str]) -> None:
    """Marks may nest, cross, touch, be empty or cover the same characters, with one name or two."""
    text, marks = cut_marks("".join(balanced(pieces)), ("a", "b"))
    assert cut_marks(with_marks(text, marks), ("a", "b")) == (text, marks)


@pytest.mark.parametrize(
    ("written", "labels"),
    [("<a><b>x</b></a>", "ab"), ("<b><a>x</b></a>", "ba"), ("<b></b><a></a>", "ba"), ("x<a></a>", "a")],
)
def test_marks_of_the_same_characters_keep_their_order(written: str, labels: str) -> None:
    text, marks = cut_marks(written, ("a", "b"))
    assert "".join(mark.label for mark in marks) == labels
    assert cut_marks(with_marks(text, marks), ("a", "b")) == (text, marks)
