"""What the recipe of a language model may say: its text, its shape, and how it learns."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from gonie.tasks.language_model.shape import BilmConfig, Count
from gonie.tasks.paths import CacheFolder, InputFile, InputFolder
from gonie.tasks.section import Rate, Section, Size
from gonie.tasks.sections import LearningConfig, Recipe


class RunningTextConfig(Section):
    """The text that a language model learns from."""

    text: list[InputFile] = Field(
        description="files of running text, a paragraph a line: plain, .gz, .xz, or .parquet by column",
    )
    heldout: InputFile | None = Field(
        default=None, description="a file for the perplexity; without one, part of the text is held out"
    )
    holdout: Rate = Field(default=0.005, description="share of the text held out when there is no such file")
    column: str = Field(default="text", description="the column of a Parquet file that has the text")
    language: Literal["en", "ko"] = Field(default="en", description="language of the text")
    unit: Literal["word", "eojeol", "syllable", "morpheme"] | None = Field(
        default=None, description="what a token is: word for English; eojeol, syllable or morpheme for Korean"
    )
    tokenised: bool = Field(
        default=False, description="the text has a sentence a line already, its tokens apart by blanks"
    )
    vocabulary: Size = Field(
        default=60_000, description="words that are predicted, the most frequent ones; any word can be read"
    )
    cache: CacheFolder | None = Field(
        default=None,
        description="folder to keep the tokenised text in, for further runs over it; the run's own if none",
    )

    @field_validator("text", mode="before")
    @classmethod
    def _one_file(cls, value: object) -> object:
        return [value] if isinstance(value, str) else value

    @field_validator("text")
    @classmethod
    def _some_file(cls, files: list[str]) -> list[str]:
        if not files:
            raise ValueError("expected files of text to learn from, got none; name them with --text FILE")
        return files

    @property
    def token_unit(self) -> str:
        """The unit, or the language's usual one."""
        return self.unit or ("word" if self.language == "en" else "eojeol")


class WordSoftmaxConfig(Section):
    """How the next word is predicted in training; held-out text is always scored over all words."""

    exact: Size = Field(default=4096, description="most frequent words that are always summed over")
    words: Literal["auto", "kept", "own"] = Field(
        default="auto",
        description="of a model that starts from another: the words that it predicts, or the text's own; "
        "auto keeps them if they were kept",
    )
    sampled: Count = Field(
        default=4096,
        description="of all others, how many a step draws to stand for them; 0 for the whole sum",
    )


class LanguageModelConfig(BilmConfig):
    """The language model with its softmax."""

    storage: Literal["float32", "float16", "int8"] = Field(
        default="float16", description="how the weights are kept when it is done"
    )
    start: InputFolder | None = Field(
        default=None,
        description="a language model to go on from, with its shape: a folder that pretrain or import-elmo "
        "wrote; same as --from",
    )
    softmax: WordSoftmaxConfig = Field(default=WordSoftmaxConfig(), description="the softmax over words")

    @property
    def bilm(self) -> BilmConfig:
        """The shape without what only training needs."""
        return BilmConfig(**{name: getattr(self, name) for name in BilmConfig.model_fields})


class PretrainConfig(LearningConfig):
    """How a language model learns."""

    epochs: Size = Field(default=10, description="passes over the text")
    rows: Size = Field(default=512, description="places of the text that are read at once, each on its own")
    steps: Size = Field(
        default=24, description="words of a row before weights change; what was read before is carried on"
    )
    forget: Rate = Field(
        default=0.2,
        description="how often a row forgets what it has read before its next words, as a sentence in use "
        "starts from nothing",
    )
    settle: Rate | None = Field(
        default=None,
        description="share of training, at its beginning, in which only the softmax learns; if not said, a "
        "fifth for a model that starts from one without its softmax, else none",
    )
    lr: float = Field(default=0.001, gt=0, description="learning rate at its highest")
    warmup: Count = Field(default=200, description="steps over which the learning rate rises from zero")
    schedule: Literal["constant", "linear", "cosine", "inverse"] = Field(
        default="cosine",
        description="how the rate falls: not, to zero in a line or a cosine, or as lr / (1 + decay * epoch)",
    )
    clip: float = Field(default=1.0, ge=0, description="largest gradient norm; 0 for none")
    precision: Literal["float32", "bf16"] = Field(default="bf16", description="bf16 on GPUs that have it")


class PretrainRecipe(Recipe):
    """All that the pretraining of a language model needs."""

    task: Literal["pretrain"] = Field(description="what to learn: a language model")
    data: RunningTextConfig = Field(description="the text")
    model: LanguageModelConfig = Field(default=LanguageModelConfig(), description="the shape of the model")
    train: PretrainConfig = Field(default=PretrainConfig(), description="training")

    @model_validator(mode="after")
    def _whole_batches(self) -> PretrainRecipe:
        if self.train.optimizer == "per-window":
            raise ValueError("train.optimizer=per-window is for taggers; take another optimizer: adam")
        return self
