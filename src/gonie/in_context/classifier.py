"""A classifier whose labels are read from the answers of a language model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, ClassVar

from gonie.in_context.answer_formats import LABEL_FORMATS
from gonie.in_context.answerer import Answerer, ModelAnswer, Question
from gonie.in_context.mentions import UNKNOWN_LABEL
from gonie.in_context.tagger import place_of
from gonie.in_context.usage import ReadAnswer, Usage
from gonie.tasks.bundled import BundledModel, listed
from gonie.tasks.contexts import check_stream, with_contexts
from gonie.text.labelled_text import LabelledText
from gonie.text.plain_text import checked_text, warn_of_path
from gonie.text.types import Classification


class InContextClassifier(BundledModel):
    """Labels texts with the answers of a language model. There are no probabilities: a label has 1 or 0.

    ``usage`` counts what the answers cost and what was wrong with them. A text whose answer is missing or
    malformed has no label, which its notes say. When it is scored, this counts as an error.
    """

    task: ClassVar[str] = "classify"
    """The name of its task."""
    has_probabilities = False

    def __init__(self, *, answerer: Answerer, recipe: Mapping[str, Any] | None = None) -> None:
        self._answerer = answerer
        self.recipe = recipe or {}
        self.labels = tuple(answerer.prompt.labels)
        self.multi_label = answerer.prompt.multi_label

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
        """How many texts are asked about at once."""
        return self._answerer.chat.at_once

    def predicts(self) -> str:
        """Say what the model predicts: ``2 labels: bad, good``."""
        return listed(self.labels, "label")

    def __call__(self, text: str | LabelledText) -> Classification:
        """Classify one text."""
        warn_of_path(text)
        found: Classification = next(self.pipe([text]))
        return found

    def pipe(self, texts: Iterable[Any], *, first: int = 0, as_tuples: bool = False) -> Iterator[Any]:
        """Classify a stream of texts in order, as ``TextClassifier.pipe`` does."""
        check_stream(texts)
        return with_contexts(self._classified, texts) if as_tuples else self._classified(texts)

    def text(self, text: str | LabelledText, *, path: str = "", line: int = 0) -> LabelledText:
        """Return a text with its place."""
        if isinstance(text, LabelledText):
            checked_text(text.text)
            return text
        return LabelledText(checked_text(text), (), (), path, line)

    def _classified(self, texts: Iterable[str | LabelledText]) -> Iterator[Classification]:
        """Yield the labels of texts. All texts of a sequence are counted as one run, for the progress."""
        size = len(texts) if isinstance(texts, Sequence) else self._answerer.chat.at_once
        source = map(self.text, texts)
        while group := list(islice(source, max(size, 1))):
            questions = [Question(own.text, place_of(own.path, own.line, own.text)) for own in group]
            answers = self._answerer.answers(questions)
            yield from map(self._classification, group, answers)

    def _classification(self, text: LabelledText, answer: ModelAnswer) -> Classification:
        if answer.failure:
            return self._result(text, (), (f"no answer: {answer.failure}",), failed=True)
        form = LABEL_FORMATS[self._answerer.prompt.format]
        parsed = form.read_labels(answer.content, several=self.multi_label)
        known = tuple(dict.fromkeys(label for label in parsed.labels if label in self.labels))
        unknown = sum(label not in self.labels for label in parsed.labels)
        read = ReadAnswer(
            found=len(parsed.labels),
            malformed=(*parsed.malformed, *answer.malformed),
            repaired=parsed.repaired,
            dropped=Counter({UNKNOWN_LABEL: unknown} if unknown else {}),
        )
        self.usage.add_read(read)
        lost = not known and not self.multi_label  # the text has a label, but not one that is known
        return self._result(text, known, tuple(read.notes()), failed=bool(read.malformed) or lost)

    def _result(
        self, text: LabelledText, labels: tuple[str, ...], notes: tuple[str, ...], *, failed: bool
    ) -> Classification:
        return Classification(
            text=text.text,
            label=labels[0] if labels else "",
            score=float(bool(labels)),
            scores={label: float(label in labels) for label in self.labels},
            labels=labels,
            notes=notes,
            multi_label=self.multi_label,
            failed=failed,
        )
