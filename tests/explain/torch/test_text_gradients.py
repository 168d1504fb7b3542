"""If these break, weights are shown that do not add up to the answer they claim to explain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from gonie.explain.odds import log_odds
from gonie.explain.text_answers import TextAnswer, TextAnswers
from gonie.explain.torch.text_gradients import text_gradients
from gonie.tasks.classification.classifier import TextClassifier
from gonie.tasks.classification.recipe import ClassifierConfig
from gonie.tasks.classification.torch.build import build_classifier
from gonie.tasks.torch.scorer import TorchTextScorer
from gonie.text.labelled_text import LabelledText


def odds_of(reader: Any, text: str, label: int) -> float:
    answer = TextAnswer(reader.encoding.passages(LabelledText(text)), label)
    return float(TextAnswers(reader).log_odds([(answer, np.ones(answer.tokens, dtype=bool))])[0])


def baseline_odds(reader: Any, text: str, label: int) -> float:
    """Zero vectors instead of the words', and no n-grams: through a model without either."""
    corpus = reader.encoding.encode([LabelledText(text)])
    batch = {name: torch.from_numpy(array) for name, array in corpus.batch(np.array([0])).items()}
    batch |= {"bag.ids": torch.zeros(0, dtype=torch.int64), "bag.offsets": torch.zeros(2, dtype=torch.int64)}
    with torch.no_grad():
        vectors = torch.zeros_like(reader.model.eval().embed(batch))
        scores = reader.model.score(reader.model.pool(vectors, batch).vectors, batch).numpy()
    several = reader.encoding.several
    return float(log_odds(scores / reader.temperature, np.array([label]), several=several)[0])


@pytest.mark.parametrize("label", [0, 1])
def test_the_weights_sum_to_the_answer_less_that_of_an_empty_text(
    reader: Any, texts: tuple[str, ...], label: int
) -> None:
    for text in texts:
        passage = reader.encoding.passages(LabelledText(text))
        found = text_gradients(
            reader.model, reader.encoding, passage, label, temperature=reader.temperature, steps=64
        )
        assert len(found.words) == sum(map(len, passage.sentences))
        rise = odds_of(reader, text, label) - baseline_odds(reader, text, label)
        assert found.words.sum() + found.gap == pytest.approx(rise, abs=1e-4)
        blanks = reader.encoding.bag is not None  # n-grams of blanks alone belong to no token
        assert blanks or abs(found.gap) < 1e-3


def test_training_or_not_the_weights_are_the_same(reader: Any, texts: tuple[str, ...]) -> None:
    passage = reader.encoding.passages(LabelledText(texts[0]))
    first = text_gradients(reader.model.train(), reader.encoding, passage, 1)
    assert reader.model.training
    again = text_gradients(reader.model.eval(), reader.encoding, passage, 1)
    assert first.words.tolist() == again.words.tolist()


def test_few_steps_are_enough_for_two_digits(reader: Any, texts: tuple[str, ...]) -> None:
    passage = reader.encoding.passages(LabelledText(texts[2]))
    few, many = (text_gradients(reader.model, reader.encoding, passage, 0, steps=n) for n in (32, 300))
    np.testing.assert_allclose(few.words, many.words, atol=0.01)


def test_of_n_grams_alone_it_is_their_weights(make_reader: Any, texts: tuple[str, ...]) -> None:
    """A sigmoid model whose network is silent is linear: a weight is known beforehand."""
    reader = make_reader("sigmoid, n-grams")
    head = reader.model.head().scores
    torch.nn.init.zeros_(head.weight)
    passage = reader.encoding.passages(LabelledText(texts[1]))  # one word
    ids, _ = reader.encoding.bag.encode([texts[1]])
    wanted = float(head.direct["bag"].weight.detach()[ids.tolist(), 0].sum()) / len(ids) ** 0.5
    for label, sign in ((1, 1), (0, -1)):
        found = text_gradients(reader.model, reader.encoding, passage, label)
        assert found.words.tolist() == pytest.approx([sign * wanted], abs=1e-5)


def test_a_model_of_n_grams_alone_is_explained(make_reader: Any, texts: tuple[str, ...]) -> None:
    """It has no word vectors to take a gradient of."""
    encoding = make_reader("with n-grams").encoding
    config = {"encoder": {"kind": "none"}, "pooling": {"kinds": ["mean"]}, "bag": {"min_count": 1}}
    model = build_classifier(ClassifierConfig.model_validate(config), encoding)
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter)
    passage = encoding.passages(LabelledText(texts[0]))
    found = text_gradients(model, encoding, passage, 0)
    (reading,) = TextClassifier(encoding=encoding, scorer=TorchTextScorer(model)).read([passage])
    empty = log_odds(model.head().scores.bias.detach().numpy()[None], np.array([0]), several=False)
    rise = log_odds(reading.scores[None], np.array([0]), several=False) - empty
    assert found.words.sum() + found.gap == pytest.approx(float(rise[0]), abs=1e-4)
    assert np.abs(found.words).min() > 0
