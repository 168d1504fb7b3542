"""The calls of a client: generators from inputs to results, by the routes of docs/reference/service.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gonie.client.address import ServiceAddress
from gonie.client.exchange import Call, HttpRequest, HttpResponse, Result, answer_of, exchange, unreadable
from gonie.client.model_entry import ModelCache, ModelEntry, choose
from gonie.client.retries import RetryPolicy
from gonie.errors import InputError, ServiceError
from gonie.text.plain_text import checked_text, checked_words
from gonie.text.types import UNREADABLE, Document, Token, token_of_record

DIVISIBLE = ("too-large", "too-many-texts", "too-many-tokens")
"""Types of errors of requests that may succeed with fewer texts."""
FIX_WORDS = "For raw text, call the client itself: client(text)"

Sentences = Sequence[Sequence[int]]
"""The token ranges of the sentences of a document."""


@dataclass(frozen=True, kw_only=True)
class ServiceCalls:
    """The calls to one service.

    ``settings`` are fields of a request to a tagger: ``nbest``, ``decode``, ``bias``. ``cache`` changes: the
    first call fills it, and an answer from another bundle empties it. Copies with other settings share it.

    If the model is not known, a call first asks for its description, under the same deadline.
    """

    address: ServiceAddress
    policy: RetryPolicy
    settings: Mapping[str, Any] = field(default_factory=dict)
    cache: ModelCache = field(default_factory=ModelCache, repr=False)

    def with_settings(self, **settings: Any) -> ServiceCalls:
        """Return the calls with further settings."""
        return replace(self, settings={**self.settings, **settings})

    def models(self, deadline: float | None = None) -> Call[list[dict[str, Any]]]:
        """Return the descriptions of all models of the service. The deadline begins now if none is given."""
        response = yield from self._exchange(
            HttpRequest("GET", "/v1/models"), self.policy.deadline() if deadline is None else deadline
        )
        return self._read(response, lambda answer: _rows(answer, "models"))

    def served(self, deadline: float | None = None) -> Call[ModelEntry]:
        """Return the model, which is asked for if it is not known."""
        entry = self.cache.entry
        if entry is None:
            models = yield from self.models(deadline)
            entry = choose([ModelEntry.of(fields, url=self.address.base) for fields in models], self.address)
            self.cache.entry = entry
        return entry

    def answers(self, given: Sequence[Any]) -> Call[list[Any]]:
        """Return the answers to texts or pairs, in order."""
        deadline = self.policy.deadline()
        model = yield from self.served(deadline)
        sent = [model.sent(each) for each in given]
        if model.task == "tag":
            return (yield from self._documents("texts", sent, model, deadline))
        if self.settings:
            raise InputError(
                f"with_nbest and with_decoding work only with taggers; {self.address} is a {model.kind}"
            )
        name = "pairs" if model.takes_pairs else "texts"

        def read(answer: dict[str, Any]) -> list[Any]:
            return [*map(model.answer, _rows(answer, "results"))]

        return (
            yield from self._parts("/v1/classify", name, sent, {"model": model.name}, read, deadline=deadline)
        )

    def answer(self, given: Any) -> Call[Any]:
        """Return the answer to one text or pair."""
        (found,) = yield from self.answers([given])
        return found

    def tagged_tokens(self, sentences: Iterable[Sequence[str]]) -> Call[list[Document]]:
        """Return the documents of sentences given as words."""
        checked = [list(checked_words(words, fix=FIX_WORDS)) for words in sentences]
        deadline = self.policy.deadline()
        model = yield from self.served(deadline)
        if model.task != "tag":
            raise InputError(f"tag_tokens works only with taggers; {self.address} is a {model.kind}")
        sent = [words for words in checked if words]  # no words need no request
        found = iter((yield from self._documents("tokens", sent, model, deadline)))
        return [next(found) if words else Document("") for words in checked]

    def tokenised(self, text: str) -> Call[tuple[tuple[Token, ...], ...]]:
        """Return the tokens of each sentence of a text."""
        sent, deadline = checked_text(text), self.policy.deadline()
        model = yield from self.served(deadline)
        fields = {"texts": [sent], "model": model.name}
        record = yield from self._one("/v1/tokenise", "documents", fields, deadline)
        try:
            return tuple(tuple(map(token_of_record, own)) for own in record["sentences"])
        except UNREADABLE as error:
            raise ServiceError(f"{self.address.base}: not the tokens of a text: {record!r}"[:300]) from error

    def explained(self, given: Any, options: Mapping[str, Any]) -> Call[dict[str, Any]]:
        """Return the explanation of a text or pair, as the service describes it."""
        deadline = self.policy.deadline()
        model = yield from self.served(deadline)
        name = "pairs" if model.takes_pairs else "texts"
        chosen = {option: value for option, value in options.items() if value is not None}
        fields = {name: [model.sent(given)], **chosen, "model": model.name}
        return (yield from self._one("/v1/explain", "explanations", fields, deadline))

    def _documents(
        self, name: str, sent: Sequence[Any], model: ModelEntry, deadline: float
    ) -> Call[list[Document]]:
        """Return the documents of ``texts`` or ``tokens``."""

        def read(answer: dict[str, Any]) -> list[tuple[dict[str, Any], Sentences]]:
            return list(zip(_rows(answer, "documents"), answer.get("sentences") or (), strict=True))

        # a record does not say where its sentences end
        fields = {**self.settings, "sentences": True, "model": model.name}
        found = yield from self._parts("/v1/tag", name, sent, fields, read, deadline=deadline)
        try:
            return [Document.from_dict(record, sentences=own) for record, own in found]
        except InputError as error:
            raise ServiceError(f"{self.address.base}: {error}") from error

    def _parts(
        self,
        path: str,
        name: str,
        sent: Sequence[Any],
        fields: Mapping[str, Any],
        read: Callable[[dict[str, Any]], list[Result]],
        *,
        deadline: float,
    ) -> Call[list[Result]]:
        """Send inputs in one request, or in several if the service says that they are too many.

        Each of several requests has its own deadline.
        """
        if not sent:
            return []
        response = yield from self._exchange(HttpRequest.post(path, {name: list(sent), **fields}), deadline)
        if response.status in (413, 422) and len(sent) > 1 and response.problem_type() in DIVISIBLE:
            half = len(sent) // 2
            found: list[Result] = []
            for part in (sent[:half], sent[half:]):
                later = self.policy.deadline()
                found += yield from self._parts(path, name, part, fields, read, deadline=later)
            return found
        found = self._read(response, read)
        if len(found) != len(sent):
            raise unreadable(response, self.address)
        return found

    def _one(
        self, path: str, answers: str, fields: Mapping[str, Any], deadline: float
    ) -> Call[dict[str, Any]]:
        """Return the answer to a request about one input."""
        response = yield from self._exchange(HttpRequest.post(path, fields), deadline)
        found = self._read(response, lambda answer: _rows(answer, answers))
        if len(found) != 1:
            raise unreadable(response, self.address)
        return found[0]

    def _exchange(self, request: HttpRequest, deadline: float) -> Call[HttpResponse]:
        response = yield from exchange(request, self.policy, deadline=deadline, address=self.address)
        if response.status == 404 and response.problem_type() == "unknown-model":
            self.cache.entry = None  # the service has other models now
        return response

    def _read(self, response: HttpResponse, read: Callable[[dict[str, Any]], Result]) -> Result:
        """Return what ``read`` finds in the answer, or raise the error of the response."""
        answer = answer_of(response, address=self.address)
        self.cache.check(answer.get("bundle"))
        try:
            return read(answer)
        except UNREADABLE as error:
            raise unreadable(response, self.address) from error


def _rows(answer: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Return the list of objects in an answer, or raise ``ValueError``."""
    rows = answer.get(name)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ValueError(name)
    return rows
