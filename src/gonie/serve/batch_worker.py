"""Answers batches of requests with the models of one process."""

from __future__ import annotations

import traceback
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any

from gonie.serve.channel import Receiver, pack
from gonie.serve.checks import Received
from gonie.serve.limits import BATCH_BYTES, BATCH_REQUESTS, Limits
from gonie.serve.model_path import ModelPath
from gonie.serve.problems import Reply, problem
from gonie.serve.routes import Asked, answer_all
from gonie.serve.served_model import ServedModel
from gonie.serve.stopwatch import Stopwatch


class BatchWorker:
    """Answers batches with the models of one process."""

    def __init__(self, models: Sequence[ModelPath], limits: Limits, *, threads: int) -> None:
        self._watch = Stopwatch()
        loaded = (ServedModel(each, threads=threads, watch=self._watch) for each in models)
        self.models: Mapping[str, ServedModel] = {model.name: model for model in loaded}
        self._limits = limits
        for model in self.models.values():
            model.warm_up()

    def describe(self) -> list[dict[str, Any]]:
        """Return what is told about each model."""
        return [model.describe() for model in self.models.values()]

    def __call__(self, received: Sequence[Received]) -> bytes:
        """Answer requests, and return the message with the answers."""
        begin = perf_counter()
        self._watch.read()
        replies, asked = self._answered(received)
        seconds = self._watch.read()
        seconds["decode"] = max(perf_counter() - begin - sum(seconds.values()), 0.0)
        described = [
            [reply.status, reply.media_type.decode(), len(reply.body), *_counts(each)]
            for reply, each in zip(replies, asked, strict=True)
        ]
        return pack({"answers": described, "seconds": seconds}, [reply.body for reply in replies])

    def _answered(self, received: Sequence[Received]) -> tuple[list[Reply], list[Asked | None]]:
        try:
            return answer_all(received, self.models, self._limits)
        except Exception:  # a defect: it must cost only the request that shows it
            if len(received) > 1:
                each = [self._answered([one]) for one in received]
                return [replies[0] for replies, _ in each], [asked[0] for _, asked in each]
            traceback.print_exc()
            return [problem("internal-error", "see the log of the service")], [None]


def batches(receive: Receiver) -> Iterator[list[Received]]:
    """Yield the requests that have arrived since the last batch, at most a batch of them, until the end."""
    waiting: deque[Received] = deque()
    while (messages := receive(wait=not waiting)) is not None:
        for message in messages:
            requests = message.header["requests"]
            bodies = message.parts([size for *_, size in requests])
            waiting += (
                Received(route, query, body, row)
                for (route, query, row, _), body in zip(requests, bodies, strict=True)
            )
        yield _batch(waiting)


def _batch(waiting: deque[Received]) -> list[Received]:
    """Remove the first batch from the requests that wait."""
    batch = [waiting.popleft()]
    size = len(batch[0].body)
    while waiting and len(batch) < BATCH_REQUESTS and size + len(waiting[0].body) <= BATCH_BYTES:
        batch.append(waiting.popleft())
        size += len(batch[-1].body)
    return batch


def _counts(asked: Asked | None) -> tuple[str, int, int]:
    """Return the model, the texts and the tokens of a request."""
    return ("", 0, 0) if asked is None else (asked.model.name, len(asked.rows), asked.tokens)
