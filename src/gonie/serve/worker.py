"""A worker process: loads the models, then answers one batch of requests after the other.

The service starts it with a socket as an open file, and sends the settings as the first message. It ends when
the service closes the socket, or is gone. Signals of a terminal or a service manager go to the service, which
decides when its workers end.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Timer

from gonie.errors import GonieError
from gonie.serve.channel import messages, pack
from gonie.serve.limits import Limits
from gonie.serve.memory import settle
from gonie.serve.model_path import ModelPath

YIELDING = 20.0
"""The most seconds in which a worker that starts leaves the processor to those that serve."""


def main() -> None:
    """Run a worker on the socket whose file number is the argument."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    channel = socket.socket(fileno=int(sys.argv[1]))
    incoming = messages(channel)
    settings = next(incoming).header
    try:
        with _yielding(settings["background"]):
            from gonie.serve.batch_worker import BatchWorker  # imports the runtime

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


@contextmanager
def _yielding(wanted: bool) -> Iterator[None]:
    """Use only processor time that nobody else wants, for a while, where the system can do that."""
    if not wanted or not hasattr(os, "SCHED_IDLE"):
        yield
        return
    own = os.getpid()
    os.sched_setscheduler(own, os.SCHED_IDLE, os.sched_param(0))
    timer = Timer(YIELDING, os.sched_setscheduler, (own, os.SCHED_OTHER, os.sched_param(0)))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        os.sched_setscheduler(own, os.SCHED_OTHER, os.sched_param(0))


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, ConnectionResetError):  # the service is gone
        sys.exit(1)
