"""Contextual sources: a source that is added to the table works like ELMo."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from gonie.features.corpus import Corpus
from gonie.features.encoding import Encoding
from gonie.nn import WordEmbedding
from gonie.nn.protocols import ContextualEmbedding
from gonie.tasks.contextual import ContextualConfig, ContextualSource
from gonie.tasks.parts import CONTEXTUAL
from gonie.tasks.recipe import load_recipe
from gonie.tasks.sections import WordsConfig
from gonie.tasks.torch.build import WordTable
from gonie.tasks.torch.contextual import (
    contextual_report,
    digest_sources,
    load_sources,
    network_files,
    restore_sources,
    source_files,
    sources_key,
    spelled_bytes,
    synthetic_sources,
    with_context,
)
from gonie.text.types import Sentence

SENTENCES = [Sentence(("Anna", "lives", "here")), Sentence(("far",)), Sentence(("here", "Anna"))]
WIDTH = 2


class LengthVectors(nn.Module):
    """A contextual embedding: the number of a token's form times a scale."""

    def __init__(self, name: str = "lookup", *, scale: float = 1.0, tuned: bool = False) -> None:
        super().__init__()
        self.name = name
        self.places = ("input",)
        self.place_width = self.width = WIDTH
        self.tuned = tuned
        self.scale = nn.Parameter(torch.tensor(scale))

    def penalty(self) -> Tensor:
        return self.scale.square()

    def report(self) -> list[dict[str, Any]]:
        return [{"place": "input", "scale": self.scale.item()}]


class CorpusLengths:
    """Computes these vectors for a corpus and notes each computation."""

    dtype = np.dtype("<f4")
    suffix = "f4"
    instead_of = ("form_chars",)

    def __init__(self, part: LengthVectors, corpus: Corpus, note: Callable[[str], None]) -> None:
        self.shape: tuple[int, ...] = (corpus.tokens, WIDTH)
        self._part, self._corpus, self._note = part, corpus, note

    def digest(self) -> str:
        return f"{self._part.name}-{self._part.scale.item():g}-{self._corpus.tokens}"

    def fill(self, array: NDArray[Any]) -> None:
        self._note(f"computed {self._part.name}")
        array[:] = self._corpus.arrays["forms"][:, None] * self._part.scale.item()


class Loaded:
    """A loaded source that records how it was made."""

    def __init__(self, made: str, longest: int = 0) -> None:
        self.made = made
        self.longest = longest

    def digest(self) -> bytes:
        return self.made.encode()

    def files(self) -> Mapping[str, str]:
        return {f"{self.made}.json": self.made}

    def build(self, config: Any) -> LengthVectors:
        return LengthVectors()


class LookupConfig(ContextualConfig):
    """Vectors by a form's number."""

    table: str = "t"


LOOKUP = ContextualSource(
    section=LookupConfig,
    description="vectors by a form's number",
    load=lambda config, data, note: Loaded(f"{config.table} over {data.train}"),
    loaded_by=("table",),
    restore=lambda run: Loaded(run.name),
    synthetic=lambda data, seed: Loaded(f"seed {seed}"),
    vectors=CorpusLengths,
)


@pytest.fixture(autouse=True)
def lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    """Adds two sources to the table."""
    monkeypatch.setitem(CONTEXTUAL, "lookup", LOOKUP)
    monkeypatch.setitem(CONTEXTUAL, "other", dataclasses.replace(LOOKUP, description="another"))


@pytest.fixture
def corpus(fitted: Callable[..., Encoding]) -> Corpus:
    return fitted().encode(SENTENCES)


def config(*changes: str) -> Any:
    return load_recipe("bilstm-crf", ["model.lookup.table=t", *changes]).model


def wanted(corpus: Corpus, scale: float = 1.0) -> np.ndarray:
    return np.repeat(corpus.arrays["forms"][:, None] * scale, WIDTH, axis=1)


# --- precomputed vectors ---------------------------------------------------------------------------------


def test_the_part_is_a_contextual_embedding() -> None:
    assert isinstance(LengthVectors(), ContextualEmbedding)
    assert not isinstance(WordEmbedding(size=3, width=2), ContextualEmbedding)


def test_vectors_replace_the_arrays_they_are_computed_from(corpus: Corpus) -> None:
    found = with_context(nn.Sequential(nn.Sequential(LengthVectors())), corpus, config(), print)
    np.testing.assert_array_equal(found.arrays["lookup.context"], wanted(corpus))
    assert "form_chars" not in found.arrays
    assert "form_chars" in corpus.arrays, "the corpus itself stays as it is"
    assert set(corpus.arrays) - {"form_chars"} == set(found.arrays) - {"lookup.context"}


def test_two_sources_can_be_combined(corpus: Corpus) -> None:
    model = nn.Sequential(LengthVectors(scale=2.0), LengthVectors("other", scale=3.0))
    found = with_context(model, corpus, config("model.other.table=t"), print)
    np.testing.assert_array_equal(found.arrays["lookup.context"], wanted(corpus, 2.0))
    np.testing.assert_array_equal(found.arrays["other.context"], wanted(corpus, 3.0))


def test_vectors_are_cached_in_the_folder_of_the_recipe(corpus: Corpus, tmp_path: Path) -> None:
    notes: list[str] = []
    folder = tmp_path / "vectors"
    own = config(f"model.lookup.cache={folder}", "model.other.table=t")
    model = nn.Sequential(LengthVectors(), LengthVectors("other"))
    for _ in range(2):
        found = with_context(model, corpus, own, notes.append)
        np.testing.assert_array_equal(found.arrays["lookup.context"], wanted(corpus))
    assert notes == ["computed lookup", "computed other", "computed other"]
    assert [path.name for path in folder.iterdir()] == [f"lookup-1-{corpus.tokens}.f4"]
    found = with_context(LengthVectors(scale=2.0), corpus, own, notes.append)
    np.testing.assert_array_equal(found.arrays["lookup.context"], wanted(corpus, 2.0))
    assert len(list(folder.iterdir())) == 2


def test_the_home_folder_is_expanded(corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with_context(LengthVectors(), corpus, config("model.lookup.cache=~/vectors"), print)
    assert len(list((tmp_path / "vectors").iterdir())) == 1


def test_a_corpus_is_unchanged_if_there_is_nothing_to_compute(
    corpus: Corpus, fitted: Callable[..., Encoding], tmp_path: Path
) -> None:
    own = config(f"model.lookup.cache={tmp_path}")
    assert with_context(WordEmbedding(size=3, width=2), corpus, own, print) is corpus
    assert with_context(LengthVectors(tuned=True), corpus, own, print) is corpus
    for sentences in ([], [Sentence(()), Sentence(())]):
        empty = fitted().encode(sentences)
        assert with_context(LengthVectors(), empty, own, print) is empty
    assert list(tmp_path.iterdir()) == []


# --- loading sources -------------------------------------------------------------------------------------


def test_each_source_has_its_own_loading_functions(tmp_path: Path) -> None:
    changes = ["data.train=mine.conll", "train.seed=5", "model.lookup.table=big", "model.other.table=small"]
    recipe = load_recipe("bilstm-crf", changes)
    made: dict[str, list[str]] = {}
    for sources in (
        load_sources(recipe, print),
        restore_sources(recipe.model, tmp_path / "run-7"),
        synthetic_sources(recipe),
    ):
        for name, source in sources.items():
            assert isinstance(source, Loaded)
            made.setdefault(name, []).append(source.made)
    assert made == {
        "lookup": ["big over mine.conll", "run-7", "seed 5"],
        "other": ["small over mine.conll", "run-7", "seed 5"],
    }
    plain = load_recipe("bilstm-crf")
    assert load_sources(plain, print) == restore_sources(plain.model, tmp_path) == {}
    assert synthetic_sources(plain) == {}


def test_the_sources_key_contains_only_what_loading_depends_on() -> None:
    first = sources_key(config())
    assert first == {"lookup": {"table": "t"}}
    assert sources_key(config("model.lookup.at=both", "model.lookup.cache=c")) == first
    assert sources_key(config("model.lookup.table=u")) != first
    assert sources_key(config("model.other.table=t")) == {**first, "other": {"table": "t"}}


def test_words_are_spelled_up_to_the_longest_limit() -> None:
    assert spelled_bytes({"one": Loaded("a", 7), "two": Loaded("b", 12), "three": Loaded("c")}) == 12
    assert spelled_bytes({}) == 0


def test_the_digest_covers_every_source_and_its_name() -> None:
    a, b = Loaded("a"), Loaded("b")
    first = digest_sources({"one": a, "two": b})
    assert digest_sources({"two": b, "one": a}) == first, "the order of a mapping means nothing"
    for other in ({"one": a}, {"one": b, "two": a}, {"one": a, "three": b}, {}):
        assert digest_sources(other) != first


# --- files and reports -----------------------------------------------------------------------------------


def test_a_run_saves_its_sources_and_the_word_table(encoding: Encoding) -> None:
    sources = {"one": Loaded("a"), "two": Loaded("b")}
    assert source_files(sources) == {"a.json": "a", "b.json": "b"}
    table = WordTable.plan(WordsConfig(width=7), encoding)
    files = network_files(table, sources)
    assert set(files) == {"network.json", "a.json", "b.json"}
    assert json.loads(files["network.json"]) == {"words": table.to_json()}
    assert json.loads(network_files(None, {})["network.json"]) == {"words": None}


def test_the_report_covers_all_contextual_parts() -> None:
    model = nn.Sequential(LengthVectors(scale=2.0), nn.Sequential(LengthVectors("other", scale=3.0)))
    assert [row["scale"] for row in contextual_report(model)] == [2.0, 3.0]
    assert contextual_report(WordEmbedding(size=3, width=2)) == []
