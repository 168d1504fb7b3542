"""Answers requests as a worker does, in the process of the tests."""

from __future__ import annotations

import json
from typing import Any, Protocol

from gonie.serve.checks import Received
from gonie.serve.limits import Limits
from gonie.serve.problems import Reply
from gonie.serve.routes import answer_all
from gonie.serve.served_model import ServedModel


class Ask(Protocol):
    """Answers requests together, as a worker does."""

    def __call__(
        self, *requests: tuple[str, Any] | tuple[str, Any, str] | tuple[str, Any, str, int]
    ) -> list[Reply]:
        """Return the answers to requests: the route, the body, the query and the first row of each."""


def asking(models: dict[str, ServedModel]) -> Ask:
    """Return a function that answers requests with these models."""

    def answered(*requests: Any) -> list[Reply]:
        received = [_received(*request) for request in requests]
        return answer_all(received, models, Limits())[0]

    return answered


def _received(route: str, body: Any, query: str = "", row: int = 1) -> Received:
    return Received(route, query, body if isinstance(body, bytes) else json.dumps(body).encode(), row)
