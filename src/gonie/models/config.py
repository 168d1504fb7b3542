"""What a recipe may say: every key once, with its type, its default and what it means.

These classes only describe; ``build.py`` turns them into parts, ``recipe.py`` reads them from TOML. Unknown
keys are refused.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Rate = Annotated[float, Field(ge=0.0, lt=1.0)]
Size = Annotated[int, Field(ge=1)]
Group = Literal["spelling", "context", "gazetteer"]


class Section(BaseModel):
    """A frozen part of a recipe that refuses keys it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class DataConfig(Section):
    """Where the text is and how to read it."""

    train: str = Field(description="training file; `bundled:NAME/FILE` is a corpus that ships with gonie")
    dev: str | None = Field(
        default=None, description="file to choose the best epoch on; without one, part of train is held out"
    )
    test: str | None = Field(default=None, description="file scored once, at the end")
    partial: str | None = Field(
        default=None,
        description="more training sentences, whose tags are known in part: `?` for any tag, `B-ORG|B-LOC` "
        "for one of several",
    )
    holdout: Rate = Field(
        default=0.1, description="share of the training sentences held out when there is no dev file"
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
    language: Literal["en", "ko"] = Field(default="en", description="language of the raw text to be tagged")
    unit: Literal["word", "eojeol", "syllable", "morpheme"] | None = Field(
        default=None, description="what a token is: word for English; eojeol, syllable or morpheme for Korean"
    )
    lowercase: bool = Field(
        default=True, description="look words up in lower case (characters keep their case)"
    )
    digits: bool = Field(default=True, description="look words up with every digit as 0")
    min_count: Size = Field(
        default=1, description="words rarer than this are unknown, unless a vector is known for them"
    )
    vectors: str | None = Field(
        default=None, description="pretrained word vectors: GloVe, word2vec or fastText, plain or gzip"
    )
    vectors_limit: Size | None = Field(default=None, description="read only the first N vectors")
    gazetteers: dict[str, str] = Field(
        default={}, description='lists of names: {city = "cities.txt"}, one entry a line'
    )
    context_window: Size = Field(default=2, description="words to each side that context features look at")
    min_feature_count: Size = Field(default=1, description="sparse features rarer than this are left out")
    max_tokens: Size = Field(
        default=1000, description="training sentences longer than this are cut into pieces, and counted"
    )
    cache: str | None = Field(
        default=None, description="folder to keep the encoded corpus in, memory-mapped, if larger than memory"
    )

    @property
    def token_unit(self) -> str:
        """The unit, or the language's usual one."""
        return self.unit or ("word" if self.language == "en" else "eojeol")


class WordsConfig(Section):
    """Vectors of whole words."""

    width: Size = Field(default=100, description="width of random vectors; pretrained ones bring their own")
    tuned: Literal["missing", "all", "none"] = Field(
        default="missing",
        description="which vectors to train: beside pretrained ones only those missing there, all, or none; "
        "random ones all, unless none",
    )
    singleton_rate: Rate = Field(
        default=0.5, description="how often a word met once in training is trained as unknown"
    )


class CharsConfig(Section):
    """Vectors of words made from their characters."""

    kind: Literal["cnn", "lstm"] = Field(
        default="cnn", description="convolution (Ma & Hovy) or LSTM (Lample et al.)"
    )
    width: Size = Field(default=30, description="width of a character's vector")
    hidden: Size = Field(
        default=30, description="filters of the convolution, or LSTM cells in each direction"
    )
    kernel: Size = Field(default=3, description="characters under a convolution filter")
    dropout: Rate = Field(default=0.0, description="dropout on character vectors")
    jamo: bool = Field(default=False, description="see Hangul syllables as their jamo")


class FeaturesConfig(Section):
    """Vectors of sparse features, summed, as input to the encoder."""

    groups: list[Group] = Field(description="feature groups to embed")
    width: Size = Field(default=20, description="width of each group's vector")


class EncoderConfig(Section):
    """What reads the sentence."""

    kind: Literal["lstm", "peephole", "rnn", "window", "none"] = Field(
        default="lstm", description="the recurrent layer, the window network, or none"
    )
    hidden: Size = Field(default=200, description="cells in each direction")
    layers: Size = Field(default=1, description="layers, one on top of the other")
    bidirectional: bool = Field(default=True, description="read the sentence both ways (not the window)")
    activation: Literal["tanh", "sigmoid"] = Field(default="tanh", description="of the rnn only")
    window: Size = Field(
        default=5, description="words that the window network sees at once, an odd number, its own included"
    )

    @field_validator("window")
    @classmethod
    def _has_a_middle(cls, size: int) -> int:
        if size % 2 == 0:
            raise ValueError(f"expected an odd number of words, so that one is in the middle, got {size}")
        return size


class HeadConfig(Section):
    """What turns scores into tags."""

    kind: Literal["crf", "softmax", "sigmoid"] = Field(
        default="crf",
        description="whole-sentence CRF; softmax, each token for itself; or sigmoid, the same for one type",
    )
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


class DropoutConfig(Section):
    """Where and how values are dropped in training."""

    kind: Literal["variational", "plain"] = Field(
        default="variational", description="one mask a sentence, or one a token"
    )
    input: Rate = Field(default=0.5, description="on the encoder's input")
    output: Rate = Field(default=0.5, description="on the encoder's output")
    between: Rate = Field(default=0.5, description="between encoder layers")
    recurrent: Rate = Field(
        default=0.0, description="on the encoder's recurrent weights, one mask a batch (Merity et al. 2018)"
    )
    word: Rate = Field(default=0.0, description="how often a whole token's input vector is dropped")


class ModelConfig(Section):
    """The parts of the model."""

    words: WordsConfig | None = Field(default=None, description="word vectors")
    chars: CharsConfig | None = Field(default=None, description="character vectors")
    features: FeaturesConfig | None = Field(default=None, description="embedded sparse features")
    encoder: EncoderConfig = Field(default=EncoderConfig(), description="the encoder")
    head: HeadConfig = Field(default=HeadConfig(), description="the head")
    dropout: DropoutConfig = Field(default=DropoutConfig(), description="dropout")

    @model_validator(mode="after")
    def _something_to_read(self) -> ModelConfig:
        if not (self.words or self.chars or self.features or self.head.direct):
            raise ValueError(
                "the model reads nothing: give it words, chars, features or head.direct, "
                "for example --set model.words.width=100"
            )
        if self.encoder.kind != "none" and not (self.words or self.chars or self.features):
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


class TrainConfig(Section):
    """How the model learns."""

    epochs: Size = Field(default=30, description="passes over the training data, at most")
    patience: Size = Field(default=8, description="stop after so many epochs without a better dev score")
    batch_tokens: Size = Field(default=1000, description="cells in a batch at most, padding counted")
    batch_sentences: Size | Literal["auto"] = Field(
        default="auto",
        description="sentences in a batch at most; auto is a hundredth of all, but from 4 to 32",
    )
    optimizer: Literal["sgd", "adam", "adamw", "nadam", "per-window"] = Field(
        default="adam",
        description="the update rule; per-window is plain SGD after every single token, for the window "
        "network alone",
    )
    lr: float = Field(default=0.002, gt=0, description="learning rate at its highest")
    momentum: Rate = Field(default=0.9, description="of sgd")
    weight_decay: float = Field(default=0.0, ge=0, description="pull of the weights towards zero")
    l2: float = Field(
        default=0.0,
        ge=0,
        description="λ: λ/2m ‖W‖² is part of the cost, for the matrices of encoder and head (not biases, not "
        "vectors), where m is the number of training tokens",
    )
    warmup: int = Field(default=0, ge=0, description="steps over which the learning rate rises from zero")
    schedule: Literal["constant", "linear", "cosine", "inverse"] = Field(
        default="constant",
        description="how the rate falls: not, to zero in a line or a cosine, or as lr / (1 + decay * epoch)",
    )
    decay: float = Field(default=0.05, ge=0, description="of the inverse schedule")
    clip: float = Field(default=5.0, ge=0, description="largest gradient norm; 0 for none")
    normalize: bool = Field(
        default=False,
        description="scale every gradient to norm 1 instead of clipping (Reimers & Gurevych 2017)",
    )
    average: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="decay of the moving average of the weights that is evaluated; 0 for none",
    )
    seed: int = Field(default=1, ge=0, description="fixes every random choice")
    device: Literal["auto", "cpu", "cuda"] = Field(default="auto", description="where to train")
    precision: Literal["float32", "bf16"] = Field(default="float32", description="bf16 on GPUs that have it")
    deterministic: bool = Field(
        default=False, description="bit for bit repeatable on a GPU too, somewhat slower"
    )
    threads: int = Field(default=0, ge=0, description="CPU threads; 0 leaves the choice to PyTorch")
    baselines: bool = Field(
        default=False,
        description="score two taggers beside the model that learn next to nothing: every capitalised word, "
        "and words known by heart",
    )
    checkpoint_seconds: float = Field(
        default=30.0, gt=0, description="a checkpoint at least this often, besides every epoch's"
    )
    score_train: int = Field(
        default=0,
        ge=0,
        description="training sentences to score after each epoch, for curves that show overfitting; "
        "0 for none",
    )


class Recipe(Section):
    """All that a run needs."""

    task: Literal["tag"] = Field(default="tag", description="what to learn: tag words")
    data: DataConfig = Field(description="the files")
    model: ModelConfig = Field(description="the parts of the model")
    train: TrainConfig = Field(default=TrainConfig(), description="training")
    variants: dict[str, dict[str, Any]] = Field(
        default={},
        description="models trained beside this one, to be read beside it: a name, and the keys that differ",
    )

    @model_validator(mode="after")
    def _can_learn_per_window(self) -> Recipe:
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
            **{f"model.dropout.{key}={rate:g}": rate > 0 for key, rate in rates.items()},
            "data.partial": self.data.partial is not None,
            "train.weight_decay": train.weight_decay > 0,
            "train.normalize": train.normalize,
        }
