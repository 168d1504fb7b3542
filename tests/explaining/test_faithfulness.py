"""If these fail, a method is reported as faithful although it is no better than chance."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from gonie.explaining.faithfulness import Case, faithfulness, measure_methods, uniform_attention
from gonie.explaining.methods import erasure, explain_items, flatten
from gonie.reports.explanation import RANDOM
from gonie.tasks.classification.erased import without
from gonie.tasks.classification.explanation import ExplainedClassifier, TextAnswer
from gonie.tasks.explanation import Keep
from gonie.tasks.load import load
from gonie.tasks.tagging.explanation import ExplainedTagger
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.labelled_text import LabelledText
from gonie.text.types import Sentence


def naive(reader: Any, case: Case, method: str) -> tuple[float, float]:
    """Compute both figures of one text by their definitions. No two weights may be equal."""

    def chance(keep: Keep) -> float:
        (reading,) = reader.read([without(case.answer.passage, keep)])
        return float(
            reader.probabilities(reading.scores[None])[0, reader.encoding.labels.index(case.answer.label)]
        )

    weights = case.weights[method]
    order = sorted(range(len(weights)), key=lambda token: -weights[token])
    whole, losses = chance(np.ones(len(weights), dtype=bool)), []
    for share in (0.01, 0.05, 0.1, 0.2, 0.5):
        first = order[: int(np.ceil(round(share * len(weights), 9)))]
        keep = np.isin(np.arange(len(weights)), first)
        losses.append((whole - chance(~keep), whole - chance(keep)))
    comprehensiveness, sufficiency = np.mean(losses, axis=0)
    return float(comprehensiveness), float(sufficiency)


def test_figures_equal_the_definitions(reader: Any, short_texts: tuple[str, ...]) -> None:
    chance = np.random.default_rng(0)
    cases = []
    for text in (*short_texts, "it is thin " * 14):
        answer = TextAnswer(reader.encoding.passages(LabelledText(text)), "b")
        cases.append(Case(answer, {name: chance.normal(size=answer.tokens) for name in ("one", "two")}))
    told: list[int] = []
    found = faithfulness(ExplainedClassifier(reader), cases, progress=told.append)
    assert [row.method for row in found] == ["one", "two", RANDOM]
    for row in found[:2]:
        wanted = np.mean([naive(reader, case, row.method) for case in cases], axis=0)
        assert (row.comprehensiveness, row.sufficiency) == pytest.approx(tuple(wanted), abs=1e-6)
        assert row.texts == len(cases)
    assert told == [1, 2, 3, 4, 5]


class Tokens(NamedTuple):
    tokens: int


class Counted:
    """A model with a known rule: certain if token 0 is kept, or by the share of tokens kept."""

    def __init__(self, *, by_number: bool) -> None:
        self.asked: list[tuple[int, bytes]] = []
        self.by_number = by_number

    def log_odds(self, questions: Iterable[tuple[Tokens, Keep]]) -> np.ndarray:
        chances = []
        for answer, keep in questions:
            self.asked.append((answer.tokens, keep.tobytes()))
            chances.append(keep.mean() if self.by_number else float(keep[0]))
        return logit(np.array(chances))


def test_a_method_that_finds_the_deciding_word_beats_chance() -> None:
    weights = np.zeros(200)
    weights[0] = 1.0
    right, random = faithfulness(Counted(by_number=False), [Case(Tokens(200), {"right": weights})], draws=200)
    assert right.comprehensiveness == pytest.approx(1.0)
    assert right.sufficiency == pytest.approx(0.0)
    # at random, the word is among the first 1, 5, 10, 20 or 50 % with these probabilities
    assert random.comprehensiveness == pytest.approx(0.172, abs=0.03)
    assert random.sufficiency == pytest.approx(1 - 0.172, abs=0.03)


def test_if_all_words_count_equally_all_orders_score_equally() -> None:
    cases = [Case(Tokens(100), {"rising": np.arange(100.0), "even": np.ones(100)})]
    for row in faithfulness(Counted(by_number=True), cases):
        assert row.comprehensiveness == pytest.approx(0.172)
        assert row.sufficiency == pytest.approx(1 - 0.172)


def test_at_least_one_word_is_erased_and_no_question_is_repeated() -> None:
    answers = Counted(by_number=False)
    weights = {"a": np.array([3.0, 2.0, 1.0]), "b": np.array([3.0, 2.0, 1.0])}
    found = faithfulness(
        answers, [Case(Tokens(3), weights), Case(Tokens(1), {"a": np.ones(1), "b": np.ones(1)})]
    )
    assert found[0].comprehensiveness == found[1].comprehensiveness == pytest.approx(1.0)
    assert len(answers.asked) == len(set(answers.asked))


def test_the_same_seed_gives_the_same_figures(make_reader: Any, short_texts: tuple[str, ...]) -> None:
    reader = make_reader()
    cases = [Case(TextAnswer(reader.encoding.passages(LabelledText(text)), "a"), {}) for text in short_texts]
    first, again, other = (
        faithfulness(ExplainedClassifier(reader), cases, seed=seed, draws=2) for seed in (1, 1, 2)
    )
    assert first == again != other
    assert faithfulness(ExplainedClassifier(reader), []) == []


def test_erasure_explains_a_model_that_depends_on_one_word(make_reader: Any) -> None:
    """The n-grams decide, and attention does not see them."""
    reader = make_reader("sigmoid, n-grams")
    head = reader.model.head().scores
    torch.nn.init.zeros_(head.weight)
    bag = head.direct["bag"].weight
    torch.nn.init.zeros_(bag)
    bag.data[reader.encoding.bag.vocabulary.id("\tthin")] = 600.0
    head.bias.data.fill_(-20.0)
    passage = reader.encoding.passages(LabelledText("The plot is thin but the players are fine."))
    answer = TextAnswer(passage, "b")
    answers = ExplainedClassifier(reader)
    weights = erasure(answers, answer)
    found, random = faithfulness(answers, [Case(answer, {"erasure": weights})], draws=50)
    assert found.comprehensiveness == pytest.approx(1.0, abs=1e-3)
    assert found.sufficiency == pytest.approx(0.0, abs=1e-3)
    assert random.comprehensiveness < 0.5


# --- methods of an explanation


def test_every_method_is_reported_with_both_baselines(reader: Any, short_texts: tuple[str, ...]) -> None:
    model = ExplainedClassifier(reader, label="b")
    explained = list(explain_items(model, short_texts, methods=("erasure", "attention")))
    told: list[int] = []
    found = measure_methods(model, explained, draws=2, progress=told.append)
    assert [row.method for row in found] == ["erasure", "attention", "uniform attention", "random"]
    assert told == [1, 2, 3, 4]
    cases = [Case(each.answers[0], {"erasure": flatten(each.weights[0][0])}) for each in explained]
    (alone, _) = faithfulness(model, cases)
    assert found[0].comprehensiveness == pytest.approx(alone.comprehensiveness)
    assert found[0].sufficiency == pytest.approx(alone.sufficiency)


def test_erasure_of_a_tagger_beats_chance(toy_run: Path) -> None:
    tagger = load(toy_run)
    assert isinstance(tagger, Tagger)
    model = ExplainedTagger(tagger)
    texts = ("we met Cleo and Bert .", "Anna lives in Lima .", "Oslo is far .", "it rains .")
    explained = list(explain_items(model, [Sentence(tuple(text.split())) for text in texts]))
    told: list[int] = []
    by_erasure, by_luck = measure_methods(model, explained, progress=told.append)
    assert (by_erasure.method, by_luck.method) == ("erasure", "random")
    assert by_erasure.texts == told[-1] == sum(len(each.answers) for each in explained)
    assert by_erasure.comprehensiveness > by_luck.comprehensiveness + 0.1
    assert by_erasure.sufficiency < by_luck.sufficiency - 0.1


def test_a_word_that_alone_decides_its_tag_is_sufficient(plain_tagger: Tagger) -> None:
    model = ExplainedTagger(plain_tagger)
    explained = list(explain_items(model, [Sentence(("Gonie", "sleeps"))]))
    by_erasure, _ = measure_methods(model, explained)
    whole = sum(span.probability for span in explained[0].explanation.spans) / 2
    assert by_erasure.sufficiency == pytest.approx(0.0, abs=1e-6)
    assert by_erasure.comprehensiveness == pytest.approx(whole - 1 / 2, abs=1e-6), "an unknown word is either"
    assert measure_methods(model, []) == []


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_uniform_attention_is_equal_over_sentences_and_their_words(lengths: list[int]) -> None:
    wanted = [1 / len(lengths) / length for length in lengths for _ in range(length)]
    np.testing.assert_allclose(uniform_attention(lengths), wanted)
    assert uniform_attention(lengths).sum() == pytest.approx(1.0)
