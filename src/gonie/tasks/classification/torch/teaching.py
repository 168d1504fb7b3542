"""Classifiers as teachers, and what they are asked (``gonie distill``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from torch import nn

from gonie.metrics.classes import evaluate_classes
from gonie.tasks.classification.answers import ClassifierTeacher, HardTextTeacher, LabelConversion, pack
from gonie.tasks.classification.classifier import GIVEN
from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.classification.torch.answers import digest_texts, read_unlabelled_texts
from gonie.tasks.classification.torch.data import read_text_held_out, training_labels
from gonie.tasks.classification.torch.job import TORCH_BATCH
from gonie.tasks.teacher import TOGETHER, AnswerSettings, Request
from gonie.tasks.torch.scorer import TorchTextScorer
from gonie.tasks.torch.word_data import Note
from gonie.text.label_map import LabelMap
from gonie.text.labelled_text import LabelledText
from gonie.text.schemes import OUTSIDE


def teacher_of(
    models: Sequence[Any], networks: Mapping[int, nn.Module], recipe: TextRecipe, settings: AnswerSettings
) -> ClassifierTeacher | HardTextTeacher:
    """Return classifiers, or one in-context model, as the teacher of a student.

    ``networks`` are torch networks that score in place of a classifier, by its number.
    """
    first = models[0]
    if not first.has_probabilities:
        return HardTextTeacher(
            first, name=first.usage.name, digest=first.digest, together=max(TOGETHER, first.at_once)
        )
    members = [
        model.with_scorer(TorchTextScorer(networks[number]), TORCH_BATCH) if number in networks else model  # type: ignore[arg-type]
        for number, model in enumerate(models)
    ]
    return ClassifierTeacher(members, settings)


def answer_request(recipe: TextRecipe, teacher: Any, settings: AnswerSettings, note: Note) -> Request:
    """Return the unlabelled texts with a teacher, whose labels must be those of the training file."""
    labels = training_labels(recipe, lambda text: None)
    conversion = LabelConversion(teacher, labels, recipe.data.multi_label, settings.map)
    texts = read_unlabelled_texts(recipe, settings, note)
    return Request(
        task=recipe.task,
        teacher=teacher,
        examples=texts,
        digest=digest_texts(texts),
        labels=labels,
        settings=settings,
        pack=partial(pack, conversion),
    )


def held_out(recipe: TextRecipe) -> tuple[str, Sequence[LabelledText]]:
    """Return the name of the split that models are compared on, test or dev, and its texts."""
    split = "test" if recipe.data.files("test") and not recipe.data.folds else "dev"
    return split, read_text_held_out(recipe)


def predict(model: Any, examples: Sequence[LabelledText]) -> tuple[list[tuple[str, ...]], int]:
    """Return the labels of texts, by a classifier or another teacher, and the number of tokens it read.

    If that is not known, it is the number of words.
    """
    tokens = sum(len(each.text.split()) for each in examples)
    if hasattr(model, "pipe"):
        found = list(model.pipe(examples))
        return [each.labels for each in found], sum(each.tokens for each in found) or tokens
    answers = [answer.chances for answer in model.answers(examples)]
    if model.multi_label:
        return [
            tuple(model.labels[k] for k in np.flatnonzero(chances >= GIVEN)) for chances in answers
        ], tokens
    return [(model.labels[int(chances.argmax())],) for chances in answers], tokens


def score(
    recipe: TextRecipe,
    model: Any,
    examples: Sequence[LabelledText],
    predicted: Sequence[tuple[str, ...]],
    rules: Mapping[str, str],
) -> tuple[str, float]:
    """Return the name and the value of the main score. ``rules`` rename the labels of the model."""
    labels = sorted({rules.get(label, label) for label in model.labels} - ({OUTSIDE} & set(rules.values())))
    given = [LabelMap(rules).of_text(each) for each in predicted]
    found = evaluate_classes(examples, given, None, labels, multi_label=recipe.data.multi_label, bootstrap=0)
    return found.headline
