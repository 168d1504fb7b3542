"""A service whose answers and failures are scripted, over HTTP on a local port, to test clients."""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import accumulate, pairwise
from threading import Event, Lock, Thread
from typing import Any

from gonie.text.schemes import IOB2

TAGGER = {
    "name": "ner",
    "task": "tag",
    "command": "tag",
    "labels": ["B-PER", "I-PER", "O"],
    "types": ["PER"],
    "predicts": "1 type: PER",
    "scheme": IOB2.to_json(),
    "language": "en",
    "unit": "word",
    "texts": 1,
    "multi_label": False,
}
CLASSIFIER = {
    **TAGGER,
    "name": "intents",
    "task": "classify",
    "command": "classify",
    "labels": ["a", "b"],
    "types": [],
    "predicts": "2 labels: a, b",
}
PAIRS = {**CLASSIFIER, "name": "pairs", "task": "pair", "texts": 2}


@dataclass(frozen=True)
class Reply:
    """An answer with a JSON body, or with ``content``."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    content: bytes | None = None
    delay: float = 0.0


class Reset:
    """Closes the connection without an answer, by a reset or, with ``politely``, an ordinary close."""

    def __init__(self, *, politely: bool = False) -> None:
        self.politely = politely


@dataclass(frozen=True)
class Seen:
    """A request as it arrived."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any
    connection: Any


def problem(status: int, kind: str, detail: str, **headers: str) -> Reply:
    """Return an error in the form of the service."""
    body = {"type": f"urn:gonie:{kind}", "title": kind, "status": status, "detail": detail}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status, body, {"Content-Type": "application/problem+json", **named})


def document(text: str) -> dict[str, Any]:
    """Return the record of a text: its words, of which those with a capital are persons."""
    tokens, spans, at = [], [], 0
    for word in text.split():
        start = text.index(word, at)
        at = start + len(word)
        tag = "B-PER" if word[0].isupper() else "O"
        tokens.append({"start": start, "end": at, "text": word, "tag": tag, "score": 0.5})
        if tag != "O":
            spans.append({"start": start, "end": at, "label": "PER", "text": word, "score": 0.5})
    return {"text": text, "spans": spans, "tokens": tokens}


def sentences(text: str) -> list[list[dict[str, Any]]]:
    """Return the tokens of a text. A sentence ends with a token that ends with a full stop."""
    found: list[list[dict[str, Any]]] = [[]]
    for token in document(text)["tokens"]:
        found[-1].append({name: token[name] for name in ("start", "end", "text")})
        if token["text"].endswith("."):
            found.append([])
    return [own for own in found if own]


def tagged(texts: list[str]) -> dict[str, Any]:
    """Return the documents of texts and their sentences, as ranges of tokens."""
    ranges = [list(pairwise(accumulate(map(len, sentences(text)), initial=0))) for text in texts]
    return {"documents": [*map(document, texts)], "sentences": ranges}


def ordinary(seen: Seen, models: list[dict[str, Any]]) -> Reply:
    """Answer a request as the service does."""
    body = seen.body or {}
    if seen.path == "/v1/models":
        return Reply(body={"models": models})
    if seen.path == "/v1/tag":
        texts = body.get("texts") or [" ".join(words) for words in body["tokens"]]
        return Reply(body={**tagged(texts), "model": body["model"], "bundle": "0"})
    if seen.path == "/v1/tokenise":
        found = [{"text": text, "sentences": sentences(text)} for text in body["texts"]]
        return Reply(body={"documents": found})
    if seen.path == "/v1/explain":
        return Reply(body={"explanations": [{"text": body.get("texts") or body["pairs"], "asked": body}]})
    if seen.path == "/v1/classify":
        scores = {"label": "a", "score": 0.75, "scores": {"a": 0.75, "b": 0.25}}
        texts = [{"text": text} for text in body.get("texts", ())]
        pairs = [{"text": one, "text_pair": two} for one, two in body.get("pairs", ())]
        return Reply(body={"results": [{**own, **scores} for own in texts + pairs]})
    return problem(404, "not-found", f"no route {seen.path}")


class ScriptedService:
    """A service that answers in the ordinary way, after the replies in ``script``.

    Only requests that are not for ``/v1/models`` take a reply of the script.
    """

    def __init__(self, *models: dict[str, Any]) -> None:
        self.models = list(models) or [TAGGER]
        self.script: list[Reply | Reset | Callable[[Seen], Reply]] = []
        self.seen: list[Seen] = []
        self.url = ""
        self._lock = Lock()

    def requests(self, path: str = "") -> list[Seen]:
        """Return the requests for a path, or all but those for ``/v1/models``."""
        return [seen for seen in self.seen if (seen.path == path if path else seen.path != "/v1/models")]

    def reply(self, seen: Seen) -> Reply | Reset:
        """Return the reply to a request."""
        with self._lock:
            self.seen.append(seen)
            step = self.script.pop(0) if self.script and seen.path != "/v1/models" else None
        if step is None:
            return ordinary(seen, self.models)
        return step(seen) if callable(step) else step


@contextmanager
def kept_back(service: ScriptedService) -> Iterator[None]:
    """Keep back the answer to the next request until the block ends."""
    ended = Event()

    def answer(seen: Seen) -> Reply:
        ended.wait(60)
        return ordinary(seen, service.models)

    service.script = [answer]
    try:
        yield
    finally:
        ended.set()


@contextmanager
def running(service: ScriptedService) -> Iterator[ScriptedService]:
    """Run a service on a free port."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            body = json.loads(self.rfile.read(length)) if length else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = service.reply(Seen(self.command, self.path, headers, body, self.client_address))
            if isinstance(reply, Reset):
                self.close_connection = True
                if not reply.politely:
                    self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                return
            time.sleep(reply.delay)
            content = json.dumps(reply.body).encode() if reply.content is None else reply.content
            self.send_response(reply.status)
            for name, value in ({"Content-Type": "application/json"} | reply.headers).items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        service.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield service
        finally:
            server.shutdown()
            thread.join()
