"""Alignment of character spans with tokens: offsets are exact, and no gold span is lost unreported."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.text.alignment import CharSpan, align, locate

words = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "Cc"]), min_size=1, max_size=4)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(words, st.sampled_from(["", " ", "  ", "\u3000"])), max_size=8))
def test_words_are_located_at_their_offsets(pairs: list[tuple[str, str]]) -> None:
    text, places = "", []
    for word, gap in pairs:
        places.append((len(text), len(text) + len(word)))
        text += word + gap
    found = locate(text, [word for word, _ in pairs])
    assert found is not None
    assert [text[a:b] for a, b in zip(*found, strict=True)] == [word for word, _ in pairs]
    assert list(zip(*found, strict=True)) == places


def test_words_that_do_not_match_the_text_are_not_located() -> None:
    assert locate("ab cd", ["ab", "ce"]) is None
    assert locate("ab cd", ["ab"]) is None  # the rest of the text would belong to no word
    assert locate("ab x cd", ["ab", "cd"]) is None
    assert locate("  ", []) == ((), ())


TEXT = "George Bush met Ann. She left."
TOKENS = [[(0, 6), (7, 11), (12, 15), (16, 19), (19, 20)], [(21, 24), (25, 29), (29, 30)]]


def test_spans_become_token_ranges_of_their_sentence() -> None:
    found = align(TEXT, TOKENS, [(25, 29, "V"), (0, 11, "PER"), (16, 19, "PER")])
    assert found.spans == [[(0, 2, "PER"), (3, 4, "PER")], [(1, 2, "V")]]
    assert found.refused == []


def test_refused_spans_have_a_reason() -> None:
    spans: list[CharSpan] = [
        (1, 6, "A"),  # begins inside a token
        (6, 11, "B"),  # begins at a space
        (12, 14, "C"),  # ends inside a token
        (12, 16, "D"),  # ends at a space
        (16, 24, "E"),  # crosses a sentence boundary
        (0, 11, "F"),
        (7, 11, "G"),  # overlaps F
        (0, 11, "F"),  # repeated
    ]
    found = align(TEXT, TOKENS, spans)
    assert found.spans == [[(0, 2, "F")], []]
    assert {item.span[2]: item.reason for item in found.refused if item.span[2] != "F"} == {
        "A": "begins inside the token 'George'",
        "B": "begins at ' ', which is in no token",
        "C": "ends inside the token 'met'",
        "D": "ends at ' ', which is in no token",
        "E": "crosses a sentence boundary",
        "G": "overlaps F 'George Bush'",
    }
    assert len(found.refused) == len(spans) - 1


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.tuples(st.integers(0, 29), st.integers(1, 12), st.sampled_from("XY")).map(
            lambda case: (case[0], min(case[0] + case[1], 30), case[2])
        ),
        max_size=8,
    )
)
def test_every_span_is_either_kept_or_refused(spans: list[CharSpan]) -> None:
    found = align(TEXT, TOKENS, spans)
    kept = [
        (TOKENS[number][start][0], TOKENS[number][end - 1][1], label)
        for number, own in enumerate(found.spans)
        for start, end, label in own
    ]
    assert sorted(kept + [item.span for item in found.refused]) == sorted(spans)
    ends = [0] + [end for _, end, _ in sorted(kept)]
    assert all(start >= end for (start, _, _), end in zip(sorted(kept), ends, strict=False))  # none overlap
