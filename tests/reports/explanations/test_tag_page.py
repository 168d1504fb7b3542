"""Explanation pages of taggers: spans, probabilities, alternatives and transitions are shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from gonie.reports.explanation import AskedSpan, Faithfulness, TagExplanation, Transitions
from gonie.reports.explanations.tag_page import render_tags
from gonie.text.types import Candidate, Sentence

Parse = Callable[[str], Any]


def test_spans_probabilities_alternatives_and_transitions_are_shown(
    parse: Parse, tagged: Sequence[TagExplanation], moves: Transitions, figures: Sequence[Faithfulness]
) -> None:
    page = render_tags(tagged, moves, figures, title="runs/ner")
    text = " ".join(parse(page).text)
    spans = ("It rains.", "Anna Kim PER 0.900", "서울에 LOC 0.900", "B-PER 0.9100", "1 more")
    others = ("0.1250", "서울에 : B-LOC → O", "Transition scores", "✕", "not the model's reasons")
    for due in (*spans, *others):
        assert due in text, due


def test_a_sentence_is_shown_without_its_neighbours(parse: Parse, tagged: Sequence[TagExplanation]) -> None:
    text = "".join(parse(render_tags(tagged[1:], None, [], title="t")).text)
    assert "It rains" not in text
    assert "Transition scores" not in text


def test_plain_tags_follow_each_word(parse: Parse) -> None:
    sentence = Sentence(words=("It", "rains"))
    tags = ("PRON", "VERB")
    chances = ({"PRON": 1.0, "VERB": 0.0}, {"PRON": 0.0, "VERB": 1.0})
    each = TagExplanation(sentence, tags, chances, (Candidate(tags, 1.0),), ())
    text = " ".join(parse(render_tags([each], None, [], title="t")).text)
    assert "It PRON   rains VERB" in text


def test_a_span_that_is_asked_about_comes_first(parse: Parse, tagged: Sequence[TagExplanation]) -> None:
    given = tagged[1].spans[0]
    asked = replace(
        given, label="ORG", probability=0.03, asked=AskedSpan(("O", "O"), 0.97, 6.95, False, ("A note.",))
    )
    page = render_tags([replace(tagged[1], asked=(asked,))], None, [], title="t")
    text = " ".join(
        parse(page.partition("<main>")[2].removesuffix("</body></html>").removesuffix("</main>")).text
    )
    due = (
        "‘Anna Kim’ is not tagged ORG: probability 0.030. The model prefers O (0.970).",
        "For it, by integrated gradients: ",
        "For it, by erasure: ",
        "A note.",
        "supports the prediction",
        "How to read this",
    )
    places = [text.index(each) for each in due]
    assert places == sorted(places)


def test_types_have_different_colours(tagged: Sequence[TagExplanation]) -> None:
    page = render_tags(tagged, None, [], title="t")
    marks = re.findall(r'<mark class="(c\d)"><bdi>[^<]*</bdi><small>(\w+)', page)
    assert {label for _, label in marks} == {"PER", "LOC"}
    assert len(set(marks)) == 2


def test_hostile_words_and_tags_are_text(
    parse: Parse, tagged: Sequence[TagExplanation], moves: Transitions, hostile: str
) -> None:
    words = tuple(hostile for _ in tagged[1].sentence.words)
    each = replace(
        tagged[1],
        sentence=Sentence(words=words),
        spans=tuple(replace(span, label=hostile) for span in tagged[1].spans),
        marginals=tuple({hostile: 1.0} for _ in words),
    )
    asked = AskedSpan((hostile, hostile), 0.5, 1.0, False, (hostile,))
    each = replace(each, asked=(replace(each.spans[0], asked=asked),), types=(hostile,))
    named = replace(moves, labels=(hostile, *moves.labels[1:]))
    page = render_tags([each], named, [], title=hostile)
    assert parse(page).runs_and_loads_nothing()
    assert "://" not in page
