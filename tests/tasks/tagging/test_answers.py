"""Taggers as teachers: if these break, a student learns other probabilities than those of its teacher."""

from __future__ import annotations

import math
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gonie.errors import InputError
from gonie.features.encoding import close_labels
from gonie.tasks.tagging.answers import (
    MARGINALS,
    PATH_CHANCES,
    PATHS,
    AnsweredSentences,
    HardTagTeacher,
    TagAnswer,
    TagConversion,
    TaggerTeacher,
    TagPath,
    pack,
)
from gonie.tasks.tagging.labeller import Tagging
from gonie.tasks.tagging.tagger import Tagger
from gonie.tasks.teacher import Answers, AnswerSettings, Request, write_answers
from gonie.text.schemes import Scheme
from gonie.text.types import Sentence

from .test_ensemble import member, texts

SETTINGS = AnswerSettings(files=("text.txt",), nbest=4)


@pytest.fixture
def members(tagger: Tagger) -> list[Tagger]:
    return [member(tagger, seed, temperature) for seed, temperature in ((1, 1.0), (2, 2.5))]


def enumerated(taggers: list[Tagger], sentence: Sentence, heat: float) -> dict[tuple[str, ...], float]:
    """Return the mean probability of each allowed tag sequence, from the scores of all of them."""
    found: dict[tuple[str, ...], float] = {}
    for tagger in taggers:
        chain = tagger.decoder.chain
        (emissions,) = tagger.emissions([sentence])
        temperature = tagger.temperature * heat
        scores = {}
        for path in product(range(len(tagger.labels)), repeat=len(sentence)):
            moves = sum(chain.transitions[a, b] for a, b in pairwise(path))
            unary = sum(emissions[t, tag] for t, tag in enumerate(path))
            scores[path] = (chain.start[path[0]] + moves + unary + chain.end[path[-1]]) / temperature
        total = sum(math.exp(score) for score in scores.values() if score > -math.inf)
        for path, score in scores.items():
            tags = tuple(tagger.labels[tag] for tag in path)
            chance = math.exp(score) / total if score > -math.inf else 0.0
            found[tags] = found.get(tags, 0.0) + chance / len(taggers)
    return found


@pytest.mark.parametrize("heat", [1.0, 3.0])
@pytest.mark.parametrize("number", [1, 2])
def test_answers_equal_enumeration(members: list[Tagger], number: int, heat: float) -> None:
    """Marginals are the means of the members, and the paths of one tagger are its best ones."""
    own = members[:number]
    settings = AnswerSettings(files=(), nbest=4, temperature=heat)
    sentences = texts(6, longest=4)
    labels = list(own[0].labels)
    for sentence, answer in zip(sentences, TaggerTeacher(own, settings).answers(sentences), strict=True):
        chances = enumerated(own, sentence, heat)
        wanted = np.zeros((len(sentence), len(labels)))
        for tags, chance in chances.items():
            wanted[np.arange(len(sentence)), [labels.index(tag) for tag in tags]] += chance
        np.testing.assert_allclose(answer.marginals, wanted, atol=1e-6)
        given = [path.probability for path in answer.paths]
        assert given == sorted(given, reverse=True)
        assert given == pytest.approx([chances[path.tags] for path in answer.paths], abs=1e-6)
        if number == 1:
            best = sorted((c for c in chances.values() if c > 0), reverse=True)[:4]
            assert given == pytest.approx(best, abs=1e-6)


def test_an_answer_depends_on_its_sentence_alone(members: list[Tagger]) -> None:
    sentences = texts(30)
    teacher = TaggerTeacher(members, SETTINGS)
    together = list(teacher.answers(sentences))
    for sentence, answer in zip(sentences[:8], together, strict=False):
        (alone,) = teacher.answers([sentence])
        np.testing.assert_allclose(alone.marginals, answer.marginals, atol=1e-6)
        assert [path.tags for path in alone.paths] == [path.tags for path in answer.paths]


def stored(teacher: Any, sentences: list[Sentence], folder: Path, **options: Any) -> Answers:
    labels = options.get("labels", teacher.labels)
    scheme = options.get("scheme", teacher.scheme)
    conversion = TagConversion(teacher, labels, scheme, options.get("rules", {}))
    request = Request(
        task="tag",
        teacher=teacher,
        examples=sentences,
        digest="",
        labels=labels,
        settings=SETTINGS,
        pack=lambda *block: pack(conversion, *block),
    )
    return write_answers(request, folder, lambda done, total: None)


def test_batches_have_the_answers_at_their_tokens(members: list[Tagger], tmp_path: Path) -> None:
    """What is stored is the answer up to float16, without tags of a tiny probability."""
    teacher = TaggerTeacher(members[:1], SETTINGS)
    sentences = texts(20)
    labels = list(teacher.labels)
    turned = [*reversed(labels)]  # a student may number its tags otherwise
    answers = stored(teacher, sentences, tmp_path)
    examples = AnsweredSentences(members[0].encoding.encode(sentences), answers, turned)
    rows = np.array([7, 0, 19])
    batch = examples.batch(rows)
    assert batch[MARGINALS].shape == (*batch["mask"].shape, len(labels))
    assert batch[PATHS].shape[::2] == batch["mask"].shape
    np.testing.assert_allclose(batch[MARGINALS].sum(2), batch["mask"], atol=1e-6)
    np.testing.assert_allclose(batch[PATH_CHANCES].sum(1), 1, atol=1e-6)
    for at, row in enumerate(rows.tolist()):
        (answer,) = teacher.answers([sentences[row]])
        length = len(sentences[row])
        np.testing.assert_allclose(batch[MARGINALS][at, :length, ::-1], answer.marginals, atol=0.01)
        for path, own in zip(answer.paths, batch[PATHS][at], strict=False):
            assert [turned[tag] for tag in own[:length]] == list(path.tags)
            assert (own[length:] == -1).all()
        sure = np.asarray(answer.marginals).max(axis=1).min()
        assert examples.confidences[row] == pytest.approx(sure, abs=1e-6)


class Speller:
    """Tags capitalised words, without probabilities."""

    def __init__(self, scheme: Scheme) -> None:
        self.labels = close_labels(["B-NAME", "B-MISC"], scheme)
        self._scheme = scheme

    def tag_sentences(self, sentences: list[Sentence]) -> list[Tagging]:
        begin = "S" if self._scheme.kind == "BIOES" else "B"
        return [
            Tagging(tuple(f"{begin}-NAME" if word[0].isupper() else "O" for word in sentence.words))
            for sentence in sentences
        ]


def test_hard_answers_are_certain_and_of_any_scheme(tagger: Tagger, tmp_path: Path) -> None:
    """Its tags are converted and renamed; here the student has the other scheme and other names."""
    own = Scheme(kind="IOB2")
    teacher = HardTagTeacher(Speller(own), scheme=own, name="capitals", digest="1")
    scheme = Scheme(kind="BIOES")
    labels = close_labels(["B-PER"], scheme)
    sentences = texts(5)
    answers = stored(
        teacher, sentences, tmp_path, labels=labels, scheme=scheme, rules={"NAME": "PER", "MISC": "O"}
    )
    batch = AnsweredSentences(tagger.encoding.encode(sentences), answers, labels).batch(np.arange(5))
    for row, sentence in enumerate(sentences):
        wanted = ["S-PER" if word[0].isupper() else "O" for word in sentence.words]
        found = [labels[tag] for tag in batch[MARGINALS][row, : len(sentence)].argmax(1)]
        assert len(found) == len(wanted)
        assert found == wanted
        assert batch[PATH_CHANCES][row].tolist() == [1.0]
    assert (answers.confidences == 1).all()


@pytest.mark.parametrize(
    ("labels", "rules", "told"),
    [
        (("B-PER",), {}, r"does not have these labels of the teacher: MISC, NAME"),
        (("B-NAME", "B-MISC", "B-LOC"), {}, r"does not know these labels of the training file: LOC"),
        (("B-NAME", "B-MISC"), {"ORG": "NAME"}, r"no label 'ORG', which --map renames"),
    ],
)
def test_a_teacher_of_other_types_is_refused(labels: Any, rules: Any, told: str) -> None:
    scheme = Scheme(kind="IOB2")
    teacher = HardTagTeacher(Speller(scheme), scheme=scheme, name="", digest="")
    with pytest.raises(InputError, match=told):
        TagConversion(teacher, close_labels(labels, scheme), scheme, rules)


def test_marginals_of_another_scheme_are_refused() -> None:
    """The probability of S is not that of B: a student in BIOES cannot learn from B and I."""
    scheme = Scheme(kind="IOB2")
    teacher = HardTagTeacher(Speller(scheme), scheme=scheme, name="", digest="")
    student = Scheme(kind="BIOES")
    labels = close_labels(["B-NAME", "B-MISC"], student)
    TagConversion(teacher, labels, student, {})
    teacher.has_marginals = True
    with pytest.raises(InputError, match=r"tags in IOB2.* student in BIOES.*data\.model_scheme=IOB2"):
        TagConversion(teacher, labels, student, {})


def test_a_wrong_number_of_tags_is_refused() -> None:
    scheme = Scheme(kind="IOB2")
    teacher = HardTagTeacher(Speller(scheme), scheme=scheme, name="", digest="")
    conversion = TagConversion(teacher, teacher.labels, scheme, {})
    with pytest.raises(InputError, match="gave 1 tags to a sentence of 2 tokens"):
        pack(conversion, [Sentence(words=("a", "b"))], [TagAnswer([TagPath(("O",), 1.0)])])
