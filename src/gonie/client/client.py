"""The client for ordinary code: each call returns when its answer is there."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from typing import Any, Self
from weakref import finalize

from gonie.client.base import ServiceClient
from gonie.client.errors import NoResponseError, closed_client, no_response, too_late
from gonie.client.exchange import Call, HttpRequest, HttpResponse, Result
from gonie.client.groups import FIRST, IN_FLIGHT, Grouping, InputGroup
from gonie.client.model_entry import ModelEntry
from gonie.client.retries import SHORTEST
from gonie.text.types import Document, Token


class OpenConnections:
    """The connections and threads that clients with other settings share. The last one closes them."""

    def __init__(self, httpx: Any) -> None:
        self.http = httpx.Client()
        self.pool = ThreadPoolExecutor(IN_FLIGHT, thread_name_prefix="gonie-client")
        finalize(self, self.http.close)

    def close(self) -> None:
        """Close the connections. Running requests are not waited for."""
        self.http.close()  # first, since `is_closed` says that the pool takes no more calls
        self.pool.shutdown(wait=False, cancel_futures=True)


class Client(ServiceClient):
    """A model of a service (``gonie serve``), which is called like a local model.

        client = gonie.Client("http://127.0.0.1:8000/ner")
        client("Angela Merkel met Samsung managers in Seoul.").spans

    Answers equal those of the local model, except that scores are rounded to six decimals and that ``tokens``
    of a classification is 0. ``url`` may end with the name of the model. The name is needed if several models
    are served, and may be passed as ``model`` instead. ``key`` is an API key, by default the value of the
    variable ``GONIE_KEY``.

    A request is sent again if the service is busy or the connection is lost: up to ``retries`` times, with
    growing random delays. ``timeout`` is the deadline in seconds for all tries of a request. A refused
    request raises ``RefusedRequestError``, which is an ``InputError``. Other failures raise ``ServiceError``.
    Both have ``status`` and ``type``. Threads may share a client.
    """

    _connections: OpenConnections

    def _open(self) -> None:
        self._connections = OpenConnections(self._httpx)

    def __call__(self, *text: Any) -> Any:
        """Return the prediction for one text, or for two texts if it is a model of pairs."""
        return self._run(self._calls.answer(text[0] if len(text) == 1 else text))

    def pipe(self, texts: Iterable[Any], *, first: int = FIRST, as_tuples: bool = False) -> Iterator[Any]:
        """Yield the predictions for a stream of texts or pairs, in order.

        Texts are sent in groups, a few requests at once, and are read ahead only for these. ``first`` is the
        approximate number of tokens in the first group. With ``as_tuples``, ``texts`` are (text, context) and
        the results (prediction, context).
        """
        return self._piped(texts, Grouping(texts, first=first, as_tuples=as_tuples))

    def _piped(self, texts: Iterable[Any], grouping: Grouping) -> Iterator[Any]:
        waiting: deque[tuple[InputGroup, Future[list[Any]]]] = deque()
        try:
            for group in grouping.all(texts):
                waiting.append((group, self._submit(self._calls.answers(group.inputs))))
                while waiting and (len(waiting) >= self._in_flight() or waiting[0][1].done()):
                    yield from _results(*waiting.popleft())
            while waiting:
                yield from _results(*waiting.popleft())
        finally:
            for _, future in waiting:
                future.cancel()

    def tag_tokens(self, sentences: Iterable[Sequence[str]]) -> list[Document]:
        """Tag sentences given as lists of words, as ``Tagger.tag_tokens``."""
        return self._run(self._calls.tagged_tokens(sentences))

    def tokenise(self, text: str) -> tuple[tuple[Token, ...], ...]:
        """Return the tokens that the model sees, for each sentence."""
        return self._run(self._calls.tokenised(text))

    def explain(
        self,
        *text: Any,
        methods: Sequence[str] | None = None,
        label: str | None = None,
        nbest: int | None = None,
        spans: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Explain the predictions for a text, or two texts, word by word.

        The result is the object that ``/v1/explain`` of the service returns. ``methods`` are by default all
        that the model has. ``label`` explains that label of a classifier. ``nbest`` is the number of tag
        sequences of a tagger, and ``spans`` asks it about pieces of the text: ``Samsung=ORG``.
        """
        options = {"methods": methods, "label": label, "nbest": nbest, "spans": spans}
        return self._run(self._calls.explained(text[0] if len(text) == 1 else text, options))

    def models(self) -> list[dict[str, Any]]:
        """Return the descriptions of all models of the service, as ``/v1/models`` lists them."""
        return self._run(self._calls.models())

    @property
    def task(self) -> str:
        """The task of the model: ``tag``, ``classify`` or ``pair``."""
        return self.entry().task

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the model."""
        return self.entry().labels

    def predicts(self) -> str:
        """Say what the model predicts: ``3 types: LOC, ORG, PER``."""
        return self.entry().predicts()

    def entry(self) -> ModelEntry:
        """Return the description of the model, which is requested once."""
        return self._run(self._calls.served())

    def close(self) -> None:
        """Close the connections. Running requests are not waited for."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _run(self, call: Call[Result]) -> Result:
        try:
            request = next(call)
            while True:
                try:
                    response = self._perform(request)
                except NoResponseError as failure:
                    request = call.throw(failure)
                else:
                    request = call.send(response)
        except StopIteration as ended:
            result: Result = ended.value
            return result

    def _submit(self, call: Call[Result]) -> Future[Result]:
        if self._connections.http.is_closed:
            raise closed_client()
        return self._connections.pool.submit(self._run, call)

    def _perform(self, request: HttpRequest) -> HttpResponse:
        time.sleep(request.wait)
        if self._connections.http.is_closed:
            raise closed_client()
        try:
            return self._send(request)
        except self._httpx.HTTPError as error:
            raise no_response(error, self._httpx, self._calls.policy.timeout) from error

    def _send(self, request: HttpRequest) -> HttpResponse:
        left = TimeLeft(request.timeout)
        with self._connections.http.stream(
            request.method,
            self.url + request.path,
            content=request.body,
            headers=request.headers(self._key),
            extensions={"timeout": left},
        ) as response:
            content = bytearray()
            for part in response.iter_bytes():
                content += part
                if left.over():
                    raise too_late(self._calls.policy.timeout)
            return HttpResponse(response.status_code, dict(response.headers), bytes(content))


class TimeLeft(dict[str, float]):
    """The timeouts of httpx to connect, write and read, each of which is the time left for the whole request.

    httpx asks for the timeout of each operation when it begins. A header that comes in many slow pieces is
    one operation, and may take longer.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._deadline = time.monotonic() + seconds

    def get(self, *_: Any) -> float:
        """Return the seconds until the deadline."""
        return max(SHORTEST, self._deadline - time.monotonic())

    def over(self) -> bool:
        """Return whether the deadline has passed."""
        return time.monotonic() > self._deadline


def _results(group: InputGroup, answers: Future[list[Any]]) -> Iterable[Any]:
    try:
        return group.results(answers.result())
    except CancelledError as error:
        raise closed_client() from error
