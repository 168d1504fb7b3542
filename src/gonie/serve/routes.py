"""What a worker does with the requests of each route: checks them, groups them and answers them.

Requests that need the same model with the same options are answered together. An answer never depends on the
requests that it was computed with.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError

from gonie.errors import GonieError, InputError
from gonie.formats.text_rows import JSONL, LINES, TextRow
from gonie.runtime.groups import MOST
from gonie.serve.explanations import explain, tokenise
from gonie.serve.limits import Limits
from gonie.serve.problems import NDJSON, ProblemError, Reply, problem
from gonie.serve.requests import BatchOptions, ClassifyRequest, ExplainRequest, TagRequest, TokeniseRequest
from gonie.serve.served_model import ServedModel, options_key
from gonie.text.plain_text import checked_text, checked_words
from gonie.text.types import Sentence

JSONL_LINES = "lines"
"""The name of a stream in messages about one of its lines."""


class Received(NamedTuple):
    """A request as it arrived: its route, its query and its body."""

    route: str
    query: str
    body: bytes


@dataclass(eq=False)
class Asked:
    """A checked request: its model, its rows, and what it shares with requests of the same group."""

    route: Route
    model: ServedModel
    rows: list[TextRow]
    options: Mapping[str, Any]
    request: Any
    bad: dict[int, str] = field(default_factory=dict)
    """Messages about invalid rows, by their number."""
    tokens: int = 0
    sentences: list[Any] | None = None
    """The token ranges of the sentences of each document, if they were asked for."""

    @property
    def group(self) -> tuple[str, str, str]:
        """The requests of a group are answered together."""
        return self.route.name, self.model.name, options_key(self.options)


class Route(NamedTuple):
    """A route: how its requests are checked, and how a group of them is answered."""

    name: str
    check: Callable[[Received, Mapping[str, ServedModel], Limits], Asked]
    answer: Callable[[Sequence[Asked]], list[Reply]]


def answer_all(
    received: Sequence[Received], models: Mapping[str, ServedModel], limits: Limits
) -> tuple[list[Reply], list[Asked | None]]:
    """Answer requests, in order. Also return each checked request, or None if it was refused."""
    replies: list[Reply | None] = []
    asked: list[Asked | None] = []
    groups: dict[tuple[str, str, str], list[int]] = {}
    for number, request in enumerate(received):
        try:
            found = ROUTES[request.route].check(request, models, limits)
            groups.setdefault(found.group, []).append(number)
            asked.append(found)
            replies.append(None)
        except (ProblemError, GonieError) as error:
            asked.append(None)
            replies.append(_refusal(error))
    for numbers in groups.values():
        members = [each for each in (asked[number] for number in numbers) if each is not None]
        for number, reply in zip(numbers, _answered(members), strict=True):
            replies[number] = reply
    return [reply for reply in replies if reply is not None], asked


def _answered(group: Sequence[Asked]) -> list[Reply]:
    """Answer a group. If that fails, answer each request alone, so that none suffers from another."""
    try:
        return group[0].route.answer(group)
    except (ProblemError, GonieError) as error:
        return [_refusal(error)] if len(group) == 1 else [_answered([each])[0] for each in group]


def _refusal(error: Exception) -> Reply:
    return error.reply() if isinstance(error, ProblemError) else problem("invalid-request", str(error))


# --- tag and classify


def _check_tag(received: Received, models: Mapping[str, ServedModel], limits: Limits) -> Asked:
    request = _read(TagRequest, received)
    model = _model(models, request.model, "tag")
    _one_of(texts=request.texts, tokens=request.tokens)
    options = _options(request)
    if request.tokens is not None:
        rows = list(_token_rows(request.tokens))
        _check_count(len(rows), limits)
        _check_tokens(sum(len(row.example) for row in rows), limits.tokens, "of a request")
    else:
        rows = _text_rows(((text,) for text in request.texts or ()), "texts")
        _check_size(rows, model, limits)
    return Asked(ROUTES["tag"], model, rows, options, request, sentences=[] if request.sentences else None)


def _options(request: TagRequest | BatchOptions) -> dict[str, Any]:
    """Return the options of a tagger that a request sets."""
    asked = request.model_fields_set & {"decode", "bias", "nbest", "offsets"}
    options = request.model_dump(include=asked, exclude_defaults=True) if asked else {}
    other = next((name for name in ("decode", "bias") if options.get(name)), None)
    if "nbest" in options and other:
        raise ProblemError(
            "invalid-request",
            f"nbest cannot be combined with {other}: it ranks tag sequences by the model's own probability",
        )
    return options


def _token_rows(tokens: Sequence[Sequence[str]]) -> Iterable[TextRow]:
    for number, words in enumerate(tokens, start=1):
        try:
            checked = checked_words(words, fix="Send raw text as texts")
        except InputError as error:
            raise InputError(str(error), path="tokens", line=number) from None
        yield TextRow("tokens", number, (), example=Sentence(words=checked))


def _check_classify(received: Received, models: Mapping[str, ServedModel], limits: Limits) -> Asked:
    request = _read(ClassifyRequest, received)
    model = _model(models, request.model, "classify", texts=1 if request.pairs is None else 2)
    _one_of(texts=request.texts, pairs=request.pairs)
    rows = _given_rows(request, model)
    _check_size(rows, model, limits)
    return Asked(ROUTES["classify"], model, rows, {}, request)


def _given_rows(request: ClassifyRequest | ExplainRequest, model: ServedModel) -> list[TextRow]:
    """Return the rows of a request with texts or pairs, whichever the model needs."""
    given = "texts" if request.pairs is None else "pairs"
    needed = "texts" if model.texts == 1 else "pairs"
    if given != needed:
        raise ProblemError("invalid-request", f"the model {model.name!r} needs {needed}, got {given}")
    return _text_rows(request.pairs or ((text,) for text in request.texts or ()), given)


def _text_rows(texts: Iterable[tuple[str, ...]], name: str) -> list[TextRow]:
    return [TextRow(name, number, own) for number, own in enumerate(texts, start=1)]


def _predict(key: str) -> Callable[[Sequence[Asked]], list[Reply]]:
    def answer(group: Sequence[Asked]) -> list[Reply]:
        replies = []
        for asked, own in zip(group, _lines(group), strict=True):
            if asked.bad:
                replies.append(problem("invalid-request", next(iter(asked.bad.values()))))
            else:
                replies.append(Reply(200, _envelope(key, own, asked)))
        return replies

    return answer


def _lines(group: Sequence[Asked]) -> list[list[str]]:
    """Answer the rows of all requests together. Return the lines of each request."""
    model, fields = group[0].model, group[0].model.returned_fields()
    answering = model.answering(group[0].options)
    owners = {id(row): number for number, asked in enumerate(group) for row in asked.rows}
    lines: list[list[str]] = [[] for _ in group]

    def reject(row: TextRow, error: InputError) -> None:
        group[owners[id(row)]].bad[row.number] = str(error)

    rows = (row for asked in group for row in asked.rows)
    for answered in answering(rows, reject, first=MOST):
        number = owners[id(answered.row)]
        lines[number].append(fields.line(answered.row.fields, answering.record(answered)))
        asked = group[number]
        asked.tokens += answered.tokens
        if asked.sentences is not None:
            asked.sentences.append(answered.found.sentences)
    return lines


def _envelope(key: str, lines: Iterable[str], asked: Asked) -> bytes:
    """Return the answer with its elements, each the text of a line."""
    elements = ", ".join(line.rstrip("\n") for line in lines)
    ranges = "" if asked.sentences is None else f'"sentences": {json.dumps(asked.sentences)}, '
    return f'{{"{key}": [{elements}], {ranges}{asked.model.signature}}}'.encode()


# --- lines of a stream


def _check_batch(received: Received, models: Mapping[str, ServedModel], limits: Limits) -> Asked:
    options = _read_query(BatchOptions, received.query)
    model = _model(models, options.model, None)
    own = _options(options)
    if sum(name == "row" for name, _ in parse_qsl(received.query, keep_blank_values=True)) > 1:
        raise ProblemError("invalid-request", "unknown field: row")  # one is the service's own
    if model.command != "tag" and own:
        raise ProblemError("invalid-request", f"{next(iter(own))} works only with taggers")
    asked = Asked(ROUTES["batch"], model, [], own, options)
    for number, line in enumerate(received.body.split(b"\n"), start=options.row):
        try:
            row = LINES[JSONL](JSONL_LINES, number, _decoded(line, number), model.columns)
        except InputError as error:
            asked.bad[number] = _without_place(error, number)
            continue
        if row is not None:
            asked.rows.append(row)
    return asked


def _decoded(line: bytes, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"invalid UTF-8: {error.reason}", path=JSONL_LINES, line=number) from None


def _answer_batch(group: Sequence[Asked]) -> list[Reply]:
    replies = []
    for asked, own in zip(group, _lines(group), strict=True):
        answered = iter(own)
        numbers = {row.number: None for row in asked.rows} | dict.fromkeys(asked.bad)
        written = (
            json.dumps(
                {"error": _without_place(asked.bad[number], number), "row": number}, ensure_ascii=False
            )
            + "\n"
            if number in asked.bad
            else next(answered)
            for number in sorted(numbers)
        )
        replies.append(Reply(200, "".join(written).encode(), NDJSON))
    return replies


def _without_place(error: InputError | str, number: int) -> str:
    return str(error).removeprefix(f"{JSONL_LINES}:{number}: ")


# --- explain and tokenise


def _check_explain(received: Received, models: Mapping[str, ServedModel], limits: Limits) -> Asked:
    request = _read(ExplainRequest, received)
    model = _model(models, request.model, None, texts=1 if request.pairs is None else 2)
    _one_of(texts=request.texts, pairs=request.pairs)
    rows = _given_rows(request, model)
    _check_count(len(rows), limits)
    _check_text_tokens(rows, model, limits.explained_tokens, "of an explanation")
    return Asked(ROUTES["explain"], model, rows, {}, request)


def _check_tokenise(received: Received, models: Mapping[str, ServedModel], limits: Limits) -> Asked:
    request = _read(TokeniseRequest, received)
    model = _model(models, request.model, None)
    rows = _text_rows(((text,) for text in request.texts), "texts")
    _check_size(rows, model, limits)
    return Asked(ROUTES["tokenise"], model, rows, {}, request)


def _each(
    key: str, make: Callable[[ServedModel, TextRow, Any], Any]
) -> Callable[[Sequence[Asked]], list[Reply]]:
    """Return a route's function that answers row by row."""

    def answer(group: Sequence[Asked]) -> list[Reply]:
        replies = []
        for asked in group:
            made = (make(asked.model, row, asked.request) for row in asked.rows)
            lines = [json.dumps(each, ensure_ascii=False) for each in made]
            replies.append(Reply(200, _envelope(key, lines, asked)))
        return replies

    return answer


# --- checks


Body = TypeVar("Body", bound=BaseModel)


def _read(kind: type[Body], received: Received) -> Body:
    """Return the body, with the fields of the query, which must not be in the body too."""
    try:
        body = kind.model_validate_json(received.body)
        if not received.query:
            return body
        query = dict(parse_qsl(received.query, keep_blank_values=True))
        twice = body.model_fields_set & query.keys()
        if twice:
            raise ProblemError(
                "invalid-request", f"{min(twice)} is in the query and in the body. Send it once"
            )
        return kind.model_validate(body.model_dump(exclude_unset=True) | query, strict=False)
    except ValidationError as error:
        raise _invalid(error) from None


def _read_query(kind: type[Body], query: str) -> Body:
    try:
        return kind.model_validate(dict(parse_qsl(query, keep_blank_values=True)), strict=False)
    except ValidationError as error:
        raise _invalid(error) from None


def _invalid(error: ValidationError) -> ProblemError:
    """Return the first error of a body as a problem."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return ProblemError("invalid-json", f"{first['msg']}. Send a JSON object in UTF-8")
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    if first["type"] == "extra_forbidden":
        return ProblemError("invalid-request", f"unknown field: {place[:100]}")
    return ProblemError("invalid-request", f"{place[:100] or 'body'}: {first['msg']}")


def _model(
    models: Mapping[str, ServedModel], name: str | None, command: str | None, *, texts: int | None = None
) -> ServedModel:
    """Return the model of this name, or the only one that fits the command and the number of texts."""
    fitting = [model for model in models.values() if command in (None, model.command)]
    if name is not None:
        found = models.get(name)
        if found is None:
            raise ProblemError("unknown-model", f"no model {name[:100]!r}. Served: {', '.join(models)}")
        if found not in fitting:
            raise ProblemError(
                "invalid-request",
                f"{name!r} is a {found.loaded.task.model}. Send the request to /v1/{found.command}",
            )
        return found
    narrowed = [model for model in fitting if texts in (None, model.texts)] or fitting
    if len(narrowed) == 1:
        return narrowed[0]
    if not narrowed:
        routes = ", ".join(sorted({f"/v1/{model.command}" for model in models.values()}))
        raise ProblemError("unknown-model", f"no served model answers this route. Use {routes}")
    names = ", ".join(model.name for model in narrowed)
    raise ProblemError("invalid-request", f"several models fit. Name one of them as model: {names}")


def _one_of(**given: Sequence[Any] | None) -> None:
    """Refuse a request that has not exactly one of these fields."""
    if sum(value is not None for value in given.values()) != 1:
        raise ProblemError("invalid-request", f"send either {' or '.join(given)}")


def _check_size(rows: Sequence[TextRow], model: ServedModel, limits: Limits) -> None:
    """Refuse too many texts or tokens. Tokens are counted only if there can be too many."""
    _check_count(len(rows), limits)
    _check_text_tokens(rows, model, limits.tokens, "of a request")


def _check_count(texts: int, limits: Limits) -> None:
    if texts > limits.texts:
        raise ProblemError(
            "too-many-texts",
            f"{texts:,} texts, at most {limits.texts:,} are allowed. Send fewer, or use /v1/batch",
        )


def _check_text_tokens(rows: Sequence[TextRow], model: ServedModel, most: int, what: str) -> None:
    """Refuse too many tokens. A text has at least as many as words, and at most as many as characters."""
    texts = [text for row in rows for text in row.texts]
    if sum(map(len, texts)) <= most:
        return
    _check_tokens(sum(len(text.split()) for text in texts), most, what)
    split = (model.tokenizer(checked_text(text)) for text in texts)
    _check_tokens(sum(len(sentence) for sentences in split for sentence in sentences), most, what)


def _check_tokens(tokens: int, most: int, what: str) -> None:
    if tokens > most:
        raise ProblemError(
            "too-many-tokens",
            f"at least {tokens:,} tokens, at most {most:,} {what} are allowed. Send shorter texts",
        )


ROUTES: Mapping[str, Route] = {
    route.name: route
    for route in (
        Route("tag", _check_tag, _predict("documents")),
        Route("classify", _check_classify, _predict("results")),
        Route("explain", _check_explain, _each("explanations", explain)),
        Route("tokenise", _check_tokenise, _each("documents", tokenise)),
        Route("batch", _check_batch, _answer_batch),
    )
}
"""The routes that workers answer, by the last part of their path."""
