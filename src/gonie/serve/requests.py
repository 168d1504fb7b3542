"""The bodies of requests, which workers check and the OpenAPI document describes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

MAX_NBEST = 100
MAX_BIAS = 100.0
ENGLISH = "Angela Merkel met Samsung managers in Seoul."

Text = Annotated[str, Field(description="A text of any length within the limits of the service.")]
ModelName = Annotated[
    str | None, Field(description="Name of the model. Needed only if several models fit the route.")
]
Offsets = Annotated[
    Literal["codepoints", "utf16"],
    Field(description="Unit of offsets: Unicode code points, or UTF-16 units as in JavaScript and Java."),
]
Bias = Annotated[FiniteFloat, Field(ge=-MAX_BIAS, le=MAX_BIAS)]


def _example(**fields: Any) -> ConfigDict:
    return ConfigDict(extra="forbid", strict=True, json_schema_extra={"examples": [fields]})


class TagRequest(BaseModel):
    """Texts to tag, or sentences as lists of words."""

    model_config = _example(texts=[ENGLISH], nbest=3)

    texts: Annotated[list[Text] | None, Field(description="Texts, one document each.")] = None
    tokens: Annotated[
        list[list[str]] | None, Field(description="Instead of texts: sentences as lists of words.")
    ] = None
    model: ModelName = None
    nbest: Annotated[
        int | None, Field(ge=1, le=MAX_NBEST, description="Most probable tag sequences per sentence.")
    ] = None
    decode: Annotated[Literal["viterbi", "posterior"], Field(description="The decoding method.")] = "viterbi"
    bias: Annotated[
        dict[str, Bias] | None,
        Field(description="Score added to each type: positive finds more of it, negative fewer."),
    ] = None
    offsets: Offsets = "codepoints"
    sentences: Annotated[
        bool, Field(description="Also return the sentences of each document, as ranges of its tokens.")
    ] = False


class ClassifyRequest(BaseModel):
    """Texts to classify, or pairs of texts."""

    model_config = _example(texts=["show me flights to Boston"])

    texts: Annotated[list[Text] | None, Field(description="Texts, one result each.")] = None
    pairs: Annotated[
        list[tuple[str, str]] | None, Field(description="For models of text pairs: two texts each.")
    ] = None
    model: ModelName = None


class ExplainRequest(BaseModel):
    """Texts or pairs whose predictions are explained word by word."""

    model_config = _example(texts=[ENGLISH], methods=["erasure", "marginals"])

    texts: Annotated[list[Text] | None, Field(description="Texts, one explanation each.")] = None
    pairs: Annotated[
        list[tuple[str, str]] | None, Field(description="For models of text pairs: two texts each.")
    ] = None
    model: ModelName = None
    methods: Annotated[
        list[Literal["attention", "erasure", "marginals", "nbest"]] | None,
        Field(description="Methods; by default all that the model has."),
    ] = None
    label: Annotated[str | None, Field(description="Explain this label of a classifier.")] = None
    nbest: Annotated[int | None, Field(ge=1, le=MAX_NBEST, description="Tag sequences per sentence (5).")] = (
        None
    )
    spans: Annotated[
        list[str] | None,
        Field(description="Pieces of the text that a tagger may not have tagged: `Samsung=ORG`."),
    ] = None
    offsets: Offsets = "codepoints"


class TokeniseRequest(BaseModel):
    """Texts to split into the tokens that a model sees."""

    model_config = _example(texts=[ENGLISH])

    texts: Annotated[list[Text], Field(description="Texts, one document each.")]
    model: ModelName = None
    offsets: Offsets = "codepoints"


class BatchQuery(BaseModel):
    """The query of a stream of lines."""

    model_config = ConfigDict(extra="forbid")

    model: ModelName = None
    nbest: Annotated[
        int | None, Field(ge=1, le=MAX_NBEST, description="Most probable tag sequences per sentence.")
    ] = None
    decode: Annotated[Literal["viterbi", "posterior"], Field(description="The decoding method.")] = "viterbi"
    offsets: Offsets = "codepoints"
