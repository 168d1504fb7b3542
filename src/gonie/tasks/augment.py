"""The recipe section ``data.augment``: changed copies of training examples."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import Field, field_validator

from gonie.tasks.paths import NonEmpty, OutputFile, PathTo
from gonie.tasks.section import ChoiceOf, Section
from gonie.text.augment.table import SENTENCE_KINDS, TEXT_KINDS
from gonie.text.augment.where import Where
from gonie.text.noise import KINDS

AUTO = "auto"
LANGUAGE_MODEL = "language-model"
KOREAN_KINDS = MappingProxyType({name: kind for name, kind in KINDS.items() if name not in SENTENCE_KINDS})
"""The kinds of Korean noise, less those that English has too."""
TAG_KINDS: Mapping[str, Any] = MappingProxyType({**SENTENCE_KINDS, LANGUAGE_MODEL: None, **KOREAN_KINDS})
"""The kinds for tagged sentences by name."""
LABEL_KINDS: Mapping[str, Any] = MappingProxyType({**TEXT_KINDS, **KOREAN_KINDS})
"""The kinds for labelled texts by name."""

Share = Annotated[float, Field(gt=0)]


class AugmentConfig(Section):
    """Changed copies of training examples, so that a small file teaches more."""

    copies: int = Field(default=0, ge=0, description="changed copies of each training example; 0: none")
    kinds: dict[str, Share] = Field(
        default={"typos": 1.0}, min_length=1, description="kinds of change and their relative frequencies"
    )
    rate: float = Field(
        default=0.3,
        gt=0,
        le=1,
        description="share of the mentions, words or segments that a copy changes; case and the kinds of "
        "Korean noise have shares of their own",
    )
    file: OutputFile | None = Field(
        default=None,
        description="file for the copies, each with its kind and its original, to look at: CoNLL, or JSONL "
        "if the name ends in .jsonl",
    )


class TagAugmentConfig(AugmentConfig):
    """Changed copies of tagged training sentences."""

    kinds: dict[Annotated[str, ChoiceOf(TAG_KINDS)], Share] = Field(
        default={"mentions": 1.0},
        min_length=1,
        description="kinds of change, one of which is drawn for each copy, and how often, relative to the "
        f"others: {', '.join(TAG_KINDS)}",
    )
    bilm: Annotated[NonEmpty, PathTo("language model", words=(AUTO,))] = Field(
        default=AUTO,
        description="the language model of the kind language-model: en or ko, which ship with gonie, or a "
        "folder; auto is that of data.language",
    )
    where: Where = Field(
        default="all",
        description="words that tokens, typos and language-model change: all, inside of entities, or outside",
    )


class TextAugmentConfig(AugmentConfig):
    """Changed copies of labelled training texts."""

    kinds: dict[Annotated[str, ChoiceOf(LABEL_KINDS)], Share] = Field(
        default={"typos": 1.0},
        min_length=1,
        description="kinds of change, one of which is drawn for each copy, and how often, relative to the "
        f"others: {', '.join(LABEL_KINDS)}",
    )

    @field_validator("kinds", mode="before")
    @classmethod
    def _without_tags(cls, kinds: Any) -> Any:
        named = kinds if isinstance(kinds, dict) else {}
        if tagged := [kind for kind in named if kind in TAG_KINDS and kind not in LABEL_KINDS]:
            raise ValueError(
                f"{', '.join(tagged)}: only for taggers, because the words of a labelled text have no tags; "
                f"use {', '.join(LABEL_KINDS)}"
            )
        return kinds
