"""Tests reading word vectors of a run: before and after training, with words and labels."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from gonie.errors import GonieError, InputError
from gonie.experiments.word_vectors import UNSEEN, WordVectors, read_word_vectors, read_words, word_table
from gonie.features.encoding import Encoding
from gonie.features.vectors import Coverage, PretrainedVectors
from gonie.formats.tagged import TaggedSource
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.recipe import TaggerConfig
from gonie.tasks.tagging.torch.build import build_tagger
from gonie.tasks.torch.build import WordTable
from gonie.training.run import start_run

WORDS = {"words": {"width": 3}, "encoder": {"hidden": 2}}


def nothing(text: str) -> None:
    """Ignore notes."""


@pytest.fixture(scope="module")
def vectors(toy_run: Path) -> WordVectors:
    return read_word_vectors(toy_run, nothing)


def trained(toy: Path, folder: Path, silence: object, *changes: str) -> Path:
    settings = ["train.epochs=1", "model.encoder.hidden=4", *changes]
    assert start_run(load_recipe(toy / "toy.toml", settings), folder, silence) is not None  # type: ignore
    return folder


def test_before_has_the_initial_vectors(toy: Path, tmp_path: Path, silence: object) -> None:
    """With a tiny learning rate the vectors do not change; another seed gives other vectors."""
    still = [
        read_word_vectors(
            trained(toy, tmp_path / str(seed), silence, "train.lr=1e-12", f"train.seed={seed}"), nothing
        )
        for seed in (1, 2)
    ]
    for one in still:
        assert np.allclose(one.before, one.after, atol=1e-6)
    assert not np.allclose(still[0].before, still[1].before, atol=1e-3)


def test_after_has_the_trained_vectors(vectors: WordVectors) -> None:
    id = vectors.encoding.word_id("Seoul")
    assert vectors.before.shape == vectors.after.shape
    assert np.abs(vectors.after[id] - vectors.before[id]).max() > 0.01


def test_before_has_the_pretrained_vectors(toy: Path, tmp_path: Path, silence: object) -> None:
    file = tmp_path / "v.txt"
    file.write_text("seoul 0.5 0.25 1\nanna 1 0 0\nzebra 0 1 0\n", "utf-8")
    changes = (f"data.vectors={file}", "model.words.tuned=all", "train.lr=0.1")
    run = trained(toy, tmp_path / "run", silence, *changes)
    made = read_word_vectors(run, nothing)
    (seoul, zebra), missing = made.find(["Seoul", "zebra", "yak"])
    assert made.before[seoul.id].tolist() == [0.5, 0.25, 1.0]
    assert made.after[seoul.id].tolist() != [0.5, 0.25, 1.0]
    assert (seoul.label, zebra.label, missing) == ("LOC", UNSEEN, ["yak"])
    file.unlink()
    with pytest.raises(GonieError, match=r"(?s)v\.txt.*which must still be in the same place"):
        read_word_vectors(run, nothing)


def test_the_label_of_a_word_is_its_most_frequent_one(vectors: WordVectors, toy: Path) -> None:
    """Compares with counts over the training file."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for sentence in TaggedSource(toy / "train.conll"):
        for word, tag in zip(sentence.words, sentence.tags or (), strict=True):
            counts[word.lower()][tag.partition("-")[2] or "O"] += 1
    assert {word.text: word.label for word in vectors.words.values()} == {
        word: min(labels, key=lambda label: (-labels[label], label)) for word, labels in counts.items()
    }
    times = [counts[word.text][word.label] for word in vectors.words.values()]
    assert times == sorted(times, reverse=True)


def test_typical_words_are_the_most_frequent_of_each_label(vectors: WordVectors) -> None:
    chosen = vectors.typical(3)
    assert [word.label for word in chosen] == ["LOC"] * 3 + ["PER"] * 3 + ["O"] * 3
    ordered = list(vectors.words.values())
    for label in ("LOC", "PER", "O"):
        assert [w for w in chosen if w.label == label] == [w for w in ordered if w.label == label][:3]


def test_words_are_normalised_as_in_the_model(vectors: WordVectors) -> None:
    found, missing = vectors.find(["SEOUL", "Zzz", "seoul", "Anna", "Zzz"])
    assert [word.text for word in found] == ["seoul", "anna"], "in the order asked, each once"
    assert missing == ["Zzz"]


def test_a_list_of_only_unknown_words_is_refused(vectors: WordVectors) -> None:
    with pytest.raises(InputError, match="Zzz, Yyy"):
        vectors.choose(["Zzz", "Yyy"])
    assert vectors.choose([]) == (vectors.typical(), [])


def test_partial_tags_are_not_counted(toy: Path, tmp_path: Path, silence: object) -> None:
    more = tmp_path / "part.conll"
    more.write_text("Seoul\tB-PER|B-LOC\nOslo\t?\nyak\t?\n", "utf-8")
    run = trained(toy, tmp_path / "run", silence, f"data.partial={more}")
    made = read_word_vectors(run, nothing)
    (seoul, yak), _ = made.find(["Seoul", "yak"])
    assert (seoul.label, yak.label) == ("LOC", UNSEEN)


def test_the_data_cache_of_the_run_is_not_written(toy: Path, tmp_path: Path, silence: object) -> None:
    """Another process may be training from it."""
    cache = tmp_path / "cache"
    run = trained(toy, tmp_path / "run", silence, f"data.cache={cache}")
    shutil.rmtree(cache)
    read_word_vectors(run, nothing)
    assert not cache.exists()


# --- refusals --------------------------------------------------------------------------------------------


def test_missing_or_changed_data_files_are_refused(toy: Path, tmp_path: Path, silence: object) -> None:
    own = tmp_path / "train.conll"
    shutil.copy(toy / "train.conll", own)
    run = trained(toy, tmp_path / "run", silence, f"data.train={own}")
    own.write_text(own.read_text("utf-8") + "\nnew\tO\nwords\tO\n", "utf-8")
    with pytest.raises(InputError, match="data files changed"):
        read_word_vectors(run, nothing)
    own.unlink()
    with pytest.raises(
        GonieError, match=r"(?s)train\.conll: file not found.*which must still be in the same place"
    ):
        read_word_vectors(run, nothing)


def test_a_bundle_is_refused(toy_run: Path) -> None:
    with pytest.raises(InputError, match=r"not a training run: recipe\.toml"):
        read_word_vectors(toy_run / "bundle", nothing)


def test_a_model_without_word_vectors_is_refused(toy: Path, tmp_path: Path, silence: object) -> None:
    run = trained(toy, tmp_path / "run", silence, "model.words=none", "model.chars.hidden=4")
    with pytest.raises(InputError, match=r"model\.words"):
        read_word_vectors(run, nothing)


def test_words_are_read_one_per_line(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("Seoul\n\n  서울 \nNew York\n", "utf-8")
    assert read_words(path) == ["Seoul", "서울", "New York"]
    path.write_text("\n \n", "utf-8")
    with pytest.raises(InputError, match="has no words"):
        read_words(path)


@pytest.mark.parametrize("more", [{}, {"chars": {"width": 2, "hidden": 2}}], ids=["alone", "in a stack"])
def test_rows_of_the_table_are_word_ids(encoding: Encoding, more: dict) -> None:
    model = build_tagger(TaggerConfig.model_validate({**WORDS, **more}), encoding)
    (weight,) = [value for name, value in model.named_parameters() if value.shape == (len(encoding.words), 3)]
    with torch.no_grad():
        weight[encoding.words.id("seoul")] = torch.tensor([1.0, 2.0, 3.0])
    table = word_table(model)
    assert table.shape == (len(encoding.words), 3)
    assert table[encoding.words.id("seoul")].tolist() == [1.0, 2.0, 3.0]


def test_fixed_and_learned_vectors_are_in_one_table(fitted: Callable[..., Encoding]) -> None:
    encoding = fitted(["zebra"])
    matrix = np.arange(3.0 * len(encoding.words), dtype=np.float32).reshape(-1, 3)
    matrix[0] = 0
    found = np.arange(len(encoding.words)) % 2 == 1
    pretrained = PretrainedVectors(matrix, found, Coverage(types={}, tokens={}))
    config = TaggerConfig.model_validate(WORDS)
    assert config.words is not None
    table = WordTable.plan(config.words, encoding, pretrained)
    assert np.array_equal(word_table(build_tagger(config, encoding, table)), matrix)


def test_the_table_is_a_copy(encoding: Encoding) -> None:
    """Otherwise the vectors before training would become those after it."""
    model = build_tagger(TaggerConfig.model_validate(WORDS), encoding)
    before = word_table(model)
    kept = before.copy()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    assert np.array_equal(before, kept)
    assert not np.array_equal(word_table(model), kept)


def test_a_network_without_word_embeddings_is_refused(encoding: Encoding) -> None:
    model = build_tagger(
        TaggerConfig.model_validate({"chars": {"width": 2}, "encoder": {"hidden": 2}}), encoding
    )
    with pytest.raises(InputError, match=r"model\.words"):
        word_table(model)
