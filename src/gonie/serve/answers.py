"""The bodies of answers, for the OpenAPI document only. Workers write the same JSON as the commands."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

Score = Annotated[float, Field(description="A probability.")]
Bundle = Annotated[
    str, Field(description="SHA-256 of the bundle's index, which has those of its other files.")
]


class Problem(BaseModel):
    """What is wrong with a request (RFC 9457)."""

    type: Annotated[str, Field(examples=["urn:gonie:queue-full"])]
    title: str
    status: int
    detail: Annotated[str, Field(description="What is wrong, and how to fix it.")]


class SpanAnswer(BaseModel):
    """A labelled part of a text."""

    start: int
    end: int
    label: str
    text: str
    score: Score | None = None


class TokenAnswer(BaseModel):
    """A token of a text, with its tag if it has one."""

    start: int
    end: int
    text: str
    tag: str | None = None
    score: Score | None = None
    morphemes: list[dict[str, str]] | None = None
    marginals: dict[str, Score] | None = None
    part: Annotated[int | None, Field(description="0 or 1: the text of a pair.")] = None


class CandidateAnswer(BaseModel):
    """A tag sequence of a sentence."""

    score: Score
    tags: list[str]
    spans: list[SpanAnswer]


class DocumentAnswer(BaseModel):
    """A tagged text: the object that `gonie tag --output jsonl` prints."""

    text: str
    spans: list[SpanAnswer]
    tokens: list[TokenAnswer]
    nbest: list[list[CandidateAnswer]] | None = None
    notes: list[str] | None = None


class ResultAnswer(BaseModel):
    """A classified text or pair: the object that `gonie classify --output jsonl` prints."""

    text: str
    text_pair: str | None = None
    label: str | None = None
    score: Score | None = None
    scores: dict[str, Score] | None = None
    labels: list[str] | None = None
    value: float | None = None
    notes: list[str] | None = None


class WeightedAnswer(BaseModel):
    """A prediction, and the weights that each method gives the tokens of its sentence."""

    label: str
    score: Score
    weights: dict[str, list[float]]
    asked: Annotated[bool, Field(description="Whether the request asked for it.")]
    text: str | None = None
    start: int | None = None
    end: int | None = None
    sentence: int | None = None


class ExplanationAnswer(BaseModel):
    """A text with its tokens, its predictions and their weights."""

    text: str
    text_pair: str | None = None
    tokens: list[TokenAnswer]
    answers: list[WeightedAnswer]
    faithfulness: list[dict[str, Any]]
    sentences: list[list[int]] | None = None
    nbest: list[list[CandidateAnswer]] | None = None
    scores: dict[str, Score] | None = None


class TokensAnswer(BaseModel):
    """The tokens of a text by sentence."""

    text: str
    sentences: list[list[TokenAnswer]]


class TagAnswer(BaseModel):
    """The answer of `/v1/tag`."""

    documents: list[DocumentAnswer]
    model: str
    bundle: Bundle


class ClassifyAnswer(BaseModel):
    """The answer of `/v1/classify`."""

    results: list[ResultAnswer]
    model: str
    bundle: Bundle


class ExplainAnswer(BaseModel):
    """The answer of `/v1/explain`."""

    explanations: list[ExplanationAnswer]
    model: str
    bundle: Bundle


class TokeniseAnswer(BaseModel):
    """The answer of `/v1/tokenise`."""

    documents: list[TokensAnswer]
    model: str
    bundle: Bundle
