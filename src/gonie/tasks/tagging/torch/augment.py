"""Augmented copies of tagged training sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from gonie.errors import RecipeError
from gonie.formats import conll
from gonie.formats.jsonl import json_line
from gonie.formats.spans import AnnotatedText, tagged_sentences, text_and_spans
from gonie.system.files import atomic_write
from gonie.tasks.augment import AUTO, KOREAN_KINDS, LANGUAGE_MODEL
from gonie.tasks.paths import locate
from gonie.tasks.tagging.recipe import TagDataConfig
from gonie.tasks.torch.copies_note import note_copies
from gonie.tasks.torch.word_data import Note
from gonie.text.augment.copies import Augment, Copy, augmented
from gonie.text.augment.table import SENTENCE_KINDS, Fit
from gonie.text.noise import noisy
from gonie.text.report import Report
from gonie.text.schemes import IOB2, Scheme, convert
from gonie.text.tokenizers import Tokenizer
from gonie.text.types import Sentence


def augmented_sentences(
    sentences: Iterable[Sentence],
    data: TagDataConfig,
    *,
    scheme: Scheme,
    tokenizer: Tokenizer,
    seed: int,
    note: Note,
) -> list[Sentence]:
    """Return the copies of the training sentences that ``data.augment`` asks for. Tags are in ``scheme``.

    They are also written to ``data.augment.file``, if it is set.
    """
    config = data.augment
    if not config.copies:
        return []
    known = list(sentences)
    _check_spans(config.kinds, scheme)
    kinds: dict[str, Augment[Sentence]] = {}
    fit = Fit(known, scheme, config.rate, config.where)
    for name in config.kinds:
        if name in SENTENCE_KINDS:
            kinds[name] = SENTENCE_KINDS[name].build(fit)
        elif name == LANGUAGE_MODEL:
            kinds[name] = _language_model(fit, data, seed, note)
        else:
            kinds[name] = RetokenizedNoise(name, scheme=scheme, tokenizer=tokenizer)
    found = augmented(known, kinds, config.kinds, copies=config.copies, seed=seed)
    note_copies(found, "sentence", note, spans=scheme.has_spans)
    if config.file is not None:
        path = locate(config.file)
        as_lines = _json_lines if path.suffix == ".jsonl" else _column_lines
        atomic_write(path, "".join(as_lines(found.made)))
        note(f"augmented copies: written to {path}")
    return found.examples


def _check_spans(kinds: Iterable[str], scheme: Scheme) -> None:
    """Refuse kinds that replace or move entities if the tags are plain."""
    if scheme.has_spans:
        return
    unfit = [
        name
        for name in kinds
        if name in KOREAN_KINDS or ((own := SENTENCE_KINDS.get(name)) and own.needs_spans)
    ]
    if unfit:
        raise RecipeError(
            [
                f"data.augment.kinds: {', '.join(unfit)}: works only with entities, not with plain tags; "
                "use tokens, shuffle, crop, typos or case"
            ]
        )


def _language_model(fit: Fit, data: TagDataConfig, seed: int, note: Note) -> Augment[Sentence]:
    from gonie.tasks.language_model.torch.folder import load_bilm
    from gonie.tasks.tagging.torch.substitutes import Substitutes

    name = data.language if data.augment.bilm == AUTO else data.augment.bilm
    saved = load_bilm(name)
    if saved.language != data.language:
        raise RecipeError(
            [
                f"data.augment.bilm: {name} is a language model for {saved.language}, but "
                f"data.language is {data.language}; use another model, or set data.language"
            ]
        )
    if saved.unit != data.token_unit:
        note(
            f"{name}: the language model was trained on {saved.unit}s, but the text is tokenised "
            f"into {data.token_unit}s; to match, use --set data.unit={saved.unit}"
        )
    return Substitutes(fit, saved, seed=seed)


class RetokenizedNoise:
    """Korean noise of one kind in the text of a sentence, which is split into tokens again.

    A copy that becomes several sentences, or with entities that its tokens cannot express, is dropped.
    """

    def __init__(self, kind: str, *, scheme: Scheme, tokenizer: Tokenizer) -> None:
        self._kind = kind
        self._scheme = scheme
        self._tokenizer = tokenizer

    def __call__(self, sentence: Sentence, generator: np.random.Generator) -> Sentence | None:
        """Return the sentence with noise, or None if its text is not known or does not change."""
        if sentence.text is None or sentence.unreachable:
            return None
        old, spans = text_and_spans(sentence, self._scheme)
        text, moved = noisy(old, spans, self._kind, generator)
        if text == old:
            return None
        report = Report()
        copy = AnnotatedText(text=text, spans=moved, line=sentence.line)
        made = list(tagged_sentences([copy], self._tokenizer, report))
        if report.misaligned or len(made) != 1:
            return None
        tags = tuple(convert(made[0].tags or (), IOB2, self._scheme))
        return replace(made[0], tags=tags, path=sentence.path, id=sentence.id, meta=sentence.meta)


def _column_lines(copies: Iterable[Copy[Sentence]]) -> Iterator[str]:
    """Yield each copy in columns, after a comment with its kind and the place of its original."""
    for copy in copies:
        columns = tuple(copy.example.columns)
        (lines,) = conll.write([copy.example], columns=columns)
        yield f"# kind = {copy.kind}, original = {_place(copy.original)}\n{lines}"


def _json_lines(copies: Iterable[Copy[Sentence]]) -> Iterator[str]:
    """Yield each copy as an object with its kind and the place and words of its original."""
    for copy in copies:
        text = {} if copy.example.text is None else {"text": copy.example.text}
        yield json_line(
            {
                "kind": copy.kind,
                "original": _place(copy.original),
                **text,
                "tokens": copy.example.words,
                "tags": copy.example.tags,
                "original_tokens": copy.original.words,
            }
        )


def _place(sentence: Sentence) -> str:
    return f"{Path(sentence.path).name}:{sentence.line}"
