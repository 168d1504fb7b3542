"""A worker process: loads the models, then answers requests, those together that have arrived together.

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
from pathlib import Path
from threading import Timer

from gonie.errors import GonieError
from gonie.serve.channel import Receiver, pack
from gonie.serve.limits import Limits
from gonie.serve.memory import settle
from gonie.serve.model_path import ModelPath

CAP_SYS_NICE = 23
ORDINARY = 20
"""The limit on niceness (RLIMIT_NICE) that allows the ordinary niceness, 0."""
YIELDING = 20.0
"""The most seconds in which a worker that starts leaves the processor to those that serve."""


def main() -> None:
    """Run a worker on the socket whose file number is the argument."""
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    channel = socket.socket(fileno=int(sys.argv[1]))
    receive = Receiver(channel)
    first = receive(wait=True)
    if first is None:
        return
    settings = first[0].header
    try:
        with _yielding(settings["background"]):
            from gonie.serve.batch_worker import BatchWorker, batches  # imports the runtime

            models = [ModelPath(*each) for each in settings["models"]]
            answer = BatchWorker(models, Limits(**settings["limits"]), threads=settings["threads"])
            described = answer.describe()
            settle()
        channel.sendall(pack({"ready": described}))
    except (GonieError, OSError) as error:
        channel.sendall(pack({"failed": str(error)}))
        return
    for batch in batches(receive):
        channel.sendall(answer(batch))


@contextmanager
def _yielding(wanted: bool) -> Iterator[None]:
    """Use only processor time that nobody else wants, for a while, where the system allows a way back."""
    if not wanted or not _may_return():
        yield
        return
    own, usual = os.getpid(), os.sched_param(0)
    os.sched_setscheduler(own, os.SCHED_IDLE, usual)
    timer = Timer(YIELDING, os.sched_setscheduler, (own, os.SCHED_OTHER, usual))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        os.sched_setscheduler(own, os.SCHED_OTHER, usual)


def _may_return() -> bool:
    """Return whether this process may leave the idle policy again, by a capability or its limit on niceness.

    Root in a container often may not.
    """
    if sys.platform != "linux":
        return False
    import resource

    status = Path("/proc/self/status").read_text("utf-8")
    capabilities = int(status.partition("CapEff:")[2].split()[0], 16)
    return bool(capabilities >> CAP_SYS_NICE & 1) or resource.getrlimit(resource.RLIMIT_NICE)[0] >= ORDINARY


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, ConnectionResetError):  # the service is gone
        sys.exit(1)
