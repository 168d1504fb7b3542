"""Tests the asynchronous client against a scripted service: the same results and failures."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any

import pytest

from gonie.client.async_client import AsyncClient
from gonie.client.client import Client
from gonie.client.errors import RefusedRequestError
from gonie.client.groups import TEXTS
from gonie.errors import InputError, ServiceError
from support.scripted_service import PAIRS, Reply, Reset, ScriptedService, kept_back, problem

Work = Callable[[AsyncClient], Coroutine[Any, Any, Any]]


def run(service: ScriptedService, work: Work, **options: Any) -> Any:
    async def whole() -> Any:
        async with AsyncClient(service.url, **options) as client:
            return await work(client)

    return asyncio.run(whole())


def test_answers_equal_those_of_the_other_client(service: ScriptedService) -> None:
    text = "Anna sleeps. Ben is 🙂 awake."

    async def work(client: AsyncClient) -> list[Any]:
        return [
            await client(text),
            await client.with_nbest(2)("Anna"),
            await client.tag_tokens([["Anna"], []]),
            await client.tokenise(text),
            await client.explain(text, methods=["erasure"]),
            await client.models(),
            (await client.task(), await client.labels(), await client.predicts()),
            repr(client).removeprefix("<Async"),
        ]

    with Client(service.url) as client:
        wanted = [
            client(text),
            client.with_nbest(2)("Anna"),
            client.tag_tokens([["Anna"], []]),
            client.tokenise(text),
            client.explain(text, methods=["erasure"]),
            client.models(),
            (client.task, client.labels, client.predicts()),
            repr(client).removeprefix("<"),
        ]
    assert run(service, work) == wanted


def test_streams_keep_their_order_and_contexts(service: ScriptedService) -> None:
    texts = [f"Text {number}" for number in range(5 * TEXTS + 3)]

    async def arriving() -> AsyncIterator[str]:
        for text in texts:
            yield text

    async def work(client: AsyncClient) -> None:
        assert [found.text async for found in client.pipe(texts)] == texts
        assert [found.text async for found in client.pipe(arriving())] == texts
        both = [(found.text, at) async for found, at in client.pipe(zip(texts, range(900)), as_tuples=True)]  # noqa: B905
        assert both == [(text, at) for at, text in enumerate(texts)]
        stopped = client.pipe(texts)
        assert (await anext(stopped)).text == texts[0]
        await stopped.aclose()  # type: ignore[attr-defined]
        with pytest.raises(InputError, match="several texts"):
            client.pipe("Anna")

    run(service, work)


def test_pairs(service: ScriptedService) -> None:
    service.models = [PAIRS]

    async def work(client: AsyncClient) -> None:
        assert await client("x", "y") == await client(("x", "y"))

    run(service, work)


@pytest.mark.parametrize("failure", [problem(429, "queue-full", "full"), Reset(), Reset(politely=True)])
def test_failures_that_pass_are_retried(service: ScriptedService, failure: Reply | Reset) -> None:
    service.script = [failure, failure]
    assert run(service, lambda client: client("Anna")).text == "Anna"
    assert len(service.requests()) == 3


def test_errors(service: ScriptedService) -> None:
    service.script = [problem(422, "invalid-request", "wrong")]
    with pytest.raises(InputError, match="wrong"):
        run(service, lambda client: client("Anna"))
    with kept_back(service), pytest.raises(ServiceError, match="no answer within"):
        run(service, lambda client: client("Anna"), timeout=0.3)
    service.script = []
    service.url = "http://127.0.0.1:9"
    with pytest.raises(ServiceError, match="cannot connect"):
        run(service, lambda client: client("Anna"), retries=0)


def test_a_closed_client_says_so(service: ScriptedService) -> None:
    async def work(client: AsyncClient) -> None:
        await client("Anna")
        await client.close()
        with pytest.raises(InputError, match="the client is closed"):
            await client("Anna")
        with pytest.raises(InputError, match="the client is closed"):
            [found async for found in client.pipe(["Anna"])]

    run(service, work)


def test_refused_requests_have_a_status_and_a_type(service: ScriptedService) -> None:
    service.script = [problem(401, "key-required", "send a key")]
    with pytest.raises(RefusedRequestError, match="needs a valid API key") as raised:
        run(service, lambda client: client("Anna"))
    assert (raised.value.status, raised.value.type) == (401, "urn:gonie:key-required")
