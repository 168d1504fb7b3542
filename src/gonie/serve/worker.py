"""A worker process: loads the models, then answers one batch of requests after the other.

The service starts it with a socket as an open file, and sends the settings as the first message. It ends when
the service closes the socket, or is gone. Signals of a terminal or a service manager go to the service, which
decides when its workers end.
"""

from __future__ import annotations

import signal
import socket
import sys
import traceback
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

from gonie.errors import GonieError
from gonie.serve.channel import Message, messages, pack
from gonie.serve.limits import Limits
from gonie.serve.memory import settle
from gonie.serve.model_path import ModelPath
from gonie.serve.problems import Reply, problem
from gonie.serve.routes import Asked, Received, answer_all
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

    def __call__(self, message: Message) -> bytes:
        """Answer the requests of a message, and return the message with the answers."""
        begin = perf_counter()
        self._watch.read()
        number, requests = message.header["batch"], message.header["requests"]
        bodies = message.parts([size for _, _, size in requests])
        received = [
            Received(route, query, body) for (route, query, _), body in zip(requests, bodies, strict=True)
        ]
        replies, asked = self._answered(received)
        seconds = self._watch.read()
        seconds["decode"] = max(perf_counter() - begin - sum(seconds.values()), 0.0)
        described = [
            [reply.status, reply.media_type.decode(), len(reply.body), *_counts(each)]
            for reply, each in zip(replies, asked, strict=True)
        ]
        header = {"batch": number, "answers": described, "seconds": seconds}
        return pack(header, [reply.body for reply in replies])

    def _answered(self, received: Sequence[Received]) -> tuple[list[Reply], list[Asked | None]]:
        try:
            return answer_all(received, self.models, self._limits)
        except Exception:  # a defect: it must cost only the request that shows it
            if len(received) > 1:
                each = [self._answered([one]) for one in received]
                return [replies[0] for replies, _ in each], [asked[0] for _, asked in each]
            traceback.print_exc()
            return [problem("internal-error", "see the log of the service")], [None]


def _counts(asked: Asked | None) -> tuple[str, int, int]:
    """Return the model, the texts and the tokens of a request."""
    return ("", 0, 0) if asked is None else (asked.model.name, len(asked.rows), asked.tokens)


def main() -> None:
    """Run a worker on the socket whose file number is the argument."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    channel = socket.socket(fileno=int(sys.argv[1]))
    incoming = messages(channel)
    settings = next(incoming).header
    try:
        models = [ModelPath(*each) for each in settings["models"]]
        answer = BatchWorker(models, Limits(**settings["limits"]), threads=settings["threads"])
        described = answer.describe()
        settle()
        channel.sendall(pack({"ready": described}))
    except (GonieError, OSError) as error:
        channel.sendall(pack({"failed": str(error)}))
        return
    for message in incoming:
        channel.sendall(answer(message))


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, ConnectionResetError):  # the service is gone
        sys.exit(1)
