from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from gonie.version import __version__
from support.running_service import RunningService

PAGE = Path(__file__).parent.parent.parent / "docs" / "reference" / "service.md"


@pytest.fixture(scope="module")
def document(service: RunningService) -> dict[str, Any]:
    found: dict[str, Any] = service.get("/openapi.json").json()
    return found


def test_openapi_document(document: dict[str, Any]) -> None:
    """Generators of clients need a valid document: OpenAPI 3.1, whose schemas are JSON Schema 2020-12."""
    assert document["openapi"].startswith("3.1")
    assert (document["info"]["title"], document["info"]["version"]) == ("gonie", __version__)
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)
    references = re.findall(r'"\$ref": "([^"]+)"', json.dumps(document))
    for reference in references:
        assert reference.removeprefix("#/components/schemas/") in document["components"]["schemas"]
    names = [operation["operationId"] for each in document["paths"].values() for operation in each.values()]
    assert len(names) == len(set(names))


def test_openapi_has_all_routes_of_the_documentation(document: dict[str, Any]) -> None:
    text = PAGE.read_text("utf-8")
    documented = set(re.findall(r"(GET|POST) (/[a-z0-9/]*)", text))
    described = {(method.upper(), path) for path, each in document["paths"].items() for method in each}
    assert documented - {("GET", path) for path in ("/", "/docs", "/openapi")} == described


def test_openapi_fields_are_those_of_the_documentation(document: dict[str, Any]) -> None:
    text = PAGE.read_text("utf-8").partition("## Tag")[2].partition("## Classify")[0]
    documented = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))
    assert documented == set(document["components"]["schemas"]["TagRequest"]["properties"])


def test_openapi_knows_the_served_models(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    assert schemas["TagRequest"]["properties"]["model"]["enum"] == ["letters", "features", None]
    assert schemas["ClassifyRequest"]["properties"]["model"]["enum"] == ["texts", None]


def test_errors_are_described_as_problems(document: dict[str, Any]) -> None:
    for path, operations in document["paths"].items():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                if status[0] in "45":
                    assert list(response["content"]) == ["application/problem+json"], (path, status)


def test_examples_of_the_openapi_document_work(service: RunningService, document: dict[str, Any]) -> None:
    """They are what a newcomer copies first. A model is named if several fit."""
    tried = 0
    for path, operations in document["paths"].items():
        for kind, content in operations.get("post", {}).get("requestBody", {}).get("content", {}).items():
            schema = content["schema"]
            if "$ref" in schema:
                schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
            example = content.get("example") or schema["examples"][0]
            text = example if isinstance(example, str) else json.dumps(example)
            model = "texts" if path == "/v1/classify" else "letters"
            answer = service.post(f"{path}?model={model}", text.encode(), headers={"content-type": kind})
            assert answer.status_code == 200, (path, answer.text)
            tried += 1
    assert tried == 5


def test_examples_of_the_documentation_work(service: RunningService) -> None:
    """Each request on the page is answered; `ner` and `intents` stand for the served models."""
    text = PAGE.read_text("utf-8")
    found = re.findall(r"POST (/v1/\w+)`?\s*\n?\s*(\{.*\})\n```", text)
    found += re.findall(r"`POST (/v1/\w+) (\{[^`]*\})`", text)
    assert len(found) >= 4
    names = {"ner": "letters", "intents": "texts"}
    for path, body in found:
        request = json.loads(body.replace("…", "Anna"))
        request["model"] = names[request["model"]]
        if "spans" in request:
            request["spans"] = [span.replace("ORG", "PER") for span in request["spans"]]
        answer = service.post(path, request)
        assert answer.status_code == 200, (path, answer.text)


def test_reference_page(service: RunningService, document: dict[str, Any], parse: Any) -> None:
    """Each route has its fields and a command that works when it is copied into a shell."""
    answer = service.get("/docs")
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    page = parse(re.sub(r"<link [^>]*>", "", answer.text))
    text = "".join(page.text)
    for path, operations in document["paths"].items():
        for method in operations:
            assert f"{method.upper()} {path}" in text
    commands = text.split("curl ")[1:]
    assert len(commands) == 5
    for command in commands:
        url, _, header, _, body = shlex.split(command.partition("}'")[0] + "}'")[:5]
        path = url.removeprefix("http://127.0.0.1:8000")
        model = "texts" if path == "/v1/classify" else "letters"
        name, _, kind = header.partition(": ")
        tried = service.post(f"{path}?model={model}", body.encode(), headers={name: kind})
        assert tried.status_code == 200, (command, tried.text)
    loaded = [attributes.get("href") or attributes.get("src") for _, attributes in page.tags]
    assert all(address.startswith("/") for address in loaded if address), "nothing external is loaded"


def test_models(service: RunningService) -> None:
    letters, features, texts = service.get("/v1/models").json()["models"]
    assert [each["name"] for each in (letters, features, texts)] == ["letters", "features", "texts"]
    assert (letters["task"], letters["command"], letters["texts"]) == ("tag", "tag", 1)
    assert letters["types"] == ["LOC", "PER"]
    assert letters["methods"] == ["erasure", "marginals", "nbest"]
    size = len(letters["labels"])
    moves = letters["transitions"]
    assert [len(moves[key]) for key in ("labels", "scores", "start", "end")] == [size] * 4
    assert any(score is None for row in moves["scores"] for score in row), "some moves are forbidden"
    assert texts["transitions"] is None
    assert texts["methods"] == ["attention", "erasure"]
    shown = PAGE.read_text("utf-8").partition("`GET /v1/models` answers")[2].partition("`GET /info`")[0]
    documented = {
        name for row in re.findall(r"^\| (`.+?) \|", shown, re.M) for name in re.findall(r"`(\w+)`", row)
    }
    assert documented == letters.keys()


def test_information(service: RunningService) -> None:
    info = service.info
    assert (info["gonie"], info["process"], info["ready"]) == (__version__, service.process.pid, True)
    assert info["limits"]["bytes"] == 1 << 20
    assert info["seconds"] > 0
    assert set(info["models"]) == {"letters", "features", "texts"}


@pytest.mark.parametrize("path", ["/nothing", "/assets/", "/assets/none.js", "/assets/..%2fapi.py", "/docs/"])
def test_unknown_paths(service: RunningService, path: str) -> None:
    answer = service.get(path)
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:gonie:not-found")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"])
def test_methods_that_are_not_allowed(service: RunningService, method: str) -> None:
    answer = service.client.request(method, "/v1/tag")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "POST"
    if method != "HEAD":
        assert answer.json()["type"] == "urn:gonie:method-not-allowed"


def test_page(service: RunningService) -> None:
    answer = service.get("/")
    assert answer.headers["content-type"].startswith("text/html")
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert service.get("/assets/gonie.css").headers["content-type"].startswith("text/css")
