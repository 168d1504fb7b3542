"""Tests the warnings about data: they count exactly, name places, and spare normal corpora."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gonie.tasks.data_warnings import (
    PAIRS,
    SENTENCES,
    TEXTS,
    SharedExamples,
    Watched,
    count_types,
    name_new_tags,
    warn_language,
    warn_new_labels,
    warn_rare_labels,
)
from gonie.tasks.recipe import load_recipe, recipe_names
from gonie.tasks.torch.prepare import prepare
from gonie.text.labelled_text import LabelledPair, LabelledText
from gonie.text.schemes import IO, PLAIN, Scheme
from gonie.text.types import Sentence, Span

LONG = "one two three four five six"


def sentence(text: str, line: int = 1, path: str = "a") -> Sentence:
    return Sentence(words=tuple(text.split()), path=path, line=line)


def shared(train: list[Any], dev: list[Any], kind: Any = SENTENCES) -> list[str]:
    """Return the warnings about a training and a dev set."""
    found = SharedExamples(kind, {"dev": dev})
    found.compare(train)
    notes: list[str] = []
    found.warn(notes.append)
    return notes


def test_shared_sentences_are_counted_and_the_long_ones_listed_with_both_places() -> None:
    train = [sentence("Yes .", 1), sentence(LONG, 4), sentence(LONG, 9)]
    dev = [sentence("Yes .", 1, "d"), sentence(LONG, 3, "d"), sentence("not in train at all , sir", 8, "d")]
    assert shared(train, dev) == [
        "warning: 2 of 3 sentences in dev are also in the training data (1 of more than 5 tokens), which "
        f"makes the dev score too high. Remove the duplicates:\n  d:3 and a:4: {LONG}"
    ]


def test_duplicates_in_one_file_are_not_blamed_on_two() -> None:
    """Without a dev file, gonie holds out sentences itself. The user has only one file to mend."""
    (note,) = shared([sentence(LONG, 4)], [sentence(LONG, 9)])
    assert note.endswith(
        "which makes the dev score too high. a has duplicates, and gonie held out only some of them. Remove "
        f"them from the file:\n  a:9 and a:4: {LONG}"
    )


def test_a_dev_file_that_is_the_training_file_is_named() -> None:
    """Also if all sentences are short, and if the path is written in another way."""
    train = [sentence("Yes .", 1), sentence("Thank you !", 3)]
    assert shared(train, [sentence("Yes .", 1, "./a"), sentence("Thank you !", 3, "./a")]) == [
        "warning: dev is ./a, which is also trained on, so the dev score says nothing about new data. "
        "Name another file"
    ]


def test_sentences_that_an_earlier_run_was_trained_on_are_named_with_the_run() -> None:
    found = SharedExamples(SENTENCES, {"dev": [sentence(LONG, 3)]}, run=Path("runs/news"))
    found.compare([sentence(LONG, 3)])
    notes: list[str] = []
    found.warn(notes.append)
    assert notes == [
        "warning: 1 of 1 sentence in dev is also in the training data of runs/news (1 of more than 5 "
        "tokens), which makes the dev score too high. Training starts from it: name another "
        "file, or another start:"
        f"\n  a:3 and a:3: {LONG}"
    ]


def test_short_sentences_alone_are_normal() -> None:
    assert shared([sentence("Thank you !")], [sentence("Thank you !", path="d")]) == []


def test_a_few_shared_sentences_of_many_are_listed_without_a_warning() -> None:
    dev = [sentence(LONG), *(sentence(f"other {number}") for number in range(200))]
    assert shared([sentence(LONG)], dev) == [
        "1 of 201 sentences in dev is also in the training data (1 of more than 5 tokens):"
        f"\n  a:1 and a:1: {LONG}"
    ]


def test_a_long_list_is_shortened_and_its_rest_counted() -> None:
    examples = [sentence(f"{LONG} {number}", number) for number in range(5)]
    (note,) = shared(examples, [replace(each, path="d") for each in examples])
    assert note.count("\n") == 4
    assert note.endswith("\n  and 2 more")
    (note,) = shared([sentence("word " * 60)], [sentence("word " * 60, path="d")])
    assert len(note.splitlines()[1]) < 90


def test_a_text_with_other_marks_is_another_text() -> None:
    marked = LabelledText(LONG, marks=(Span(0, 3, "e1", "one"),))
    assert shared([marked], [LabelledText(LONG)], TEXTS) == []
    (note,) = shared([marked], [marked], TEXTS)
    assert note.startswith("warning: 1 of 1 text in dev is also in the training data (1 of more than 5 words")


def test_a_pair_is_shared_only_with_both_texts() -> None:
    pair = LabelledPair("a man plays", "a man makes music")
    assert shared([LabelledPair("a man plays", "something else entirely , sir")], [pair], PAIRS) == []
    (note,) = shared([pair], [pair], PAIRS)
    assert note.endswith("a man plays / a man makes music")


def test_only_the_first_pass_over_the_training_data_is_watched() -> None:
    found = SharedExamples(SENTENCES, {"dev": [sentence(LONG)]})
    watched = Watched([sentence(LONG)], found)
    assert list(watched) == list(watched) == [sentence(LONG)]
    notes: list[str] = []
    found.warn(notes.append)
    assert len(notes) == 1


def test_rare_labels_are_named_with_their_counts() -> None:
    notes: list[str] = []
    warn_rare_labels("t.tsv", {"a": 100, "b": 2, "c": 1}, notes.append)
    warn_rare_labels("t.tsv", {"a": 3}, notes.append)
    warn_rare_labels("t.tsv", {f"l{number:02}": 1 for number in range(10)}, notes.append)
    start = "labels occur only once or twice in the training data of t.tsv, too rarely to be learned well:"
    assert notes[0] == f"warning: 2 {start} c (1), b (2)"
    assert notes[1].startswith(f"warning: 10 {start} l00 (1), ")
    assert notes[1].endswith("l07 (1) and 2 more")


def test_labels_outside_the_training_data_are_named() -> None:
    notes: list[str] = []
    parts = {"dev": ["a", "x", "y", "x"], "test": ["z"], "none": ["a"]}
    end = "not in the training data, so the model cannot predict"
    warn_new_labels(parts, {"a"}, notes.append)
    assert notes == [
        f"warning: 2 labels in dev are {end} them: x (2), y (1)",
        f"warning: 1 label in test is {end} it: z (1)",
    ]


def test_entities_are_counted_by_type_and_not_by_tag() -> None:
    tags = {"O": 50, "B-PER": 2, "I-PER": 7, "E-PER": 2, "S-PER": 1, "S-LOC": 1}
    assert count_types(tags, Scheme(kind="BIOES")) == Counter(PER=3, LOC=1)
    assert count_types({"O": 5, "PER": 4}, IO) == Counter(PER=4)
    assert count_types({"DET": 4, "X": 1}, PLAIN) == Counter(DET=4, X=1)


def test_an_entity_of_a_new_type_is_one_new_label() -> None:
    tags = ["B-ORG", "E-ORG", "O", "S-PER"]
    assert list(name_new_tags(tags, Scheme(kind="BIOES"), {"PER"})) == ["ORG", "O", "S-PER"]
    assert list(name_new_tags(["DET"], PLAIN, {})) == ["DET"]


@pytest.mark.parametrize("name", ["ner", "pos", "intents", "relations", "pairs"])
def test_bundled_corpora_have_no_shared_examples(name: str, tmp_path: Path) -> None:
    assert name in recipe_names()
    notes: list[str] = []
    recipe = load_recipe(name, ["model.elmo=none"])
    prepare(recipe, notes.append, folder=tmp_path, advance=lambda advance: None)
    assert not [note for note in notes if "also in" in note]


def test_training_sentences_used_as_dev_sentences_are_no_duplicates(tmp_path: Path) -> None:
    """Without enough sentences to hold out, the note about that says it all."""
    file = tmp_path / "one.conll"
    file.write_text("".join(f"{word}\tB-PER\n" for word in LONG.split()), "utf-8")
    notes: list[str] = []
    recipe = load_recipe("bilstm-crf", [f"data.train={file}"])
    prepare(recipe, notes.append, folder=tmp_path, advance=lambda advance: None)
    assert any("too few sentences" in note for note in notes)
    assert not any("also in" in note for note in notes)


def test_korean_texts_in_english_words_are_noted() -> None:
    notes: list[str] = []
    korean, english = [LabelledText("재미있다", ("1",))], [LabelledText("good", ("1",))]
    mixed = [*english, LabelledText("Seoul 좋다", ("1",))]
    for texts in (korean, mixed):
        warn_language("a.csv", texts, "ko", "do this", notes.append)
    warn_language("a.csv", english, "en", "do this", notes.append)
    assert not notes
    warn_language("a.csv", korean, "en", "do this", notes.append)
    assert notes == ["a.csv: most letters are Hangul, but data.language is en; do this"]


def test_english_texts_in_a_korean_recipe_are_noted() -> None:
    """Most likely, the start of a recipe without a language is Korean."""
    notes: list[str] = []
    warn_language("a.csv", [LabelledText("good", ("1",))], "ko", "do this", notes.append)
    (note,) = notes
    assert note.startswith("a.csv: warning: no letter is Hangul, but data.language is ko")
