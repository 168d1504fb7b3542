"""Augmented copies of tagged sentences: more to learn from, and scores that stay what they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gonie import load
from gonie.errors import RecipeError
from gonie.formats.spans import char_spans
from gonie.formats.tagged import TaggedSource
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.torch.augment import augmented_sentences
from gonie.tasks.tagging.torch.data import tag_data_key
from gonie.text.schemes import PLAIN, Scheme
from gonie.text.tokenizers import SyllableTokenizer, tokenizer
from gonie.text.types import Sentence
from gonie.training.run import start_run
from support.copied_data import keys_of_seeds, loaded, prepared, syllables, write_data

BIOES = Scheme(kind="BIOES")
RECIPE = """
[data]
train = "{folder}/train.conll"
dev = "{folder}/dev.conll"
[data.augment]
copies = 2
rate = 0.9
[model.words]
width = 8
[model.encoder]
hidden = 8
[train]
epochs = 2
batch_sentences = 4
device = "cpu"
"""
NAMES = ("George Sand", "Kim", "Ada Lovelace")
FRAMES = ("{} is happy .", "yesterday {} came", "we met {}")


def columns(number: int) -> str:
    blocks = []
    for at in range(number):
        name = NAMES[at % 3].split()
        first, *rest = name
        lines = []
        for word in FRAMES[at // 3 % 3].split():
            if word == "{}":
                lines += [f"{first}\tB-PER", *(f"{each}\tI-PER" for each in rest)]
            else:
                lines.append(f"{word}\tO")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_data(tmp_path, RECIPE, {"train.conll": columns(9), "dev.conll": columns(3)})


NAMED = syllables("세종이 어제 왔다", "B-PS", "E-PS", "O", "O", "O", "O", "O", path="k.jsonl", line=3)


def copied(
    sentences: list[Sentence], *changes: str, scheme: Scheme = BIOES
) -> tuple[list[Sentence], list[str]]:
    """Return copies of Korean syllables, and the notes."""
    data = load_recipe("ner-ko", ["data.augment.copies=2", *changes]).data
    notes: list[str] = []
    found = augmented_sentences(
        sentences, data, scheme=scheme, tokenizer=SyllableTokenizer(), seed=1, note=notes.append
    )
    return found, notes


def test_copies_are_added_to_the_training_sentences_alone(folder: Path) -> None:
    clean, quiet = prepared(folder, "data.augment.copies=0")
    more, notes = prepared(folder)
    assert not any(note.startswith("augmented") for note in quiet)
    (told,) = [note for note in notes if note.startswith("augmented copies: ") and "left" not in note]
    made = int(told.split()[2])
    assert told == f"augmented copies: {made} sentences, by kind: mentions {made}"
    assert 9 < made <= 18
    assert (len(clean.train), len(more.train)) == (9, 9 + made)
    assert (more.dev, more.labels) == (clean.dev, clean.labels)
    assert more.encoding.to_json() == clean.encoding.to_json(), "the vocabulary is that of the file"
    recipe = loaded(folder)
    assert prepared(folder)[0].fingerprint(recipe) == more.fingerprint(recipe)
    assert prepared(folder, "train.seed=2")[0].fingerprint(recipe) != more.fingerprint(recipe)


def test_held_out_names_are_not_put_into_copies(folder: Path) -> None:
    """Otherwise the score on held-out sentences would be too high."""
    copies = folder / "copies.jsonl"
    settings = ("data.dev=none", "data.holdout=0.4", f"data.augment.file={copies}")
    blocks = columns(3).strip().split("\n\n")
    (folder / "train.conll").write_text("\n\n".join([*blocks[:2] * 5, blocks[2]]) + "\n", "utf-8")
    seen = set()
    for seed in range(1, 40):
        made, _ = prepared(folder, *settings, f"train.seed={seed}")
        held = any("Lovelace" in sentence.words for sentence in made.dev)
        seen.add(held)
        if held:
            assert "Lovelace" not in copies.read_text("utf-8")
        if len(seen) == 2:
            return
    pytest.fail("the name is never, or always, held out")


def test_copies_are_written_with_their_kinds_and_originals(folder: Path) -> None:
    kinds = "data.augment.kinds={mentions = 1.0, tokens = 1.0}"
    made, notes = prepared(folder, kinds, f"data.augment.file={folder}/copies.conll")
    assert f"augmented copies: written to {folder}/copies.conll" in notes
    text = (folder / "copies.conll").read_text("utf-8")
    headers = [line for line in text.splitlines() if line.startswith("# ")]
    assert {header.split(",")[0] for header in headers} == {"# kind = mentions", "# kind = tokens"}
    assert headers[0].endswith(", original = train.conll:1")
    again = list(TaggedSource(folder / "copies.conll"))
    assert len(again) == len(headers) == len(made.train) - 9
    prepared(folder, kinds, f"data.augment.file={folder}/copies.jsonl")
    rows = [json.loads(line) for line in (folder / "copies.jsonl").read_text("utf-8").splitlines()]
    assert [tuple(row["tokens"]) for row in rows] == [sentence.words for sentence in again]
    assert all(set(row) >= {"kind", "original", "tags", "original_tokens"} for row in rows)


def test_the_data_depend_on_the_seed_only_with_copies(folder: Path) -> None:
    assert len(keys_of_seeds(tag_data_key, folder)) == 2
    assert len(keys_of_seeds(tag_data_key, folder, "data.augment.copies=0")) == 1


def test_partial_sentences_have_no_copies(folder: Path) -> None:
    (folder / "partial.conll").write_text("Kim\t?\nleft\tO\n", "utf-8")
    more, _ = prepared(folder, f"data.partial={folder}/partial.conll")
    without, _ = prepared(folder)
    assert len(more.train) == len(without.train) + 1


def test_korean_noise_is_a_kind_too() -> None:
    found, notes = copied([NAMED] * 20, "data.augment.kinds={spaces-lost = 1.0}")
    assert notes[0].startswith("augmented copies: ")
    assert found
    for sentence in found:
        assert sentence.text in ("세종이어제왔다", "세종이어제 왔다", "세종이 어제왔다")
        assert char_spans(sentence, BIOES) == [(0, 2, "PS")]
        assert (sentence.path, sentence.line) == ("k.jsonl", 3)


def test_copies_that_do_not_change_are_counted() -> None:
    found, notes = copied([NAMED] * 4, "data.augment.kinds={case = 1.0}")
    assert found == []
    assert notes == [
        "augmented copies: left out 8 sentences that did not change or lost a span (case 8)",
    ]


def test_korean_kinds_are_refused_for_english(folder: Path) -> None:
    with pytest.raises(RecipeError, match=r"augment\.kinds: emoji works only with Korean"):
        loaded(folder, "data.augment.kinds={emoji = 1.0, mentions = 1.0}")


def test_unknown_kinds_are_refused_with_the_known_ones(folder: Path) -> None:
    with pytest.raises(RecipeError, match=r"data\.augment\.kinds.*did you mean 'mentions'"):
        loaded(folder, "data.augment.kinds={mention = 1.0}")


@pytest.mark.parametrize("kind", ["mentions", "dates"])
def test_kinds_that_need_entities_are_refused_for_plain_tags(kind: str) -> None:
    with pytest.raises(RecipeError, match=rf"{kind}: works only with entities"):
        copied([NAMED], f"data.augment.kinds={{{kind} = 1.0}}", scheme=PLAIN)


def test_substitutes_have_the_tag_of_the_word() -> None:
    cut = tokenizer(language="en", unit="word")
    texts = ("The old man bought a red car .", "A young woman sold the blue house .", "She saw two big dogs")
    sentences = [
        Sentence(words, ("S-X", *["O"] * (len(words) - 1)))
        for text in texts
        for words in [tuple(text.split())]
    ]
    data = load_recipe(
        "ner",
        [
            "data.augment.copies=3",
            "data.augment.rate=0.5",
            "data.augment.kinds={language-model = 1.0}",
            "data.augment.where=outside",
        ],
    ).data
    known = {word for sentence in sentences for word in sentence.words[1:]}
    notes: list[str] = []

    def made() -> list[Sentence]:
        return augmented_sentences(sentences, data, scheme=BIOES, tokenizer=cut, seed=1, note=notes.append)

    found = made()
    assert len(found) > 5
    for copy in found:
        assert copy.words[0] in {"The", "A", "She"}, "words of entities stay"
        assert set(copy.words[1:]) <= known
        assert ("." in copy.words) == (len(copy) == 8), "words without letters stay"
    assert made() == found
    assert notes[0].startswith("augmented copies: ")


def test_a_language_model_of_another_language_is_refused() -> None:
    with pytest.raises(RecipeError, match=r"data\.augment\.bilm: en is a language model for en"):
        copied([NAMED], "data.augment.kinds={language-model = 1.0}", "data.augment.bilm=en")


@pytest.mark.long
def test_a_tagger_learns_from_copies(folder: Path, silence: Any) -> None:
    assert start_run(loaded(folder), folder / "run", silence) is not None
    assert load(folder / "run")("Kim is happy .").tokens
    written = (folder / "run" / "recipe.toml").read_text("utf-8")
    assert "[data.augment]" in written
