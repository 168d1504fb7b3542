"""Tests the client against a scripted service: answers, retries, failures, streams."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import gonie
from gonie.client.async_client import AsyncClient
from gonie.client.client import Client
from gonie.client.errors import RefusedRequestError
from gonie.client.groups import IN_FLIGHT, TEXTS
from gonie.errors import BundleError, InputError, MissingExtraError, ServiceError
from gonie.tasks.pairs.answer import PairAnswer
from gonie.tasks.tagging.tagger import Tagger
from gonie.text.labelled_text import LabelledPair, LabelledText
from gonie.text.types import Classification, Document, Span, Token
from support.scripted_service import (
    CLASSIFIER,
    PAIRS,
    TAGGER,
    Reply,
    Reset,
    ScriptedService,
    Seen,
    document,
    kept_back,
    problem,
    tagged,
)

BUSY = problem(429, "queue-full", "the queue is full")


@pytest.fixture
def client(service: ScriptedService) -> Iterator[Client]:
    with Client(service.url) as found:
        yield found


def test_a_text_gives_a_document_with_its_sentences(client: Client, service: ScriptedService) -> None:
    found = client("Anna sleeps. Ben is 🙂 awake.")
    assert isinstance(found, Document)
    assert found.to_dict() == document("Anna sleeps. Ben is 🙂 awake.")
    assert found.sentences == ((0, 2), (2, 6))
    assert found.spans[1] == Span(13, 16, "PER", "Ben", 0.5)
    assert client("Anna").sentences == ((0, 1),)
    assert [seen.path for seen in service.requests()] == ["/v1/tag", "/v1/tag"]
    sent = {"texts": ["Anna sleeps. Ben is 🙂 awake."], "model": "ner", "sentences": True}
    assert service.requests()[0].body == sent
    assert len(service.requests("/v1/models")) == 1


def test_classifiers_and_pairs(service: ScriptedService) -> None:
    service.models = [CLASSIFIER, PAIRS]
    with Client(f"{service.url}/intents") as client:
        assert client("x") == Classification("x", "a", 0.75, {"a": 0.75, "b": 0.25}, ("a",))
        client(LabelledText("the bomb", (), (Span(4, 8, "e1", "bomb"),)))
        assert service.requests()[-1].body["texts"] == ["the <e1>bomb</e1>"]
        assert (client.task, client.labels, client.predicts()) == ("classify", ("a", "b"), "2 labels: a, b")
    with Client(service.url, model="pairs") as client:
        answer = PairAnswer("x", "y", "a", 0.75, {"a": 0.75, "b": 0.25})
        assert client("x", "y") == client(("x", "y")) == client(LabelledPair("x", "y")) == answer
        assert list(client.pipe([("x", "y"), ["x", "y"]])) == [answer, answer]
        assert service.requests()[-1].body == {"pairs": [["x", "y"], ["x", "y"]], "model": "pairs"}


def test_settings_are_sent(client: Client, service: ScriptedService) -> None:
    changed = client.with_decoding("posterior", {"PER": 0.5}).with_nbest(3)
    changed("Anna")
    wanted = {"texts": ["Anna"], "model": "ner", "decode": "posterior", "bias": {"PER": 0.5}, "nbest": 3}
    assert service.requests()[-1].body == {**wanted, "sentences": True}
    client("Anna")
    assert service.requests()[-1].body == {"texts": ["Anna"], "model": "ner", "sentences": True}
    assert len(service.requests("/v1/models")) == 1


def test_tokens_explanations_and_tokenised_texts(client: Client, service: ScriptedService) -> None:
    found = client.tag_tokens([["Anna", "sleeps."], [], ["it", "rains"]])
    assert [each.text for each in found] == ["Anna sleeps.", "", "it rains"]
    assert [each.sentences for each in found] == [((0, 2),), (), ((0, 2),)]
    assert service.requests()[-1].body["tokens"] == [["Anna", "sleeps."], ["it", "rains"]]
    assert client.tokenise("a b. c") == ((Token("a", 0, 1), Token("b.", 2, 4)), (Token("c", 5, 6),))
    asked = client.explain("Anna", methods=["erasure"], spans=["Anna=PER"])["asked"]
    assert asked == {"texts": ["Anna"], "methods": ["erasure"], "spans": ["Anna=PER"], "model": "ner"}
    assert client.models() == [TAGGER]


def test_a_key_is_sent(service: ScriptedService, monkeypatch: pytest.MonkeyPatch) -> None:
    with Client(service.url, key="secret") as client:
        client("Anna")
    assert service.seen[-1].headers["authorization"] == "Bearer secret"
    monkeypatch.setenv("GONIE_KEY", "other")
    with Client(service.url) as client:
        client("Anna")
    assert service.seen[-1].headers["authorization"] == "Bearer other"
    assert 0 < int(service.seen[-1].headers["request-timeout-ms"]) <= 30_000


SECRET = "9wlSecret"


@pytest.mark.parametrize("given", [f"{SECRET}\n", f" {SECRET}\r\n"])
def test_space_around_a_key_is_removed(
    service: ScriptedService, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    with Client(service.url, key=given) as client:
        client("Anna")
    assert service.seen[-1].headers["authorization"] == f"Bearer {SECRET}"
    monkeypatch.setenv("GONIE_KEY", given)
    with Client(service.url) as client:
        client("Anna")
    assert service.seen[-1].headers["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    "given", [f"{SECRET}\n{SECRET}", f"a {SECRET}", f"{SECRET}é", f"{SECRET}\x7f", SECRET.encode()]
)
def test_invalid_keys_are_refused_and_never_shown(monkeypatch: pytest.MonkeyPatch, given: Any) -> None:
    with pytest.raises(InputError, match="API key") as raised:
        Client("http://localhost", key=given)
    assert SECRET not in str(raised.value)
    if isinstance(given, str):
        monkeypatch.setenv("GONIE_KEY", given)
        with pytest.raises(InputError, match="the API key in GONIE_KEY has spaces") as raised:
            Client("http://localhost")
        assert SECRET not in str(raised.value)


@pytest.mark.parametrize(
    "failure",
    [
        BUSY,
        problem(503, "draining", "the service stops", Retry_After="0"),
        problem(503, "not-ready", "the models are being loaded"),
        Reply(503, content=b"<html>Service Unavailable"),
        Reply(503, {"type": "about:blank", "title": "Service Unavailable"}),
        Reset(),
        Reset(politely=True),
    ],
    ids=["429", "draining", "not ready", "proxy", "proxy with a problem", "reset", "closed"],
)
def test_failures_that_pass_are_retried(
    client: Client, service: ScriptedService, failure: Reply | Reset
) -> None:
    service.script = [failure, failure]
    assert client("Anna").text == "Anna"
    assert len(service.requests()) == 3


def test_retry_after_is_honoured(client: Client, service: ScriptedService) -> None:
    service.script = [problem(429, "queue-full", "the queue is full", Retry_After="1")]
    began = time.monotonic()
    client("Anna")
    assert time.monotonic() - began >= 1


def test_a_kept_connection_that_the_service_closed_is_replaced(
    client: Client, service: ScriptedService
) -> None:
    client("Anna")
    service.script = [Reset(politely=True)]
    assert client("Ben").text == "Ben"
    assert len({seen.connection for seen in service.seen}) == 2


def test_retries_end(service: ScriptedService) -> None:
    with Client(service.url, retries=1) as client:
        service.script = [BUSY] * 2
        with pytest.raises(ServiceError, match="the queue is full") as raised:
            client("Anna")
        assert (raised.value.status, raised.value.type) == (429, "urn:gonie:queue-full")
        service.script = [Reset()] * 2
        with pytest.raises(ServiceError, match="request failed") as raised:
            client("Anna")
        assert raised.value.status is None


def test_a_delay_beyond_the_deadline_is_not_waited_for(service: ScriptedService) -> None:
    with Client(service.url, timeout=30) as client:
        service.script = [problem(503, "not-ready", "loading", Retry_After="60")]
        began = time.monotonic()
        with pytest.raises(ServiceError, match="loading"):
            client("Anna")
        assert time.monotonic() - began < 30
    assert len(service.requests()) == 1


def test_a_slow_answer_ends_at_the_deadline(service: ScriptedService) -> None:
    with Client(service.url, timeout=2) as client:
        assert client.task == "tag"  # so that the request for the model has its own deadline
        with kept_back(service), pytest.raises(ServiceError, match="no answer within 2 seconds"):
            client("Anna")
    assert len(service.requests()) == 1


@pytest.mark.parametrize(
    ("reply", "error", "message"),
    [
        (problem(422, "invalid-request", "bias for an unknown type: 'X'"), InputError, "unknown type: 'X'"),
        (problem(401, "key-required", "send a key"), InputError, "needs a valid API key"),
        (problem(503, "worker-failed", "two workers ended"), ServiceError, "two workers ended"),
        (problem(413, "too-large", "too many bytes"), InputError, "too many bytes"),
        (problem(504, "deadline", "not ready in time"), ServiceError, "not ready in time"),
        (problem(500, "internal", "failed"), ServiceError, "failed"),
        (Reply(500, content=b"<html>Bad Gateway"), ServiceError, "status 500: '<html>Bad Gateway'"),
        (Reply(404, content=b"nginx"), ServiceError, "status 404: 'nginx'"),
        (Reply(302, headers={"Location": "/"}), ServiceError, "status 302"),
        (Reply(content=b"{"), ServiceError, "cannot be read"),
        (Reply(content=b"[]"), ServiceError, "cannot be read"),
        (Reply(body={"documents": []}), ServiceError, "cannot be read"),
        (
            Reply(body={"documents": [{"text": "Anna"}], "sentences": [[]]}),
            ServiceError,
            "not the record of a",
        ),
        (Reply(body={"documents": [document("Anna")]}), ServiceError, "cannot be read"),
        (Reply(body={"documents": [document("Anna")], "sentences": [[1]]}), ServiceError, "not the record"),
        (Reply(body={"documents": [document("Anna")], "sentences": []}), ServiceError, "cannot be read"),
        (Reply(body={"documents": ["Anna"]}), ServiceError, "cannot be read"),
    ],
)
def test_errors_are_raised_at_once(
    client: Client, service: ScriptedService, reply: Reply, error: type[Exception], message: str
) -> None:
    service.script = [reply]
    with pytest.raises(error, match=message):
        client("Anna")
    assert len(service.requests()) == 1


def test_refused_requests_have_a_status_and_a_type(client: Client, service: ScriptedService) -> None:
    service.script = [problem(422, "too-many-tokens", "at most 50 tokens")]
    with pytest.raises(RefusedRequestError, match=r"^at most 50 tokens$") as raised:
        client("Anna")
    assert (raised.value.status, raised.value.type) == (422, "urn:gonie:too-many-tokens")
    again = pickle.loads(pickle.dumps(raised.value))
    assert (str(again), again.status, again.type) == (str(raised.value), 422, "urn:gonie:too-many-tokens")


def test_a_missing_key_is_explained(client: Client, service: ScriptedService) -> None:
    service.script = [problem(401, "key-required", "Send a valid key as Authorization: Bearer KEY")]
    with pytest.raises(RefusedRequestError) as raised:
        client("Anna")
    assert str(raised.value) == f"{service.url} needs a valid API key. Set GONIE_KEY, or pass key="
    assert (raised.value.status, raised.value.type) == (401, "urn:gonie:key-required")


def test_the_url_of_a_route_is_refused(service: ScriptedService) -> None:
    url = f"{service.url}/v1/tag"
    with Client(url) as client, pytest.raises(RefusedRequestError) as raised:
        client("Anna")
    assert str(raised.value) == f"{url} is not the URL of a model. Pass http://HOST:PORT/NAME"
    assert raised.value.status == 404


def test_failures_name_the_service(client: Client, service: ScriptedService) -> None:
    service.script = [problem(504, "deadline", "not ready in time")]
    with pytest.raises(ServiceError, match=f"^{service.url}: not ready in time$"):
        client("Anna")


def test_a_closed_client_says_so(client: Client, service: ScriptedService) -> None:
    begun = client.pipe(f"Text {number}" for number in count())
    next(begun)
    client.close()
    for call in (
        lambda: client("Anna"),
        client.models,
        lambda: list(client.pipe(["Anna"])),
        lambda: list(begun),
    ):
        with pytest.raises(InputError, match="the client is closed"):
            call()


def test_other_bundles_are_noticed(client: Client, service: ScriptedService) -> None:
    """The description is read again after an answer from another bundle, and only then."""
    service.models = [{**TAGGER, "bundle": "0"}]
    client("Anna")
    other = client.with_nbest(1)
    assert (client.labels, other.labels) == (("B-PER", "I-PER", "O"),) * 2
    service.models = [{**TAGGER, "bundle": "1", "labels": ["O"]}]
    assert client.labels == ("B-PER", "I-PER", "O")
    service.script = [lambda seen: Reply(body={**_tagged(seen), "bundle": "1"})]
    client("Anna")
    assert (client.labels, other.labels) == (("O",),) * 2
    assert len(service.requests("/v1/models")) == 2


def test_other_models_are_noticed(client: Client, service: ScriptedService) -> None:
    client("Anna")
    service.models = [{**TAGGER, "name": "new"}]
    service.script = [problem(404, "unknown-model", "no model 'ner'")]
    with pytest.raises(InputError, match="no model 'ner'"):
        client("Anna")
    client("Anna")
    assert service.requests()[-1].body["model"] == "new"


def test_a_file_name_is_a_text(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Warnings are errors in tests."""
    (tmp_path / "Anna").touch()
    monkeypatch.chdir(tmp_path)
    assert client("Anna").text == "Anna"


def test_pipes_take_the_arguments_of_a_local_model() -> None:
    taken = [list(inspect.signature(each.pipe).parameters) for each in (Client, AsyncClient, Tagger)]
    assert taken[0] == taken[1] == taken[2]


def test_the_first_request_of_a_stream_is_as_small_as_asked(client: Client, service: ScriptedService) -> None:
    texts = [f"Anna {number:03}" for number in range(100)]
    assert len(list(client.pipe(texts, first=1))) == 100
    # a few requests are sent at once, and may arrive in any order
    groups = sorted(request.body["texts"] for request in service.requests() if request.body)
    sizes = [len(group) for group in groups]
    assert sizes[0] <= 2
    assert sizes[0] < sizes[1] < sizes[2]


def test_no_service_is_an_error() -> None:
    with (
        Client("http://127.0.0.1:9", retries=1) as client,
        pytest.raises(ServiceError, match="cannot connect"),
    ):
        client("Anna")


def test_invalid_inputs_are_not_sent(client: Client, service: ScriptedService) -> None:
    for wrong in (b"bytes", None, "\ud800", ("a", "b")):
        with pytest.raises(InputError):
            client(wrong)
    with pytest.raises(InputError, match="list of words"):
        client.tag_tokens(["Anna"])
    with pytest.raises(InputError, match="several texts"):
        client.pipe("Anna")
    assert service.requests() == []


def test_a_stream_keeps_its_order(client: Client, service: ScriptedService) -> None:
    """Answers that overtake others wait for their turn."""
    texts = [f"Text {number}" for number in range(5 * TEXTS + 3)]
    service.script = [lambda seen: Reply(body=_tagged(seen), delay=0.3)]
    assert [found.text for found in client.pipe(texts)] == texts
    sent = [seen.body["texts"] for seen in service.requests("/v1/tag")]
    assert sorted(text for own in sent for text in own) == sorted(texts)
    assert max(map(len, sent)) <= TEXTS
    assert list(client.pipe([])) == []


def _tagged(seen: Seen) -> dict[str, Any]:
    return tagged(seen.body["texts"])


def test_contexts_come_back(client: Client) -> None:
    found = list(client.pipe(((f"Text {number}", number) for number in range(200)), as_tuples=True))
    assert [(document.text, number) for document, number in found] == [(f"Text {n}", n) for n in range(200)]
    with pytest.raises(InputError, match="not a pair of a text and its context"):
        list(client.pipe(["Anna"], as_tuples=True))


def test_a_stream_is_read_ahead_only_for_the_requests_in_flight(client: Client) -> None:
    read = 0

    def endless() -> Iterator[str]:
        nonlocal read
        for read in count(1):
            yield f"Text {read}"

    found = client.pipe(endless())
    assert next(found).text == "Text 1"
    assert read <= IN_FLIGHT * TEXTS
    found.close()  # type: ignore[attr-defined]


def test_an_error_in_a_stream_comes_after_the_answers_before_it(client: Client) -> None:
    found = client.pipe([*("ok" for _ in range(TEXTS)), "\ud800"])
    assert [next(found).text for _ in range(TEXTS)] == ["ok"] * TEXTS
    with pytest.raises(InputError, match="surrogate"):
        next(found)


@pytest.mark.parametrize("kind", ["too-many-texts", "too-many-tokens"])
def test_groups_that_are_too_large_are_divided(client: Client, service: ScriptedService, kind: str) -> None:
    def limited(seen: Seen) -> Reply:
        service.script.append(limited)
        if len(seen.body["texts"]) > 3:
            return problem(422, kind, "at most 3 texts")
        return Reply(body=_tagged(seen))

    service.script = [limited]
    texts = [f"Text{number}" for number in range(10)]
    assert [found.text for found in client.pipe(texts)] == texts


def test_several_models_need_a_name(service: ScriptedService) -> None:
    service.models = [TAGGER, CLASSIFIER]
    with (
        Client(service.url) as client,
        pytest.raises(InputError, match=r"serves 2 models: ner \(tagger\), intents"),
    ):
        client("Anna")
    with (
        Client(f"{service.url}/pos") as client,
        pytest.raises(InputError, match="does not serve a model 'pos'"),
    ):
        client("Anna")
    service.models = []
    with Client(service.url) as client, pytest.raises(InputError, match="serves no model"):
        client("Anna")


def test_tagger_settings_are_refused_for_classifiers(service: ScriptedService) -> None:
    service.models = [CLASSIFIER]
    with Client(service.url) as client:
        with pytest.raises(InputError, match="work only with taggers"):
            client.with_nbest(2)("x")
        with pytest.raises(InputError, match="tag_tokens works only with taggers"):
            client.tag_tokens([["x"]])


def test_repr(client: Client, service: ScriptedService) -> None:
    assert repr(client) == f"<Client('{service.url}')>"
    client("Anna")
    assert repr(client.with_nbest(2)) == f"<Client('{service.url}', nbest=2): 1 type: PER>"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 0}, "timeout must be above 0 and at most 86400 seconds: 0"),
        ({"timeout": "3"}, "timeout must be above 0 and at most 86400 seconds: '3'"),
        ({"timeout": None}, "timeout must be above 0"),
        ({"timeout": float("inf")}, "timeout must be above 0"),
        ({"timeout": float("nan")}, "timeout must be above 0"),
        ({"retries": -1}, "retries must be a whole number of at least 0: -1"),
        ({"retries": "3"}, "retries must be a whole number of at least 0: '3'"),
    ],
)
def test_invalid_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Client("http://localhost", **options)


def test_load_returns_a_client(service: ScriptedService) -> None:
    with gonie.load(service.url) as client:
        assert isinstance(client, gonie.Client)
        assert client("Anna").tags == ("B-PER",)
    with gonie.load(f"{service.url}/ner", task="tag") as client:
        assert client.task == "tag"
    with pytest.raises(BundleError, match="is a tagger; use gonie tag http"):
        gonie.load(service.url, task="classify")


def test_missing_httpx_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'gonie\[client\]'"):
        Client("http://localhost")


def test_the_client_does_not_import_the_runtime() -> None:
    code = (
        "import sys, gonie; gonie.Client, gonie.AsyncClient; gonie.Client('http://localhost').close(); "
        "sys.exit(bool({'onnxruntime', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
