"""Tests that the timeout of both clients is that of a whole call, against services that answer in pieces."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

import pytest

from gonie.client.async_client import AsyncClient
from gonie.client.client import Client
from gonie.errors import ServiceError
from support.scripted_service import TAGGER, tagged

TIMEOUT = 1.0
LONG = 30.0
"""Seconds within which a call ends even on a busy machine. A service that is never cut off takes longer."""
Ask = Callable[[str, float], Any]


def ask(url: str, timeout: float) -> Any:
    with Client(url, timeout=timeout) as client:
        return client("Anna")


def ask_stream(url: str, timeout: float) -> Any:
    with Client(url, timeout=timeout) as client:
        return list(client.pipe(["Anna"]))


def ask_async(url: str, timeout: float) -> Any:
    async def whole() -> Any:
        async with AsyncClient(url, timeout=timeout) as client:
            return await client("Anna")

    return asyncio.run(whole())


def ask_async_stream(url: str, timeout: float) -> Any:
    async def whole() -> Any:
        async with AsyncClient(url, timeout=timeout) as client:
            return [found async for found in client.pipe(["Anna"])]

    return asyncio.run(whole())


@contextmanager
def slow_service(*, models: float = 0, header: float = 0, body: float = 0, pieces: int = 1) -> Iterator[str]:
    """Run a service that waits before the list of its models, before the header of an answer and its body.

    The body is sent in ``pieces``, and the service waits before each of them.
    """
    ended = Event()

    def serve(connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the client may be gone
            while b"\r\n\r\n" in (given := connection.recv(65536)):
                is_list = given.startswith(b"GET")
                content = json.dumps({"models": [TAGGER]} if is_list else tagged(["Anna"])).encode()
                head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content)
                size = len(content) if is_list else -(-len(content) // pieces)
                parts = [content[at : at + size] for at in range(0, len(content), size)]
                pauses = [models, *(0.0 for _ in parts)] if is_list else [header, *(body for _ in parts)]
                for pause, part in zip(pauses, [head, *parts], strict=True):
                    if ended.wait(pause):
                        return
                    connection.sendall(part)

    def accept() -> None:
        while not ended.is_set():
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            connection.settimeout(10)
            threads.append(Thread(target=serve, args=(connection,)))
            threads[-1].start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.05)
        threads = [Thread(target=accept)]
        threads[0].start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            ended.set()
            for thread in threads:
                thread.join()


@pytest.mark.parametrize("call", [ask, ask_stream, ask_async, ask_async_stream])
@pytest.mark.parametrize(
    "pauses",
    [
        {"models": 0.8, "header": 0.8},
        {"header": 0.8, "body": 0.8},
        {"models": 0.8, "body": 0.8, "pieces": 100},
        {"header": 0.8, "body": 0.8, "pieces": 100},
        {"models": 2 * LONG},
        {"header": 2 * LONG},
    ],
    ids=[
        "models and header",
        "header and body",
        "models and pieces",
        "header and pieces",
        "no models",
        "no header",
    ],
)
def test_a_call_ends_at_its_deadline(
    call: Ask, pauses: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two pauses together are too long, though each is short enough. The pieces take more than a minute."""
    monkeypatch.setenv("NO_PROXY", "*")
    with slow_service(**pauses) as url:
        began = time.monotonic()
        with pytest.raises(ServiceError, match="no answer within 1 seconds"):
            call(url, TIMEOUT)
        assert TIMEOUT * 0.9 < time.monotonic() - began < LONG


@pytest.mark.parametrize("call", [ask, ask_stream, ask_async, ask_async_stream])
def test_pauses_before_the_deadline_are_no_failures(call: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with slow_service(models=0.1, header=0.1, body=0.1) as url:
        assert call(url, LONG)
