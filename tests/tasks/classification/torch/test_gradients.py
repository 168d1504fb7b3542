"""If these break, the weights of an explanation do not add up to the answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gonie.explaining.methods import Gradients
from gonie.explaining.torch.path_integral import STEPS, integrate
from gonie.features.ngrams import NGrams
from gonie.metrics.log_odds import label_log_odds
from gonie.nn.inference import evaluating
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.explanation import ExplainedClassifier, TextAnswer
from gonie.tasks.classification.recipe import ClassifierConfig
from gonie.tasks.classification.torch.build import build_classifier
from gonie.tasks.classification.torch.gradients import label_odds_path, spread_grams
from gonie.tasks.torch.scorer import TorchTextScorer
from gonie.text.labelled_text import LabelledText
from gonie.text.passages import By, Passage, Passages
from gonie.text.tokenizers import EnglishTokenizer
from gonie.text.types import Span


def text_gradients(
    model: Any, encoding: Any, passage: Any, label: int, *, temperature: float = 1.0, steps: int = STEPS
) -> Gradients:
    """Return the gradients as ``explain.torch.gradients`` computes them."""
    with evaluating(model):
        path = label_odds_path(model, encoding, passage, label, temperature=temperature)
        integral = integrate(path.function, path.inputs, steps=steps)
    words = path.words(integral.weights)
    return Gradients(words, integral.rise - float(words.sum()))


def odds_of(reader: Any, text: str, label: int) -> float:
    answer = TextAnswer(reader.encoding.passages(LabelledText(text)), reader.encoding.labels[label])
    return float(ExplainedClassifier(reader).log_odds([(answer, np.ones(answer.tokens, dtype=bool))])[0])


def baseline_odds(reader: Any, text: str, label: int) -> float:
    """Return the log-odds of the label with zero word vectors and without n-grams."""
    corpus = reader.encoding.encode([LabelledText(text)])
    batch = {name: torch.from_numpy(array) for name, array in corpus.batch(np.array([0])).items()}
    batch |= {"bag.ids": torch.zeros(0, dtype=torch.int64), "bag.offsets": torch.zeros(2, dtype=torch.int64)}
    with torch.no_grad():
        vectors = torch.zeros_like(reader.model.eval().embed(batch))
        scores = reader.model.score(reader.model.pool(vectors, batch).vectors, batch).numpy()
    multi_label = reader.encoding.multi_label
    return float(label_log_odds(scores / reader.temperature, np.array([label]), multi_label=multi_label)[0])


@pytest.mark.parametrize("label", [0, 1])
def test_weights_sum_to_the_log_odds_minus_the_baseline(
    reader: Any, short_texts: tuple[str, ...], label: int
) -> None:
    for text in short_texts:
        passage = reader.encoding.passages(LabelledText(text))
        found = text_gradients(
            reader.model, reader.encoding, passage, label, temperature=reader.temperature, steps=64
        )
        assert len(found.words) == sum(map(len, passage.sentences))
        rise = odds_of(reader, text, label) - baseline_odds(reader, text, label)
        assert found.words.sum() + found.gap == pytest.approx(rise, abs=1e-4)
        blanks = reader.encoding.bag is not None  # n-grams of spaces alone belong to no token
        assert blanks or abs(found.gap) < 1e-3


def test_weights_do_not_depend_on_the_training_mode(reader: Any, short_texts: tuple[str, ...]) -> None:
    passage = reader.encoding.passages(LabelledText(short_texts[0]))
    first = text_gradients(reader.model.train(), reader.encoding, passage, 1)
    assert reader.model.training
    again = text_gradients(reader.model.eval(), reader.encoding, passage, 1)
    assert first.words.tolist() == again.words.tolist()


def test_few_steps_are_accurate_to_two_digits(reader: Any, short_texts: tuple[str, ...]) -> None:
    passage = reader.encoding.passages(LabelledText(short_texts[2]))
    few, many = (text_gradients(reader.model, reader.encoding, passage, 0, steps=n) for n in (32, 300))
    np.testing.assert_allclose(few.words, many.words, atol=0.01)


def test_weights_of_a_linear_model_are_its_n_gram_weights(
    make_reader: Any, short_texts: tuple[str, ...]
) -> None:
    """A sigmoid model with zero network weights is linear, so the weights are known in advance."""
    reader = make_reader("sigmoid, n-grams")
    head = reader.model.head().scores
    torch.nn.init.zeros_(head.weight)
    passage = reader.encoding.passages(LabelledText(short_texts[1]))  # one word
    ids, _ = reader.encoding.bag.encode([short_texts[1]])
    wanted = float(head.direct["bag"].weight.detach()[ids.tolist(), 0].sum()) / len(ids) ** 0.5
    for label, sign in ((1, 1), (0, -1)):
        found = text_gradients(reader.model, reader.encoding, passage, label)
        assert found.words.tolist() == pytest.approx([sign * wanted], abs=1e-5)


def test_a_model_of_n_grams_alone_is_explained(make_reader: Any, short_texts: tuple[str, ...]) -> None:
    """Such a model has no word vectors to differentiate."""
    encoding = make_reader("with n-grams").encoding
    config = {"encoder": {"kind": "none"}, "pooling": {"kinds": ["mean"]}, "bag": {"min_count": 1}}
    model = build_classifier(ClassifierConfig.model_validate(config), encoding)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    passage = encoding.passages(LabelledText(short_texts[0]))
    found = text_gradients(model, encoding, passage, 0)
    (reading,) = TextClassifier(encoding=encoding, scorer=TorchTextScorer(model)).read([passage])
    empty = label_log_odds(model.head().scores.bias.detach().numpy()[None], np.array([0]), multi_label=False)
    rise = label_log_odds(reading.scores[None], np.array([0]), multi_label=False) - empty
    assert found.words.sum() + found.gap == pytest.approx(float(rise[0]), abs=1e-4)
    assert np.abs(found.words).min() > 0


# --- splitting the weights of n-grams among tokens

GRAMS = NGrams(chars=(1, 4), words=(1, 2))


def naive(weights: list[float], places: list[tuple[int, int]], passage: Passage) -> list[float]:
    tokens = [place for sentence in passage.sentences for place in sentence.offsets()]
    found = [0.0] * len(tokens)
    for weight, place in zip(weights, places, strict=True):
        own = [i for i, token in enumerate(tokens) if set(range(*token)) & set(range(*place))]
        for i in own:
            found[i] += weight / len(own)
    return found


@settings(deadline=None)
@given(st.text("ab ,.Aİ한", max_size=25), st.sampled_from(["text", "sentence"]), st.integers(0, 5))
def test_the_weight_of_an_n_gram_is_split_among_its_tokens(text: str, by: By, most: int) -> None:
    passage = Passages(tokenizer=EnglishTokenizer(), by=by, max_tokens=most)(LabelledText(text))
    places = GRAMS.places(passage.running)
    weights = np.random.default_rng(0).normal(size=len(places))
    found = spread_grams(weights, np.array(places, dtype=np.int64).reshape(-1, 2), passage)
    np.testing.assert_allclose(found, naive(weights.tolist(), places, passage), atol=1e-9)


def test_marks_get_no_n_gram_weight() -> None:
    passage = Passages(tokenizer=EnglishTokenizer())(
        LabelledText("a big shop", marks=(Span(2, 5, "e1", "big"),))
    )
    found = spread_grams(np.array([1.0]), np.array([[0, 10]]), passage)
    assert passage.sentences[0].words == ("a", "<e1>", "big", "</e1>", "shop")
    np.testing.assert_allclose(found, [1 / 3, 0, 1 / 3, 0, 1 / 3])
