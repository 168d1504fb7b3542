"""The HTTP server: uvicorn, with signals that swap bundles and that stop without losing a request."""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn
from starlette.middleware.cors import CORSMiddleware

from gonie.errors import GonieError
from gonie.serve.api import ServiceState, create_api
from gonie.serve.connection import LimitedConnection
from gonie.serve.dispatcher import Dispatcher
from gonie.serve.keys import ApiKeys
from gonie.serve.logs import EventLog
from gonie.serve.memory import settle
from gonie.serve.metrics import ServiceMetrics
from gonie.serve.service import Service
from gonie.serve.settings import ServiceSettings, Started
from gonie.serve.telemetry import Tracer

GRACE = 0.25
"""Seconds in which connections may still bring a request after the service was asked to stop."""
TICK = 0.02


class HttpServer(uvicorn.Server):
    """Serves until SIGTERM or SIGINT. SIGHUP loads the bundles and the API keys again."""

    def __init__(
        self,
        settings: ServiceSettings,
        *,
        dispatcher: Dispatcher,
        metrics: ServiceMetrics,
        keys: ApiKeys | None,
        log: EventLog,
        started: Started,
    ) -> None:
        self._settings = settings
        self._dispatcher = dispatcher
        self._log = log
        self._on_started = started
        self._error: GonieError | None = None
        self._background: set[asyncio.Task[Any]] = set()
        self._tracer = Tracer() if settings.telemetry else None
        self._state = ServiceState(dispatcher, settings.limits, metrics, needs_key=keys is not None)
        self._connection = LimitedConnection.limited(settings.connections, metrics)
        metrics.watch(
            {
                "queue_requests": ("Requests in the queue.", lambda: dispatcher.waiting),
                "running_requests": ("Requests with a worker.", lambda: dispatcher.running),
                "workers": ("Workers that serve.", lambda: len(dispatcher.processes)),
                "open_connections": ("Open connections.", lambda: len(self.server_state.connections)),
            }
        )
        self._service = Service(
            dispatcher=dispatcher,
            limits=settings.limits,
            metrics=metrics,
            others=create_api(self._state),
            keys=keys,
            tracer=self._tracer,
        )
        app: Any = self._service
        if settings.origins:
            app = CORSMiddleware(
                app,
                allow_origins=list(settings.origins),
                allow_methods=["GET", "POST"],
                allow_headers=["Authorization", "Content-Type", "Request-Timeout-Ms"],
                expose_headers=["Retry-After"],
            )
        super().__init__(
            uvicorn.Config(
                app,
                http=self._connection,
                ws="none",
                lifespan="off",
                log_config=None,
                log_level="error",  # its warnings are about clients, which metrics count
                access_log=False,
                proxy_headers=False,
                server_header=False,
                timeout_keep_alive=int(settings.connections.idle_seconds),
            )
        )

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve, and raise the error of models that cannot be loaded."""
        super().run(sockets)
        if self._error is not None:
            raise self._error

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGTERM and SIGINT, at once if it is sent twice, and swap on SIGHUP."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._stop)
        loop.add_signal_handler(signal.SIGHUP, self._reload)
        try:
            yield
        finally:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                loop.remove_signal_handler(number)

    def _reload(self) -> None:
        if self._settings.keys is not None:
            try:
                self._service.keys = ApiKeys.read(self._settings.keys)
                self._log("read the API keys")
            except GonieError as error:
                self._log("the earlier API keys stay", error=str(error))
        self._spawn(self._dispatcher.swap())

    def _stop(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen at once, and serve as soon as the models are warm."""
        await super().startup(sockets)
        self._spawn(self._start_workers(sockets or []))

    async def _start_workers(self, sockets: list[socket.socket]) -> None:
        try:
            await self._dispatcher.start()
        except GonieError as error:
            if not self.should_exit:  # else the service was stopped while it loaded the models
                self._error, self.should_exit, self.force_exit = error, True, True
            return
        settle()
        host, port = sockets[0].getsockname()[:2]
        name = f"[{host}]" if ":" in host else host
        self._on_started(f"http://{name}:{port}", self._dispatcher.models)
        if self._settings.watch:
            await self._watch_folders(self._settings.watch)

    async def _watch_folders(self, seconds: float) -> None:
        """Swap when a folder has another bundle. One that cannot be served is tried once."""
        refused: dict[str, str] | None = None
        while True:
            await asyncio.sleep(seconds)
            with suppress(GonieError):  # a folder that is just being written
                found = await asyncio.to_thread(self._dispatcher.found_bundles)
                if found not in (self._dispatcher.served_bundles, refused):
                    refused = None if await self._dispatcher.swap() else found

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept nothing more, answer what was accepted, then end the workers."""
        if self._error is None:
            self._log("stopping", waiting=self._dispatcher.waiting, running=self._dispatcher.running)
        self._state.draining = self._connection.draining = True
        await asyncio.sleep(0)  # accepts the connections that wait
        for server in self.servers:
            server.close()
        for listener in sockets or []:
            listener.close()
        if not self.force_exit:
            await asyncio.sleep(GRACE)
        last = asyncio.get_running_loop().time() + self._settings.limits.seconds
        while (self.server_state.connections or self.server_state.tasks) and not self.force_exit:
            if asyncio.get_running_loop().time() > last:
                self._log(
                    "connections are still open at the end", connections=len(self.server_state.connections)
                )
                break
            for connection in list(self.server_state.connections):
                connection.shutdown()
            await asyncio.sleep(TICK)
        await self._end_connections()
        closing = asyncio.create_task(self._dispatcher.close())
        while not closing.done() and not self.force_exit:
            await asyncio.sleep(TICK)
        if not closing.done():
            closing.cancel()
            self._dispatcher.kill()
        if self._tracer is not None:
            await asyncio.to_thread(self._tracer.close)
        if self._error is None:
            self._log("stopped")

    async def _end_connections(self) -> None:
        """Cut the connections that are still open, and let their requests end."""
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        last = asyncio.get_running_loop().time() + GRACE
        while self.server_state.tasks and asyncio.get_running_loop().time() < last:
            await asyncio.sleep(TICK)

    def _spawn(self, coroutine: Any) -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._background.add(task)
        task.add_done_callback(self._background.discard)
