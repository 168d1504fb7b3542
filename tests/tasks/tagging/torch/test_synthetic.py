"""Synthetic taggers: small, without data files, but with all parts of the recipe."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from gonie.errors import GonieError
from gonie.features.encoding import Encoding
from gonie.nn import (
    Bidirectional,
    Bypass,
    CharCNN,
    CharLSTM,
    Deep,
    ElmoEmbedding,
    FeatureEmbedding,
    PeepholeLSTM,
    WordEmbedding,
)
from gonie.nn.heads.objectives import AnyOf, Weighted
from gonie.tasks.recipe import load_recipe, recipe_names
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.torch.network import TaggingNetwork
from gonie.tasks.tagging.torch.synthetic import synthetic_tagger
from gonie.tasks.torch.synthetic import NEW, SyntheticModel
from gonie.text.rules import allowed, first_violation

RECIPE = """
[data]
train = "not-there/train.conll"
vectors = "not-there/vectors.txt"
partial = "not-there/partial.conll"
gazetteers = { city = "not-there/cities.txt", river = "not-there/rivers.txt" }
columns = { pos = 1 }
[model.words]
[model.chars]
kind = "lstm"
[model.features]
groups = ["gazetteer"]
[model.encoder]
kind = "peephole"
layers = 2
[model.head]
direct = ["context", "spelling"]
"""


TagSpecimen = SyntheticModel[TaggingNetwork, Encoding]


def loaded(*changes: str, recipe: str | Path = "ner") -> TagRecipe:
    found = load_recipe(recipe, changes, absent={"data.train": "not-there.conll"})
    assert isinstance(found, TagRecipe)
    return found


def made(*changes: str, recipe: str | Path = "ner") -> TagSpecimen:
    return synthetic_tagger(loaded(*changes, recipe=recipe))


def parts(specimen: TagSpecimen, kind: type) -> list[torch.nn.Module]:
    return [part for part in specimen.model.modules() if isinstance(part, kind)]


def test_the_files_of_a_recipe_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "all.toml"
    path.write_text(RECIPE, "utf-8")
    specimen = made(recipe=path)
    assert parts(specimen, CharLSTM)
    assert len(parts(specimen, PeepholeLSTM)) == 4
    assert parts(specimen, Bidirectional)
    assert parts(specimen, Deep)
    assert parts(specimen, AnyOf)
    assert specimen.encoding.groups == ("gazetteer", "context", "spelling")
    assert {"city=B", "river=B"} <= set(specimen.encoding.features["gazetteer"].strings)
    assert any("pos[" in feature for feature in specimen.encoding.features["context"].strings)


TAGGERS = recipe_names("tag")


@pytest.mark.parametrize("name", TAGGERS)
def test_a_synthetic_model_is_small_and_has_all_parts(name: str) -> None:
    recipe, specimen = loaded(recipe=name), made(recipe=name)
    assert sum(p.numel() for p in specimen.model.parameters()) < 10_000
    assert bool(parts(specimen, CharCNN)) == (recipe.model.chars is not None)
    assert bool(parts(specimen, WordEmbedding)) == (recipe.model.words is not None)
    for group in recipe.model.head.direct:
        assert any(part.group == group for part in parts(specimen, FeatureEmbedding))
    assert specimen.encoding.scheme.kind == recipe.data.model_scheme
    assert specimen.model.loss(specimen.batch).isfinite()


def test_the_synthetic_text_includes_edge_cases() -> None:
    """Padding, a sentence of one word, repeated words and unknown words."""
    batch = made().batch
    lengths = batch["lengths"].tolist()
    assert len(set(lengths)) > 2
    assert min(lengths) == 1
    words = batch["words"][batch["mask"]].tolist()
    assert len(set(words)) < len(words)
    assert 1 in words, "the unknown word"


def test_korean_recipes_have_hangul_words() -> None:
    words = made(recipe="ner-ko").encoding.words.strings
    assert any("가" <= letter <= "힣" for word in words for letter in word)
    assert all(len(word) == 1 for word in words), "syllables, as the recipe says"
    assert any(len(word) > 1 for word in made("data.unit=eojeol", recipe="ner-ko").encoding.words.strings)


@pytest.mark.parametrize("tuned", ["missing", "all", "none"])
def test_synthetic_vectors_are_trained_as_the_recipe_says(tuned: str) -> None:
    specimen = made("data.vectors=not-there.txt", f"model.words.tuned={tuned}")
    (words,) = parts(specimen, WordEmbedding)
    assert words.fixed is not None
    assert words.weight.requires_grad == (tuned != "none")
    ids = [specimen.encoding.word_id(word) for word in NEW["en"]]
    assert any(id > 1 for id in ids), "a word that only the vectors know"


@pytest.mark.parametrize("at", ["input", "output", "both"])
def test_a_synthetic_language_model_replaces_the_one_of_the_recipe(at: str) -> None:
    specimen = made("model.elmo.bilm=not-there", f"model.elmo.at={at}", "model.elmo.tuned=true")
    (elmo,) = parts(specimen, ElmoEmbedding)
    assert len(elmo.mixes) == 1 + (at == "both")
    assert bool(parts(specimen, Bypass)) == (at != "input")
    assert specimen.batch["bytes"].shape[1] == specimen.encoding.longest
    assert all(weight.requires_grad for weight in elmo.bilm.parameters())
    assert specimen.model.loss(specimen.batch).isfinite()


def test_the_synthetic_model_depends_only_on_the_seed() -> None:
    state = torch.get_rng_state()
    one, same, other = made(), made(), made("train.seed=2")
    assert torch.equal(torch.get_rng_state(), state), "the caller's random numbers are left alone"
    assert all(map(torch.equal, one.model.parameters(), same.model.parameters()))
    assert torch.equal(one.batch["tags"], same.batch["tags"])
    assert not torch.equal(one.batch["tags"], other.batch["tags"])


def test_no_weight_except_padding_starts_at_zero() -> None:
    """A weight of 0 hides what it multiplies, so a gradient check could miss an error there."""
    for name, value in made("model.encoder.kind=peephole", "model.elmo=none").model.named_parameters():
        zeros = (value == 0).nonzero()
        assert zeros.numel() == 0 or (name.endswith("characters.weight") and not zeros[:, 0].any()), name


# --- tags ------------------------------------------------------------------------------------------------


def test_types_with_weights_are_among_the_tags() -> None:
    specimen = made("model.head.weights.ORG=3", "model.head.weights.O=0.5")
    assert {"B-ORG", "O"} <= set(specimen.encoding.labels)
    (objective,) = parts(specimen, Weighted)
    assert {3.0, 0.5} == set(objective.weights.tolist())


@pytest.mark.parametrize(
    "rules",
    [
        ["B-ORG -> B-ORG", "E-ORG -> *-ORG", "<start> -> S-ORG"],
        ["[BS]-ORG -> ?-MISC"],
        ["* -> B-P*"],
        ["DET -> <end>", "<start> -> VERB"],
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_synthetic_tags_follow_the_rules_of_the_recipe(rules: list[str], seed: int) -> None:
    """With constrained training, a sequence that violates the rules would have an infinite loss."""
    specimen = made(
        f"model.head.forbidden={rules}", "model.head.constrain_training=true", f"train.seed={seed}"
    )
    encoding, batch = specimen.encoding, specimen.batch
    moves = allowed(encoding.labels, encoding.scheme, forbidden=rules)
    for tags, length in zip(batch["tags"].tolist(), batch["lengths"].tolist(), strict=True):
        assert (
            first_violation([encoding.labels[tag] for tag in tags[:length]], encoding.labels, moves) is None
        )
    assert specimen.model.loss(batch).isfinite()


def test_rules_for_plain_tags_make_the_tags_plain() -> None:
    assert made('model.head.forbidden=["DET -> <end>"]').encoding.scheme.kind == "plain"
    assert made("data.scheme=plain").encoding.scheme.kind == "plain"


def test_rules_that_allow_no_sequence_are_refused() -> None:
    with pytest.raises(GonieError, match="sequence of 5 tags"):
        made('model.head.forbidden=["* -> *"]')
