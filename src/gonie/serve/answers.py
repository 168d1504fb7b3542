"""The bodies of answers, for the OpenAPI document only. Workers write the same JSON as the commands."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

Score = Annotated[float, Field(description="A probability.")]
Bundle = Annotated[
    str, Field(description="SHA-256 of the bundle's index, which has those of its other files.")
]


class ProblemBody(BaseModel):
    """What is wrong with a request (RFC 9457)."""

    type: Annotated[str, Field(examples=["urn:gonie:queue-full"])]
    title: str
    status: int
    detail: Annotated[str, Field(description="What is wrong, and how to fix it.")]


class SpanBody(BaseModel):
    """A labelled part of a text."""

    start: int
    end: int
    label: str
    text: str
    score: Score | None = None


class TokenBody(BaseModel):
    """A token of a text, with its tag if it has one."""

    start: int
    end: int
    text: str
    tag: str | None = None
    score: Score | None = None
    morphemes: list[dict[str, str]] | None = None
    marginals: dict[str, Score] | None = None
    part: Annotated[int | None, Field(description="0 or 1: the text of a pair.")] = None


class CandidateBody(BaseModel):
    """A tag sequence of a sentence."""

    score: Score
    tags: list[str]
    spans: list[SpanBody]


class DocumentBody(BaseModel):
    """A tagged text: the object that `gonie tag --output jsonl` prints."""

    text: str
    spans: list[SpanBody]
    tokens: list[TokenBody]
    nbest: list[list[CandidateBody]] | None = None
    notes: list[str] | None = None


class ResultBody(BaseModel):
    """A classified text or pair: the object that `gonie classify --output jsonl` prints."""

    text: str
    text_pair: str | None = None
    label: str | None = None
    score: Score | None = None
    scores: dict[str, Score] | None = None
    labels: list[str] | None = None
    value: float | None = None
    notes: list[str] | None = None


class WeightedBody(BaseModel):
    """A prediction, and the weights that each method gives the tokens of its sentence."""

    label: str
    score: Score
    weights: dict[str, list[float]]
    asked: Annotated[bool, Field(description="Whether the request asked for it.")]
    text: str | None = None
    start: int | None = None
    end: int | None = None
    sentence: int | None = None
    predicted: Annotated[bool | None, Field(description="Whether the model predicts a span asked about.")] = (
        None
    )
    preferred: Annotated[
        dict[str, Any] | None, Field(description="The tags that the model prefers, with their probability.")
    ] = None
    gap: Annotated[float | None, Field(description="The log-odds between them.")] = None
    notes: list[str] | None = None


class ExplanationBody(BaseModel):
    """A text with its tokens, its predictions and their weights."""

    text: str
    text_pair: str | None = None
    tokens: list[TokenBody]
    answers: list[WeightedBody]
    faithfulness: list[dict[str, Any]]
    sentences: list[list[int]] | None = None
    nbest: list[list[CandidateBody]] | None = None
    scores: dict[str, Score] | None = None


class TokensBody(BaseModel):
    """The tokens of a text by sentence."""

    text: str
    sentences: list[list[TokenBody]]


class TagBody(BaseModel):
    """The answer of `/v1/tag`."""

    documents: list[DocumentBody]
    sentences: list[list[tuple[int, int]]] | None = None
    model: str
    bundle: Bundle


class ClassifyBody(BaseModel):
    """The answer of `/v1/classify`."""

    results: list[ResultBody]
    model: str
    bundle: Bundle


class ExplainBody(BaseModel):
    """The answer of `/v1/explain`."""

    explanations: list[ExplanationBody]
    model: str
    bundle: Bundle


class TokeniseBody(BaseModel):
    """The answer of `/v1/tokenise`."""

    documents: list[TokensBody]
    model: str
    bundle: Bundle
