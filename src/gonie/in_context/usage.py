"""What the answers of an in-context model cost, and what was wrong with them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from gonie.in_context.chat import ChatReply
from gonie.text.report import count

MILLION = 1_000_000
SHOWN = 5
"""Failed texts that are named."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices per million tokens of prompts and of answers, in any currency."""

    prompt: float
    completion: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Return the price of so many tokens."""
        return (self.prompt * prompt_tokens + self.completion * completion_tokens) / MILLION


@dataclass(frozen=True, slots=True)
class ReadAnswer:
    """What was found in an answer, and what was wrong with it.

    ``malformed`` and ``repaired`` are the reasons. ``found`` is the number of mentions or labels in it,
    ``dropped`` counts those that cannot be used, by reason, and ``widened`` those that were extended to whole
    tokens.
    """

    found: int = 0
    malformed: Sequence[str] = ()
    repaired: Sequence[str] = ()
    dropped: Counter[str] = field(default_factory=Counter)
    widened: int = 0

    def notes(self) -> list[str]:
        """Return what was wrong, for the user."""
        lost = [f"{number} dropped from the answer: {reason}" for reason, number in self.dropped.items()]
        return [*(f"malformed answer: {reason}" for reason in self.malformed), *lost]


class Usage:
    """Counts the answers of a model since it was loaded. Threads may share it."""

    def __init__(self, *, name: str, prices: Prices | None = None, notes: Sequence[str] = ()) -> None:
        self.name = name
        self.prices = prices
        self.notes = tuple(notes)
        """What the user should know about the prompt."""
        self.failed: list[tuple[str, str]] = []
        """The place of each text without an answer, and the reason."""
        self.texts = self.cached = self.requests = self.retries = 0
        self.tokens = [0, 0]
        """Tokens of the prompts and of the answers, also of those from the cache."""
        self.new_tokens = [0, 0]
        """Tokens of the requests of this run."""
        self.seconds = 0.0
        """Seconds of all answers when they were made."""
        self.malformed_answers = self.found = self.widened = 0
        self.malformed: Counter[str] = Counter()
        self.repaired: Counter[str] = Counter()
        self.dropped: Counter[str] = Counter()
        self._lock = Lock()

    def add_reply(self, reply: ChatReply, *, cached: bool) -> None:
        """Count an answer."""
        own = (reply.prompt_tokens, reply.completion_tokens)
        with self._lock:
            self.texts += 1
            self.cached += cached
            self.requests += not cached
            self.retries += reply.retries
            self.seconds += reply.seconds
            for at, number in enumerate(own):
                self.tokens[at] += number
                self.new_tokens[at] += 0 if cached else number

    def add_failure(self, place: str, reason: str, retries: int) -> None:
        """Count a text without an answer."""
        with self._lock:
            self.texts += 1
            self.requests += 1
            self.retries += retries
            self.failed.append((place, reason))

    def add_read(self, read: ReadAnswer) -> None:
        """Count what was found in an answer."""
        with self._lock:
            self.found += read.found
            self.widened += read.widened
            self.malformed_answers += bool(read.malformed)
            self.malformed.update(set(read.malformed))
            self.repaired.update(set(read.repaired))
            self.dropped.update(read.dropped)

    @property
    def answered(self) -> int:
        """The number of texts with an answer."""
        return self.texts - len(self.failed)

    @property
    def malformed_share(self) -> float:
        """The share of malformed answers."""
        return self.malformed_answers / self.answered if self.answered else 0.0

    @property
    def seconds_per_text(self) -> float:
        """The mean time of an answer when it was made."""
        return self.seconds / self.answered if self.answered else 0.0

    def cost(self, *, new: bool = False) -> float | None:
        """Return the price of all answers, or of those of this run, if prices are known."""
        if self.prices is None:
            return None
        return self.prices.of(*(self.new_tokens if new else self.tokens))

    def to_json(self) -> dict[str, Any]:
        """Return all counts as plain values."""
        return {
            "model": self.name,
            "texts": self.texts,
            "cached": self.cached,
            "requests": self.requests,
            "retries": self.retries,
            "failed": [{"place": place, "reason": reason} for place, reason in self.failed],
            "malformed": self.malformed_share,
            "malformed_answers": self.malformed_answers,
            "malformed_reasons": dict(self.malformed.most_common()),
            "repaired_reasons": dict(self.repaired.most_common()),
            "found": self.found,
            "dropped": dict(self.dropped.most_common()),
            "widened": self.widened,
            "prompt_tokens": self.tokens[0],
            "completion_tokens": self.tokens[1],
            "new_prompt_tokens": self.new_tokens[0],
            "new_completion_tokens": self.new_tokens[1],
            "cost": self.cost(),
            "new_cost": self.cost(new=True),
            "seconds": self.seconds,
            "seconds_per_text": self.seconds_per_text,
        }

    def lines(self, *, failed: str = "scored as empty") -> list[str]:
        """Return all counts as lines for the user, none if nothing was asked.

        ``failed`` says what happens to texts without an answer.
        """
        if not self.texts:
            return []
        retried = f", retries: {self.retries:,}" if self.retries else ""
        found = [
            *self.notes,
            f"{self.name}: {count(self.texts, 'text')}, {self.cached:,} from the cache, "
            f"{count(self.requests, 'request')}{retried}",
            f"malformed answers: {self.malformed_answers:,} of {self.answered:,} ({self.malformed_share:.1%})"
            + _reasons(self.malformed),
        ]
        if self.dropped:
            found.append(
                f"dropped from answers: {self.dropped.total():,} of {self.found:,}" + _reasons(self.dropped)
            )
        if self.widened:
            found.append(f"widened to whole tokens: {self.widened:,}")
        if self.repaired:
            found.append(f"repaired answers: {self.repaired.total():,}" + _reasons(self.repaired))
        found += [self._tokens_line(), f"{self.seconds_per_text:.2f} seconds per text"]
        if self.failed:
            shown = "; ".join(f"{place} ({reason})" for place, reason in self.failed[:SHOWN])
            more = "; …" if len(self.failed) > SHOWN else ""
            found.append(f"warning: no answer for {count(len(self.failed), 'text')}, {failed}: {shown}{more}")
        return found

    def _tokens_line(self) -> str:
        run = f"; of this run {self.new_tokens[0]:,} and {self.new_tokens[1]:,}" if self.cached else ""
        line = f"tokens: {self.tokens[0]:,} in prompts, {self.tokens[1]:,} in answers{run}"
        total, new = self.cost(), self.cost(new=True)
        if total is None:
            return line
        return f"{line}; cost {total:.4f}" + (f", of this run {new:.4f}" if self.cached else "")


def _reasons(counts: Counter[str]) -> str:
    listed = ", ".join(f"{reason} {number:,}" for reason, number in counts.most_common())
    return f": {listed}" if listed else ""
