"""Reads the fields of a request from its body and its query. Errors say what a field must be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, TypeVar
from urllib.parse import parse_qsl

from pydantic import BaseModel, ValidationError

from gonie.serve.problems import ProblemError

Fields = TypeVar("Fields", bound=BaseModel)

EXAMPLE = 'Send a JSON object in UTF-8, such as {"texts": ["…"]}'
LONGEST = 100
"""Characters of a field's name in a message."""
SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "texts": 'a list of strings, such as ["…"]',
        "tokens": 'a list of sentences, each a list of words, such as [["Anna", "Kim"]]',
        "pairs": 'a list of pairs of strings, such as [["…", "…"]]',
        "methods": 'a list of strings, such as ["erasure"]',
        "spans": 'a list of strings, such as ["Samsung=ORG"]',
        "bias": 'an object with a number for each type, such as {"PER": 0.5}',
    }
)
"""What the fields that are lists or objects must be."""
VALUES: Mapping[str, str] = MappingProxyType(
    {
        "string_type": "a string",
        "int_type": "a whole number",
        "int_parsing": "a whole number",
        "int_from_float": "a whole number",
        "float_type": "a number",
        "float_parsing": "a number",
        "finite_number": "a finite number",
        "bool_type": "true or false",
        "bool_parsing": "true or false",
        "greater_than_equal": "at least {ge:g}",
        "less_than_equal": "at most {le:g}",
        "literal_error": "{expected}",
    }
)
"""What a value must be, by the type of pydantic's error."""


def read_body(kind: type[Fields], body: bytes, query: str) -> Fields:
    """Return the fields of the body and of the query. No field may be in both."""
    if not body.strip():
        raise ProblemError("invalid-json", f"the body is empty. {EXAMPLE}")
    try:
        fields = kind.model_validate_json(body)
        if not query:
            return fields
        queried = _query_fields(query)
        twice = fields.model_fields_set & queried.keys()
        if twice:
            raise ProblemError(
                "invalid-request", f"{min(twice)} is in the query and in the body. Send it once"
            )
        return kind.model_validate(fields.model_dump(exclude_unset=True) | queried, strict=False)
    except ValidationError as error:
        raise _problem(error, kind) from None


def read_query(kind: type[Fields], query: str) -> Fields:
    """Return the fields of a query."""
    try:
        return kind.model_validate(_query_fields(query), strict=False)
    except ValidationError as error:
        raise _problem(error, kind) from None


def _query_fields(query: str) -> dict[str, str]:
    fields = parse_qsl(query, keep_blank_values=True)
    for name, times in Counter(name for name, _ in fields).items():
        if times > 1:
            raise ProblemError(
                "invalid-request", f"{name[:LONGEST]} is in the query {times} times. Send it once"
            )
    return dict(fields)


def _problem(error: ValidationError, kind: type[BaseModel]) -> ProblemError:
    """Return the first error as a problem."""
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        return ProblemError("invalid-json", f"invalid JSON: {first['ctx']['error']}. {EXAMPLE}")
    if not first["loc"]:
        return ProblemError("invalid-request", f"the body is not an object. {EXAMPLE}")
    if first["type"] == "extra_forbidden":
        return ProblemError("invalid-request", _unknown(str(first["loc"][0]), list(kind.model_fields)))
    return ProblemError("invalid-request", _wrong(first))


def _unknown(name: str, known: list[str]) -> str:
    near = get_close_matches(name[:LONGEST], known, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    return f"unknown field: {name[:LONGEST]}. {meant}Fields: {', '.join(known)}"


def _wrong(error: Mapping[str, Any]) -> str:
    """Say what the value of a field must be."""
    field = str(error["loc"][0])
    place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"])[1:]
    if error["type"] in VALUES:
        return f"{place[:LONGEST]} must be {VALUES[error['type']].format_map(error.get('ctx', {}))}"
    if field in SHAPES:
        missing = error["type"] == "missing" and len(error["loc"]) == 1
        return f"{field} is missing. Send {SHAPES[field]}" if missing else f"{field} must be {SHAPES[field]}"
    return f"{place[:LONGEST]}: {error['msg']}"
