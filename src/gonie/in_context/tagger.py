"""A tagger whose spans are read from the answers of a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NoReturn

from gonie.errors import InputError
from gonie.features.encoding import close_labels
from gonie.in_context.answerer import Answerer, ModelAnswer, Question
from gonie.in_context.examples import SentenceText
from gonie.in_context.mentions import place_mentions
from gonie.in_context.usage import ReadAnswer, Usage
from gonie.runtime.groups import MOST
from gonie.tasks.tagging.decoding import By
from gonie.tasks.tagging.labeller import Tagging, TokenSpan
from gonie.tasks.tagging.text_tagger import Result, SplitText, TagNames, TextTagger
from gonie.text.schemes import IOB2, from_spans
from gonie.text.tokenizers import Tokenizer
from gonie.text.types import Document, Sentence, shortened


class InContextTagger(TextTagger):
    """Tags sentences with the answers of a language model. There are no probabilities.

    ``usage`` counts what the answers cost and what was wrong with them. A sentence without an answer has no
    spans, and one with a malformed answer has those of the parts that have the form. Its document notes it.
    """

    has_probabilities = False

    def __init__(
        self, *, answerer: Answerer, tokenizer: Tokenizer, recipe: Mapping[str, Any] | None = None
    ) -> None:
        types = answerer.prompt.labels
        tags = close_labels((f"B-{label}" for label in types), IOB2)
        super().__init__(encoding=TagNames(tags, IOB2), tokenizer=tokenizer, recipe=recipe)
        self._answerer = answerer
        self._types = frozenset(types)

    @property
    def usage(self) -> Usage:
        """What the answers cost, and what was wrong with them."""
        return self._answerer.usage

    @property
    def digest(self) -> str:
        """A digest that changes if the answers may change."""
        return self._answerer.digest

    @property
    def at_once(self) -> int:
        """How many sentences are asked about at once."""
        return self._answerer.chat.at_once

    def with_decoding(self, by: By = "viterbi", bias: Mapping[str, float] | None = None) -> InContextTagger:
        """Return the tagger itself. Other decoding settings raise an error."""
        if by != "viterbi" or bias:
            raise no_probabilities("bias=…" if bias else f'by="{by}"')
        return self

    def with_nbest(self, n: int) -> NoReturn:
        """Raise an error, since there is only one answer."""
        raise no_probabilities("with_nbest")

    def _documents(self, texts: Iterable[SplitText], *, first: int) -> Iterator[Document]:
        source = iter(texts)
        while group := list(islice(source, self._answerer.chat.at_once)):
            yield from super()._documents(group, first=MOST)

    def _map_taggings(
        self, sentences: Sequence[Sentence], make: Callable[[Sentence, Tagging], Result]
    ) -> list[Result]:
        texts = [SentenceText.of(sentence) for sentence in sentences]
        questions = [
            Question(own.text, place_of(sentence.path, sentence.line, own.text))
            for sentence, own in zip(sentences, texts, strict=True)
            if own.tokens
        ]
        answers = self._answerer.answers(questions)
        found = []
        for sentence, own in zip(sentences, texts, strict=True):
            tagging = self._tagging(own, next(answers)) if own.tokens else Tagging()
            found.append(make(sentence, tagging))
        return found

    def _tagging(self, sentence: SentenceText, answer: ModelAnswer) -> Tagging:
        """Return the tagging that an answer means, and count in ``usage`` what was found in it."""
        length = len(sentence.tokens)
        if answer.failure:
            return Tagging(tags=("O",) * length, notes=(f"no answer: {answer.failure}",), failed=True)
        parsed = self._answerer.prompt.form.read_spans(answer.content, sentence.text)
        placed = place_mentions(parsed.mentions, sentence, self._types)
        read = ReadAnswer(
            found=len(parsed.mentions),
            malformed=(*parsed.malformed, *answer.malformed),
            repaired=parsed.repaired,
            dropped=placed.dropped,
            widened=placed.widened,
        )
        self.usage.add_read(read)
        return Tagging(
            tags=tuple(from_spans(placed.spans, length, IOB2)),
            spans=tuple(TokenSpan(*span, None) for span in placed.spans),
            notes=tuple(read.notes()),
            failed=bool(read.malformed),
        )


def place_of(path: str, line: int, text: str) -> str:
    """Return the file and line of a text, or its beginning."""
    return f"{path}:{line}" if path and line else repr(shortened(text))


def no_probabilities(option: str) -> InputError:
    """Return the error for an option, or an argument, that needs probabilities."""
    return InputError(f"{option} does not work with in-context models, whose answers have no probabilities")
