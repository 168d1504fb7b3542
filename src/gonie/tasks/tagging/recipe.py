"""What the recipe of a tagger may say beside what every recipe may (``gonie.tasks.sections``)."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from gonie.tasks.parts import TAG_HEADS, choices
from gonie.tasks.paths import InputFile
from gonie.tasks.section import ChoiceOf, Section, Size
from gonie.tasks.sections import (
    CorpusConfig,
    CorpusRecipe,
    DropoutConfig,
    EmbeddingConfig,
    EncoderConfig,
    Group,
)


class TagDataConfig(CorpusConfig):
    """Where the tagged text is and how to read it."""

    companions: ClassVar[tuple[str, ...]] = (*CorpusConfig.companions, "word_column", "tag_column", "columns")

    partial: InputFile | None = Field(
        default=None,
        description="more training sentences, whose tags are known in part: `?` for any tag, `B-ORG|B-LOC` "
        "for one of several",
    )
    format: str = Field(default="auto", description="auto, conll (columns), conllu, jsonl, tsv or klue")
    separator: str = Field(
        default="auto", description="between columns: auto, tab, blank, or the very characters"
    )
    word_column: int | None = Field(
        default=None, description="column of the word, from 0, or from the end if negative; detected"
    )
    tag_column: int | str | None = Field(
        default=None, description="column of the tag, likewise; for CoNLL-U upos, xpos, feats or misc:KEY"
    )
    columns: dict[str, int] = Field(
        default={}, description="further columns by name, such as {pos = 1}, for context features"
    )
    scheme: str = Field(
        default="auto", description="tag scheme of the files: auto, IOB1, IOB2, BIOES, BILOU, IO or plain"
    )
    model_scheme: Literal["IOB2", "BIOES", "BILOU", "IO"] = Field(
        default="BIOES",
        description="scheme that the model learns; IO is each token's type alone, scored token by token",
    )
    types: list[str] = Field(
        default=[],
        description='entity types to learn, if not all: ["PER"]; tokens of other types become O',
    )
    repair: Literal["error", "begin", "outside"] = Field(
        default="error",
        description="what to do with an invalid tag sequence: refuse, open an entity, or make it O",
    )
    max_tokens: Size = Field(
        default=1000,
        description="training sentences longer than this are cut into pieces between entities, and counted",
    )

    @property
    def further_columns(self) -> tuple[str, ...]:
        """The names in ``columns``."""
        return tuple(self.columns)


class HeadConfig(Section):
    """What turns scores into tags."""

    kind: Annotated[str, ChoiceOf(TAG_HEADS)] = Field(default="crf", description=choices(TAG_HEADS))
    direct: list[Group] = Field(
        default=[], description="feature groups with direct weights to the scores (Huang et al. 2015)"
    )
    constrained: bool = Field(default=True, description="decode only sequences that the tag scheme allows")
    forbidden: list[str] = Field(
        default=[],
        description='moves that no sequence may make, beside those of the tag scheme: ["B-PER -> B-PER"]; '
        "* stands for any characters, <start> and <end> for a sentence's ends",
    )
    weights: dict[str, Annotated[float, Field(gt=0.0)]] = Field(
        default={},
        description="how much the tokens of a type (or of a plain tag, or O) count in training, if not 1: "
        "{LOC = 3.0}",
    )
    constrain_training: bool = Field(
        default=False, description="learn among those sequences only (crf): others get no probability"
    )


class TaggerConfig(EmbeddingConfig):
    """The parts of a tagger."""

    encoder: EncoderConfig = Field(default=EncoderConfig(), description="the encoder")
    head: HeadConfig = Field(default=HeadConfig(), description="the head")
    dropout: DropoutConfig = Field(default=DropoutConfig(), description="dropout")

    @model_validator(mode="after")
    def _something_to_read(self) -> TaggerConfig:
        if not (self.sees_tokens or self.head.direct):
            raise ValueError(
                "the model reads nothing: give it words, chars, features or head.direct, "
                "for example --set model.words.width=100"
            )
        if self.encoder.kind != "none" and not self.sees_tokens:
            raise ValueError(
                "the encoder has nothing to read: give it words, chars or features, "
                "or take it away with --set model.encoder.kind=none"
            )
        return self

    @property
    def groups(self) -> tuple[str, ...]:
        """Feature groups that any part of the model uses, each once."""
        used = [*(self.features.groups if self.features else []), *self.head.direct]
        return tuple(dict.fromkeys(used))


class TagRecipe(CorpusRecipe):
    """All that the run of a tagger needs."""

    task: Literal["tag"] = Field(default="tag", description="what to learn: tag words")
    data: TagDataConfig = Field(description="the files")
    model: TaggerConfig = Field(description="the parts of the model")

    @model_validator(mode="after")
    def _can_learn_per_window(self) -> TagRecipe:
        if self.train.optimizer != "per-window":
            return self
        if asked := ", ".join(key for key, wanted in self._beyond_windows().items() if wanted):
            raise ValueError(
                "train.optimizer=per-window is plain SGD of word and feature vectors, a window and a "
                f"sigmoid or softmax; it knows no {asked}. Set that otherwise, or take another optimizer: sgd"
            )
        return self

    def _beyond_windows(self) -> dict[str, bool]:
        """What updates after every window cannot do, and whether the recipe wants it."""
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
            **{f"loss.{name}": True for name in self.loss},
            "train.weight_decay": train.weight_decay > 0,
            "train.normalize": train.normalize,
        }
