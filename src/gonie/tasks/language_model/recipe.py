"""The recipe sections of language models: text, shape, and training."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from gonie.tasks.language_model.shape import BilmConfig, Count
from gonie.tasks.paths import CacheFolder, InputFile, LanguageModelName
from gonie.tasks.section import Rate, Section, Size
from gonie.tasks.sections import LearningConfig, Recipe


class RunningTextConfig(Section):
    """The training text of a language model."""

    text: list[InputFile] = Field(
        description="text files with one paragraph per line (plain, .gz or .xz), or .parquet files",
    )
    heldout: InputFile | None = Field(
        default=None, description="held-out file for the perplexity; unset: part of the text is held out"
    )
    holdout: Rate = Field(default=0.005, description="share of the text to hold out if heldout is unset")
    column: str = Field(default="text", description="text column of Parquet files")
    language: Literal["en", "ko"] = Field(default="en", description="language of the text")
    unit: Literal["word", "eojeol", "syllable", "morpheme"] | None = Field(
        default=None, description="token unit: word for English; eojeol, syllable or morpheme for Korean"
    )
    tokenised: bool = Field(
        default=False, description="the text is tokenised: one sentence per line, space-separated tokens"
    )
    vocabulary: Size = Field(
        default=60_000, description="number of most frequent words to predict; any word can be read"
    )
    cache: CacheFolder | None = Field(
        default=None,
        description="folder that caches the tokenised text for later runs; unset: the run folder",
    )

    @field_validator("text", mode="before")
    @classmethod
    def _one_file(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("text")
    @classmethod
    def _some_file(cls, files: list[str]) -> list[str]:
        if not files:
            raise ValueError("no text files; pass them with --text FILE")
        return files

    @property
    def token_unit(self) -> str:
        """The token unit, or the default of the language."""
        return self.unit or ("word" if self.language == "en" else "eojeol")


class WordSoftmaxConfig(Section):
    """The softmax over words in training. Held-out text is always scored with the full softmax."""

    exact: Size = Field(default=4096, description="number of most frequent words that are summed exactly")
    words: Literal["auto", "kept", "own"] = Field(
        default="auto",
        description="vocabulary of a model that starts from another (model.start): kept (from that model), "
        "or own (from the text); auto is kept if that model has its softmax",
    )
    sampled: Count = Field(
        default=4096,
        description="number of other words sampled per step; 0: the full softmax",
    )


class LanguageModelConfig(BilmConfig):
    """The language model with its softmax."""

    storage: Literal["float32", "float16", "int8"] = Field(
        default="float16", description="data type of the saved weights"
    )
    start: LanguageModelName | None = Field(
        default=None,
        description="language model to continue from, with its shape: en or ko, which ship with gonie, or a "
        "folder written by pretrain or import-elmo; same as --from",
    )
    softmax: WordSoftmaxConfig = Field(default=WordSoftmaxConfig(), description="the softmax over words")

    @property
    def bilm(self) -> BilmConfig:
        """The shape, without the keys for training."""
        return BilmConfig(**{name: getattr(self, name) for name in BilmConfig.model_fields})


class PretrainConfig(LearningConfig):
    """Training settings of language models."""

    epochs: Size = Field(default=10, description="number of epochs")
    rows: Size = Field(default=512, description="batch size: parts of the text that are read in parallel")
    steps: Size = Field(
        default=24,
        description="words per row and update (truncated back-propagation); states are carried over",
    )
    forget: Rate = Field(
        default=0.2,
        description="probability that a row resets its states before an update, because at inference every "
        "sentence starts from zero states",
    )
    settle: Rate | None = Field(
        default=None,
        description="share of training, at the beginning, in which only the softmax is trained; unset: 0.2 "
        "if model.start has no softmax, otherwise 0",
    )
    lr: float = Field(default=0.001, gt=0, description="peak learning rate")
    warmup: Count = Field(default=200, description="warm-up steps, in which the learning rate rises from 0")
    schedule: Literal["constant", "linear", "cosine", "inverse"] = Field(
        default="cosine",
        description="learning rate schedule; linear and cosine end at 0, inverse is lr / (1 + decay * epoch)",
    )
    clip: float = Field(default=1.0, ge=0, description="maximum gradient norm; 0: no clipping")
    precision: Literal["float32", "bf16"] = Field(
        default="bf16", description="bf16 uses mixed precision on a GPU"
    )


class PretrainRecipe(Recipe):
    """The recipe of a language model."""

    task: Literal["pretrain"] = Field(description="the task: pretrain a language model")
    data: RunningTextConfig = Field(description="the text")
    model: LanguageModelConfig = Field(default=LanguageModelConfig(), description="the shape of the model")
    train: PretrainConfig = Field(default=PretrainConfig(), description="training")

    @model_validator(mode="after")
    def _whole_batches(self) -> PretrainRecipe:
        if self.train.optimizer == "per-window":
            raise ValueError("train.optimizer=per-window is for taggers; use another optimizer, such as adam")
        return self
