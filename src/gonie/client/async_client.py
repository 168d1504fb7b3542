"""The client for asynchronous code (asyncio)."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from typing import Any, Self

from gonie.client.base import ServiceClient
from gonie.client.errors import NoResponseError, closed_client, no_response, too_late
from gonie.client.exchange import Call, HttpRequest, HttpResponse, Result
from gonie.client.groups import FIRST, Grouping, InputGroup
from gonie.client.model_entry import ModelEntry
from gonie.text.types import Document, Token


class AsyncClient(ServiceClient):
    """``Client`` for asyncio, with the same arguments: ``await client(text)``.

        async with gonie.AsyncClient("http://127.0.0.1:8000/ner") as client:
            async for document in client.pipe(texts):
                ...

    ``labels`` and ``task`` are methods: ``await client.labels()``.
    """

    def _open(self) -> None:
        self._http = self._httpx.AsyncClient()

    async def __call__(self, *text: Any) -> Any:
        """Return the prediction for one text, or for two texts if it is a model of pairs."""
        return await self._run(self._calls.answer(text[0] if len(text) == 1 else text))

    def pipe(
        self, texts: Iterable[Any] | AsyncIterable[Any], *, first: int = FIRST, as_tuples: bool = False
    ) -> AsyncIterator[Any]:
        """Yield the predictions for a stream of texts or pairs, in order, as ``Client.pipe``."""
        return self._piped(texts, Grouping(texts, first=first, as_tuples=as_tuples))

    async def _piped(
        self, texts: Iterable[Any] | AsyncIterable[Any], grouping: Grouping
    ) -> AsyncIterator[Any]:
        waiting: deque[tuple[InputGroup, asyncio.Task[list[Any]]]] = deque()
        try:
            async for group in _groups(texts, grouping):
                waiting.append((group, asyncio.create_task(self._run(self._calls.answers(group.inputs)))))
                while waiting and (len(waiting) >= self._in_flight() or waiting[0][1].done()):
                    own, task = waiting.popleft()
                    for result in own.results(await task):
                        yield result
            while waiting:
                own, task = waiting.popleft()
                for result in own.results(await task):
                    yield result
        finally:
            for _, task in waiting:
                task.cancel()
            await asyncio.gather(*(task for _, task in waiting), return_exceptions=True)

    async def tag_tokens(self, sentences: Iterable[Sequence[str]]) -> list[Document]:
        """Tag sentences given as lists of words, as ``Tagger.tag_tokens``."""
        return await self._run(self._calls.tagged_tokens(sentences))

    async def tokenise(self, text: str) -> tuple[tuple[Token, ...], ...]:
        """Return the tokens that the model sees, for each sentence."""
        return await self._run(self._calls.tokenised(text))

    async def explain(
        self,
        *text: Any,
        methods: Sequence[str] | None = None,
        label: str | None = None,
        nbest: int | None = None,
        spans: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Explain the predictions for a text, or two texts, as ``Client.explain``."""
        options = {"methods": methods, "label": label, "nbest": nbest, "spans": spans}
        return await self._run(self._calls.explained(text[0] if len(text) == 1 else text, options))

    async def models(self) -> list[dict[str, Any]]:
        """Return the descriptions of all models of the service, as ``/v1/models`` lists them."""
        return await self._run(self._calls.models())

    async def task(self) -> str:
        """Return the task of the model: ``tag``, ``classify`` or ``pair``."""
        return (await self._served()).task

    async def labels(self) -> tuple[str, ...]:
        """Return the labels of the model."""
        return (await self._served()).labels

    async def predicts(self) -> str:
        """Say what the model predicts: ``3 types: LOC, ORG, PER``."""
        return (await self._served()).predicts()

    async def _served(self) -> ModelEntry:
        return await self._run(self._calls.served())

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _run(self, call: Call[Result]) -> Result:
        try:
            request = next(call)
            while True:
                try:
                    response = await self._perform(request)
                except NoResponseError as failure:
                    request = call.throw(failure)
                else:
                    request = call.send(response)
        except StopIteration as ended:
            result: Result = ended.value
            return result

    async def _perform(self, request: HttpRequest) -> HttpResponse:
        await asyncio.sleep(request.wait)
        if self._http.is_closed:
            raise closed_client()
        timeout = self._calls.policy.timeout
        try:
            async with asyncio.timeout(request.timeout):
                return await self._send(request)
        except TimeoutError as error:
            raise too_late(timeout) from error
        except self._httpx.HTTPError as error:
            raise no_response(error, self._httpx, timeout) from error

    async def _send(self, request: HttpRequest) -> HttpResponse:
        response = await self._http.request(
            request.method,
            self.url + request.path,
            content=request.body,
            headers=request.headers(self._key),
            timeout=None,  # the deadline is that of the whole request
        )
        return HttpResponse(response.status_code, dict(response.headers), response.content)


async def _groups(texts: Iterable[Any] | AsyncIterable[Any], grouping: Grouping) -> AsyncIterator[InputGroup]:
    """Yield the groups of a stream, which may be asynchronous."""
    if not isinstance(texts, AsyncIterable):
        for group in grouping.all(texts):
            yield group
        return
    async for text in texts:
        if full := grouping.add(text):
            yield full
    if rest := grouping.rest():
        yield rest
