"""ELMo as a contextual source: each token has the layers of the language model, computed or cached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from gonie.errors import RecipeError
from gonie.features.corpus import Corpus
from gonie.features.encoding import Encoding
from gonie.nn import ElmoEmbedding, ScalarMix, Stack, WordEmbedding
from gonie.nn.bilm import BiLM
from gonie.nn.inference import to_tensors
from gonie.tasks.elmo import ELMO, ElmoConfig
from gonie.tasks.language_model.shape import BilmConfig
from gonie.tasks.language_model.torch.build import build_bilm
from gonie.tasks.language_model.torch.embedder import Embedder
from gonie.tasks.language_model.torch.folder import SavedBilm, save_bilm
from gonie.tasks.recipe import check_recipe
from gonie.tasks.sections import CorpusConfig
from gonie.tasks.torch import elmo
from gonie.tasks.torch.contextual import with_context
from gonie.tasks.torch.elmo import LoadedElmo
from gonie.text.types import Sentence

SHAPE = BilmConfig(byte_width=3, longest=10, filters=[(1, 4), (3, 4)], width=3, hidden=5)
TEXT = ["Anna Kim lives in Seoul .", "far", "Seoul is far", "서울 은 멀다", "antidisestablishmentarianism"]
SENTENCES = [Sentence(tuple(line.split())) for line in TEXT]


@pytest.fixture
def bilm() -> BiLM:
    part = build_bilm(SHAPE)
    with torch.no_grad():
        for weight in part.parameters():
            weight.normal_(std=0.5)
    return part


@pytest.fixture
def corpus(fitted: Callable[..., Encoding]) -> Corpus:
    return encoded(fitted, SENTENCES)


def encoded(fitted: Callable[..., Encoding], sentences: list[Sentence]) -> Corpus:
    encoding = fitted()
    encoding.longest = SHAPE.longest
    return encoding.encode(sentences)


def model_of(bilm: BiLM, *, tuned: bool = False) -> nn.Module:
    """Return a model that contains the language model."""
    mixes = {"input": ScalarMix(layers=bilm.layers)}
    part = ElmoEmbedding(bilm=bilm, mixes=mixes, tuned=tuned, dropout=0.0, penalty=0.0)
    return nn.Sequential(Stack([WordEmbedding(size=3, width=2), part]))


def layered(
    model: nn.Module, corpus: Corpus, folder: str | None = None, note: Callable[[str], None] = print
) -> Corpus:
    """Return the corpus with the layers of the model's source, cached in ``folder``."""
    section = {"bilm": "en", **({"cache": folder} if folder else {})}
    recipe = check_recipe({"data": {"train": "x"}, "model": {"elmo": section, "words": {}}}, source="test")
    return with_context(model, corpus, recipe.model, note)


def layers_of(corpus: Corpus) -> np.ndarray:
    return np.asarray(corpus.arrays["elmo.context"])


@pytest.fixture(params=[1, 7, 8000])
def batches(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sets the batch size in tokens."""
    monkeypatch.setitem(elmo.BATCH, "cpu", (request.param, 256))


@pytest.mark.usefixtures("batches")
@pytest.mark.parametrize("folder", [None, "kept"])
def test_every_token_has_its_layers_of_the_language_model(
    bilm: BiLM, corpus: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str | None
) -> None:
    """In the order of the corpus, independent of the batch, and up to float16 precision."""
    monkeypatch.setattr(elmo, "AT_ONCE", 3)
    model = model_of(bilm).train()
    found = layers_of(layered(model, corpus, None if folder is None else str(tmp_path / folder)))
    saved = SavedBilm(bilm=bilm, shape=SHAPE, language="en", unit="word")
    direct = Embedder(saved).layers([sentence.words for sentence in SENTENCES])  # (L, T, D) each
    wanted = np.concatenate([layers.transpose(1, 0, 2) for layers in direct])
    np.testing.assert_allclose(found, wanted, atol=2e-3, rtol=2e-3)
    assert found.dtype == np.float16
    assert model.training, "the model is left as it was"


def test_the_cache_is_reused_only_for_the_same_corpus_and_model(
    bilm: BiLM, corpus: Corpus, fitted: Callable[..., Encoding], tmp_path: Path
) -> None:
    folder, calls = str(tmp_path), []
    bilm.words.register_forward_hook(lambda *_: calls.append(1))
    one = layers_of(layered(model_of(bilm), corpus, folder))
    computed = len(calls)
    again = layers_of(layered(model_of(bilm), encoded(fitted, SENTENCES), folder))
    assert len(calls) == computed
    np.testing.assert_array_equal(one, again)

    fewer = layers_of(layered(model_of(bilm), encoded(fitted, SENTENCES[:2]), folder))
    assert len(fewer) == 7
    turned = layers_of(layered(model_of(bilm), encoded(fitted, SENTENCES[::-1]), folder))
    assert not np.array_equal(turned, one)
    with torch.no_grad():
        next(bilm.back.parameters())[0] += 0.5  # a slightly different language model
    other = layers_of(layered(model_of(bilm), corpus, folder))
    assert not np.array_equal(other, one)
    assert len(list(tmp_path.iterdir())) == 4


def test_the_cache_depends_on_the_spelling_of_words(
    bilm: BiLM, fitted: Callable[..., Encoding], tmp_path: Path
) -> None:
    """Two corpora of the same size may differ only in their words."""
    near, far = (
        layers_of(layered(model_of(bilm), encoded(fitted, [Sentence(words)]), str(tmp_path)))
        for words in (("near", "by"), ("away", "by"))
    )
    assert not np.array_equal(near, far)


@pytest.mark.parametrize(
    "change",
    [{"skip": False}, {"cell_clip": 0.01, "state_clip": 9.0}, {"cell_clip": 9.0, "state_clip": 0.01}],
)
def test_the_cache_depends_on_the_options_of_the_model(
    bilm: BiLM, corpus: Corpus, tmp_path: Path, change: dict[str, float]
) -> None:
    """Published weights may be imported again with corrected options."""
    other = build_bilm(SHAPE.model_copy(update=change))
    other.load_state_dict(bilm.state_dict())
    found, wanted = (layered(model_of(other), corpus, folder) for folder in (str(tmp_path), None))
    before = layered(model_of(bilm), corpus, str(tmp_path))
    np.testing.assert_array_equal(layers_of(found), layers_of(wanted))
    assert not np.array_equal(layers_of(before), layers_of(wanted))


def test_a_damaged_cache_is_computed_again(bilm: BiLM, corpus: Corpus, tmp_path: Path) -> None:
    first = layers_of(layered(model_of(bilm), corpus, str(tmp_path))).copy()
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()
    for damaged in (content[:-9], bytes(len(content))):
        path.write_bytes(damaged)
        np.testing.assert_array_equal(layers_of(layered(model_of(bilm), corpus, str(tmp_path))), first)
        assert path.read_bytes() == content


def test_an_interrupted_computation_leaves_no_cache(bilm: BiLM, corpus: Corpus, tmp_path: Path) -> None:
    class Stop(BaseException):
        pass

    def stop(*_: object) -> None:
        raise Stop

    bilm.back.register_forward_hook(stop)
    with pytest.raises(Stop):
        layered(model_of(bilm), corpus, str(tmp_path))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("batches")
def test_sentences_without_words_are_supported(bilm: BiLM, fitted: Callable[..., Encoding]) -> None:
    """A text of whitespace gives such a sentence."""
    some = [Sentence(()), SENTENCES[0], Sentence(()), SENTENCES[2]]
    found = layers_of(layered(model_of(bilm), encoded(fitted, some), None))
    plain = layers_of(layered(model_of(bilm), encoded(fitted, [SENTENCES[0], SENTENCES[2]]), None))
    np.testing.assert_allclose(found, plain, atol=2e-3)


def test_slow_computation_reports_progress(
    bilm: BiLM, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(elmo, "NOTE_SECONDS", -1.0)
    notes: list[str] = []
    layered(model_of(bilm), corpus, None, notes.append)
    assert notes[-1] == f"contextual embeddings: {corpus.tokens} of {corpus.tokens} tokens"


def test_batches_have_cached_layers_instead_of_bytes(bilm: BiLM, corpus: Corpus) -> None:
    """The vectors are the same with and without cached layers, up to float16 precision."""
    model = model_of(bilm).eval()
    rows, device = np.arange(len(corpus)), torch.device("cpu")
    plain, cached = (to_tensors(each.batch(rows), device) for each in (corpus, layered(model, corpus)))
    assert ("bytes" in plain, "bytes" in cached) == (True, False)
    part = model[0].parts[1]  # type: ignore[index,union-attr]
    mask = plain["mask"]
    torch.testing.assert_close(part(cached)[mask], part(plain)[mask], atol=2e-3, rtol=2e-3)


# --- the source ------------------------------------------------------------------------------------------


def saved_of(bilm: BiLM, *, language: str = "en", unit: str = "word") -> SavedBilm:
    return SavedBilm(bilm=bilm, shape=SHAPE, language=language, unit=unit)


def section(**values: Any) -> ElmoConfig:
    return ElmoConfig.model_validate({"bilm": "en", **values})


def test_a_language_model_is_loaded_with_its_weights(bilm: BiLM, tmp_path: Path) -> None:
    save_bilm(tmp_path, saved_of(bilm), storage="float32")
    notes: list[str] = []
    found = LoadedElmo.load(section(bilm=str(tmp_path)), CorpusConfig(train="x"), notes.append)
    assert found.longest == SHAPE.longest
    assert all(map(torch.equal, found.saved.bilm.parameters(), bilm.parameters()))
    assert notes == []


def test_loading_reads_only_the_keys_in_loaded_by(bilm: BiLM, tmp_path: Path) -> None:
    """Recipes that differ only in other keys share the loaded model."""

    class Watched:
        read: ClassVar[set[str]] = set()

        def __getattr__(self, name: str) -> Any:
            self.read.add(name)
            return getattr(section(bilm=str(tmp_path)), name)

    save_bilm(tmp_path, saved_of(bilm))
    LoadedElmo.load(Watched(), CorpusConfig(train="x", unit="syllable"), print)  # type: ignore[arg-type]
    assert Watched.read == set(ELMO.loaded_by)


def test_another_language_is_refused_and_another_unit_is_noted(bilm: BiLM, tmp_path: Path) -> None:
    save_bilm(tmp_path, saved_of(bilm, unit="syllable"))
    notes: list[str] = []
    config = section(bilm=str(tmp_path))
    LoadedElmo.load(config, CorpusConfig(train="x"), notes.append)
    (note,) = notes
    assert "trained on syllables, but the text is tokenised into words" in note
    assert "--set data.unit=syllable" in note
    with pytest.raises(RecipeError, match=r"is a language model for en, but data\.language is ko"):
        LoadedElmo.load(config, CorpusConfig(train="x", language="ko"), notes.append)


def test_a_run_saves_the_shape_but_not_the_weights(bilm: BiLM, tmp_path: Path) -> None:
    files = LoadedElmo(saved_of(bilm, language="ko", unit="syllable")).files()
    assert set(files) == {"bilm.json"}
    for name, content in files.items():
        (tmp_path / name).write_text(content, "utf-8")
    found = LoadedElmo.restore(tmp_path).saved
    assert (found.shape, found.language, found.unit) == (SHAPE, "ko", "syllable")
    found.bilm.load_state_dict(bilm.state_dict())


def test_the_digest_depends_on_the_shape_and_the_weights(bilm: BiLM) -> None:
    first = LoadedElmo(saved_of(bilm)).digest()
    assert LoadedElmo(saved_of(bilm)).digest() == first
    skipless = SHAPE.model_copy(update={"skip": False})
    assert LoadedElmo(SavedBilm(bilm, skipless, "en", "word")).digest() != first
    with torch.no_grad():
        bilm.words.projection.bias += 0.1
    assert LoadedElmo(saved_of(bilm)).digest() != first


def test_a_synthetic_model_depends_only_on_the_seed() -> None:
    state = torch.get_rng_state()
    data = CorpusConfig(train="x", language="ko")
    one, same, other = (LoadedElmo.synthetic(data, seed).saved for seed in (1, 1, 2))
    assert torch.equal(torch.get_rng_state(), state)
    assert all(map(torch.equal, one.bilm.parameters(), same.bilm.parameters()))
    assert not torch.equal(one.bilm.words.projection.weight, other.bilm.words.projection.weight)
    assert (one.language, one.unit) == ("ko", "eojeol")


@pytest.mark.parametrize(
    ("at", "places"), [("input", ("input",)), ("output", ("output",)), ("both", ("input", "output"))]
)
def test_each_place_has_its_own_mix(bilm: BiLM, at: str, places: tuple[str, ...]) -> None:
    part = LoadedElmo(saved_of(bilm)).build(section(at=at, normalize=True, l2=0.5, dropout=0.25))
    assert (part.places, part.place_width) == (places, bilm.width)
    assert part.width == len(places) * bilm.width
    assert [mix.normalize for mix in part.mixes] == [True] * len(places)
    assert (part.strength, part.dropout.p, part.tuned) == (0.5, 0.25, False)


def test_only_a_tuned_model_is_trained_at_its_own_rate(bilm: BiLM) -> None:
    fixed, tuned = (
        LoadedElmo(saved_of(bilm)).build(section(tuned=tuned, rate=0.25)) for tuned in (False, True)
    )
    assert [any(p.requires_grad for p in part.bilm.parameters()) for part in (fixed, tuned)] == [False, True]
    assert [getattr(part.bilm, "rate_scale", None) for part in (fixed, tuned)] == [None, 0.25]


def test_each_network_has_its_own_language_model(bilm: BiLM) -> None:
    """Otherwise two runs of a comparison would train the same model."""
    source = LoadedElmo(saved_of(bilm))
    one, other = (source.build(section(tuned=True)) for _ in range(2))
    nn.init.zeros_(one.bilm.words.projection.weight)
    assert other.bilm.words.projection.weight.any()
    assert bilm.words.projection.weight.any()


def test_auto_is_refused_where_nothing_resolved_it() -> None:
    with pytest.raises(RecipeError, match=r"model\.elmo\.bilm: auto applies only to taggers.*en, ko.*none"):
        ELMO.load(section(bilm="auto"), CorpusConfig(train="x"), print)
