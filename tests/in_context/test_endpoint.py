"""Tests requests to an endpoint over real sockets: answers, retries, time-outs, garbage, keys."""

from __future__ import annotations

import re
import socket

import pytest

from gonie.errors import InputError, ServiceError
from gonie.in_context.chat import FailedRequestError
from gonie.in_context.endpoint import EndpointChat, api_key
from gonie.in_context.settings import InContextSettings
from support.language_model import ScriptedModel, completion, refusal
from support.scripted_service import Reply, Reset

ASK = [{"role": "user", "content": "Ann met Bo"}]


def chat(at: ScriptedModel, *, key: str | None = None, **settings: object) -> EndpointChat:
    return EndpointChat(f"{at.url}/v1", InContextSettings.of(settings), key=key)


def test_an_answer_has_its_tokens_and_its_time(endpoint: ScriptedModel) -> None:
    reply = chat(endpoint, temperature=0.5, max_tokens=7, seed=3).ask(ASK)
    assert reply.content == '[{"text": "Ann", "label": "PER"}, {"text": "Bo", "label": "PER"}]'
    assert (reply.prompt_tokens, reply.completion_tokens, reply.retries) == (40, 10, 0)
    assert reply.seconds > 0
    (sent,) = endpoint.asked
    assert sent == {"model": "toy", "messages": ASK, "temperature": 0.5, "max_tokens": 7, "seed": 3}


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_passing_failures_are_tried_again(endpoint: ScriptedModel, status: int) -> None:
    endpoint.script = [refusal(status), refusal(status)]
    assert chat(endpoint).ask(ASK).retries == 2
    assert len(endpoint.asked) == 3


@pytest.mark.parametrize("politely", [True, False])
def test_lost_connections_are_tried_again(endpoint: ScriptedModel, politely: bool) -> None:
    endpoint.script = [Reset(politely=politely)]
    assert chat(endpoint).ask(ASK).retries == 1


def test_the_delay_that_is_asked_for_is_kept(
    endpoint: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("gonie.in_context.endpoint.time.sleep", waited.append)
    endpoint.script = [refusal(429, **{"Retry-After": "7"})]
    chat(endpoint).ask(ASK)
    assert 7 <= max(waited) < 8


def test_an_endpoint_is_checked_without_a_question(endpoint: ScriptedModel) -> None:
    chat(endpoint, model="toy").connect()
    assert [seen.path for seen in endpoint.seen] == ["/v1/models"]


def test_an_endpoint_that_does_not_list_its_models_is_greeted(endpoint: ScriptedModel) -> None:
    endpoint.reply_to_models = refusal(404)
    chat(endpoint, model="toy").connect()
    assert [body["messages"] for body in endpoint.asked] == [[{"role": "user", "content": "Hello"}]]
    endpoint.script = [refusal(404)]
    with pytest.raises(ServiceError, match=r"toy: status 404: .* The URL usually ends with /v1"):
        chat(endpoint, model="toy").connect()


@pytest.mark.parametrize("status", [401, 403])
def test_an_endpoint_that_refuses_the_key_fails_the_check(endpoint: ScriptedModel, status: int) -> None:
    endpoint.reply_to_models = refusal(status)
    with pytest.raises(ServiceError, match=f"toy: status {status}: .* API key"):
        chat(endpoint, model="toy").connect()


def test_a_busy_endpoint_passes_the_check(endpoint: ScriptedModel) -> None:
    endpoint.reply_to_models = Reply(body={}, delay=0.5)
    chat(endpoint, model="toy", timeout=0.1).connect()
    endpoint.reply_to_models = refusal(503)
    chat(endpoint, model="toy").connect()


def test_nobody_at_the_address_fails_the_check_at_once() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
    nobody = EndpointChat(url, InContextSettings.of({"model": "toy", "retries": 9}), key=None)
    with pytest.raises(ServiceError, match=f"toy: cannot connect to {url}: "):
        nobody.connect()


def test_a_failure_that_lasts_has_its_reason(endpoint: ScriptedModel) -> None:
    endpoint.script = [refusal(500, "out of\nmemory")] * 3
    with pytest.raises(FailedRequestError, match="status 500: out of memory") as error:
        chat(endpoint, retries=2).ask(ASK)
    assert (error.value.retries, error.value.fatal) == (2, False)


@pytest.mark.parametrize(
    ("status", "fatal"), [(400, False), (413, False), (401, True), (403, True), (404, True)]
)
def test_refusals_are_not_tried_again(endpoint: ScriptedModel, status: int, fatal: bool) -> None:
    asking = chat(endpoint)
    endpoint.script = [refusal(status, "too long")] * 2
    with pytest.raises(FailedRequestError, match=f"status {status}") as error:
        asking.ask(ASK)
    assert error.value.fatal == fatal
    assert len(endpoint.asked) == 1


def test_a_slow_answer_is_given_up(endpoint: ScriptedModel) -> None:
    asking = chat(endpoint, timeout=0.2, retries=1)
    endpoint.script = [Reply(delay=1.0, body={})] * 2
    with pytest.raises(FailedRequestError, match=r"no answer within 0\.2 seconds") as error:
        asking.ask(ASK)
    assert error.value.retries == 1


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(content=b"<html>"), "not JSON"),
        (Reply(content=b"\xff\xfe"), "not JSON"),
        (Reply(body=[]), "cannot be read"),
        (Reply(body={"choices": []}), "cannot be read"),
        (Reply(body={"choices": [{"message": {}}]}), "cannot be read"),
        (completion(None), "no text"),
        (completion(["a"]), "no text"),
    ],
)
def test_garbage_is_a_failure(endpoint: ScriptedModel, reply: Reply, words: str) -> None:
    endpoint.script = [reply]
    with pytest.raises(FailedRequestError, match=words):
        chat(endpoint).ask(ASK)


def test_an_answer_without_usage_has_no_tokens(endpoint: ScriptedModel) -> None:
    endpoint.script = [Reply(body={"choices": [{"message": {"content": "x"}}]})]
    reply = chat(endpoint).ask(ASK)
    assert (reply.content, reply.prompt_tokens, reply.completion_tokens) == ("x", 0, 0)


@pytest.mark.parametrize(("models", "words"), [((), "no model"), (("a", "b"), "2 models: a, b")])
def test_the_model_must_be_named_unless_there_is_one(
    models: tuple[str, ...], words: str, endpoint: ScriptedModel
) -> None:
    endpoint.models = models
    with pytest.raises(InputError, match=f"{words}.*--llm model=NAME"):
        chat(endpoint)
    assert chat(endpoint, model="b").name == "b"


def test_a_wrong_path_is_explained(endpoint: ScriptedModel) -> None:
    with pytest.raises(FailedRequestError, match="ends with /v1"):
        EndpointChat(f"{endpoint.url}/v1/x/chat", InContextSettings(model="m"))._exchange("GET", "/no", None)


def test_a_closed_port_is_fatal_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url, waited = f"http://127.0.0.1:{port}/v1", []
    monkeypatch.setattr("gonie.in_context.endpoint.time.sleep", waited.append)
    with pytest.raises(ServiceError) as error:
        EndpointChat(url, InContextSettings())
    told = re.escape(f"cannot connect to {url}: ") + r".*refused\. Is the server running\? Check the address"
    assert re.match(told, str(error.value)), "the address once, then what to do"
    with pytest.raises(ServiceError, match="Is the server running"):
        EndpointChat(url, InContextSettings(model="m")).ask(ASK)
    assert waited == []


def test_a_server_that_stops_is_tried_again(endpoint: ScriptedModel) -> None:
    """It may come back, unlike one that was never there."""
    asking = chat(endpoint, retries=1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        asking.url = f"http://127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(FailedRequestError) as error:
        asking.ask(ASK)
    assert (error.value.retries, error.value.fatal) == (1, True)


def test_the_key_is_sent_and_never_shown(endpoint: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
    monkeypatch.setenv("GONIE_LLM_KEY", " sk-own \n")
    asking = chat(endpoint, key=api_key())
    asking.ask(ASK)
    assert {seen.headers["authorization"] for seen in endpoint.seen} == {"Bearer sk-own"}
    endpoint.script = [refusal(401, "Incorrect API key provided: sk-own")]
    with pytest.raises(FailedRequestError, match="Set GONIE_LLM_KEY") as error:
        asking.ask(ASK)
    assert "sk-own" not in f"{error.value!r}{asking.identity}"
    monkeypatch.setenv("GONIE_LLM_KEY", "two words")
    with pytest.raises(InputError, match="GONIE_LLM_KEY has spaces") as refused:
        api_key()
    assert "two words" not in str(refused.value)
    monkeypatch.delenv("GONIE_LLM_KEY")
    assert api_key() == "sk-other"
