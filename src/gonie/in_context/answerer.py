"""Asks a language model about texts: shots, prompt, cache, several requests at once, and failures."""

from __future__ import annotations

import hashlib
import json
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from gonie.errors import ServiceError
from gonie.in_context.cache import AnswerCache, answer_key
from gonie.in_context.chat import CUT_OFF, Chat, FailedRequestError, Message
from gonie.in_context.prompt import Prompt
from gonie.in_context.shots import ShotFinder
from gonie.in_context.usage import Usage

GIVE_UP = 10
"""Failed requests in a row after which no more are sent."""
CUT = "cut off at the limit of its tokens"
AGAIN = "Run the same command again to resume"

Item = TypeVar("Item")
Result = TypeVar("Result")
Advance = Callable[[int, int], None]
"""Receives how many texts are answered, and how many there are."""


class Question(NamedTuple):
    """A text, and its place for messages."""

    text: str
    place: str


@dataclass(frozen=True, slots=True)
class ModelAnswer:
    """What a language model answered, or why it did not. ``malformed`` are reasons that lie in its end."""

    content: str = ""
    failure: str = ""
    malformed: tuple[str, ...] = ()


class Answerer:
    """Answers texts in order. ``shots`` is the number of examples that each text is shown with.

    ``again`` says how to resume after a failure. By default it is the same command, if there is a cache.
    """

    def __init__(
        self,
        *,
        chat: Chat,
        prompt: Prompt,
        usage: Usage,
        finder: ShotFinder | None = None,
        shots: int = 0,
        cache: AnswerCache | None = None,
        advance: Advance | None = None,
        again: str | None = None,
    ) -> None:
        self.chat = chat
        self.prompt = prompt
        self.usage = usage
        self._finder = finder
        self._shots = shots
        self._cache = cache
        self._advance = advance
        self._again = AGAIN if again is None and cache is not None else again
        self._failures = 0

    @property
    def digest(self) -> str:
        """A digest of all that the answers depend on, besides the texts: model, prompt and examples."""
        examples = () if self._finder is None else self._finder.examples
        facts = [answer_key(self.chat.identity, self.prompt.messages("", examples)), self._shots]
        return hashlib.sha256(json.dumps(facts).encode()).hexdigest()

    def messages(self, text: str) -> list[Message]:
        """Return the messages about a text."""
        shots = [] if self._finder is None else self._finder.nearest(text, self._shots, self.prompt.labels)
        return self.prompt.messages(text, shots)

    def answers(self, questions: Sequence[Question]) -> Iterator[ModelAnswer]:
        """Yield the answer to each text, in order. Answers stay in the cache when the caller stops."""
        try:
            found = ordered_map(self._answer, questions, at_once=self.chat.at_once)
            for done, answer in enumerate(found, start=1):
                if self._advance is not None:
                    self._advance(done, len(questions))
                yield answer
        except KeyboardInterrupt:
            self.chat.close()
            raise

    def _answer(self, question: Question) -> ModelAnswer:
        messages = self.messages(question.text)
        key = "" if self._cache is None else answer_key(self.chat.identity, messages)
        reply = None if self._cache is None else self._cache.get(key)
        cached = reply is not None
        if reply is None:
            try:
                reply = self.chat.ask(messages)
            except FailedRequestError as error:
                return self._failed(question, error)
            self._failures = 0
            if self._cache is not None:
                self._cache.put(key, reply)
        self.usage.add_reply(reply, cached=cached)
        return ModelAnswer(reply.content, malformed=(CUT,) if reply.finish == CUT_OFF else ())

    def _failed(self, question: Question, error: FailedRequestError) -> ModelAnswer:
        """Count a text without an answer, or stop if no other would get one."""
        self._failures += 1
        again = "" if self._again is None else f". {self._again}"
        if error.fatal:
            raise ServiceError(f"{self.chat.name}: {error}{again}") from error
        if self._failures >= GIVE_UP:
            raise ServiceError(
                f"{self.chat.name}: {self._failures} requests in a row failed, the last with: {error}{again}"
            ) from error
        self.usage.add_failure(question.place, str(error), error.retries)
        return ModelAnswer(failure=str(error))


def ordered_map(work: Callable[[Item], Result], items: Sequence[Item], *, at_once: int) -> Iterator[Result]:
    """Yield ``work(item)`` of each item, in order, a few at once. Stopping leaves the rest out."""
    if min(at_once, len(items)) < 2:
        yield from map(work, items)
        return
    pool = ThreadPoolExecutor(at_once, thread_name_prefix="gonie-llm")
    waiting: deque[Future[Result]] = deque()
    try:
        for item in items:
            waiting.append(pool.submit(work, item))
            if len(waiting) >= 2 * at_once:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
