"""Unlabelled sentences and the answers of a teacher to them (``data.answers``)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from gonie.tasks.data_warnings import SENTENCES
from gonie.tasks.paths import locate
from gonie.tasks.tagging.recipe import TagRecipe
from gonie.tasks.tagging.tagger import MAX_TOKENS
from gonie.tasks.tagging.torch.files import read_untagged
from gonie.tasks.teacher import Answers, AnswerSettings
from gonie.tasks.torch.answers import most_of, note_held_out
from gonie.tasks.torch.word_data import Note
from gonie.text.report import count
from gonie.text.tokenizers import Tokenizer
from gonie.text.types import Sentence


class UnlabelledSentences(NamedTuple):
    """Sentences without tags, and the answers of a teacher to them, in the same order."""

    sentences: Sequence[Sentence]
    answers: Answers


def read_answered(
    recipe: TagRecipe,
    splitter: Tokenizer,
    held: Mapping[str, Sequence[Sentence]],
    note: Note,
) -> UnlabelledSentences | None:
    """Read the sentences that a teacher has answered, if the recipe names its answers (``data.answers``).

    ``note`` receives what was found, and how many sentences are also in the held-out splits ``held``.
    """
    if recipe.data.answers is None:
        return None
    answers = Answers.complete_in(locate(recipe.data.answers), task=recipe.task)
    sentences = read_unlabelled_sentences(recipe, splitter, answers.settings, note)
    answers.check_examples(digest_sentences(sentences))
    note_held_out(SENTENCES, sentences, held, note)
    return UnlabelledSentences(sentences, answers)


def read_unlabelled_sentences(
    recipe: TagRecipe, splitter: Tokenizer, settings: AnswerSettings, note: Note
) -> list[Sentence]:
    """Read different sentences of all files, long ones in pieces."""
    longest = min(recipe.data.max_tokens, MAX_TOKENS)
    read = [each for file in settings.files for each in read_untagged(recipe.data, splitter, file, note)]
    if cut := sum(len(sentence) > longest for sentence in read):
        note(f"{count(cut, 'unlabelled sentence')} of more than {longest:,} tokens split")
    pieces = (piece for sentence in read for piece in _pieces(sentence, longest))
    return most_of(SENTENCES, pieces, settings, note)


def _pieces(sentence: Sentence, longest: int) -> Iterator[Sentence]:
    if len(sentence) <= longest:
        yield sentence
        return
    yield from (
        sentence.part(first, min(first + longest, len(sentence)))
        for first in range(0, len(sentence), longest)
    )


def digest_sentences(sentences: Iterable[Sentence]) -> str:
    """Return a digest of the words."""
    digest = hashlib.sha256()
    for sentence in sentences:
        digest.update(json.dumps(sentence.words).encode())
    return digest.hexdigest()
