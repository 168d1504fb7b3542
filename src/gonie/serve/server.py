"""Starts the service: its socket, its workers and, while these load their models, its HTTP server."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gonie.errors import InputError
from gonie.serve.keys import ApiKeys
from gonie.serve.limits import ConnectionLimits, Limits
from gonie.serve.logs import EventLog

BACKLOG = 2048
"""Connections that may wait to be accepted."""


@dataclass(frozen=True, kw_only=True)
class ServiceSettings:
    """What is served, where, and within which limits."""

    models: Sequence[tuple[str, str]]
    """Names and folders."""
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    limits: Limits = field(default_factory=Limits)
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)
    keys: Path | None = None
    """The file of the API keys; None: no keys are needed."""
    origins: Sequence[str] = ()
    """Origins of other pages that may use the service (CORS)."""
    watch: float = 0.0
    """Seconds between two looks for changed bundles; 0: only after SIGHUP."""
    telemetry: bool = False


Started = Callable[[str, Sequence[dict[str, Any]]], None]
"""Called once with the address of the service and the descriptions of its models."""


def serve(settings: ServiceSettings, *, log: EventLog, started: Started) -> None:
    """Serve until SIGTERM or SIGINT. Raise an error if the models or the address cannot be used."""
    keys = None if settings.keys is None else ApiKeys.read(settings.keys)
    with _listen(settings.host, settings.port) as listener:
        from gonie.serve.metrics import ServiceMetrics
        from gonie.serve.pool import WorkerPool, WorkerSettings

        metrics = ServiceMetrics()
        workers = WorkerSettings(models=settings.models, limits=settings.limits)
        pool = WorkerPool(workers, size=settings.workers, metrics=metrics, log=log)
        try:
            from gonie.serve.http_server import HttpServer  # takes as long as the workers take to load

            server = HttpServer(settings, pool=pool, metrics=metrics, keys=keys, log=log, started=started)
            server.run([listener])
        finally:
            pool.kill()


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
