"""The settings of an in-context model: what ``--llm KEY=VALUE`` and ``gonie.load("llm:…", …)`` take."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gonie.errors import InputError

FormatName = Literal["json", "lines", "inline"]
Language = Literal["en", "ko"]
Seconds = Annotated[float, Field(gt=0)]
Price = Annotated[float, Field(ge=0)]
DESCRIBE = "describe."
FILE_SETTINGS = ("tag_column", "text_column", "label_column", "label_separator")
"""Settings that say how to read labelled files, as in a recipe (``data.tag_column`` …)."""


class InContextSettings(BaseModel):
    """How a language model is asked, and how its answers are read and kept."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    shots_from: Path | None = None
    """A labelled file, whose labels are predicted and whose examples are shown."""
    shots: Annotated[int, Field(ge=0)] = 5
    """The number of examples shown with each text, the most similar ones."""
    task: Literal["tag", "classify"] | None = None
    """What is predicted. By default it follows from ``shots_from``, otherwise ``tag``."""
    describe: dict[str, str] = {}
    """A description of each label. Without ``shots_from``, these are the labels."""
    language: Language | None = None
    """The language of the instructions. By default that of ``shots_from``, otherwise English."""
    unit: str | None = None
    """The unit of tokens, as in a recipe (``data.unit``)."""
    format: FormatName = "json"
    """The form of the answers."""

    model: str | None = None
    """The name of the model at an endpoint. By default the only one that the endpoint lists."""
    temperature: Annotated[float, Field(ge=0)] = 0.0
    max_tokens: Annotated[int, Field(ge=1)] = 512
    """The most tokens of an answer."""
    seed: int = 0
    body: dict[str, Any] = {}
    """Further fields of a request. A field that is null is left out of the request."""

    timeout: Seconds = 120.0
    """Seconds for one try of a request."""
    retries: Annotated[int, Field(ge=0)] = 5
    concurrency: Annotated[int, Field(ge=1, le=256)] = 4
    """Requests at once to an endpoint."""
    cache: str = "auto"
    """The folder of the answers, ``auto`` for that of the user, or ``off``."""
    prompt_price: Price | None = None
    completion_price: Price | None = None
    """Prices per million tokens, in any currency."""

    context: Annotated[int, Field(ge=128)] = 8192
    """The most tokens of a prompt and its answer in a GGUF model."""
    threads: Annotated[int, Field(ge=1)] | None = None
    """The CPU threads of a GGUF model. By default all cores."""

    tag_column: str | None = None
    text_column: str | None = None
    label_column: str | None = None
    label_separator: str | None = None
    """Columns of labelled files, as in a recipe (``data.tag_column`` …)."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> InContextSettings:
        """Return the settings with these values, or raise an error that names the first wrong one."""
        values = _nested(values)
        known = list(cls.model_fields)
        if unknown := [name for name in values if name not in known]:
            near = get_close_matches(unknown[0], known, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Use {', '.join(known)}"
            raise InputError(f"unknown setting of a language model: {unknown[0]}", fix=hint)
        try:
            return cls(**values)
        except ValidationError as error:
            first = error.errors()[0]
            name, given = ".".join(map(str, first["loc"])), first["input"]
            raise InputError(f"invalid setting of a language model: {name}={given}: {first['msg']}") from None

    def recipe(self) -> dict[str, Any]:
        """Return the part of a recipe that says how to read files, and which file was learned from."""
        data = {name: value for name in FILE_SETTINGS if (value := getattr(self, name)) is not None}
        if self.shots_from is not None:
            data["train"] = str(self.shots_from)
        if isinstance(column := data.get("tag_column"), str) and column.lstrip("-").isdigit():
            data["tag_column"] = int(column)
        return {"data": data}

    def request(self) -> dict[str, Any]:
        """Return the fields of a request that change its answer, besides the messages."""
        own = {"temperature": self.temperature, "max_tokens": self.max_tokens, "seed": self.seed}
        return {name: value for name, value in {**own, **self.body}.items() if value is not None}


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Return the values of ``KEY=VALUE`` pairs. ``describe.LABEL=TEXT`` describes a label."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InputError(f"expected KEY=VALUE, got {pair!r}", fix="For example: --llm format=lines")
        found[name] = value
    return _nested(found)


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings with the descriptions ``describe.LABEL`` in one value, and ``body`` as an object."""
    found = {name: value for name, value in values.items() if not name.startswith(DESCRIBE)}
    described = {
        name.removeprefix(DESCRIBE): value.strip()
        for name, value in values.items()
        if name.startswith(DESCRIBE)
    }
    if described:
        found["describe"] = {**found.get("describe", {}), **described}
    if isinstance(body := found.get("body"), str):
        found["body"] = _parsed_object(body)
    return found


def _parsed_object(value: str) -> Any:
    try:
        return json.loads(value)
    except ValueError as error:
        raise InputError(f"invalid JSON object: body={value}: {error}") from error
