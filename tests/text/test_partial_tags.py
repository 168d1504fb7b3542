"""Partial tags: which tags each cell allows, and which cells are refused."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.errors import InputError
from gonie.features.encoding import close_labels
from gonie.text.label_map import LabelMap
from gonie.text.partial_tags import OpenOutside, PartialStream, TagSets
from gonie.text.rules import allowed
from gonie.text.schemes import PLAIN, Kind, Scheme, convert, from_spans
from gonie.text.types import Sentence

BIOES = Scheme(kind="BIOES")


def options(
    tags: str,
    *,
    scheme: str | Scheme = "IOB2",
    target: Scheme = BIOES,
    renamed: Mapping[str, str] | None = None,
) -> list[set[str]]:
    """Return the possible tags of each word of a sentence with these space-separated tags."""
    source = Scheme(kind=scheme) if isinstance(scheme, str) else scheme  # type: ignore[arg-type]
    labels = ("A", "B", "C|D") if target == PLAIN else close_labels(["B-PER", "B-LOC"], target)
    sets = TagSets(labels)
    sentence = Sentence(words=("w",) * len(tags.split()), tags=tuple(tags.split()), path="x.conll", line=7)
    stream = PartialStream(
        [sentence],
        scheme=source,
        target=target,
        sets=sets,
        rules=allowed(labels, target),
        labels=LabelMap(renamed or {}),
    )
    (found,) = stream
    table = sets.table()
    assert table.shape == (len(sets.ids), len(labels))
    return [{labels[k] for k in np.flatnonzero(table[sets.ids[name]])} for name in found.tags or ()]


def test_an_unknown_tag_may_be_any_tag() -> None:
    assert options("?") == [set(close_labels(["B-PER", "B-LOC"], BIOES))]


def test_a_tag_may_be_any_of_its_conversions() -> None:
    assert options("B-PER I-PER O ?")[:3] == [{"B-PER", "S-PER"}, {"I-PER", "E-PER"}, {"O"}]
    assert options("I-PER O", scheme="IOB1")[0] == {"B-PER", "I-PER", "E-PER", "S-PER"}
    assert options("B-PER L-PER", scheme="BILOU") == [{"B-PER"}, {"E-PER"}]
    assert options("S-PER ?", scheme="BIOES", target=Scheme(kind="IOB2"))[0] == {"B-PER"}


def test_alternatives_are_united() -> None:
    assert options("B-PER|B-LOC|O") == [{"B-PER", "S-PER", "B-LOC", "S-LOC", "O"}]


def test_inside_tags_without_a_type_may_have_any() -> None:
    untyped = Scheme(kind="IOB2", separator="_", typed_inside=False)
    assert options("B_PER I", scheme=untyped) == [{"B-PER", "S-PER"}, {"I-PER", "E-PER", "I-LOC", "E-LOC"}]


def test_labels_are_renamed_by_the_map_of_the_recipe() -> None:
    renamed = {"person": "PER", "misc": "O"}
    assert options("B-person|B-LOC ?", renamed=renamed)[0] == {"B-PER", "S-PER", "B-LOC", "S-LOC"}
    assert options("B-misc I-misc", renamed=renamed) == [{"O"}, {"O"}]
    assert options("a B", scheme=PLAIN, target=PLAIN, renamed={"a": "A"}) == [{"A"}, {"B"}]


def test_a_plain_tag_may_have_a_bar_in_its_name() -> None:
    assert options("A C|D", scheme=PLAIN, target=PLAIN) == [{"A"}, {"C|D"}]
    assert options("A|B", scheme=PLAIN, target=PLAIN) == [{"A", "B"}]


@pytest.mark.parametrize("cell", ["B-ORG", "PER", "B-PER|", "B-PER|B-ORG", "??"])
def test_an_unknown_tag_is_refused(cell: str) -> None:
    with pytest.raises(InputError, match=r"x\.conll:7.*\?, or alternatives"):
        options(f"O {cell}")


def test_an_impossible_sequence_is_refused_with_its_line() -> None:
    with pytest.raises(InputError, match=r"x\.conll:7.*no valid tag sequence matches O I-PER.*Write \?"):
        options("O I-PER")


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_possible_tags_always_include_the_gold_tag(data: st.DataObject) -> None:
    """This holds in every scheme, whichever tags are hidden."""
    length = data.draw(st.integers(1, 6))
    cuts = sorted(data.draw(st.sets(st.integers(0, length), min_size=2, max_size=4)))
    kinds = data.draw(st.lists(st.sampled_from(["PER", "LOC", None]), min_size=3, max_size=3))
    spans = [(a, b, k) for (a, b), k in zip(pairwise(cuts), kinds, strict=False) if k]
    every: list[Kind] = ["IOB1", "IOB2", "BIOES", "BILOU"]
    source = Scheme(kind=data.draw(st.sampled_from(every)))
    target = Scheme(kind=data.draw(st.sampled_from(every[1:])))  # no model learns IOB1
    tags = from_spans(spans, length, source)
    right = convert(tags, source, target)
    hidden = [data.draw(st.sampled_from([tag, "?", f"O|{tag}"])) for tag in tags]
    labels = close_labels(["B-PER", "B-LOC"], target)
    sets = TagSets(labels)
    stream = PartialStream(
        [Sentence(words=("w",) * length, tags=tuple(hidden))],
        scheme=source,
        target=target,
        sets=sets,
        rules=allowed(labels, target),
    )
    (found,) = stream
    table = sets.table()
    for name, tag, cell, given_tag in zip(found.tags or (), right, hidden, tags, strict=True):
        left = {labels[k] for k in np.flatnonzero(table[sets.ids[name]])}
        assert tag in left
        assert cell != given_tag or all(convertible(other, given_tag, source, target) for other in left)


def convertible(tag: str, given_tag: str, source: Scheme, target: Scheme) -> bool:
    """Whether ``tag`` stands for ``given_tag`` in some sentence with an entity of up to three words."""
    for length, kind in product((1, 2, 3), ("PER", "LOC")):
        for before in ([], [(0, 1, kind)]):
            first = len(before)
            spans = [*before, (first, first + length, kind)]
            ours = from_spans(spans, first + length + 1, target)
            theirs = from_spans(spans, first + length + 1, source)
            if (tag, given_tag) in zip(ours, theirs, strict=True):
                return True
    return False


def opened(tags: str, known: tuple[str, ...], labels: tuple[str, ...]) -> list[set[str]]:
    """Return the possible tags of each word of a sentence whose annotators knew only some types."""
    sets = TagSets(labels)
    sentence = Sentence(words=("w",) * len(tags.split()), tags=tuple(tags.split()))
    (found,) = OpenOutside([sentence], sets=sets, scheme=BIOES, known=known)
    table = sets.table()
    return [{labels[k] for k in np.flatnonzero(table[sets.ids[name]])} for name in found.tags or ()]


def test_an_open_o_may_be_any_type_that_the_annotators_did_not_know() -> None:
    labels = close_labels(["B-PER", "B-LOC"], BIOES)
    people = {"B-PER", "I-PER", "E-PER", "S-PER"}
    assert opened("S-LOC O", ("LOC",), labels) == [{"S-LOC"}, {"O", *people}]
    assert opened("S-LOC O", ("LOC", "PER"), labels) == [{"S-LOC"}, {"O"}]


def test_without_unknown_types_nothing_is_opened() -> None:
    sets = TagSets(close_labels(["B-PER"], BIOES))
    known = [Sentence(words=("w",), tags=("O",))]
    stream = OpenOutside(known, sets=sets, scheme=BIOES, known=["PER"])
    assert not stream.changes
    assert list(stream) == known
    assert not OpenOutside(known, sets=TagSets(["O", "N"]), scheme=PLAIN, known=[]).changes
