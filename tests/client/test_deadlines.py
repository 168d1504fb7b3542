"""Tests that the timeout of both clients is that of a whole call, against services that answer in pieces."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

import pytest

from gonie.client.async_client import AsyncClient
from gonie.client.client import Client
from gonie.errors import ServiceError
from support.scripted_service import TAGGER, tagged

TIMEOUT = 1.0
Ask = Callable[[str], Any]


def ask(url: str) -> Any:
    with Client(url, timeout=TIMEOUT) as client:
        return client("Anna")


def ask_stream(url: str) -> Any:
    with Client(url, timeout=TIMEOUT) as client:
        return list(client.pipe(["Anna"]))


def ask_async(url: str) -> Any:
    async def whole() -> Any:
        async with AsyncClient(url, timeout=TIMEOUT) as client:
            return await client("Anna")

    return asyncio.run(whole())


def ask_async_stream(url: str) -> Any:
    async def whole() -> Any:
        async with AsyncClient(url, timeout=TIMEOUT) as client:
            return [found async for found in client.pipe(["Anna"])]

    return asyncio.run(whole())


@contextmanager
def slow_service(*, models: float, header: float, body: float) -> Iterator[str]:
    """Run a service that waits before the list of its models, before the header of an answer and its body."""
    ended = Event()

    def serve(connection: socket.socket) -> None:
        with connection:
            while b"\r\n\r\n" in (given := connection.recv(65536)):
                is_list = given.startswith(b"GET")
                content = json.dumps({"models": [TAGGER]} if is_list else tagged(["Anna"])).encode()
                head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(content)
                for pause, part in ((models if is_list else header, head), (0 if is_list else body, content)):
                    if ended.wait(pause):
                        return
                    try:
                        connection.sendall(part)
                    except OSError:
                        return

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
        {"models": 0.8, "header": 0.8, "body": 0},
        {"models": 0, "header": 0.8, "body": 0.8},
        {"models": 2, "header": 0, "body": 0},
    ],
    ids=["models and answer", "header and body", "models"],
)
def test_a_call_ends_at_its_deadline(
    call: Ask, pauses: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with slow_service(**pauses) as url:
        began = time.monotonic()
        with pytest.raises(ServiceError, match="no answer within 1 seconds"):
            call(url)
        assert TIMEOUT * 0.9 < time.monotonic() - began < TIMEOUT * 1.4


@pytest.mark.parametrize("call", [ask, ask_stream, ask_async, ask_async_stream])
def test_pauses_before_the_deadline_are_no_failures(call: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "*")
    with slow_service(models=0.1, header=0.1, body=0.1) as url:
        assert call(url)
