"""The recipe sections of taggers, besides those of every task (``gonie.tasks.sections``)."""

from __future__ import annotations

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator, model_validator

from gonie.formats.inspect import parse_tag_names
from gonie.tasks.augment import TagAugmentConfig
from gonie.tasks.parts import DISTANCES, TAG_HEADS, choices
from gonie.tasks.paths import InputFile
from gonie.tasks.section import ChoiceOf, Rate, Section, Size
from gonie.tasks.sections import (
    CorpusRecipe,
    DropoutConfig,
    EmbeddingConfig,
    EncoderConfig,
    Group,
    LabelNames,
    NoisyCorpusConfig,
)

MAIN_HEAD = "tags"
"""The name of the head that learns ``data.train``, among the heads of a network."""


class TaggedFilesConfig(Section):
    """How to read files of tagged text."""

    format: str = Field(default="auto", description="auto, or the name of a format: conll, conllu, jsonl, …")
    separator: str = Field(
        default="auto",
        description="separator of columns: auto, tab, blank, mixed (tabs and spaces), or a literal separator",
    )
    word_column: int | None = Field(
        default=None, description="column of the word, from 0, or from the end if negative; unset: detected"
    )
    tag_column: int | str | None = Field(
        default=None,
        description="column of the tag, as word_column; for CoNLL-U also upos, xpos, feats or misc:KEY; for "
        "tables its name",
    )
    tag_names: list[str] = Field(
        default=[],
        description="names of tags that a table has as numbers, in the order of the numbers, as a list or "
        "comma-separated",
    )
    columns: dict[str, int] = Field(
        default={}, description="additional columns by name, such as {pos = 1}, for context features"
    )
    scheme: str = Field(
        default="auto",
        description="tag scheme of the files: auto, IOB1, IOB2, BIOES, BILOU, BMES, IO or plain",
    )
    model_scheme: Literal["IOB2", "BIOES", "BILOU", "IO"] = Field(
        default="BIOES",
        description="tag scheme of the model; IO has only the type of each token and is scored by token",
    )
    types: list[str] = Field(
        default=[],
        description='entity types to learn: ["PER"]; other types become O; empty: all types',
    )
    repair: Literal["error", "begin", "outside"] = Field(
        default="begin",
        description="invalid tag sequences: begin reads them as the CoNLL scorer does (a stray I begins an "
        "entity), outside turns them into O, error refuses the file; begin and outside turn tags that are "
        "not of the scheme into O",
    )

    @field_validator("tag_names", mode="before")
    @classmethod
    def _split_names(cls, value: object) -> object:
        return list(parse_tag_names(value)) if isinstance(value, str) else value

    @property
    def further_columns(self) -> tuple[str, ...]:
        """The names in ``columns``."""
        return tuple(self.columns)


class TagDataConfig(TaggedFilesConfig, NoisyCorpusConfig):
    """The files of tagged text, and how to read them."""

    companions: ClassVar[tuple[str, ...]] = (
        *NoisyCorpusConfig.companions,
        *("word_column", "tag_column", "tag_names", "columns"),
    )
    vectors_per: ClassVar[tuple[Literal["token", "text"], ...]] = ("token", "text")

    augment: TagAugmentConfig = Field(
        default=TagAugmentConfig(), description="changed copies of training examples (augmentation)"
    )
    partial: InputFile | None = Field(
        default=None,
        description="additional training sentences with partial tags: `?` for an unknown tag, `B-ORG|B-LOC` "
        "for one of several",
    )
    max_tokens: Size = Field(
        default=1000, description="training sentences longer than this are split between entities"
    )


class HeadConfig(Section):
    """The head, which maps states to tags."""

    kind: Annotated[str, ChoiceOf(TAG_HEADS)] = Field(default="crf", description=choices(TAG_HEADS))
    direct: list[Group] = Field(
        default=[], description="feature groups with direct connections to the scores (Huang et al. 2015)"
    )
    constrained: bool = Field(default=True, description="decode only valid sequences of the tag scheme")
    forbidden: list[str] = Field(
        default=[],
        description='forbidden transitions, besides those of the tag scheme: ["B-PER -> B-PER"]; * matches '
        "any characters; <start> and <end> are the ends of a sentence",
    )
    weights: dict[str, Annotated[float, Field(gt=0.0)]] = Field(
        default={},
        description="weights of types (or plain tags, or O) in the loss, 1 by default: {LOC = 3.0}",
    )
    constrain_training: bool = Field(
        default=False, description="also normalise the training likelihood over valid sequences only (crf)"
    )
    distance: Annotated[str, ChoiceOf(DISTANCES)] = Field(
        default="mahalanobis", description=f"squared distance (prototypes, nearest); {choices(DISTANCES)}"
    )
    transitions: Literal["none", "start", "support"] = Field(
        default="none",
        description="transitions of prototypes and nearest: start counts them in the training file of "
        "train.start, whatever its types (StructShot, Yang & Katiyar 2020); support counts them in the "
        "training sentences",
    )
    temperature: float = Field(
        default=0.2, ge=0, description="exponent of the probabilities of head.transitions; 0: all are equal"
    )


class TagDropoutConfig(DropoutConfig):
    """Dropout rates, also of the features that the head reads directly."""

    direct: Rate = Field(default=0.0, description="probability of dropping a feature of head.direct")


class TaggerConfig(EmbeddingConfig):
    """The parts of a tagger."""

    encoder: EncoderConfig = Field(default=EncoderConfig(), description="the encoder")
    head: HeadConfig = Field(default=HeadConfig(), description="the head")
    dropout: TagDropoutConfig = Field(default=TagDropoutConfig(), description="dropout")

    @model_validator(mode="after")
    def _something_to_read(self) -> TaggerConfig:
        if not (self.sees_tokens or self.head.direct):
            raise ValueError(
                "the model has no input; add words, chars, features or head.direct, "
                "for example --set model.words.width=100"
            )
        if self.encoder.kind != "none" and not self.sees_tokens:
            raise ValueError(
                "the encoder has no input; add words, chars or features, "
                "or remove it with --set model.encoder.kind=none"
            )
        return self

    @property
    def groups(self) -> tuple[str, ...]:
        """The distinct feature groups that the model uses."""
        used = [*(self.features.groups if self.features else []), *self.head.direct]
        return tuple(dict.fromkeys(used))


class HeadTaskConfig(TaggedFilesConfig):
    """An auxiliary head over the encoder, which learns another task from files of its own."""

    train: InputFile = Field(description="training file of the head")
    dev: InputFile | None = Field(
        default=None, description="dev file of the head; unset: part of its train is held out"
    )
    test: InputFile | None = Field(default=None, description="test file of the head")
    map: LabelNames = Field(default={}, description="new names of its labels, as data.map")
    kind: Annotated[str, ChoiceOf(TAG_HEADS)] = Field(
        default="crf", description="kind of the head, as model.head.kind, but not prototypes or nearest"
    )
    layer: Size | None = Field(
        default=None,
        description="layer of the encoder whose states the head reads, from 1 at the bottom; unset: the top "
        "layer (Søgaard & Goldberg 2016)",
    )
    weight: float = Field(default=1.0, ge=0, description="weight of its loss")
    temperature: float = Field(
        default=1.0,
        gt=0,
        description="T: a file with m sentences gives (m/n)^(1/T) sentences for each of the n sentences of "
        "data.train, at most 4; 1: by size; large: equally",
    )

    @field_validator("kind")
    @classmethod
    def _learns_by_gradient(cls, kind: str) -> str:
        if TAG_HEADS[kind].fitted:
            raise ValueError(f"{kind} has no loss to train the encoder with; use crf or softmax")
        return kind


class TagRecipe(CorpusRecipe):
    """The recipe of a tagger."""

    task: Literal["tag"] = Field(default="tag", description="the task: tag tokens")
    data: TagDataConfig = Field(description="the data files")
    model: TaggerConfig = Field(description="the model")
    heads: dict[str, HeadTaskConfig] = Field(
        default={},
        description="auxiliary heads over the same encoder, each with files of its own: [heads.NAME]",
    )

    @field_validator("heads")
    @classmethod
    def _named_as_folders(cls, heads: dict[str, HeadTaskConfig]) -> dict[str, HeadTaskConfig]:
        for name in heads:
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) or name == MAIN_HEAD:
                raise ValueError(
                    f"invalid name: {name!r}; use letters, digits, - and _, and not {MAIN_HEAD}, "
                    "which is the head of data.train"
                )
        if len({name.lower() for name in heads}) < len(heads):
            raise ValueError(f"two names differ only in case: {', '.join(sorted(heads, key=str.lower))}")
        return heads

    @model_validator(mode="after")
    def _heads_are_trained(self) -> TagRecipe:
        if self.heads and TAG_HEADS[self.model.head.kind].fitted and self.train.episodes is None:
            raise ValueError(
                f"model.head.kind={self.model.head.kind} trains no encoder, so auxiliary heads cannot learn; "
                "set train.episodes.number, or use another head, such as crf"
            )
        return self

    @model_validator(mode="after")
    def _tags_are_known(self) -> TagRecipe:
        kind = self.model.head.kind
        if TAG_HEADS[kind].fitted and self.data.partial is not None:
            raise ValueError(
                f"model.head.kind = {kind}: cannot be combined with data.partial, because the head needs the "
                "tag of every token; use another head"
            )
        return self

    @model_validator(mode="after")
    def _can_learn_per_window(self) -> TagRecipe:
        if self.train.optimizer != "per-window":
            return self
        if asked := ", ".join(key for key, wanted in self._beyond_windows().items() if wanted):
            raise ValueError(
                f"train.optimizer=per-window does not support {asked}; it trains word and feature vectors, a "
                "window encoder and a sigmoid or softmax head. Change these keys, or use another optimizer, "
                "such as sgd"
            )
        return self

    def _beyond_windows(self) -> dict[str, bool]:
        """Return the settings that per-window SGD does not support, and whether the recipe has them."""
        model, train, kind = self.model, self.train, self.model.encoder.kind
        rates = {key: getattr(model.dropout, key) for key in ("input", "output", "word")}
        return {
            f"model.encoder.kind={kind}": kind != "window",
            "model.head.kind=crf": model.head.kind == "crf",
            "model.head.direct": bool(model.head.direct),
            "model.head.weights": bool(model.head.weights),
            "model.chars": model.chars is not None,
            **{f"model.{name}": True for name in model.contextual},
            **{f"model.dropout.{key}={rate:g}": rate > 0 for key, rate in rates.items()},
            "data.partial": self.data.partial is not None,
            **{f"heads.{name}": True for name in self.heads},
            "train.keep_labels": train.keep_labels,
            **{f"loss.{name}": True for name in self.loss},
            "train.weight_decay": train.weight_decay > 0,
            "train.normalize": train.normalize,
        }
