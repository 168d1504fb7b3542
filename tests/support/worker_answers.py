"""Answers requests as a worker does, in the process of the tests."""

from __future__ import annotations

import json
from typing import Any, Protocol

from gonie.serve.limits import Limits
from gonie.serve.problems import Reply
from gonie.serve.routes import Received, answer_all
from gonie.serve.served_model import ServedModel


class Ask(Protocol):
    """Answers requests together, as a worker does."""

    def __call__(self, *requests: tuple[str, Any] | tuple[str, Any, str]) -> list[Reply]:
        """Return the answers to requests: the route, the body and the query of each."""


def asking(models: dict[str, ServedModel]) -> Ask:
    """Return a function that answers requests with these models."""

    def answered(*requests: Any) -> list[Reply]:
        received = [
            Received(route, *query or [""], body if isinstance(body, bytes) else json.dumps(body).encode())
            for route, body, *query in requests
        ]
        return answer_all(received, models, Limits())[0]

    return answered
