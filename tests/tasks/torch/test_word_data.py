"""Word data of all tasks: vocabularies, pretrained vectors, features and notes."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np
import pytest

from gonie.errors import InputError, RecipeError
from gonie.tasks.recipe import load_recipe
from gonie.tasks.sections import CorpusConfig
from gonie.tasks.torch.contextual import spelled_bytes, synthetic_sources
from gonie.tasks.torch.word_data import (
    build_extractors,
    build_tokenizer,
    fit_encoding,
    note_corrections,
    pretrained_table,
    read_gazetteers,
    sampled,
    tell,
    vectors_of,
)
from gonie.text.report import Report
from gonie.text.schemes import PLAIN
from gonie.text.types import Sentence

SENTENCES = [Sentence(("Anna", "saw", "42", "cats"), ("A", "B", "B", "B")), Sentence(("anna", "slept"))]


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "v.txt"
    path.write_text("anna 1 2\nunmet 3 4\n", "utf-8")
    return path


def test_rare_words_are_left_out_unless_they_have_vectors(vectors: Path) -> None:
    recipe = load_recipe("ner", ["data.min_count=2", f"data.vectors={vectors}"])
    encoding, labels = fit_encoding(recipe, SENTENCES, PLAIN, vectors_of(recipe.data), [])
    assert set(encoding.words.strings) == {"anna", "unmet"}
    assert labels == {"A": 1, "B": 3}
    kept, _ = fit_encoding(load_recipe("ner", ["data.digits=false"]), SENTENCES, PLAIN, None, [])
    assert {"42", "anna"} <= set(kept.words.strings)


def test_words_that_are_looked_up_as_others_are_counted_and_shown() -> None:
    notes: list[str] = []
    dev = [Sentence(("Slpet", "Slpet", "slept")), Sentence(("Anan", "nobody"))]
    for value in ("false", "true"):
        recipe = load_recipe("ner", [f"data.correct_typos={value}"])
        encoding, _ = fit_encoding(recipe, SENTENCES, PLAIN, None, [])
        note_corrections(encoding, dev, notes.append)
    (note,) = notes
    assert note.startswith("data.correct_typos: 3 of 5 dev tokens are looked up as other words")
    assert note.endswith(", such as Slpet → slept, Anan → anna")


def test_every_word_gets_a_vector_and_the_file_is_described(vectors: Path) -> None:
    notes: list[str] = []
    recipe = load_recipe("ner", [f"data.vectors={vectors}"])
    found = vectors_of(recipe.data)
    encoding, _ = fit_encoding(recipe, SENTENCES, PLAIN, found, [])
    table = pretrained_table(found, encoding, 1, notes.append)
    assert table is not None
    assert table.matrix[encoding.word_id("Anna")].tolist() == [1.0, 2.0]
    assert str(vectors) in notes[0]
    again = pretrained_table(found, encoding, 1, notes.append)
    other = pretrained_table(found, encoding, 2, notes.append)
    assert again is not None
    assert other is not None
    assert np.array_equal(table.matrix, again.matrix)
    assert not np.array_equal(table.matrix, other.matrix), "words without one are drawn by the seed"
    assert pretrained_table(None, encoding, 1, notes.append) is None
    assert vectors_of(load_recipe("ner").data) is None


def test_words_are_spelled_for_the_sources_that_read_bytes() -> None:
    recipe = load_recipe("ner", ["model.elmo.bilm=not-there"])
    sources = synthetic_sources(recipe)
    encoding, _ = fit_encoding(recipe, SENTENCES, PLAIN, None, [], sources=sources)
    assert encoding.longest == spelled_bytes(sources) > 0
    plain, _ = fit_encoding(recipe, SENTENCES, PLAIN, None, [])
    assert plain.longest == 0


def test_extractors_are_those_of_the_recipe_for_any_task() -> None:
    groups = 'model.features.groups=["spelling", "context", "morphemes"]'
    for name in ("ner", "subjectivity", "pairs"):
        found = build_extractors(load_recipe(name, [groups]))
        assert [extractor.name for extractor in found] == ["spelling", "context", "morphemes"]
    assert build_extractors(load_recipe("subjectivity")) == []


def test_gazetteers_are_read_from_the_named_files(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"--set data\.gazetteers\.city"):
        read_gazetteers(CorpusConfig(train="train.conll"))
    (tmp_path / "c.txt").write_text("Seoul\nNew York\n", "utf-8")
    lists = read_gazetteers(CorpusConfig(train="train.conll", gazetteers={"city": str(tmp_path / "c.txt")}))
    assert "city=B" in lists.extract(Sentence(("New", "York")))[0]


def test_vectors_and_gazetteers_are_folded_like_the_text(tmp_path: Path) -> None:
    """Their files may be written in NFD, or have full-width letters."""
    decomposed = unicodedata.normalize("NFD", "서울")
    (tmp_path / "v.txt").write_text(f"{decomposed} 1 2\nＬＧ 3 4\nLG 5 6\n", "utf-8")
    (tmp_path / "c.txt").write_text(f"{decomposed}\n", "utf-8")
    named = [f"data.vectors={tmp_path / 'v.txt'}", f"data.gazetteers.city={tmp_path / 'c.txt'}"]
    data = load_recipe("ner", named).data
    found = vectors_of(data)
    assert found is not None
    assert found.words == ["서울", "LG"]
    assert found.notes == ("1 repeated words: the first vector of each was kept",)
    assert read_gazetteers(data).extract(Sentence(("서울",))) == [["city=S"]]
    plain = load_recipe("ner", [*named, "data.fold_text=false"]).data
    assert read_gazetteers(plain).extract(Sentence(("서울",))) == [[]]
    unfolded = vectors_of(plain)
    assert unfolded is not None
    assert len(unfolded) == 3


def test_the_tokenizer_has_the_user_dictionary_of_the_recipe(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    path.write_text("# names\n고니\tNNP\n", "utf-8")
    data = CorpusConfig(train="t", language="ko", unit="morpheme", user_dictionary=str(path))
    assert build_tokenizer(data).to_json()["user_dictionary"] == ["고니\tNNP"]
    with pytest.raises(InputError, match="only to Korean morphemes"):
        build_tokenizer(data.model_copy(update={"unit": "syllable"}))
    plain = build_tokenizer(CorpusConfig(train="t", fold_text=False))
    assert plain.to_json() == {"language": "en", "unit": "word"}


def test_a_note_starts_with_the_file_name() -> None:
    notes: list[str] = []
    report = Report(path="f")
    report.skipped["empty lines"] += 2
    tell("my.tsv", report, notes.append)
    assert notes[0].startswith("my.tsv\n  ")
    assert "empty lines" in notes[0]


@pytest.mark.parametrize(
    ("number", "expected"), [(0, ""), (1, "a"), (2, "ac"), (3, "abd"), (5, "abcde"), (9, "abcde")]
)
def test_a_sample_is_spread_over_the_whole_stream(number: int, expected: str) -> None:
    """Files are often sorted, so the first examples may all be of one kind."""
    assert "".join(sampled("abcde", number)) == expected
