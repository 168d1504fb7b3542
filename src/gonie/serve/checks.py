"""Checks the requests of each route: their fields, their model and their size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gonie.errors import InputError
from gonie.formats.text_rows import TextRow, checked_fields, record_row
from gonie.serve.limits import Limits
from gonie.serve.parsing import read_body, read_query
from gonie.serve.problems import ProblemError
from gonie.serve.requests import BatchQuery, ClassifyRequest, ExplainRequest, TagRequest, TokeniseRequest
from gonie.serve.served_model import ServedModel, options_key
from gonie.tasks.records import TEXTS
from gonie.text.plain_text import checked_text, checked_words
from gonie.text.types import Sentence

STREAM = "lines"
"""The file of rows that come from a stream."""


class Received(NamedTuple):
    """A request as it arrived: its route, its query and its body.

    ``row`` is the number of the first line of the body, if the body is a part of a stream.
    """

    route: str
    query: str
    body: bytes
    row: int = 1


@dataclass(frozen=True, kw_only=True)
class CheckedRequest:
    """A request that can be answered: its model, its rows, and the options of the model."""

    route: str
    model: ServedModel
    rows: Sequence[TextRow]
    fields: Any
    """The fields of its body, or of the query of a stream."""
    options: Mapping[str, Any] = field(default_factory=dict)
    invalid: Mapping[int, str] = field(default_factory=dict)
    """Messages about the invalid lines of a stream, by row number."""

    @property
    def group(self) -> tuple[str, str, str]:
        """The requests of a group are answered together."""
        return self.route, self.model.name, options_key(self.options)


def check(received: Received, models: Mapping[str, ServedModel], limits: Limits) -> CheckedRequest:
    """Check a request. Raise ProblemError or InputError if it cannot be answered."""
    return _CHECKS[received.route](received, models, limits)


def message_without_place(error: InputError) -> str:
    """Return the message of an error without the file and the line at its beginning."""
    return str(error).removeprefix(f"{error.path}:{error.line}: ")


# --- routes


def _check_tag(received: Received, models: Mapping[str, ServedModel], limits: Limits) -> CheckedRequest:
    request = read_body(TagRequest, received.body, received.query)
    model = _find_model(models, request.model, "tag")
    _check_one_given(texts=request.texts, tokens=request.tokens)
    options = _tagger_options(request)
    if request.tokens is not None:
        rows = list(_token_rows(request.tokens))
        _check_count(len(rows), limits)
        _check_tokens(sum(len(row.example) for row in rows), limits.tokens)
    else:
        rows = _text_rows(((text,) for text in request.texts or ()), "texts")
        _check_size(rows, model, limits)
    return CheckedRequest(route="tag", model=model, rows=rows, fields=request, options=options)


def _check_classify(received: Received, models: Mapping[str, ServedModel], limits: Limits) -> CheckedRequest:
    request = read_body(ClassifyRequest, received.body, received.query)
    model = _find_model(models, request.model, "classify", texts=1 if request.pairs is None else 2)
    rows = _texts_or_pairs(request, model)
    _check_size(rows, model, limits)
    return CheckedRequest(route="classify", model=model, rows=rows, fields=request)


def _check_explain(received: Received, models: Mapping[str, ServedModel], limits: Limits) -> CheckedRequest:
    request = read_body(ExplainRequest, received.body, received.query)
    model = _find_model(models, request.model, None, texts=1 if request.pairs is None else 2)
    rows = _texts_or_pairs(request, model)
    _check_count(len(rows), limits)
    _check_text_tokens(rows, model, limits.explained_tokens, what="an explanation")
    return CheckedRequest(route="explain", model=model, rows=rows, fields=request)


def _check_tokenise(received: Received, models: Mapping[str, ServedModel], limits: Limits) -> CheckedRequest:
    request = read_body(TokeniseRequest, received.body, received.query)
    model = _find_model(models, request.model, None)
    rows = _text_rows(((text,) for text in request.texts), "texts")
    _check_size(rows, model, limits)
    return CheckedRequest(route="tokenise", model=model, rows=rows, fields=request)


def _check_batch(received: Received, models: Mapping[str, ServedModel], limits: Limits) -> CheckedRequest:
    query = read_query(BatchQuery, received.query)
    model = _find_model(models, query.model, None)
    options = _tagger_options(query)
    if model.command != "tag" and options:
        raise ProblemError("invalid-request", f"{next(iter(options))} works only with taggers")
    rows, invalid = [], {}
    for number, line in enumerate(received.body.split(b"\n"), start=received.row):
        try:
            row = _line_row(number, line, model)
        except InputError as error:
            invalid[number] = message_without_place(error)
            continue
        if row is not None:
            rows.append(row)
    return CheckedRequest(
        route="batch", model=model, rows=rows, fields=query, options=options, invalid=invalid
    )


_CHECKS: Mapping[str, Callable[[Received, Mapping[str, ServedModel], Limits], CheckedRequest]] = {
    "tag": _check_tag,
    "classify": _check_classify,
    "explain": _check_explain,
    "tokenise": _check_tokenise,
    "batch": _check_batch,
}


# --- rows


def _text_rows(texts: Iterable[tuple[str, ...]], name: str) -> list[TextRow]:
    return [TextRow(name, number, each) for number, each in enumerate(texts, start=1)]


def _token_rows(tokens: Sequence[Sequence[str]]) -> Iterable[TextRow]:
    for number, words in enumerate(tokens, start=1):
        try:
            checked = checked_words(words, fix="Send raw text as texts")
        except InputError as error:
            raise InputError(str(error), path="tokens", line=number) from None
        yield TextRow("tokens", number, (), example=Sentence(words=checked))


def _texts_or_pairs(request: ClassifyRequest | ExplainRequest, model: ServedModel) -> list[TextRow]:
    """Return the rows of a request with texts or pairs, whichever the model needs."""
    _check_one_given(texts=request.texts, pairs=request.pairs)
    given = "texts" if request.pairs is None else "pairs"
    needed = "texts" if model.texts == 1 else "pairs"
    if given != needed:
        raise ProblemError("invalid-request", f"the model {model.name!r} needs {needed}, got {given}")
    return _text_rows(request.pairs or ((text,) for text in request.texts or ()), given)


def _line_row(number: int, line: bytes, model: ServedModel) -> TextRow | None:
    """Return the row of a line, or None for a blank line."""
    try:
        text = line.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"invalid UTF-8: {error.reason}") from None
    try:
        return record_row(STREAM, number, text, model.columns)
    except InputError:
        columns = text_columns(checked_fields(text), model)
        if columns == model.columns:
            raise
        return record_row(STREAM, number, text, columns)


def text_columns(given: Mapping[str, str], model: ServedModel) -> tuple[str, ...]:
    """Return the keys of the texts in a line: the model's own, or those of /v1/classify if it has them."""
    general = TEXTS[: model.texts]
    return (
        general if given.keys() >= set(general) and not given.keys() >= set(model.columns) else model.columns
    )


# --- options and models


def _tagger_options(request: TagRequest | BatchQuery) -> dict[str, Any]:
    """Return the options of a tagger that a request sets."""
    given = request.model_fields_set & {"decode", "bias", "nbest", "offsets"}
    options = request.model_dump(include=given, exclude_defaults=True) if given else {}
    other = next((name for name in ("decode", "bias") if options.get(name)), None)
    if "nbest" in options and other:
        raise ProblemError(
            "invalid-request",
            f"nbest cannot be combined with {other}: it ranks tag sequences by the model's own probability",
        )
    return options


def _find_model(
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


def _check_one_given(**given: Sequence[Any] | None) -> None:
    """Refuse a request that has not exactly one of these fields."""
    if sum(value is not None for value in given.values()) != 1:
        raise ProblemError("invalid-request", f"send either {' or '.join(given)}")


# --- sizes


def _check_size(rows: Sequence[TextRow], model: ServedModel, limits: Limits) -> None:
    """Refuse too many texts or tokens. Tokens are counted only if there can be too many."""
    _check_count(len(rows), limits)
    _check_text_tokens(rows, model, limits.tokens)


def _check_count(texts: int, limits: Limits) -> None:
    if texts > limits.texts:
        raise ProblemError(
            "too-many-texts",
            f"{texts:,} texts, at most {limits.texts:,} are allowed. Send fewer, or use /v1/batch",
        )


def _check_text_tokens(
    rows: Sequence[TextRow], model: ServedModel, most: int, *, what: str = "a request"
) -> None:
    """Refuse too many tokens. A text has at least as many as words, and at most as many as characters."""
    texts = [text for row in rows for text in row.texts]
    if sum(map(len, texts)) <= most:
        return
    _check_tokens(sum(len(text.split()) for text in texts), most, what=what, bound="at least ")
    split = (model.tokenizer(checked_text(text)) for text in texts)
    _check_tokens(sum(len(sentence) for sentences in split for sentence in sentences), most, what=what)


def _check_tokens(tokens: int, most: int, *, what: str = "a request", bound: str = "") -> None:
    if tokens > most:
        raise ProblemError(
            "too-many-tokens",
            f"the request has {bound}{tokens:,} tokens; {what} may have {most:,}. Send shorter texts",
        )
