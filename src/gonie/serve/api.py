"""The FastAPI application: the OpenAPI document, and the routes that need no model."""

from __future__ import annotations

import copy
import json
import os
import platform
import time
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache
from importlib import resources
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request, Response
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from gonie.reports.html.style import STYLE
from gonie.serve.answers import ClassifyBody, ExplainBody, ProblemBody, TagBody, TokeniseBody
from gonie.serve.dispatcher import Dispatcher
from gonie.serve.limits import Limits
from gonie.serve.metrics import ServiceMetrics
from gonie.serve.problems import JSON, NDJSON, PROBLEM, SAFE, TITLES, Reply, problem
from gonie.serve.reference import render_reference
from gonie.serve.requests import BatchQuery, ClassifyRequest, ExplainRequest, TagRequest, TokeniseRequest
from gonie.version import __version__

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache",
}
TYPES = {
    "html": "text/html",
    "css": "text/css",
    "js": "text/javascript",
    "svg": "image/svg+xml",
    "json": "application/json",
}
REFUSALS = (400, 401, 404, 408, 413, 415, 422, 429, 503, 504)
SUMMARY = """Tags and classifies texts with models of gonie.

Every error is a problem (RFC 9457). A request may set its deadline: `Request-Timeout-Ms: 250`."""


class ServiceState:
    """What the routes tell about the service: ``ready`` once models are warm, ``draining`` when it stops."""

    def __init__(
        self, dispatcher: Dispatcher, limits: Limits, metrics: ServiceMetrics, *, needs_key: bool
    ) -> None:
        self.dispatcher = dispatcher
        self.limits = limits
        self.metrics = metrics
        self.needs_key = needs_key
        self.draining = False
        self.started = time.monotonic()

    @property
    def ready(self) -> bool:
        """Whether requests are answered."""
        return self.dispatcher.ready and not self.draining

    def info(self) -> dict[str, Any]:
        """Return the facts of ``/info``."""
        return {
            "gonie": __version__,
            "python": platform.python_version(),
            "ready": self.ready,
            "seconds": round(time.monotonic() - self.started, 3),
            "process": os.getpid(),
            "workers": self.dispatcher.processes,
            "waiting": self.dispatcher.waiting,
            "running": self.dispatcher.running,
            "limits": asdict(self.limits),
            "models": {model["name"]: model["bundle"] for model in self.dispatcher.models},
        }


def create_api(state: ServiceState) -> FastAPI:
    """Return the application."""
    app = FastAPI(
        title="gonie",
        version=__version__,
        description=SUMMARY,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        redirect_slashes=False,
    )
    app.add_exception_handler(HTTPException, _no_route)
    _describe_answers(app)
    _add_facts(app, state)
    _add_page(app)
    return app


def _describe_answers(app: FastAPI) -> None:
    """Describe the routes that ``Service`` answers before the application is asked."""
    refusals: Any = {status: {"model": ProblemBody, "description": _titles(status)} for status in REFUSALS}

    @app.post("/v1/tag", response_model=TagBody, responses=refusals, summary="Tag texts")
    async def tag(body: TagRequest) -> None:
        """Find spans and tags. Each document is the object that `gonie tag --output jsonl` prints."""

    @app.post("/v1/classify", response_model=ClassifyBody, responses=refusals, summary="Classify texts")
    async def classify(body: ClassifyRequest) -> None:
        """Label texts or pairs. Each result is the object that `gonie classify --output jsonl` prints."""

    @app.post("/v1/explain", response_model=ExplainBody, responses=refusals, summary="Explain predictions")
    async def explain(body: ExplainRequest) -> None:
        """Say how much each word contributes to a prediction."""

    @app.post(
        "/v1/tokenise", response_model=TokeniseBody, responses=refusals, summary="Split texts into tokens"
    )
    async def tokenise(body: TokeniseRequest) -> None:
        """Return the tokens that a model sees."""

    line = {"text": "Angela Merkel met Samsung managers in Seoul."}
    lines = {NDJSON.decode(): {"schema": {"type": "string"}, "example": json.dumps(line) + "\n"}}

    @app.post(
        "/v1/batch",
        responses={200: {"content": {NDJSON.decode(): {"schema": {"type": "string"}}}}, **refusals},
        openapi_extra={"requestBody": {"content": lines, "required": True}},
        response_class=Response,
        summary="Answer a stream of lines",
    )
    async def batch(options: Annotated[BatchQuery, Query()]) -> None:
        """Answer one JSON object per line, in order, while more lines are sent."""


def _titles(status: int) -> str:
    return "; ".join(title for own, title in TITLES.values() if own == status)


def _add_facts(app: FastAPI, state: ServiceState) -> None:
    """Add models, information, health and metrics."""

    @app.get("/v1/models", summary="List the models", responses={503: {"model": ProblemBody}})
    async def models() -> Response:
        """Return the name, the task, the labels and the bundle of each model."""
        if not state.dispatcher.models:
            return _response(
                problem("not-ready", "the models are being loaded. Try again later", retry_after=1)
            )
        return JSONResponse({"models": state.dispatcher.models})

    @app.get("/info", summary="Describe the service")
    async def info() -> dict[str, Any]:
        """Return the version, the limits, the workers and the queue."""
        return state.info()

    @app.get("/health/live", summary="Say that the process answers")
    async def live() -> dict[str, str]:
        """Return 200 as long as the process answers."""
        return {"status": "live"}

    @app.get(
        "/health/ready", summary="Say whether requests are answered", responses={503: {"model": ProblemBody}}
    )
    async def ready() -> Response:
        """Return 200 once all models are warm, and 503 before that and while the service stops."""
        if state.ready:
            return JSONResponse({"status": "ready"})
        kind = "draining" if state.draining else "not-ready"
        return _response(problem(kind, "try again later", retry_after=1))

    @app.get("/metrics", summary="Return metrics for Prometheus", response_class=Response)
    async def metrics() -> Response:
        """Return all metrics in the text format of Prometheus."""
        return Response(state.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @cache
    def described(models: tuple[tuple[str, str], ...]) -> tuple[bytes, str]:
        """Return the OpenAPI document and the reference page for models with these names and commands."""
        document = describe(app, dict(models), state.limits)
        return json.dumps(document, ensure_ascii=False).encode(), render_reference(document)

    def current() -> tuple[bytes, str]:
        models = () if state.needs_key else state.dispatcher.models  # both are shown to everybody
        return described(tuple((model["name"], model["command"]) for model in models))

    @app.get("/openapi.json", include_in_schema=False)
    async def document() -> Response:
        return Response(current()[0], media_type=JSON.decode())

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return Response(current()[1], media_type="text/html", headers=PAGE_HEADERS)


def describe(app: FastAPI, models: Mapping[str, str], limits: Limits) -> dict[str, Any]:
    """Return the OpenAPI document, with the limits of requests and the models: names and commands."""
    document = copy.deepcopy(app.openapi())
    schemas = document["components"]["schemas"]
    for name, commands in COMMANDS.items():
        known = [model for model, command in models.items() if command in commands]
        properties = schemas[name]["properties"]
        if models:
            properties["model"] = {**properties["model"], "enum": [*known, None]}
        for field in ("texts", "tokens", "pairs"):
            if field in properties:
                properties[field]["maxItems"] = limits.texts
    for name, fields in EITHER.items():
        schemas[name]["oneOf"] = [{"required": [field]} for field in fields]
    for name in ("ValidationError", "HTTPValidationError"):
        schemas.pop(name, None)
    for operations in document["paths"].values():
        for operation in operations.values():
            for status, response in operation["responses"].items():
                if status.startswith(("4", "5")) and "application/json" in response.get("content", {}):
                    response["content"] = {PROBLEM.decode(): response["content"]["application/json"]}
    return document


COMMANDS = {
    "TagRequest": ("tag",),
    "ClassifyRequest": ("classify",),
    "ExplainRequest": ("tag", "classify"),
    "TokeniseRequest": ("tag", "classify"),
}
"""The commands of the models that the requests of a route may name."""
EITHER = {
    "TagRequest": ("texts", "tokens"),
    "ClassifyRequest": ("texts", "pairs"),
    "ExplainRequest": ("texts", "pairs"),
}
"""The fields of a request of which it needs exactly one."""


def _add_page(app: FastAPI) -> None:
    """Add the page and its files."""

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return _file("index.html")

    @app.get("/assets/{name}", include_in_schema=False)
    async def asset(name: str) -> Response:
        if name == "gonie.css":
            return Response(STYLE, media_type="text/css", headers=PAGE_HEADERS)
        return _file(name)


def _file(name: str) -> Response:
    """Return a file of the page. Other names are not found, whatever they contain."""
    content = _files().get(name)
    if content is None:
        raise HTTPException(404)
    kind = TYPES[name.rpartition(".")[2]]
    return Response(content, media_type=kind, headers=PAGE_HEADERS)


@cache
def _files() -> dict[str, bytes]:
    """Return the files of the page by name."""
    folder = resources.files("gonie.serve") / "page"
    return {
        file.name: file.read_bytes() for file in folder.iterdir() if file.name.rpartition(".")[2] in TYPES
    }


async def _no_route(request: Request, error: Exception) -> Response:
    """Answer a request for a route or a method that does not exist."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    if status == 405:
        allowed = (error.headers or {}).get("allow", "") if isinstance(error, HTTPException) else ""
        reply = problem(
            "method-not-allowed", f"{request.method} is not allowed here. Use {allowed or 'POST'}"
        )
        return _response(reply, {"allow": allowed or "POST"})
    return _response(problem("not-found", "no such route. /docs lists the routes"))


def _response(reply: Reply, headers: Mapping[str, str] | None = None) -> Response:
    own = {name.decode(): value.decode() for name, value in (*SAFE, *reply.headers)} | dict(headers or {})
    return Response(reply.body, reply.status, own, reply.media_type.decode())
