"""What a worker does with the requests of each route: groups those that it has checked, and answers them.

Requests that need the same model with the same options are answered together. An answer never depends on the
requests that it was computed with.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from gonie.errors import GonieError, InputError
from gonie.formats.text_rows import TextRow
from gonie.runtime.groups import MOST
from gonie.serve.checks import (
    STREAM,
    CheckedRequest,
    Received,
    check,
    message_without_place,
    text_columns,
)
from gonie.serve.explanations import explain, tokenise
from gonie.serve.limits import Limits
from gonie.serve.problems import NDJSON, ProblemError, Reply, error_line, problem
from gonie.serve.served_model import ServedModel
from gonie.tasks.records import TEXTS, ReturnedFields


class Asked(NamedTuple):
    """What a request asked for, to be counted: its model, its rows, and the tokens that were answered."""

    model: ServedModel
    rows: Sequence[TextRow]
    tokens: int = 0


class RouteAnswer(NamedTuple):
    """The reply to a request, and what it asked for. A request that is no valid one asked for nothing."""

    reply: Reply
    asked: Asked | None


def answer_all(
    received: Sequence[Received], models: Mapping[str, ServedModel], limits: Limits
) -> tuple[list[Reply], list[Asked | None]]:
    """Answer requests. Return the replies, and what each request asked for, in order."""
    answers: dict[int, RouteAnswer] = {}
    groups: dict[tuple[str, str, str], dict[int, CheckedRequest]] = {}
    for number, request in enumerate(received):
        try:
            checked = check(request, models, limits)
        except (ProblemError, GonieError) as error:
            answers[number] = RouteAnswer(_refusal(error), None)
        else:
            groups.setdefault(checked.group, {})[number] = checked
    for group in groups.values():
        answers.update(zip(group, _answer_group(list(group.values())), strict=True))
    in_order = [answers[number] for number in range(len(received))]
    return [answer.reply for answer in in_order], [answer.asked for answer in in_order]


def _answer_group(group: Sequence[CheckedRequest]) -> list[RouteAnswer]:
    """Answer a group. If that fails, answer each request alone, so that none suffers from another."""
    try:
        return ANSWERS[group[0].route](group)
    except (ProblemError, GonieError) as error:
        if len(group) > 1:
            return [answer for request in group for answer in _answer_group([request])]
        return [RouteAnswer(_refusal(error), Asked(group[0].model, group[0].rows))]


def _refusal(error: Exception) -> Reply:
    return error.reply() if isinstance(error, ProblemError) else problem("invalid-request", str(error))


# --- tag, classify and batch


@dataclass
class RowPredictions:
    """The predictions for the rows of one request, by row number."""

    lines: dict[int, str] = field(default_factory=dict)
    """Predictions as lines of JSON."""
    errors: dict[int, str] = field(default_factory=dict)
    """Messages about rows that the model cannot process."""
    objects: dict[int, Any] = field(default_factory=dict)
    """Predictions as the model returned them."""
    tokens: int = 0


def _predict_rows(group: Sequence[CheckedRequest]) -> list[RowPredictions]:
    """Predict the rows of all requests together. Return the predictions of each request."""
    model = group[0].model
    answering = model.answering(group[0].options)
    predictions = [RowPredictions() for _ in group]
    rows = [(row, found) for request, found in zip(group, predictions, strict=True) for row in request.rows]

    def reject(numbered: TextRow, error: InputError) -> None:
        row, found = rows[numbered.number]
        found.errors[row.number] = _row_message(row, error)

    own, general = model.returned_fields(), ReturnedFields(model.records.fields, TEXTS)
    numbered = (row._replace(number=number) for number, (row, _) in enumerate(rows))
    for answered in answering(numbered, reject, first=MOST):
        row, found = rows[answered.row.number]
        returned = own if text_columns(row.fields, model) == model.columns else general
        found.lines[row.number] = returned.line(row.fields, answering.record(answered))
        found.tokens += answered.tokens
        found.objects[row.number] = answered.found
    return predictions


def _row_message(row: TextRow, error: InputError) -> str:
    """Return the message about a row, with its place if the error has one. Lines of a stream have none."""
    message = message_without_place(error)
    return message if error.path is None or row.file == STREAM else f"{row.file}:{row.number}: {message}"


def _answer_tag(group: Sequence[CheckedRequest]) -> list[RouteAnswer]:
    return _answer_texts("documents", group)


def _answer_classify(group: Sequence[CheckedRequest]) -> list[RouteAnswer]:
    return _answer_texts("results", group)


def _answer_texts(key: str, group: Sequence[CheckedRequest]) -> list[RouteAnswer]:
    """Answer requests with one element per text. An invalid text refuses its request."""
    answers = []
    for request, found in zip(group, _predict_rows(group), strict=True):
        if found.errors:
            reply = problem("invalid-request", next(iter(found.errors.values())))
        else:
            elements = [found.lines[row.number].rstrip("\n") for row in request.rows]
            more = ""
            if getattr(request.fields, "sentences", False):
                ranges = [found.objects[row.number].sentences for row in request.rows]
                more = f'"sentences": {json.dumps(ranges)}, '
            reply = _envelope(key, elements, request.model, more)
        answers.append(RouteAnswer(reply, Asked(request.model, request.rows, found.tokens)))
    return answers


def _answer_batch(group: Sequence[CheckedRequest]) -> list[RouteAnswer]:
    """Answer lines, in order. An invalid line has its message as an answer."""
    answers = []
    for request, found in zip(group, _predict_rows(group), strict=True):
        errors = {**request.invalid, **found.errors}
        lines = found.lines | {row: error_line(message, row) for row, message in errors.items()}
        numbers = sorted({*request.invalid, *(row.number for row in request.rows)})
        body = "".join(lines[number] for number in numbers)
        reply = Reply(200, body.encode(), NDJSON)
        answers.append(RouteAnswer(reply, Asked(request.model, request.rows, found.tokens)))
    return answers


def _envelope(key: str, elements: Iterable[str], model: ServedModel, more: str = "") -> Reply:
    """Return the reply with these elements and further fields, all as JSON."""
    return Reply(200, f'{{"{key}": [{", ".join(elements)}], {more}{model.signature}}}'.encode())


# --- explain and tokenise


def _answer_explain(group: Sequence[CheckedRequest]) -> list[RouteAnswer]:
    return _answer_one_by_one("explanations", explain, group)


def _answer_tokenise(group: Sequence[CheckedRequest]) -> list[RouteAnswer]:
    return _answer_one_by_one("documents", tokenise, group)


def _answer_one_by_one(
    key: str, make: Callable[[ServedModel, TextRow, Any], Any], group: Sequence[CheckedRequest]
) -> list[RouteAnswer]:
    """Answer requests with what ``make`` returns for each row."""
    answers = []
    for request in group:
        made = [make(request.model, row, request.fields) for row in request.rows]
        reply = _envelope(key, [json.dumps(each, ensure_ascii=False) for each in made], request.model)
        answers.append(RouteAnswer(reply, Asked(request.model, request.rows)))
    return answers


ANSWERS: Mapping[str, Callable[[Sequence[CheckedRequest]], list[RouteAnswer]]] = {
    "tag": _answer_tag,
    "classify": _answer_classify,
    "explain": _answer_explain,
    "tokenise": _answer_tokenise,
    "batch": _answer_batch,
}
"""How a group of requests is answered, by the last part of the path of their route."""
