"""Tag schemes: conversion between tags and spans, compared with simpler reference implementations."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby, pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.text.schemes import (
    IO,
    IOB2,
    PLAIN,
    Checker,
    Kind,
    Policy,
    Scheme,
    TagTally,
    TokenSpan,
    allowed,
    convert,
    detect,
    from_spans,
    keep_types,
    looks_tagged,
    policy_named,
    problems,
    repair,
    scheme_named,
    to_spans,
)

KINDS: tuple[Kind, ...] = ("IOB1", "IOB2", "BIOES", "BILOU")
LETTERS = {"IOB1": "BI", "IOB2": "BI", "BIOES": "BIES", "BILOU": "BILU"}
SCHEMES = [
    Scheme(kind=kind, separator=separator, affix=affix, typed_inside=typed)
    for kind in KINDS
    for separator, affix, typed in [
        ("-", "prefix", True),
        ("_", "prefix", True),
        ("-", "suffix", True),
        ("_", "suffix", False),
        ("_", "prefix", False),
        ("", "prefix", True),
    ]
    if typed or kind != "IOB1"
]
LABELS = ["PER", "creative-work", "a_b"]

schemes = st.sampled_from(SCHEMES)


def inventory(scheme: Scheme, labels: Sequence[str]) -> list[str]:
    """Return every tag of the scheme for these labels, without using the code under test."""
    tags = ["O"]
    for letter, label in product(LETTERS[scheme.kind], labels):
        if not scheme.separator or (not scheme.typed_inside and letter in "IEL"):
            tags.append(letter)
        elif scheme.affix == "prefix":
            tags.append(f"{letter}{scheme.separator}{label}")
        else:
            tags.append(f"{label}{scheme.separator}{letter}")
    return list(dict.fromkeys(tags))


@st.composite
def spanned(draw: st.DrawFn) -> tuple[Scheme, list[TokenSpan], int]:
    """Draw a scheme, non-overlapping spans and a sentence length."""
    scheme = draw(schemes)
    spans, at = [], 0
    for gap, size, label in draw(
        st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), st.sampled_from(LABELS)), max_size=6)
    ):
        spans.append((at + gap, at + gap + size, label if scheme.separator else ""))
        at += gap + size
    return scheme, spans, at + draw(st.integers(0, 2))


@st.composite
def tagged(draw: st.DrawFn) -> tuple[Scheme, list[str]]:
    """Draw a scheme and any sequence of its tags, valid or not."""
    scheme = draw(schemes)
    return scheme, draw(st.lists(st.sampled_from(inventory(scheme, LABELS)), max_size=10))


# --- spans ---


@settings(deadline=None, max_examples=300)
@given(spanned())
def test_spans_survive_tagging_in_every_scheme(case: tuple[Scheme, list[TokenSpan], int]) -> None:
    scheme, spans, length = case
    tags = from_spans(spans, length, scheme)
    assert len(tags) == length
    assert set(tags) <= set(inventory(scheme, LABELS))
    assert problems(tags, scheme) == []
    assert to_spans(tags, scheme, "conlleval") == spans
    assert to_spans(tags, scheme, "strict") == spans


@settings(deadline=None, max_examples=200)
@given(spanned(), schemes)
def test_converting_back_restores_the_tags(case: tuple[Scheme, list[TokenSpan], int], target: Scheme) -> None:
    source, spans, length = case
    if bool(target.separator) != bool(source.separator):
        return  # bare markers have no labels to restore
    tags = from_spans(spans, length, source)
    there = convert(tags, source, target)
    assert to_spans(there, target) == spans
    assert convert(there, target, source) == tags


def conlleval_chunks(tags: Sequence[str]) -> set[TokenSpan]:
    """Find chunks by the rules of the CoNLL scorer, for prefix tags.

    A chunk begins where ``starts`` is true and lasts until ``ends`` is true.
    """

    def parts(tag: str) -> tuple[str, str]:
        marker, _, label = tag.partition("-")
        return {"L": "E", "U": "S"}.get(marker, marker), label

    def ends(before: tuple[str, str], now: tuple[str, str]) -> bool:
        pairs = {("B", "B"), ("B", "S"), ("B", "O"), ("I", "B"), ("I", "S"), ("I", "O")}
        changed = before[0] != "O" and before[1] != now[1]
        return before[0] in ("E", "S") or (before[0], now[0]) in pairs or changed

    def starts(before: tuple[str, str], now: tuple[str, str]) -> bool:
        pairs = {(old, new) for old in "ESO" for new in "EI"}
        changed = now[0] != "O" and before[1] != now[1]
        return now[0] in ("B", "S") or (before[0], now[0]) in pairs or changed

    found, start = set(), None
    marks = [parts(tag) for tag in tags] + [("O", "")]
    before = ("O", "")
    for index, now in enumerate(marks):
        if start is not None and ends(before, now):
            found.add((start, index, before[1]))
            start = None
        if starts(before, now):
            start = index
        before = now
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_lenient_mode_equals_conlleval_on_every_short_sequence(kind: Kind) -> None:
    """Otherwise scores could not be compared with published ones."""
    scheme = Scheme(kind=kind)
    tags = inventory(scheme, ["X", "Y-z"])
    for length in range(5 if len(tags) < 6 else 4):
        for sequence in product(tags, repeat=length):
            spans = to_spans(sequence, scheme)
            assert set(spans) == conlleval_chunks(sequence)
            assert spans == sorted(spans)


def well_formed(tags: Sequence[str], kind: Kind) -> set[TokenSpan]:
    """Return the ranges whose tags are exactly those of one entity that no neighbouring tag continues."""
    found = set()
    for start, end in product(range(len(tags)), range(len(tags) + 1)):
        if start >= end:
            continue
        label = tags[start].partition("-")[2]
        before = tags[start - 1] if start else "O"
        after = tags[end] if end < len(tags) else "O"
        size = end - start
        first = "B"
        if kind == "IOB1":
            first = "B" if before.partition("-")[2] == label else "I"
        shape = {
            "BIOES": "S" if size == 1 else "B" + "I" * (size - 2) + "E",
            "BILOU": "U" if size == 1 else "B" + "I" * (size - 2) + "L",
        }.get(kind, first + "I" * (size - 1))
        goes_on = kind in ("IOB1", "IOB2") and after == f"I-{label}"
        if label and list(tags[start:end]) == [f"{letter}-{label}" for letter in shape] and not goes_on:
            found.add((start, end, label))
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_strict_mode_keeps_exactly_the_well_formed_entities(kind: Kind) -> None:
    scheme = Scheme(kind=kind)
    tags = inventory(scheme, ["X", "Y"])
    for length in range(5 if len(tags) < 6 else 4):
        for sequence in product(tags, repeat=length):
            assert set(to_spans(sequence, scheme, "strict")) == well_formed(sequence, kind), sequence


@pytest.mark.parametrize(
    ("tags", "scheme", "spans"),
    [
        ("B-creative-work I-creative-work O", Scheme(), [(0, 2, "creative-work")]),
        ("B_Com I I O B_Per", Scheme(separator="_", typed_inside=False), [(0, 3, "Com"), (4, 5, "Per")]),
        ("creative-work-B creative-work-I O", Scheme(affix="suffix"), [(0, 2, "creative-work")]),
        ("I-X I-X B-X I-Y", Scheme(kind="IOB1"), [(0, 2, "X"), (2, 3, "X"), (3, 4, "Y")]),
        ("U-X B-X I-X L-X", Scheme(kind="BILOU"), [(0, 1, "X"), (1, 4, "X")]),
        ("B I O B", Scheme(separator=""), [(0, 2, ""), (3, 4, "")]),
        ("O I B_Com S_X", Scheme(separator="_", typed_inside=False), [(2, 3, "Com")]),
        ("NOUN VERB", PLAIN, []),
    ],
)
def test_spans_of_each_notation(tags: str, scheme: Scheme, spans: list[TokenSpan]) -> None:
    assert to_spans(tags.split(), scheme) == spans


def test_invalid_spans_and_modes_are_refused() -> None:
    for spans in ([(0, 2, "X"), (1, 3, "X")], [(0, 9, "X")], [(1, 1, "X")], [(-1, 1, "X")]):
        with pytest.raises(InputError, match="overlaps another or exceeds"):
            from_spans(spans, 4, IOB2)
    with pytest.raises(InputError, match="plain labels"):
        from_spans([], 1, PLAIN)
    with pytest.raises(InputError, match="mode"):
        to_spans(["O"], IOB2, "other")  # type: ignore[arg-type]


# --- validity ---


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_transitions_allow_exactly_the_sequences_without_problems(scheme: Scheme) -> None:
    """Otherwise the decoder misses valid paths or predicts invalid ones."""
    tags = [*inventory(scheme, ["X", "Y"]), "unreadable"]
    tags = tags if len(tags) < 8 else tags[:6] + tags[-2:]
    transitions, start, end = allowed(tags, scheme)
    assert (transitions.shape, start.shape, end.shape) == ((len(tags),) * 2, (len(tags),), (len(tags),))
    for length in range(1, 4):
        for path in product(range(len(tags)), repeat=length):
            passes = start[path[0]] and end[path[-1]] and all(transitions[a, b] for a, b in pairwise(path))
            assert passes == (not problems([tags[index] for index in path], scheme)), [tags[i] for i in path]


def test_a_tag_with_two_faults_is_one_problem() -> None:
    """I-X between two O follows no entity and is never closed."""
    bioes = Scheme(kind="BIOES")
    assert [problem.index for problem in problems(["O", "I-X", "O", "B-X"], bioes)] == [1, 3]


def test_plain_labels_allow_every_transition() -> None:
    transitions, start, end = allowed(["NOUN", "VERB", "B-X"], PLAIN)
    assert transitions.all()
    assert start.all()
    assert end.all()
    assert problems(["I-X"], PLAIN) == []
    assert allowed([], IOB2)[0].shape == (0, 0)


@settings(deadline=None, max_examples=400)
@given(tagged(), st.sampled_from(["begin", "outside"]))
def test_repaired_tags_are_valid_and_valid_tags_stay(case: tuple[Scheme, list[str]], policy: Policy) -> None:
    scheme, tags = case
    fixed, changed = repair(tags, scheme, policy)
    assert problems(fixed, scheme) == []
    assert len(fixed) == len(tags)
    assert changed == sum(old != new for old, new in zip(tags, fixed, strict=True))
    assert (changed == 0) == (problems(tags, scheme) == [])
    reading = "conlleval" if policy == "begin" else "strict"
    assert to_spans(fixed, scheme) == to_spans(tags, scheme, reading)


@pytest.mark.parametrize(
    ("tags", "scheme", "begin", "outside"),
    [
        ("O I-X I-X", IOB2, "O B-X I-X", "O O O"),
        ("B-X I-Y I-Y", IOB2, "B-X B-Y I-Y", "B-X O O"),
        ("O B-X", Scheme(kind="IOB1"), "O I-X", "O O"),
        ("B-X I-X O", Scheme(kind="BIOES"), "B-X E-X O", "O O O"),
        ("E-X S-X", Scheme(kind="BIOES"), "S-X S-X", "O S-X"),
        ("BPER I-X", IOB2, "O B-X", "O O"),
        ("I B_X I", Scheme(separator="_", typed_inside=False), "O B_X I", "O B_X I"),
    ],
)
def test_repairs_of_each_policy(tags: str, scheme: Scheme, begin: str, outside: str) -> None:
    assert repair(tags.split(), scheme, "begin")[0] == begin.split()
    assert repair(tags.split(), scheme, "outside")[0] == outside.split()


def test_the_error_policy_lists_the_places() -> None:
    tags = ["I-X", "O", "I-Y"]
    with pytest.raises(
        InputError,
        match=r"f:3: I-X must.*beginning.*f:5: I-Y must.*follows O.*data\.repair=begin.*--repair begin",
    ):
        repair(tags, IOB2, "error", places=["f:3", "f:4", "f:5"])
    with pytest.raises(InputError, match=r"7 invalid.*and 4 more"):
        repair(["O", "I-X"] * 7, IOB2, "error")
    with pytest.raises(InputError, match=r"repair policy 'fix'.*error, begin, outside"):
        policy_named("fix")
    with pytest.raises(InputError, match="tag 1: I-X"):
        convert(["I-X"], IOB2, Scheme(kind="BIOES"))
    with pytest.raises(InputError, match="plain labels have no entities"):
        convert(["NOUN"], PLAIN, IOB2)


@settings(deadline=None, max_examples=100)
@given(schemes, st.data())
def test_the_cache_of_a_checker_does_not_change_its_results(scheme: Scheme, data: st.DataObject) -> None:
    checker = Checker(scheme=scheme)
    tags = st.lists(st.sampled_from(inventory(scheme, ["X", "Y"])), max_size=4)
    for sequence in data.draw(st.lists(tags, max_size=12)):
        assert checker.problems(sequence) == problems(sequence, scheme)


# --- detection ---


@pytest.mark.parametrize(
    ("sequences", "kind", "separator", "affix", "typed"),
    [
        (["B-X I-X O", "O B-Y"], "IOB2", "-", "prefix", True),
        (["I-X I-X B-X O", "I-Y"], "IOB1", "-", "prefix", True),
        (["I-X O"], "IOB1", "-", "prefix", True),
        (["B-X E-X O S-X"], "BIOES", "-", "prefix", True),
        (["B-X L-X O U-X"], "BILOU", "-", "prefix", True),
        (["B_Com I I O", "O B_Per"], "IOB2", "_", "prefix", False),
        (["PER-B PER-I O"], "IOB2", "-", "suffix", True),
        (["PER_B PER_E O PER_S"], "BIOES", "_", "suffix", True),
        (["B-creative-work I-creative-work"], "IOB2", "-", "prefix", True),
        (["creative-work-B creative-work-I"], "IOB2", "-", "suffix", True),
        (["B I O B"], "IOB2", "", "prefix", True),
        (["O O O"], "IOB2", "-", "prefix", True),
        (["B-X O", "B-Y"], "IOB2", "-", "prefix", True),
    ],
)
def test_each_scheme_is_detected(
    sequences: list[str], kind: str, separator: str, affix: str, typed: bool
) -> None:
    found = detect([line.split() for line in sequences])
    scheme = found.scheme
    assert (scheme.kind, scheme.separator, scheme.affix, scheme.typed_inside) == (
        kind,
        separator,
        affix,
        typed,
    )
    assert found.invalid == 0
    assert found.reason
    assert sum(found.counts.values()) == sum(len(line.split()) for line in sequences)


@pytest.mark.parametrize("tags", ["NOUN VERB O .", "-LRB- NN -RRB- VB-X", "NNG+JKS VV+EC", "B-X NN VB JJ RB"])
def test_part_of_speech_tags_are_detected_as_plain(tags: str) -> None:
    assert detect([tags.split()]).scheme == PLAIN


def test_a_few_typos_do_not_change_the_scheme_and_are_counted() -> None:
    """If one BPER made the labels plain, the trained model would find no entities."""
    found = detect([["B-PER", "I-PER", "O"]] * 20 + [["BPER", "O"], ["I-PER"]])
    assert (found.scheme, found.invalid) == (IOB2, 2)
    assert "2" in found.reason


@settings(deadline=None, max_examples=200)
@given(tagged(), tagged())
def test_the_tally_counts_the_same_problems(
    one: tuple[Scheme, list[str]], other: tuple[Scheme, list[str]]
) -> None:
    scheme = one[0]
    sequences = [one[1], other[1]]
    tally = TagTally()
    for tags in sequences:
        tally.add(tags)
    assert tally.invalid(scheme) == sum(len(problems(tags, scheme)) for tags in sequences)
    counts = {tag: sum(tags.count(tag) for tags in sequences) for tags in sequences for tag in tags}
    assert tally.counts() == counts


@settings(deadline=None, max_examples=200)
@given(spanned())
def test_valid_tags_are_valid_in_the_detected_scheme(case: tuple[Scheme, list[TokenSpan], int]) -> None:
    """The detected scheme may differ from the original one."""
    scheme, spans, length = case
    found = detect([from_spans(spans, length, scheme)])
    assert found.invalid == 0


def test_tag_columns_are_recognised_by_their_values() -> None:
    assert looks_tagged({"B-X": 1, "O": 9})
    assert not looks_tagged({"O": 9})
    assert not looks_tagged({"-": 5, "stephen": 3})


# --- names ---


def test_schemes_are_restored_from_names_and_json() -> None:
    assert scheme_named("bio") == IOB2
    assert scheme_named("IOBES").kind == "BIOES"
    assert scheme_named("plain") == PLAIN
    assert scheme_named("IO") == IO
    for scheme in (*SCHEMES, IO):
        assert Scheme.from_json(scheme.to_json()) == scheme
    with pytest.raises(InputError, match="IOB1, IOB2, BIOES, BILOU, BMES, IO, plain"):
        scheme_named("XYZ")
    with pytest.raises(InputError, match="unknown tag scheme"):
        Scheme(kind="BIOLU")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="IOB1"):
        Scheme(kind="IOB1", typed_inside=False)
    assert str(Scheme(kind="BILOU", affix="suffix")) == "BILOU (X-B X-I X-L X-U O)"


# --- bare labels -----------------------------------------------------------------------------------------

bare = st.lists(st.sampled_from(["O", "PER", "LOC"]), max_size=12)


@given(bare)
def test_runs_of_the_same_bare_label_are_entities(tags: list[str]) -> None:
    """Otherwise ``gonie tag`` would return a name of two words as two names."""
    runs, at = [], 0
    for label, group in groupby(tags):
        size = len(list(group))
        runs += [(at, at + size, label)] if label != "O" else []
        at += size
    for mode in ("conlleval", "strict"):
        assert to_spans(tags, IO, mode) == runs
    assert from_spans(runs, len(tags), IO) == tags
    assert not problems(tags, IO)


@given(spanned())
def test_any_scheme_converts_to_bare_labels(case: tuple[Scheme, list[TokenSpan], int]) -> None:
    scheme, spans, length = case
    if not scheme.separator:
        return  # bare markers have no labels
    inside = {at: label for start, end, label in spans for at in range(start, end)}
    wanted = [inside.get(at, "O") for at in range(length)]
    assert convert(from_spans(spans, length, scheme), scheme, IO) == wanted


def test_bare_labels_allow_every_transition() -> None:
    for part in allowed(["O", "PER", "LOC"], IO):
        assert part.all()


def test_labels_are_bare_if_o_is_the_most_frequent() -> None:
    """A file of PERSON and O contains entities; a file of parts of speech does not, even with a tag O."""
    found = detect([["O", "PERSON", "PERSON", "O"], ["O", "O"]])
    assert found.scheme == IO
    assert found.reason == "mostly O, and labels without markers: O, PERSON"
    assert detect([["DET", "NOUN", "O"], ["DET", "VERB", "O", "NOUN", "NOUN"]]).scheme == PLAIN


def test_other_entity_types_become_o() -> None:
    assert keep_types(["B-PER", "I-PER", "O", "B-LOC"], IOB2, ["PER"]) == ["B-PER", "I-PER", "O", "O"]
    assert keep_types(["PERSON", "O", "LOC"], IO, ["PER", "PERSON"]) == ["PERSON", "O", "O"]


def test_bmes_is_detected_and_converted() -> None:
    """Chinese corpora mark the middle of an entity with M."""
    tags = ["B-ORG", "M-ORG", "E-ORG", "O", "S-LOC"]
    scheme = detect([tags]).scheme
    assert scheme.kind == "BMES"
    assert convert(tags, scheme, Scheme(kind="IOB2")) == ["B-ORG", "I-ORG", "I-ORG", "O", "B-LOC"]
    assert convert(["B-ORG", "I-ORG", "I-ORG"], Scheme(kind="IOB2"), scheme) == ["B-ORG", "M-ORG", "E-ORG"]
