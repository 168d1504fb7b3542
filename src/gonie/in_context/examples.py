"""The labelled examples of a training file, as they are shown to a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from gonie.errors import InputError
from gonie.formats.detect import kind_of_examples
from gonie.formats.format import LabelledFormat, PairFormat, ReadOptions, WordUnit
from gonie.formats.inspect import raw_text_tokenizer
from gonie.formats.labelled import LabelledSource
from gonie.formats.spans import SAMPLE
from gonie.formats.tagged import TaggedSource, survey
from gonie.in_context.settings import InContextSettings
from gonie.tasks.classification.read_options import text_options
from gonie.text.alignment import CharSpan
from gonie.text.schemes import to_spans
from gonie.text.tokenizers import Tokenizer, tokenizer
from gonie.text.types import Sentence
from gonie.text.units import SYLLABLE, is_korean


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its answer: spans by character offset, or labels of the whole text."""

    text: str
    spans: tuple[CharSpan, ...] = ()
    labels: tuple[str, ...] = ()

    def names(self) -> frozenset[str]:
        """Return the labels that occur in the answer."""
        return frozenset(self.labels) | {span[2] for span in self.spans}


@dataclass(frozen=True, slots=True)
class SentenceText:
    """The text of one sentence, and the ranges of its tokens in it."""

    text: str
    tokens: tuple[tuple[int, int], ...]

    @classmethod
    def of(cls, sentence: Sentence) -> SentenceText:
        """Return the text from the first token of a sentence to its last."""
        places = sentence.offsets()
        if not places:
            return cls("", ())
        first, last = places[0][0], places[-1][1]
        return cls(sentence.surface[first:last], tuple((start - first, end - first) for start, end in places))


@dataclass(frozen=True)
class ExampleFile:
    """The examples of a file. ``labels`` are their labels, the most frequent first."""

    examples: Sequence[Example]
    labels: tuple[str, ...]
    language: str
    tokenizer: Tokenizer | None = None
    multi_label: bool = False


def detected_task(settings: InContextSettings) -> str:
    """Return the task of the settings, or else that of their examples."""
    if settings.task is not None or settings.shots_from is None:
        return settings.task or "tag"
    kind = kind_of_examples(settings.shots_from)
    if kind == PairFormat.kind:
        raise InputError(
            "pairs of texts are not supported by in-context models",
            path=settings.shots_from,
            fix="Pass tagged sentences or labelled texts",
        )
    return "classify" if kind == LabelledFormat.kind else "tag"


def language_tokenizer(language: str, unit: str | None) -> Tokenizer:
    """Return the tokenizer of a language. Korean is cut into syllables, so that no entity is lost."""
    return tokenizer(language=language, unit=unit or ("word" if language == "en" else SYLLABLE), fold=True)


def read_tagged(path: Path, settings: InContextSettings) -> ExampleFile:
    """Read sentences with spans."""
    column = settings.recipe()["data"].get("tag_column")
    plain = TaggedSource(path, ReadOptions(tokenizer=raw_text_tokenizer(), tag_column=column))
    korean = is_korean(sentence.surface for sentence in islice(plain, SAMPLE))
    language = settings.language or ("ko" if korean else "en")
    splitter = language_tokenizer(language, settings.unit)
    options = ReadOptions(tokenizer=splitter, unit=WordUnit.of(splitter, shots=True), tag_column=column)
    source = TaggedSource(path, options)
    scheme = survey(source).scheme
    if not scheme.has_spans:
        raise InputError(
            f"in-context models predict spans, but the tags of the file are {scheme}",
            path=path,
            fix="Pass a file of named entities or other spans, or choose its column: --llm tag_column=N",
        )
    examples, counts = [], Counter[str]()
    for sentence in source.with_tag_scheme(scheme):
        if sentence.words and sentence.tags is not None:
            own = SentenceText.of(sentence)
            spans = tuple(
                (own.tokens[start][0], own.tokens[end - 1][1], label)
                for start, end, label in to_spans(sentence.tags, scheme)
            )
            counts.update(label for *_, label in spans)
            examples.append(Example(own.text, spans))
    labels = _ranked(counts)
    if not labels:
        raise InputError("no sentence has a labelled span", path=path, fix="Pass a file with gold spans")
    return ExampleFile(examples, labels, language, splitter)


def read_labelled(path: Path, settings: InContextSettings) -> ExampleFile:
    """Read texts with labels."""
    source = LabelledSource(path, text_options(settings.recipe()))
    texts = list(source)
    language = settings.language or ("ko" if is_korean(text.text for text in texts[:SAMPLE]) else "en")
    counts = Counter(label for text in texts for label in text.labels)
    examples = [Example(text.text, labels=text.labels) for text in texts]
    several = source.options.multi_label or any(len(text.labels) != 1 for text in texts)
    return ExampleFile(examples, _ranked(counts), language, multi_label=several)


def _ranked(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda label: (-counts[label], label)))


def sentence_texts(sentences: Sequence[Sentence]) -> Iterator[SentenceText]:
    """Yield the text of each sentence."""
    return map(SentenceText.of, sentences)
