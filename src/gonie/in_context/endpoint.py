"""A language model at an OpenAI-compatible endpoint (``POST URL/chat/completions``)."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any
from weakref import finalize

from gonie.client.base import VISIBLE
from gonie.client.client import TimeLeft
from gonie.client.exchange import SCHEME
from gonie.client.retries import RetryPolicy, Tries, retry_after
from gonie.errors import InputError, MissingExtraError, ServiceError
from gonie.in_context.chat import ChatReply, FailedRequestError, Message, reply_of
from gonie.in_context.settings import InContextSettings

KEYS = ("GONIE_LLM_KEY", "OPENAI_API_KEY")
"""The variables of the environment with an API key. The first that is set counts."""
AGAIN = (408, 409, 425, 429, 500, 502, 503, 504, 529)
"""Statuses after which the same request may succeed."""
FATAL = {
    401: f"it needs a valid API key. Set {KEYS[0]}",
    403: f"it refuses the API key. Check {KEYS[0]}",
    404: "it has no such page or model. The URL usually ends with /v1",
    405: "it takes no such requests. The URL usually ends with /v1",
}
"""Statuses that every request would get, and what to do."""
UNLISTED = (404, 405)
"""Statuses of an endpoint that does not list its models."""
GREETING: Sequence[Message] = ({"role": "user", "content": "Hello"},)
CONNECT_SECONDS = 10.0
"""Seconds for the check whether an endpoint can be reached."""
FIRST_DELAY, LONGEST_DELAY = 0.5, 30.0
"""Seconds before the first retry, and before any, at most."""
SHOWN = 160
"""Characters of an answer in a message."""


def api_key() -> str | None:
    """Return the API key of the environment. Messages never show it."""
    for name in KEYS:
        if key := os.environ.get(name, "").strip():
            if not VISIBLE.fullmatch(key):
                raise InputError(
                    f"the API key in {name} has spaces or characters outside ASCII", fix="Copy it again"
                )
            return key
    return None


class EndpointChat:
    """A language model at a URL. ``key`` is an API key, which is sent only to this URL."""

    def __init__(self, url: str, settings: InContextSettings, *, key: str | None = None) -> None:
        try:
            import httpx
        except ImportError as error:
            raise MissingExtraError("httpx", extra="llm", purpose="a language model at a URL") from error
        self._httpx = httpx
        self._http = httpx.Client(
            headers={} if key is None else {"Authorization": f"{SCHEME} {key}"},
            limits=httpx.Limits(max_connections=settings.concurrency),
        )
        finalize(self, self._http.close)
        self.url = url
        self._reached = False
        self.at_once = settings.concurrency
        self._settings = settings
        self._policy = RetryPolicy(
            retries=settings.retries,
            timeout=settings.timeout * (settings.retries + 1) + LONGEST_DELAY * settings.retries,
            first_delay=FIRST_DELAY,
            longest_delay=LONGEST_DELAY,
        )
        self.name = settings.model or self._only_model()

    @property
    def identity(self) -> Mapping[str, Any]:
        """The URL, the model and the fields of a request."""
        return {"url": self.url, "model": self.name, **self._settings.request()}

    def ask(self, messages: Sequence[Message]) -> ChatReply:
        """Send a request, again if needed, and return its answer.

        If there is no connection before the first answer, there is probably no server: ``ServiceError``.
        """
        fields = {"model": self.name, "messages": list(messages), **self._settings.request()}
        content = json.dumps(fields, ensure_ascii=False).encode()
        answer, seconds, retries = self._exchange("POST", "/chat/completions", content)
        return reply_of(answer, seconds=seconds, retries=retries)

    def connect(self) -> None:
        """Check that the endpoint can be reached and takes the API key.

        It is asked once for its models. If it does not list them, its model is greeted.
        """
        timeout = min(self._settings.timeout, CONNECT_SECONDS)
        try:
            status, _, body = self._send("GET", "/models", None, timeout)
            if status in UNLISTED:
                self.ask(GREETING)
            elif status in FATAL:
                raise FailedRequestError(f"status {status}: {self._problem(status, body)}")
        except self._httpx.ReadTimeout:
            return  # it is there, but busy
        except self._httpx.HTTPError as error:
            raise ServiceError(f"{self.name}: {self._describe(error, timeout)}") from error
        except FailedRequestError as error:
            raise ServiceError(f"{self.name}: {error}") from error

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _only_model(self) -> str:
        """Return the name of the only model that the endpoint lists, or raise an error."""
        try:
            answer, _, _ = self._exchange("GET", "/models", None)
            names = [str(each["id"]) for each in answer["data"]]
        except FailedRequestError as error:
            raise ServiceError(f"{self.url}: {error}") from error
        except (KeyError, TypeError) as error:
            raise InputError(
                f"{self.url} does not list its models", fix="Name one: --llm model=NAME"
            ) from error
        if not names:
            raise InputError(f"{self.url} has no model", fix="Name one: --llm model=NAME")
        if len(names) > 1:
            some = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
            raise InputError(f"{self.url} has {len(names)} models: {some}", fix="Name one: --llm model=NAME")
        return names[0]

    def _exchange(self, method: str, path: str, content: bytes | None) -> tuple[Any, float, int]:
        """Return the JSON value of an answer, the seconds of its try, and the number of failed tries."""
        tries, retries = self._policy.start(self._policy.deadline()), 0
        while True:
            began = time.monotonic()
            try:
                status, headers, body = self._send(method, path, content, self._settings.timeout)
            except self._httpx.HTTPError as error:
                fatal = isinstance(error, self._httpx.ConnectError)
                reason, asked = self._describe(error, self._settings.timeout), 0.0
                if fatal and not self._reached:
                    raise ServiceError(reason) from error
            else:
                self._reached = True
                seconds = time.monotonic() - began
                if status < 300:
                    return _json(body, retries), seconds, retries
                reason = f"status {status}: {self._problem(status, body)}"
                if status not in AGAIN:
                    raise FailedRequestError(reason, retries=retries, fatal=status in FATAL)
                asked, fatal = retry_after(headers), False
            retries = _wait(tries, asked, reason, retries, fatal=fatal)

    def _send(
        self, method: str, path: str, content: bytes | None, timeout: float
    ) -> tuple[int, Mapping[str, str], bytes]:
        left = TimeLeft(timeout)
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        with self._http.stream(
            method, self.url + path, content=content, headers=headers, extensions={"timeout": left}
        ) as response:
            body = bytearray()
            for part in response.iter_bytes():
                body += part
                if left.over():
                    raise self._httpx.ReadTimeout("")
            return response.status_code, dict(response.headers), bytes(body)

    def _describe(self, error: Exception, timeout: float) -> str:
        if isinstance(error, self._httpx.TimeoutException):
            return f"no answer within {timeout:g} seconds"
        if isinstance(error, self._httpx.ConnectError):
            where = f"{self.url}: {error}"
            return f"cannot connect to {where}. Is the server running? Check the address and the port"
        return f"the request failed: {error or type(error).__name__}"

    def _problem(self, status: int, body: bytes) -> str:
        """Return what an error says, without anything like a key."""
        if status in FATAL:
            return FATAL[status]
        try:
            found = json.loads(body)["error"]
            message = found["message"] if isinstance(found, dict) else found
        except (ValueError, KeyError, TypeError):
            message = body.decode("utf-8", "replace")
        return " ".join(str(message).split())[:SHOWN] or "no reason is given"


def _wait(tries: Tries, asked: float, reason: str, retries: int, *, fatal: bool) -> int:
    """Wait before the next try and return the number of failed ones, or give up."""
    delay = tries.delay(asked)
    if delay is None:
        raise FailedRequestError(reason, retries=retries, fatal=fatal)
    time.sleep(delay)
    return retries + 1


def _json(body: bytes, retries: int) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        shown = body[:SHOWN].decode("utf-8", "replace")
        raise FailedRequestError(f"the answer is not JSON: {shown!r}", retries=retries) from error
