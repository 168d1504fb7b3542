"""Taggers as teachers, and what they are asked (``gonie distill``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from torch import nn

from gonie.errors import InputError
from gonie.features.encoding import close_labels
from gonie.metrics.evaluation import evaluate
from gonie.tasks.tagging.answers import HardTagTeacher, TagConversion, TaggerTeacher, pack
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.torch.answers import digest_sentences, read_unlabelled_sentences
from gonie.tasks.tagging.torch.files import TagFiles
from gonie.tasks.tagging.torch.job import TORCH_BATCH
from gonie.tasks.teacher import TOGETHER, AnswerSettings, Request
from gonie.tasks.torch.scorer import TorchScorer
from gonie.tasks.torch.word_data import Note
from gonie.text.label_map import LabelMap
from gonie.text.schemes import convert
from gonie.text.types import Sentence


def teacher_of(
    models: Sequence[Any], networks: Mapping[int, nn.Module], recipe: TagRecipe, settings: AnswerSettings
) -> TaggerTeacher | HardTagTeacher:
    """Return taggers, or one in-context model, as the teacher of a student.

    ``networks`` are torch networks that score in place of a tagger, by its number.
    """
    first = models[0]
    if not first.has_probabilities:
        return HardTagTeacher(
            first,
            scheme=first.encoding.scheme,
            name=first.usage.name,
            digest=first.digest,
            together=max(TOGETHER, first.at_once),
        )
    unit = recipe.data.token_unit
    for model in models:
        if model.tokenizer.unit != unit:
            raise InputError(
                f"the teacher tags tokens of the unit {model.tokenizer.unit}, and the student of {unit}",
                fix=f"Use another teacher, or --set data.unit={model.tokenizer.unit}",
            )
    members = [
        model.with_scorer(TorchScorer(networks[number]), TORCH_BATCH) if number in networks else model  # type: ignore[arg-type]
        for number, model in enumerate(models)
    ]
    return TaggerTeacher(members, settings)


def answer_request(recipe: TagRecipe, teacher: Any, settings: AnswerSettings, note: Note) -> Request:
    """Return the unlabelled sentences with a teacher, whose tags must be those of the training file."""
    files = TagFiles(recipe)
    tags = Counter(tag for sentence in files.training_part() for tag in sentence.tags or ())
    labels = close_labels(tags, files.target)
    conversion = TagConversion(teacher, labels, files.target, settings.map)
    sentences = read_unlabelled_sentences(recipe, files.splitter, settings, note)
    return Request(
        task=recipe.task,
        teacher=teacher,
        examples=sentences,
        digest=digest_sentences(sentences),
        labels=labels,
        settings=settings,
        pack=partial(pack, conversion),
    )


def held_out(recipe: TagRecipe) -> tuple[str, list[Sentence]]:
    """Return the name of the split that models are compared on, test or dev, and its sentences."""
    files = TagFiles(recipe)
    if recipe.data.files("test"):
        return "test", files.read("test", _silent)
    return "dev", files.train_and_dev(files.everything(), _silent)[1]


def predict(model: Any, examples: Sequence[Sentence]) -> tuple[list[tuple[str, ...]], int]:
    """Return the tags of sentences, by a tagger or another teacher, and the number of their tokens."""
    tokens = sum(map(len, examples))
    if hasattr(model, "tag_sentences"):
        return [tagging.tags for tagging in model.tag_sentences(examples)], tokens
    return [answer.paths[0].tags for answer in model.answers(examples)], tokens


def score(
    recipe: TagRecipe,
    model: Any,
    examples: Sequence[Sentence],
    predicted: Sequence[tuple[str, ...]],
    rules: Mapping[str, str],
) -> tuple[str, float]:
    """Return the name and the value of the main score. ``rules`` rename the types of the model."""
    target = TagFiles(recipe).target
    source = model.encoding.scheme if hasattr(model, "encoding") else model.scheme
    renamed = [LabelMap(rules).rename(tags, source) if rules else tags for tags in predicted]
    tags = [convert(each, source, target) for each in renamed]
    return evaluate(examples, tags, scheme=target, bootstrap=0).headline


def _silent(text: str) -> None:
    """Drop a note."""
