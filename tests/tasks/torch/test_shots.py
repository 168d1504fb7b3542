"""``train.shots``: a small sample of the training file, the same for the same seed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from gonie.errors import RecipeError
from gonie.tasks.classification.torch.data import read_text_data, text_data_key
from gonie.tasks.recipe import load_recipe
from gonie.tasks.tagging.torch.data import read_tag_data, tag_data_key
from gonie.tasks.tagging.torch.shots import count_mentions


def test_a_tagger_gets_a_few_mentions_of_each_type(toy: Path) -> None:
    notes: list[str] = []
    data = read_tag_data(load_recipe(toy / "toy.toml", ["train.shots=3"]), notes.append)
    sentences = list(data.sentences)
    counts: Counter[str] = Counter()
    for sentence in sentences:
        counts.update(count_mentions(sentence.tags or (), data.encoding.scheme))
    assert min(counts["PER"], counts["LOC"]) >= 3
    assert len(sentences) == len(data.train) <= 6
    assert len(data.dev) == 20, "the dev file stays whole"
    (note,) = (note for note in notes if "train.shots = 3" in note)
    assert f"sampled {len(sentences)} of 80 sentences" in note
    assert f"PER {counts['PER']}" in note


def test_without_a_dev_file_the_sample_is_the_dev_set(toy: Path) -> None:
    """Holding out some of a few sentences would leave a type without any."""
    notes: list[str] = []
    recipe = load_recipe(toy / "toy.toml", ["train.shots=2", "data.dev=none"])
    data = read_tag_data(recipe, notes.append)
    assert data.dev == list(data.sentences)
    assert any("the sampled sentences are also the dev sentences" in note for note in notes)


def test_the_sample_depends_on_the_seed(toy: Path) -> None:
    def drawn(seed: int) -> list[tuple[str, ...]]:
        recipe = load_recipe(toy / "toy.toml", ["train.shots=2", f"train.seed={seed}"])
        return [sentence.words for sentence in read_tag_data(recipe, lambda text: None).sentences]

    assert drawn(1) == drawn(1)
    assert any(drawn(1) != drawn(seed) for seed in (2, 3, 4))


def test_a_classifier_gets_as_many_texts_of_each_label(text_toy: Path) -> None:
    notes: list[str] = []
    recipe = load_recipe(text_toy / "texts.toml", ["train.shots=4", "data.dev=none"])
    data = read_text_data(recipe, notes.append)
    assert data.labels == Counter(good=4, bad=4)
    assert len(data.train) == len(data.dev) == 8
    assert any("sampled 8 of" in note for note in notes)


def test_types_with_too_few_mentions_are_named(toy: Path, text_toy: Path) -> None:
    notes: list[str] = []
    read_text_data(load_recipe(text_toy / "texts.toml", ["train.shots=10000"]), notes.append)
    assert any("warning: fewer texts than train.shots in the whole file: " in note for note in notes)
    read_tag_data(load_recipe(toy / "toy.toml", ["train.shots=10000"]), notes.append)
    assert any("warning: fewer mentions than train.shots in the whole file: " in note for note in notes)


def test_prepared_data_is_not_shared_between_samples(toy: Path, text_toy: Path) -> None:
    for path, key in ((toy / "toy.toml", tag_data_key), (text_toy / "texts.toml", text_data_key)):
        changes = [[], ["train.shots=2"], ["train.shots=3"], ["train.shots=2", "train.seed=9"]]
        assert len({key(load_recipe(path, each)) for each in changes}) == 4  # type: ignore[operator]


@pytest.mark.parametrize("change", ["train.shots=2", "train.episodes.ways=2"])
def test_pairs_have_no_shots(change: str) -> None:
    with pytest.raises(RecipeError, match="only with taggers and classifiers"):
        load_recipe("pairs", [change])
