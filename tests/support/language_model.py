"""An OpenAI-compatible endpoint whose answers and failures are scripted, over HTTP on a local port."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from threading import Lock
from typing import Any

from support.scripted_service import Reply, Reset, Seen

PLACES = frozenset(("Seoul", "Paris", "Oslo", "Lima"))
Write = Callable[[list[dict[str, str]]], str]
"""Returns the content of an answer to messages."""


def entities(messages: list[dict[str, str]]) -> str:
    """Return the capitalised words of the last message as JSON: places, and persons."""
    words = re.findall(r"\b[A-Z]\w+", messages[-1]["content"])
    return json.dumps([{"text": word, "label": "LOC" if word in PLACES else "PER"} for word in words])


def completion(content: object, *, finish: str = "stop") -> Reply:
    """Return a chat completion."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content}}
    return Reply(body={"choices": [choice], "usage": {"prompt_tokens": 40, "completion_tokens": 10}})


def refusal(status: int, message: str = "try later", **headers: str) -> Reply:
    """Return an error as OpenAI writes it."""
    return Reply(status, {"error": {"message": message}}, headers)


class ScriptedModel:
    """An endpoint that answers by ``write``, after the replies in ``script``. ``running`` runs it.

    ``models`` are the names that it lists, unless it has a ``reply_to_models``. ``slow`` seconds pass before
    each answer.
    """

    def __init__(
        self, write: Write = entities, *, models: tuple[str, ...] = ("toy",), slow: float = 0.0
    ) -> None:
        self.write = write
        self.models = models
        self.slow = slow
        self.script: list[Reply | Reset] = []
        self.reply_to_models: Reply | None = None
        self.seen: list[Seen] = []
        self.at_once = self._now = 0
        self.url = ""
        self._lock = Lock()

    @property
    def asked(self) -> list[Any]:
        """The bodies of the requests for answers."""
        return [seen.body for seen in self.seen if seen.path.endswith("/chat/completions")]

    def reply(self, seen: Seen) -> Reply | Reset:
        """Return the reply to a request."""
        with self._lock:
            self.seen.append(seen)
            if seen.path.endswith("/models"):
                if self.reply_to_models is not None:
                    return self.reply_to_models
                return Reply(body={"data": [{"id": name} for name in self.models]})
            if not seen.path.endswith("/chat/completions"):
                return refusal(404, "no such page")
            step = self.script.pop(0) if self.script else None
            self._now += 1
            self.at_once = max(self.at_once, self._now)
        try:
            time.sleep(self.slow)
            return completion(self.write(seen.body["messages"])) if step is None else step
        finally:
            with self._lock:
                self._now -= 1
