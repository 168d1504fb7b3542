"""The recipe sections of text classifiers, besides those of every task (``gonie.tasks.sections``)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from gonie.tasks.augment import TextAugmentConfig
from gonie.tasks.parts import DISTANCES, POOLINGS, TEXT_HEADS, choices
from gonie.tasks.section import ChoiceOf, ColumnName, Rate, Section, Size
from gonie.tasks.sections import (
    CorpusRecipe,
    DropoutConfig,
    EmbeddingConfig,
    EncoderConfig,
    NoisyCorpusConfig,
)

Lengths = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)]


class TextDataConfig(NoisyCorpusConfig):
    """The files of labelled texts, and how to read them."""

    companions: ClassVar[tuple[str, ...]] = (
        *NoisyCorpusConfig.companions,
        *("text_column", "label_column", "label_separator", "marks"),
        *("sentences", "sentence_mark", "folds", "fold"),
    )
    vectors_per: ClassVar[tuple[Literal["token", "text"], ...]] = ("text",)

    augment: TextAugmentConfig = Field(
        default=TextAugmentConfig(), description="changed copies of training examples (augmentation)"
    )
    format: str = Field(
        default="auto", description="auto, or the name of a format: tsv, csv, jsonl, json, parquet, …"
    )
    text_column: ColumnName = Field(default="text", description="column, or JSON key, of the text")
    label_column: ColumnName | list[ColumnName] = Field(
        default="label",
        description="column, or JSON key, of the label; a list names columns of 0 and 1, one for each label",
    )
    label_separator: str = Field(
        default="",
        description="separator of the labels of a text that may have several; empty: one label per text",
    )
    unlabelled: Literal["skip", "error"] = Field(
        default="skip", description="texts without a label: skip them, or refuse the file"
    )
    marks: list[str] = Field(
        default=[],
        description='tags around marked parts of a text, which the model sees: ["e1", "e2"] for <e1>…</e1>',
    )
    sentences: Literal["auto", "text", "sentence", "mark"] = Field(
        default="auto",
        description="how a text is split: text (not), sentence, or mark (at data.sentence_mark); auto is "
        "sentence with model.sentences, otherwise text",
    )
    sentence_mark: str = Field(default="<s>", description="separator of the sentences of a text")
    max_tokens: int = Field(
        default=1000,
        ge=0,
        description="maximum tokens of a text (or sentence), the rest is ignored; 0: no limit",
    )
    max_sentences: int = Field(
        default=0, ge=0, description="maximum sentences of a text, the rest is ignored; 0: no limit"
    )
    folds: int = Field(
        default=0, ge=0, description="number of stratified folds of the training file; 0: no folds"
    )
    fold: Size = Field(default=1, description="the fold to test on, from 1; independent of train.seed")

    @property
    def multi_label(self) -> bool:
        """Whether a text may have several labels, or none."""
        return bool(self.label_separator) or isinstance(self.label_column, list)

    @model_validator(mode="after")
    def _a_fold_of_them(self) -> TextDataConfig:
        if not self.folds:
            return self
        if self.folds == 1 or self.fold > self.folds:
            raise ValueError(
                f"data.fold: {self.fold} of {self.folds} folds; data.folds must be at least 2, and "
                "data.fold at most data.folds"
            )
        if self.test is not None:
            raise ValueError(
                "data.folds cannot be combined with data.test, because a fold is the test set; "
                "use --set data.test=none"
            )
        return self


class PoolingConfig(Section):
    """The pooling of token states into one vector."""

    kinds: list[Annotated[str, ChoiceOf(POOLINGS)]] = Field(
        default=["attention"],
        min_length=1,
        description=f"one or more poolings, concatenated; {choices(POOLINGS)}",
    )
    hidden: Size = Field(default=100, description="width of the hidden layer of additive attention")
    heads: Size = Field(default=1, description="number of attention heads, whose vectors are concatenated")
    norm: Literal["none", "batch", "layer"] = Field(
        default="none", description="normalisation of the pooled vector"
    )


class UpperConfig(Section):
    """The upper level of a hierarchical network, over the sentences of a text."""

    encoder: EncoderConfig = Field(default=EncoderConfig(hidden=50), description="the sentence encoder")
    pooling: PoolingConfig = Field(default=PoolingConfig(), description="the pooling of sentence vectors")


class BagConfig(Section):
    """A bag of n-grams with direct weights to the scores. Without an encoder, it is a linear model."""

    chars: Lengths = Field(default=[1, 4], description="shortest and longest character n-grams; [0, 0]: none")
    words: Lengths = Field(default=[0, 0], description="shortest and longest word n-grams; [0, 0]: none")
    lowercase: bool = Field(default=True, description="lowercase the text")
    min_count: Size = Field(default=2, description="n-grams rarer than this are ignored")
    max_size: Size = Field(default=1_000_000, description="maximum number of n-grams, the most frequent ones")
    rate: float = Field(
        default=5.0, gt=0, description="learning rate of n-gram weights, as a multiple of train.lr"
    )

    @field_validator("chars", "words")
    @classmethod
    def _short_to_long(cls, lengths: list[int]) -> list[int]:
        low, high = lengths
        if not (0 < low <= high or low == high == 0):
            raise ValueError(f"invalid n-gram lengths: {lengths}; use [shortest, longest], such as [1, 4]")
        return lengths

    @model_validator(mode="after")
    def _some_ngrams(self) -> BagConfig:
        if not (self.chars[1] or self.words[1]):
            raise ValueError(
                "model.bag.chars and model.bag.words are both [0, 0]; set one of them, or remove model.bag"
            )
        return self


class TextHeadConfig(Section):
    """The head, which maps the vector of a text to labels."""

    kind: Annotated[str, ChoiceOf(TEXT_HEADS, ("auto",))] = Field(
        default="auto", description=f"auto: chosen by the labels; {choices(TEXT_HEADS)}"
    )
    weights: dict[str, Annotated[float, Field(gt=0.0)]] | Literal["balanced"] = Field(
        default={},
        description="weights of labels in the loss, 1 by default: {spam = 3.0}; balanced: equal total weight "
        "for all labels",
    )
    smoothing: Rate = Field(default=0.0, description="label smoothing")
    distance: Annotated[str, ChoiceOf(DISTANCES)] = Field(
        default="mahalanobis", description=f"squared distance (prototypes, nearest); {choices(DISTANCES)}"
    )


class TextDropoutConfig(DropoutConfig):
    """Dropout rates of a classifier."""

    pooled: Rate = Field(default=0.5, description="dropout on the vectors of texts")


class ClassifierConfig(EmbeddingConfig):
    """The parts of a text classifier."""

    encoder: EncoderConfig = Field(default=EncoderConfig(), description="the token encoder")
    pooling: PoolingConfig = Field(default=PoolingConfig(), description="the pooling of token states")
    sentences: UpperConfig | None = Field(
        default=None, description="a second level over sentences: hierarchical attention"
    )
    bag: BagConfig | None = Field(default=None, description="a bag of n-grams, with or without the network")
    head: TextHeadConfig = Field(default=TextHeadConfig(), description="the head")
    dropout: TextDropoutConfig = Field(default=TextDropoutConfig(), description="dropout")

    @model_validator(mode="after")
    def _something_to_read(self) -> ClassifierConfig:
        if not (self.sees_tokens or self.bag):
            raise ValueError(
                "the model has no input; add words, chars, features or a bag, "
                "for example --set model.words.width=100"
            )
        if not self.sees_tokens and (self.encoder.kind != "none" or self.sentences):
            raise ValueError(
                "the encoder has no input; add words, chars or features, or use only n-grams "
                "with --set model.encoder.kind=none --set model.sentences=none"
            )
        return self


class TextRecipe(CorpusRecipe):
    """The recipe of a text classifier."""

    task: Literal["classify"] = Field(description="the task: classify texts")
    data: TextDataConfig = Field(description="the data files")
    model: ClassifierConfig = Field(description="the model")

    @property
    def cut_by(self) -> Literal["text", "sentence", "mark"]:
        """How a text is split: ``data.sentences``, or the default of the model."""
        if self.data.sentences == "auto":
            return "sentence" if self.model.sentences else "text"
        return self.data.sentences

    @model_validator(mode="after")
    def _levels_agree(self) -> TextRecipe:
        if self.model.sentences and self.data.sentences == "text":
            raise ValueError(
                "model.sentences needs texts split into sentences, but data.sentences is text; "
                "set data.sentences to sentence or mark, or remove model.sentences"
            )
        if self.cut_by != "text" and self.model.sees_tokens and not self.model.sentences:
            raise ValueError(
                f"data.sentences={self.data.sentences} splits a text into sentences, but the model has no "
                "second level to read them; set model.sentences.encoder.hidden=50, or data.sentences=text"
            )
        if self.train.optimizer == "per-window":
            raise ValueError("train.optimizer=per-window is for taggers; use another optimizer, such as adam")
        return self
