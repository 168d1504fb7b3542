"""The reference page of the service's routes, from its OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from gonie.reports.html.markup import Markup, element, fragment


def render_reference(document: Mapping[str, Any]) -> str:
    """Return the page: each route with its fields, an example and a command to try it."""
    head = element(
        "head",
        Markup('<meta charset="utf-8">'),
        Markup('<meta name="viewport" content="width=device-width,initial-scale=1">'),
        element("title", "gonie: routes"),
        Markup('<link rel="stylesheet" href="/assets/gonie.css">'),
    )
    info = document["info"]
    intro = (
        element("h1", f"gonie {info['version']}: routes"),
        element("p", info["description"]),
        element(
            "p", element("a", "openapi.json", href="/openapi.json"), " · ", element("a", "page", href="/")
        ),
    )
    routes = (
        _route(path, method, operation, document)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    )
    body = element("body", element("main", *intro, *routes))
    return "<!DOCTYPE html>\n" + element("html", head, body, lang="en")


def _route(path: str, method: str, operation: Mapping[str, Any], document: Mapping[str, Any]) -> Markup:
    return element(
        "section",
        element("h2", element("code", f"{method.upper()} {path}"), " ", operation.get("summary", "")),
        element("p", operation.get("description", "")),
        *_body(path, operation, document),
    )


def _body(path: str, operation: Mapping[str, Any], document: Mapping[str, Any]) -> Iterator[Markup]:
    """Yield the fields of the request and an example."""
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        schema = _resolved(content.get("schema", {}), document)
        rows = [
            element(
                "tr", element("th", element("code", name), scope="row"), element("td", text["description"])
            )
            for name, text in schema.get("properties", {}).items()
            if "description" in text
        ]
        if rows:
            yield element("div", element("table", element("tbody", *rows)), class_="scroll", tabindex="0")
        example = content.get("example") or next(iter(schema.get("examples", [])), None)
        if example is not None:
            text = example if isinstance(example, str) else json.dumps(example, ensure_ascii=False)
            command = f"curl http://127.0.0.1:8000{path} -H 'Content-Type: {kind}' -d '{text.strip()}'"
            yield element("pre", fragment(element("code", command)), tabindex="0")


def _resolved(schema: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema that a reference names."""
    name = schema.get("$ref", "").rpartition("/")[2]
    found: Mapping[str, Any] = document["components"]["schemas"][name] if name else schema
    return found
