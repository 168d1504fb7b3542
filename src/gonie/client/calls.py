"""The calls of a client: generators from inputs to results, by the routes of docs/reference/service.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gonie.client.address import ServiceAddress
from gonie.client.exchange import Call, HttpRequest, HttpResponse, Result, answer_of, exchange, unreadable
from gonie.client.model_entry import ModelEntry, choose
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
    """The calls to one service. Copies with other ``settings`` share the description of the model.

    ``settings`` are fields of a request to a tagger: ``nbest``, ``decode``, ``bias``.
    """

    address: ServiceAddress
    policy: RetryPolicy
    settings: Mapping[str, Any] = field(default_factory=dict)
    known: list[ModelEntry] = field(default_factory=list, repr=False)

    def with_settings(self, **settings: Any) -> ServiceCalls:
        """Return the calls with further settings."""
        return replace(self, settings={**self.settings, **settings})

    def models(self) -> Call[list[dict[str, Any]]]:
        """Return the descriptions of all models of the service."""
        response = yield from self._exchange(HttpRequest("GET", "/v1/models"))
        return _rows(response, "models", None, url=self.address.base)

    def served(self) -> Call[ModelEntry]:
        """Return the model, which is asked for once."""
        if not self.known:
            url = self.address.base
            models = [ModelEntry.of(fields, url=url) for fields in (yield from self.models())]
            self.known.append(choose(models, self.address))
        return self.known[0]

    def answers(self, given: Sequence[Any]) -> Call[list[Any]]:
        """Return the answers to texts or pairs, in order."""
        model = yield from self.served()
        sent = [model.sent(each) for each in given]
        if model.task == "tag":
            return (yield from self._documents("texts", sent))
        if self.settings:
            raise InputError(
                f"with_nbest and with_decoding work only with taggers; {self.address} is a {model.kind}"
            )
        name = "pairs" if model.takes_pairs else "texts"

        def read(response: HttpResponse, number: int) -> list[Any]:
            return [*map(model.answer, _rows(response, "results", number, url=self.address.base))]

        return (yield from self._parts("/v1/classify", name, sent, {}, read))

    def answer(self, given: Any) -> Call[Any]:
        """Return the answer to one text or pair."""
        (found,) = yield from self.answers([given])
        return found

    def tagged_tokens(self, sentences: Iterable[Sequence[str]]) -> Call[list[Document]]:
        """Return the documents of sentences given as words."""
        checked = [list(checked_words(words, fix=FIX_WORDS)) for words in sentences]
        yield from self._tagger("tag_tokens")
        found = iter((yield from self._documents("tokens", [words for words in checked if words])))
        return [next(found) if words else Document("") for words in checked]  # no words need no request

    def tokenised(self, text: str) -> Call[tuple[tuple[Token, ...], ...]]:
        """Return the tokens of each sentence of a text."""
        record = yield from self._one("/v1/tokenise", "documents", {"texts": [checked_text(text)]})
        try:
            return tuple(tuple(map(token_of_record, own)) for own in record["sentences"])
        except UNREADABLE as error:
            raise ServiceError(f"{self.address.base}: not the tokens of a text: {record!r}"[:300]) from error

    def explained(self, given: Any, options: Mapping[str, Any]) -> Call[dict[str, Any]]:
        """Return the explanation of a text or pair, as the service describes it."""
        model = yield from self.served()
        name = "pairs" if model.takes_pairs else "texts"
        known = {option: value for option, value in options.items() if value is not None}
        return (yield from self._one("/v1/explain", "explanations", {name: [model.sent(given)], **known}))

    def _tagger(self, method: str) -> Call[ModelEntry]:
        model = yield from self.served()
        if model.task != "tag":
            raise InputError(f"{method} works only with taggers; {self.address} is a {model.kind}")
        return model

    def _documents(self, name: str, sent: Sequence[Any]) -> Call[list[Document]]:
        """Return the documents of ``texts`` or ``tokens``."""
        url = self.address.base

        def records(response: HttpResponse, number: int) -> list[tuple[dict[str, Any], Sentences]]:
            found = _rows(response, "documents", number, url=url)
            sentences = answer_of(response, url=url).get("sentences")
            if not isinstance(sentences, list) or len(sentences) != number:
                raise unreadable(response, url)
            return list(zip(found, sentences, strict=True))

        fields = {**self.settings, "sentences": True}  # a record does not say where its sentences end
        found = yield from self._parts("/v1/tag", name, sent, fields, records)
        try:
            return [Document.from_dict(record, sentences=own) for record, own in found]
        except InputError as error:
            raise ServiceError(f"{url}: {error}") from error

    def _parts(
        self,
        path: str,
        name: str,
        sent: Sequence[Any],
        fields: Mapping[str, Any],
        read: Callable[[HttpResponse, int], list[Result]],
    ) -> Call[list[Result]]:
        """Send inputs in one request, or in several if the service says that they are too many."""
        if not sent:
            return []
        model = yield from self.served()
        body = {name: list(sent), "model": model.name, **fields}
        response = yield from self._exchange(HttpRequest.post(path, body))
        if response.status in (413, 422) and len(sent) > 1 and response.problem_type() in DIVISIBLE:
            half = len(sent) // 2
            first = yield from self._parts(path, name, sent[:half], fields, read)
            return first + (yield from self._parts(path, name, sent[half:], fields, read))
        answer_of(response, url=self.address.base)  # raises its error
        try:
            return read(response, len(sent))
        except InputError as error:  # of a record
            raise unreadable(response, self.address.base) from error

    def _one(self, path: str, answers: str, fields: Mapping[str, Any]) -> Call[dict[str, Any]]:
        """Return the answer to a request about one input."""
        model = yield from self.served()
        response = yield from self._exchange(HttpRequest.post(path, {**fields, "model": model.name}))
        (found,) = _rows(response, answers, 1, url=self.address.base)
        return found

    def _exchange(self, request: HttpRequest) -> Call[HttpResponse]:
        return (yield from exchange(request, self.policy, url=self.address.base))


def _rows(response: HttpResponse, name: str, number: int | None, *, url: str) -> list[dict[str, Any]]:
    """Return the list of objects in an answer, as many as ``number``."""
    rows = answer_of(response, url=url).get(name)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise unreadable(response, url)
    if number not in (None, len(rows)):
        raise unreadable(response, url)
    return rows
