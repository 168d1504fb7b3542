"""The probability of a span that the user asks about, compared with what the model predicts there.

The probability of a span is defined as for predicted spans: that its tokens have exactly its tags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gonie.errors import InputError
from gonie.reports.explanation import AskedSpan, SpanExplanation
from gonie.runtime.forward_backward import Lattice
from gonie.tasks.tagging.labeller import Tagging
from gonie.tasks.tagging.span_log_odds import span_log_odds
from gonie.tasks.tagging.span_questions import PlacedQuestion, known_types, tags_of_span
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.types import Sentence


@dataclass(frozen=True)
class SpanChances:
    """The probabilities of spans in one sentence, whether or not the model predicts them."""

    tagger: Tagger
    sentence: Sentence
    tagging: Tagging
    lattice: Lattice

    def answer(self, question: PlacedQuestion) -> SpanExplanation:
        """Return the span that a question is about, with what the model has in its place."""
        start, end = question.start, question.end
        label, tags = self._likeliest(question)
        preferred = self.tagging.tags[start:end]
        longer = self._longer(question)
        return SpanExplanation(
            start,
            end,
            label,
            self._probability(start, tags),
            weights=(),
            asked=AskedSpan(
                tags=preferred,
                probability=self._probability(start, preferred),
                gap=self._log_odds(start, preferred) - self._log_odds(start, tags),
                predicted=tags == preferred and not longer,
                notes=(*question.notes, *longer),
            ),
        )

    def _likeliest(self, question: PlacedQuestion) -> tuple[str, tuple[str, ...]]:
        """Return the type asked about or, without one, the likeliest, and the tags of the span."""
        scheme, ids = self.tagger.encoding.scheme, self.tagger.encoding.label_ids
        if not scheme.has_spans and question.end - question.start > 1:
            text = self._text(question.start, question.end)
            raise InputError(
                f"{text!r} has more than one token, and each has its own tag", fix="Ask about one token"
            )
        types = (question.label,) if question.label else known_types(self.tagger.labels, scheme)
        tags = {label: self._tags(question, label) for label in types}
        known = {label: own for label, own in tags.items() if all(tag in ids for tag in own)}
        if not known:
            missing = next(tag for own in tags.values() for tag in own if tag not in ids)
            text, label = self._text(question.start, question.end), next(iter(tags))
            raise InputError(f"the model cannot tag {text!r} as {label}: it has no tag {missing}")
        best = max(known, key=lambda label: self._log_odds(question.start, known[label]))
        return best, known[best]

    def _tags(self, question: PlacedQuestion, label: str) -> tuple[str, ...]:
        scheme = self.tagger.encoding.scheme
        return tags_of_span(question.start, question.end, label, tokens=len(self.sentence), scheme=scheme)

    def _probability(self, start: int, tags: Sequence[str]) -> float:
        return self.lattice.path_probability(0, start, start + len(tags), self._ids(tags))

    def _log_odds(self, start: int, tags: Sequence[str]) -> float:
        chain, lattice = self.tagger.decoder.calibrated, self.lattice
        return float(span_log_odds(chain, lattice.emissions, lattice.lengths, [start], [self._ids(tags)])[0])

    def _ids(self, tags: Sequence[str]) -> list[int]:
        return [self.tagger.encoding.label_ids[tag] for tag in tags]

    def _longer(self, question: PlacedQuestion) -> tuple[str, ...]:
        """Return a note on the predicted span that contains the tokens and more, if there is one."""
        if not self.tagger.encoding.scheme.has_spans:
            return ()
        place = (question.start, question.end)
        return tuple(
            f"It is part of a longer span: {self._text(start, end)!r}, {label}."
            for start, end, label, _ in self.tagging.spans
            if start <= place[0] and place[1] <= end and (start, end) != place
        )

    def _text(self, start: int, end: int) -> str:
        places = self.sentence.offsets()
        return self.sentence.surface[places[start][0] : places[end - 1][1]]
