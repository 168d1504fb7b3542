"""The description of a served model, and how its inputs are checked and its answers are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gonie.client.address import ServiceAddress
from gonie.errors import InputError, ServiceError
from gonie.tasks.pairs.answer import PairAnswer, checked_pair
from gonie.text.labelled_text import LabelledText
from gonie.text.marks import with_marks
from gonie.text.plain_text import checked_text
from gonie.text.types import UNREADABLE, Classification

NAMES = {"tag": "tagger", "classify": "classifier", "pair": "pair classifier"}
"""The tasks of models that a client can call, and what messages call their models."""


@dataclass(frozen=True)
class ModelEntry:
    """A model of a service. ``fields`` is its entry in ``/v1/models``."""

    name: str
    task: str
    labels: tuple[str, ...]
    types: tuple[str, ...]
    fields: Mapping[str, Any]

    @classmethod
    def of(cls, fields: Mapping[str, Any], *, url: str) -> ModelEntry:
        """Return the model of an entry in ``/v1/models``."""
        try:
            labels, types = tuple(fields["labels"]), tuple(fields.get("types") or fields["labels"])
            return cls(fields["name"], fields["task"], labels, types, fields)
        except UNREADABLE as error:
            raise ServiceError(f"{url} sent a model that cannot be read: {fields!r}"[:300]) from error

    @property
    def kind(self) -> str:
        """What messages call the model: ``tagger``."""
        return NAMES.get(self.task, f"model of the task {self.task!r}")

    @property
    def takes_pairs(self) -> bool:
        """Whether an input is two texts."""
        return self.task == "pair"

    def predicts(self) -> str:
        """Say what the model predicts, as the local model does."""
        return str(self.fields["predicts"])

    def sent(self, given: Any) -> Any:
        """Return an input as it is sent: a text with its marks, or a list of two texts."""
        if self.task not in NAMES:
            raise InputError(f"{self.name} is a {self.kind}, which this client cannot call")
        if self.takes_pairs:
            pair = checked_pair(given)
            return [pair.first, pair.second]
        if self.task == "classify" and isinstance(given, LabelledText):
            return with_marks(checked_text(given.text), given.marks)
        return checked_text(given)

    def answer(self, record: Mapping[str, Any]) -> Classification | PairAnswer:
        """Return the answer of a record of ``/v1/classify``."""
        return PairAnswer.from_dict(record) if self.takes_pairs else Classification.from_dict(record)


class ModelCache:
    """The description of a model as the service last sent it. Clients with other settings share it."""

    def __init__(self) -> None:
        self.entry: ModelEntry | None = None

    def check(self, bundle: Any) -> None:
        """Forget the description if an answer comes from another ``bundle``, after a swap."""
        known = None if self.entry is None else self.entry.fields.get("bundle")
        if None not in (known, bundle) and known != bundle:
            self.entry = None


def choose(models: Sequence[ModelEntry], address: ServiceAddress) -> ModelEntry:
    """Return the model that an address names, or the only one."""
    names = ", ".join(f"{each.name} ({each.kind})" for each in models)
    if not models:
        raise InputError(f"{address.base} serves no model")
    if address.model is None:
        if len(models) == 1:
            return models[0]
        example = ServiceAddress(address.base, models[0].name)
        raise InputError(f"{address.base} serves {len(models)} models: {names}", fix=f"Name one: {example}")
    found = next((each for each in models if each.name == address.model), None)
    if found is None:
        raise InputError(f"{address.base} does not serve a model {address.model!r}", fix=f"It serves {names}")
    return found
