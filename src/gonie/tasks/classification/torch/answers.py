"""Unlabelled texts and the answers of a teacher to them (``data.answers``)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from gonie.tasks.classification.recipe import TextRecipe
from gonie.tasks.classification.torch.files import read_unlabelled
from gonie.tasks.data_warnings import TEXTS
from gonie.tasks.paths import locate
from gonie.tasks.teacher import Answers, AnswerSettings
from gonie.tasks.torch.answers import most_of, note_held_out
from gonie.tasks.torch.word_data import Note
from gonie.text.labelled_text import LabelledText


class UnlabelledTexts(NamedTuple):
    """Texts without labels, and the answers of a teacher to them, in the same order."""

    texts: Sequence[LabelledText]
    answers: Answers


def read_answered(
    recipe: TextRecipe, held: Mapping[str, Sequence[LabelledText]], note: Note
) -> UnlabelledTexts | None:
    """Read the texts that a teacher has answered, if the recipe names its answers (``data.answers``).

    ``note`` receives what was found, and how many texts are also in the held-out splits ``held``.
    """
    if recipe.data.answers is None:
        return None
    answers = Answers.complete_in(locate(recipe.data.answers), task=recipe.task)
    texts = read_unlabelled_texts(recipe, answers.settings, note)
    answers.check_examples(digest_texts(texts))
    note_held_out(TEXTS, texts, held, note)
    return UnlabelledTexts(texts, answers)


def read_unlabelled_texts(recipe: TextRecipe, settings: AnswerSettings, note: Note) -> list[LabelledText]:
    """Read different texts of all files."""
    read = (text for file in settings.files for text in read_unlabelled(recipe.data, file, note))
    return most_of(TEXTS, read, settings, note)


def digest_texts(texts: Iterable[LabelledText]) -> str:
    """Return a digest of the texts and their marks."""
    digest = hashlib.sha256()
    for text in texts:
        marks = [(mark.start, mark.end, mark.label) for mark in text.marks]
        digest.update(json.dumps([text.text, marks]).encode())
    return digest.hexdigest()
