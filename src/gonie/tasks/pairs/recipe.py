"""The recipe sections of pair models, besides those of every task (``gonie.tasks.sections``)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from gonie.tasks.classification.recipe import PoolingConfig
from gonie.tasks.pairs.encoding import MOST_TOKENS
from gonie.tasks.pairs.parts import MATCHINGS
from gonie.tasks.parts import choices
from gonie.tasks.section import ChoiceOf, ColumnName, Rate, Section, Size
from gonie.tasks.sections import CorpusConfig, CorpusRecipe, DropoutConfig, EmbeddingConfig, EncoderConfig


class PairDataConfig(CorpusConfig):
    """Where the labelled pairs are and how to read them."""

    companions: ClassVar[tuple[str, ...]] = (
        *CorpusConfig.companions,
        *("text_columns", "label_column", "value_column", "scale"),
    )

    format: str = Field(default="auto", description="auto, tsv, csv, jsonl, json, parquet or arrow")
    text_columns: Annotated[list[ColumnName], Field(min_length=2, max_length=2)] | None = Field(
        default=None,
        description="columns, or JSON keys, of the two texts; unset: text and text_pair, premise and "
        "hypothesis, or sentence1 and sentence2",
    )
    label_column: ColumnName | None = Field(
        default=None, description="column, or JSON key, of the label; unset: label or gold_label"
    )
    value_column: ColumnName | None = Field(
        default=None,
        description="column, or JSON key, of the value, for a model that predicts a number; unset: value or "
        "score, in a file without labels",
    )
    scale: Annotated[list[float], Field(min_length=2, max_length=2)] | None = Field(
        default=None,
        description="lowest and highest value; unset: the lowest and the highest in the training file",
    )
    max_tokens: int = Field(
        default=200,
        ge=1,
        le=MOST_TOKENS,
        description=f"tokens of a text beyond this are left out; at most {MOST_TOKENS}, as attention between "
        "two texts takes memory for every pair of their tokens",
    )

    @field_validator("scale")
    @classmethod
    def _rising(cls, scale: list[float] | None) -> list[float] | None:
        if scale and not scale[0] < scale[1]:
            raise ValueError(f"{scale[0]:g} is not below {scale[1]:g}; write the lowest value first")
        return scale

    @model_validator(mode="after")
    def _one_answer(self) -> PairDataConfig:
        if self.label_column and self.value_column:
            raise ValueError("data.label_column and data.value_column cannot be combined; set one of them")
        return self


class MatchingConfig(Section):
    """How two encoded texts become one vector."""

    kind: Annotated[str, ChoiceOf(MATCHINGS)] = Field(default="esim", description=choices(MATCHINGS))
    projection: Size = Field(
        default=300, description="esim: width to which a token and its alignment are projected"
    )
    composition: EncoderConfig = Field(
        default=EncoderConfig(hidden=300), description="esim: what reads the aligned tokens"
    )
    pooling: PoolingConfig = Field(
        default=PoolingConfig(kinds=["mean", "max"]), description="what makes one vector of each text"
    )


class PairHeadConfig(Section):
    """What turns the vector of a pair into a label or a value."""

    hidden: int = Field(default=300, ge=0, description="width of the hidden layer below the head; 0 for none")
    smoothing: Rate = Field(default=0.0, description="label smoothing")


class PairDropoutConfig(DropoutConfig):
    """Where and how values are dropped in training; both texts of a pair share their masks."""

    aligned: Rate = Field(default=0.3, description="esim: on the input of the composition")
    pooled: Rate = Field(default=0.5, description="on the vectors of pairs and on the hidden layer")


class PairConfig(EmbeddingConfig):
    """The parts of a model for text pairs."""

    encoder: EncoderConfig = Field(
        default=EncoderConfig(hidden=300), description="what reads each text; both texts share it"
    )
    matching: MatchingConfig = Field(default=MatchingConfig(), description="what compares the two texts")
    head: PairHeadConfig = Field(default=PairHeadConfig(), description="the head")
    dropout: PairDropoutConfig = Field(default=PairDropoutConfig(), description="dropout")

    @model_validator(mode="after")
    def _something_to_read(self) -> PairConfig:
        if not self.sees_tokens:
            raise ValueError(
                "the model has no input: set words, chars or features, for example "
                "--set model.words.width=100"
            )
        return self


class PairRecipe(CorpusRecipe):
    """All that the run of a model for text pairs needs."""

    task: Literal["pair"] = Field(description="what to learn: a label or a value for two texts")
    data: PairDataConfig = Field(description="the files")
    model: PairConfig = Field(description="the parts of the model")

    @model_validator(mode="after")
    def _no_windows(self) -> PairRecipe:
        if self.train.optimizer == "per-window":
            raise ValueError("train.optimizer=per-window is for taggers; use another optimizer, such as adam")
        return self

    @model_validator(mode="after")
    def _no_few_shots(self) -> PairRecipe:
        if self.train.shots or self.train.episodes:
            key = "shots" if self.train.shots else "episodes"
            raise ValueError(f"train.{key} works only with taggers and classifiers; remove it")
        return self
