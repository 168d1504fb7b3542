"""Starts the service: its socket, its workers and, while these load their models, its HTTP server."""

from __future__ import annotations

import resource
import socket

from gonie.errors import InputError
from gonie.serve.keys import ApiKeys
from gonie.serve.logs import EventLog
from gonie.serve.settings import ServiceSettings, Started

BACKLOG = 2048
"""Connections that may wait to be accepted."""


def serve(settings: ServiceSettings, *, log: EventLog, started: Started) -> None:
    """Serve until SIGTERM or SIGINT. Raise an error if the models or the address cannot be used."""
    keys = None if settings.keys is None else ApiKeys.read(settings.keys)
    _raise_file_limit()
    with _listen(settings.host, settings.port) as listener:
        from gonie.serve.dispatcher import Dispatcher
        from gonie.serve.metrics import ServiceMetrics
        from gonie.serve.worker_process import WorkerSettings

        metrics = ServiceMetrics()
        workers = WorkerSettings(models=settings.models, limits=settings.limits)
        dispatcher = Dispatcher(workers, size=settings.workers, metrics=metrics, log=log)
        try:
            from gonie.serve.http_server import HttpServer  # takes as long as the workers take to load

            server = HttpServer(
                settings, dispatcher=dispatcher, metrics=metrics, keys=keys, log=log, started=started
            )
            server.run([listener])
        finally:
            dispatcher.kill()


def _raise_file_limit() -> None:
    """Allow as many open files as the system does: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def _listen(host: str, port: int) -> socket.socket:
    """Return a listening socket."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise InputError(
            f"cannot listen on {host}:{port}: {getattr(error, 'strerror', None) or error}",
            fix="Choose another --port or --host, or stop the process that uses it",
        ) from error
    return listener
