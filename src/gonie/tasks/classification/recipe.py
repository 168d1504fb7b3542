"""What the recipe of a text classifier may say beside what every recipe may (``gonie.tasks.sections``)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from gonie.tasks.parts import POOLINGS, TEXT_HEADS, choices
from gonie.tasks.section import ChoiceOf, Rate, Section, Size
from gonie.tasks.sections import CorpusConfig, CorpusRecipe, DropoutConfig, EmbeddingConfig, EncoderConfig

Lengths = Annotated[list[Annotated[int, Field(ge=0)]], Field(min_length=2, max_length=2)]


class TextDataConfig(CorpusConfig):
    """Where the labelled texts are and how to read them."""

    companions: ClassVar[tuple[str, ...]] = (
        *CorpusConfig.companions,
        *("text_column", "label_column", "label_separator", "marks"),
        *("sentences", "sentence_mark", "folds", "fold"),
    )

    format: str = Field(default="auto", description="auto, tsv, csv, jsonl, semeval or parallel (a folder)")
    text_column: str = Field(default="text", description="column, or JSON key, of the text")
    label_column: str = Field(default="label", description="column, or JSON key, of the label")
    label_separator: str = Field(
        default="",
        description="what stands between the labels of a text that may have several; one label if empty",
    )
    marks: list[str] = Field(
        default=[],
        description='tags around stretches of a text that the model is to see: ["e1", "e2"] for <e1>…</e1>',
    )
    sentences: Literal["auto", "text", "sentence", "mark"] = Field(
        default="auto",
        description="what is read as one: the whole text, each sentence of it, or what stands between two "
        "data.sentence_mark; auto takes sentences for model.sentences, and else the text",
    )
    sentence_mark: str = Field(default="<s>", description="what stands between two sentences of a text")
    max_tokens: int = Field(
        default=1000,
        ge=0,
        description="tokens of a text (or sentence) beyond this are left out; 0 for no limit",
    )
    max_sentences: int = Field(
        default=0, ge=0, description="sentences of a text beyond this are left out; 0 for no limit"
    )
    folds: int = Field(
        default=0, ge=0, description="cut the training file into so many parts with the same share of labels"
    )
    fold: Size = Field(
        default=1, description="which part is the test file, from 1; train.seed does not matter"
    )

    @model_validator(mode="after")
    def _a_fold_of_them(self) -> TextDataConfig:
        if not self.folds:
            return self
        if self.folds == 1 or self.fold > self.folds:
            raise ValueError(
                f"expected a fold from 1 to folds, of at least 2, got {self.fold} of {self.folds}"
            )
        if self.test is not None:
            raise ValueError(
                "folds take the test texts from the training file: leave data.test out (--set data.test=none)"
            )
        return self


class PoolingConfig(Section):
    """How the states of a text's tokens become one vector."""

    kinds: list[Annotated[str, ChoiceOf(POOLINGS)]] = Field(
        default=["attention"],
        min_length=1,
        description=f"several stand side by side; {choices(POOLINGS)}",
    )
    hidden: Size = Field(default=100, description="width of the hidden layer of additive attention")
    heads: Size = Field(default=1, description="queries of an attention, each with a vector of its own")
    norm: Literal["none", "batch", "layer"] = Field(
        default="none", description="normalisation of the pooled vector"
    )


class UpperConfig(Section):
    """The second level of hierarchical attention, over the sentences of a text."""

    encoder: EncoderConfig = Field(default=EncoderConfig(hidden=50), description="what reads the sentences")
    pooling: PoolingConfig = Field(default=PoolingConfig(), description="what makes one vector of them")


class BagConfig(Section):
    """The n-grams of a text, whose weights go straight to the scores: alone, a linear model."""

    chars: Lengths = Field(
        default=[1, 4], description="the shortest and longest n-grams of characters; [0, 0] is none"
    )
    words: Lengths = Field(
        default=[0, 0], description="the shortest and longest n-grams of words; [0, 0] is none"
    )
    lowercase: bool = Field(default=True, description="in lower case")
    min_count: Size = Field(default=2, description="n-grams rarer than this are left out")
    max_size: Size = Field(default=1_000_000, description="the most frequent so many are kept")
    rate: float = Field(
        default=5.0, gt=0, description="their learning rate, as a multiple of train.lr: most are rare"
    )

    @field_validator("chars", "words")
    @classmethod
    def _short_to_long(cls, lengths: list[int]) -> list[int]:
        low, high = lengths
        if not (0 < low <= high or low == high == 0):
            raise ValueError(f"expected the shortest and the longest, such as [1, 4], got {lengths}")
        return lengths

    @model_validator(mode="after")
    def _some_ngrams(self) -> BagConfig:
        if not (self.chars[1] or self.words[1]):
            raise ValueError("expected n-grams of characters or of words, got neither; leave model.bag out")
        return self


class TextHeadConfig(Section):
    """What turns the vector of a text into labels."""

    kind: Annotated[str, ChoiceOf(TEXT_HEADS, ("auto",))] = Field(
        default="auto", description=f"auto: what the labels ask for; {choices(TEXT_HEADS)}"
    )
    weights: dict[str, Annotated[float, Field(gt=0.0)]] | Literal["balanced"] = Field(
        default={},
        description="how much the texts of a label count in training, if not 1: {spam = 3.0}; balanced: all "
        "labels together the same",
    )
    smoothing: Rate = Field(default=0.0, description="share of certainty that is not asked for")


class TextDropoutConfig(DropoutConfig):
    """Where and how values are dropped in training."""

    pooled: Rate = Field(default=0.5, description="on the vectors of texts")


class ClassifierConfig(EmbeddingConfig):
    """The parts of a text classifier."""

    encoder: EncoderConfig = Field(default=EncoderConfig(), description="what reads the tokens")
    pooling: PoolingConfig = Field(default=PoolingConfig(), description="what makes one vector of them")
    sentences: UpperConfig | None = Field(
        default=None, description="a second level, over sentences: hierarchical attention"
    )
    bag: BagConfig | None = Field(default=None, description="n-grams beside the network, or alone")
    head: TextHeadConfig = Field(default=TextHeadConfig(), description="the head")
    dropout: TextDropoutConfig = Field(default=TextDropoutConfig(), description="dropout")

    @model_validator(mode="after")
    def _something_to_read(self) -> ClassifierConfig:
        if not (self.sees_tokens or self.bag):
            raise ValueError(
                "the model reads nothing: give it words, chars, features or a bag, "
                "for example --set model.words.width=100"
            )
        if not self.sees_tokens and (self.encoder.kind != "none" or self.sentences):
            raise ValueError(
                "the encoder has nothing to read: give it words, chars or features, or leave n-grams alone "
                "with --set model.encoder.kind=none --set model.sentences=none"
            )
        return self


class TextRecipe(CorpusRecipe):
    """All that the run of a text classifier needs."""

    task: Literal["classify"] = Field(description="what to learn: classify texts")
    data: TextDataConfig = Field(description="the files")
    model: ClassifierConfig = Field(description="the parts of the model")

    @property
    def cut_by(self) -> Literal["text", "sentence", "mark"]:
        """What is read as one, as ``data.sentences`` says or the model asks for."""
        if self.data.sentences == "auto":
            return "sentence" if self.model.sentences else "text"
        return self.data.sentences

    @model_validator(mode="after")
    def _levels_agree(self) -> TextRecipe:
        if self.model.sentences and self.data.sentences == "text":
            raise ValueError(
                "model.sentences reads the sentences of a text, but data.sentences is text, which makes one "
                "of it: set data.sentences to sentence or mark, or leave model.sentences out"
            )
        if self.cut_by != "text" and self.model.sees_tokens and not self.model.sentences:
            raise ValueError(
                f"data.sentences={self.data.sentences} cuts a text into sentences, and the model has no "
                "second level to read them: set model.sentences.encoder.hidden=50, or data.sentences=text"
            )
        if self.train.optimizer == "per-window":
            raise ValueError("train.optimizer=per-window is for taggers; take another optimizer: adam")
        return self
