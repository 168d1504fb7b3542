"""Noise in Korean text: copies must look as people type, and their labels must stay where they belong."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.text.alignment import CharSpan
from gonie.text.noise import (
    AMBIGUOUS,
    EMOJI,
    ENDINGS,
    KEYBOARD,
    KINDS,
    LAUGHTER,
    OF_VERBS,
    SHIFTED,
    Edit,
    RandomNoise,
    edited,
    noisy,
)

TEXT = "이순신은 1545년 서울에서 태어났다."
SPANS = ((0, 3, "PS"), (5, 10, "DT"), (11, 13, "LC"))
SETTINGS = settings(deadline=None, max_examples=150)
KOREAN = st.text(
    st.one_of(st.sampled_from(" .가다했 A1ㅋ"), st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3))
)


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@st.composite
def labelled(draw: st.DrawFn) -> tuple[str, tuple[CharSpan, ...]]:
    """Draw a text with spans that do not overlap and have no white space at their ends."""
    text = draw(KOREAN)
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=6)))
    pairs = zip(cuts[::2], cuts[1::2], strict=False)
    return text, tuple((a, b, f"L{a}") for a, b in pairs if text[a:b].strip() == text[a:b])


@st.composite
def edits_of(draw: st.DrawFn, text: str) -> list[Edit]:
    """Draw edits in order and without overlap; several may meet at one place."""
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=8)))
    ranges = dict.fromkeys(zip(cuts[::2], cuts[1::2], strict=False))
    return [Edit(start, end, draw(st.text("xyz", max_size=2))) for start, end in ranges]


def one_by_one(text: str, spans: tuple[CharSpan, ...], edits: list[Edit]) -> tuple[str, list[CharSpan]]:
    """Edit character by character: each new character says which places of the text it is between."""
    out: list[tuple[str, int, int]] = []
    queue = list(edits)
    place = 0
    while place <= len(text):
        while queue and queue[0].start == place:
            edit = queue.pop(0)
            out += [(character, edit.start, edit.end) for character in edit.new]
            place = edit.end
        if place < len(text):
            out.append((text[place], place, place + 1))
        place += 1
    moved = []
    for start, end, label in spans:
        inside = [
            at
            for at, (_, left, right) in enumerate(out)
            if (left < right and left < end and start < right) or start < left == right < end
        ]
        moved += [(inside[0], inside[-1] + 1, label)] if inside else []
    return "".join(character for character, _, _ in out), moved


@SETTINGS
@given(data=st.data(), case=labelled())
def test_spans_move_as_in_editing_character_by_character(
    data: st.DataObject, case: tuple[str, tuple[CharSpan, ...]]
) -> None:
    text, spans = case
    edits = data.draw(edits_of(text))
    new, moved = edited(text, spans, edits)
    assert (new, list(moved)) == one_by_one(text, spans, edits)


def test_what_is_inserted_at_the_ends_of_a_span_stays_outside() -> None:
    assert edited("가나다", ((1, 2, "X"),), [Edit(1, 1, "<"), Edit(2, 2, ">")]) == (
        "가<나>다",
        ((2, 3, "X"),),
    )
    assert edited("가나다", ((1, 2, "X"),), [Edit(0, 1, "ab"), Edit(1, 1, "<")]).spans == ((3, 4, "X"),)


def test_a_span_of_which_nothing_is_left_is_dropped() -> None:
    assert edited("가나다", ((1, 2, "X"), (2, 3, "Y")), [Edit(1, 2, "")]) == ("가다", ((1, 2, "Y"),))


@pytest.mark.parametrize("kind", KINDS)
@SETTINGS
@given(case=labelled(), seed=st.integers(0, 9), rate=st.sampled_from([None, 0.0, 0.3, 1.0]))
def test_every_kind_keeps_the_labels(
    kind: str, case: tuple[str, tuple[CharSpan, ...]], seed: int, rate: float | None
) -> None:
    """The same seed also gives the same copy, and at rate 0 nothing changes."""
    text, spans = case
    new, moved = noisy(text, spans, kind, generator(seed), rate)
    assert (new, moved) == noisy(text, spans, kind, generator(seed), rate)
    assert [label for *_, label in moved] == [label for *_, label in spans]
    assert all(0 <= start < end <= len(new) for start, end, _ in moved)
    assert rate != 0.0 or (new, moved) == (text, spans)


@pytest.mark.parametrize("kind", ["laughter", "emoji"])
@SETTINGS
@given(case=labelled(), seed=st.integers(0, 9))
def test_laughter_and_emoji_leave_entities_untouched(
    kind: str, case: tuple[str, tuple[CharSpan, ...]], seed: int
) -> None:
    text, spans = case
    new, moved = noisy(text, spans, kind, generator(seed), 1.0)
    before = [text[start:end] for start, end, _ in spans]
    assert [new[start:end] for start, end, _ in moved] == before


@pytest.mark.parametrize("kind", ["spaces-lost", "spaces-added"])
@SETTINGS
@given(case=labelled(), seed=st.integers(0, 9))
def test_spacing_changes_nothing_but_spaces(
    kind: str, case: tuple[str, tuple[CharSpan, ...]], seed: int
) -> None:
    text, spans = case
    new, moved = noisy(text, spans, kind, generator(seed), 0.5)
    assert new.replace(" ", "") == text.replace(" ", "")
    for (start, end, _), (left, right, _) in zip(spans, moved, strict=True):
        assert new[left:right] == new[left:right].strip()
        assert new[left:right].replace(" ", "") == text[start:end].replace(" ", "")


def test_all_spaces_are_lost_at_rate_one() -> None:
    found = noisy(TEXT, SPANS, "spaces-lost", generator(), 1.0)
    assert found == ("이순신은1545년서울에서태어났다.", ((0, 3, "PS"), (4, 9, "DT"), (9, 11, "LC")))


def test_spaces_are_added_between_all_syllables_at_rate_one() -> None:
    found = noisy("서울은 A시다", ((0, 2, "LC"),), "spaces-added", generator(), 1.0)
    assert found == ("서 울 은 A시 다", ((0, 3, "LC"),))


def keys(syllable: str) -> list[str]:
    """Return the letters of a syllable as on the keyboard, by their names in Unicode."""
    names = [unicodedata.name(jamo).split(maxsplit=2)[2] for jamo in unicodedata.normalize("NFD", syllable)]
    return [unicodedata.lookup(f"HANGUL LETTER {name}") for name in names]


def keys_apart(one: str, other: str) -> float:
    """Return the distance of two letters on the keyboard; rows are shifted by half a key."""
    plain = {shifted: key for key, shifted in SHIFTED.items()}
    places = {key: (row, at + row / 2) for row, keys in enumerate(KEYBOARD) for at, key in enumerate(keys)}
    (above, left), (below, right) = (places[plain.get(letter, letter)] for letter in (one, other))
    return max(abs(above - below), abs(left - right))


@given(st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3), st.integers(0, 30))
@SETTINGS
def test_a_typing_error_is_one_key(syllable: str, seed: int) -> None:
    """A key beside the right one, the shift key, or a final consonant left out."""
    new = noisy(syllable, (), "typos", generator(seed), 1.0).text
    assert len(new) == 1
    before, after = keys(syllable), keys(new)
    if len(after) < len(before):
        assert before[:2] == after
        return
    assert len(before) == len(after)
    (one, other), *others = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    assert keys_apart(one, other) <= 1
    assert not others


@pytest.mark.parametrize(("kind", "insertions"), [("laughter", LAUGHTER), ("emoji", EMOJI)])
def test_insertions_stand_after_words(kind: str, insertions: tuple[str, ...]) -> None:
    for seed in range(20):
        new = noisy("나는 간다.", (), kind, generator(seed), 1.0).text
        found = re.fullmatch(r"나는 ?(\S+) 간다. ?(\S+)", new)
        assert found is not None, new
        assert set(found.groups()) <= set(insertions)


def test_endings_change_in_politeness_alone() -> None:
    for before, forms in ENDINGS:
        stem = re.sub(r"\(\?<=(.*)\)", r"\1", before).replace("[{past}]", "갔")
        for form in forms:
            made = {noisy(f"{stem}{form}.", (), "endings", generator(seed)).text for seed in range(30)}
            others = {f"{stem}{other}." for other in forms if other not in (form, OF_VERBS)}
            assert made == ({f"{form}."} if form in AMBIGUOUS else others)


def test_adjectives_and_nouns_that_end_in_a_vowel_have_their_own_endings() -> None:
    made = {noisy("조용합니다", (), "endings", generator(seed)).text for seed in range(30)}
    assert made == {"조용해요", "조용함"}
    made = {noisy("의사입니다", (), "endings", generator(seed)).text for seed in range(30)}
    assert made == {"의사예요", "의사다", "의사임"}


@pytest.mark.parametrize("text", ["포함", "군함!", "모임", "그 배우는 김정임"])
def test_nouns_are_not_taken_for_endings(text: str) -> None:
    assert noisy(text, (), "endings", generator()).text == text


def test_endings_inside_a_span_stay() -> None:
    assert noisy("영화 나는간다했다", ((3, 9, "AF"),), "endings", generator()).text == "영화 나는간다했다"


def test_only_the_last_word_changes_its_ending() -> None:
    assert noisy("갔다 왔다 한다고 했지", (), "endings", generator()).text == "갔다 왔다 한다고 했지"


def test_full_width_copies_fold_back_to_the_text() -> None:
    new = noisy("A 1%는 b!", ((0, 1, "X"),), "full-width", generator())
    assert new == ("Ａ １％는 ｂ！", ((0, 1, "X"),))


@pytest.mark.parametrize("text", ["3일간 열렸다", "1990년대 말", "100년 만에", "12일 동안", "2011년 3월"])
def test_durations_are_not_taken_for_dates(text: str) -> None:
    assert noisy(text, ((0, len(text), "DT"),), "dates", generator()).text == text


def test_only_labelled_dates_change() -> None:
    new = noisy("3일 굶었다. 1월 2일 왔다", ((8, 13, "DT"),), "dates", generator()).text
    assert new.startswith("3일 굶었다. ")
    assert "1월" not in new


@pytest.mark.parametrize(
    ("date", "wanted"),
    [
        ("2013년 10월 3일", r"2013\. 10\. 3\.|2013\.10\.0?3\.?|2013-10-03|2013/10/3"),
        ("10월 3일", r"((19|20)\d\d\. ?10\. ?0?3\.?|(19|20)\d\d[-/]10[-/]0?3|10\. 3\.|10[./]3)\.?"),
        ("2013년", r"2013([-./]) ?\d+\1 ?\d+\.?"),
        ("3일", r"((19|20)\d\d[-./] ?)?\d+[-./] ?0?3\.?"),
    ],
)
def test_dates_in_figures_keep_what_the_text_says(date: str, wanted: str) -> None:
    made = [
        noisy(f"회의는 {date} 열린다", ((4, 4 + len(date), "DT"),), "dates", generator(n)) for n in range(40)
    ]
    for text, ((start, end, label),) in made:
        assert (text[:start], text[end:], label) == ("회의는 ", " 열린다", "DT")
        assert re.fullmatch(wanted, text[start:end]), text
    assert len({text for text, _ in made}) > 3


def test_one_or_two_kinds_are_drawn_by_their_shares() -> None:
    noise = RandomNoise({"emoji": 3.0, "spaces-lost": 1.0}, seed=1)
    texts = [noise("가 나 다 라 마 바 사 아 자 차", ()).text for _ in range(800)]
    lost = ["가나" in text for text in texts]
    both = sum(two and bool(set(EMOJI) & set(text)) for two, text in zip(lost, texts, strict=True))
    assert 190 < sum(lost) < 300, "a third, of which some texts keep the first space"
    assert 60 < both < 200, "three eighths of a half, with some texts without emoji"
    again = RandomNoise({"emoji": 3.0, "spaces-lost": 1.0}, seed=1)
    assert texts == [again("가 나 다 라 마 바 사 아 자 차", ()).text for _ in range(800)]
