"""The recipe sections that tasks share: each key with its type, its default and its description.

``recipe.py`` in the folder of a task has the sections of that task. These classes contain no logic:
``gonie.tasks.recipe`` reads them from TOML, and ``gonie.tasks.torch.build`` builds parts from them. Unknown
keys raise an error.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, create_model, field_validator, model_validator

from gonie.errors import InputError
from gonie.features.encoding import EXTRACTORS
from gonie.tasks.augment import KOREAN_KINDS, AugmentConfig
from gonie.tasks.contextual import SourceConfig
from gonie.tasks.parts import ADAPTERS, CHARS, CONTEXTUAL, ENCODERS, choices
from gonie.tasks.paths import CacheFolder, InputFile, RunFolder, locate, real_path
from gonie.tasks.section import ChoiceOf, Rate, Section, Size
from gonie.text.label_map import parse_map
from gonie.text.noise import KINDS

SPLITS: Final = ("train", "dev", "test")
"""Keys of ``data`` that are a file or named files."""
Group = Annotated[str, ChoiceOf(EXTRACTORS)]
"""The name of a group of sparse features."""


def _named_map(rules: Any) -> Any:
    try:
        return parse_map([rules]).rules if isinstance(rules, str) else rules
    except InputError as problem:
        raise ValueError(str(problem)) from problem


LabelNames = Annotated[dict[str, str], BeforeValidator(_named_map)]
"""New names of labels, or the name of a shipped map."""


class NoiseConfig(Section):
    """Noisy copies of Korean training examples, so that the model learns how people type."""

    copies: int = Field(default=0, ge=0, description="noisy copies of each training example; 0: none")
    kinds: dict[Annotated[str, ChoiceOf(KINDS)], Annotated[float, Field(gt=0)]] = Field(
        default={
            "spaces-lost": 4.0,
            "spaces-added": 3.0,
            "typos": 4.0,
            "laughter": 1.0,
            "emoji": 1.0,
            "endings": 0.5,
            "dates": 1.0,
        },
        min_length=1,
        description="kinds of noise, one or two of which are drawn for each copy, and how often, relative to "
        f"the others: {', '.join(KINDS)}",
    )


class CorpusConfig(Section):
    """The data files of any task, and how their words are looked up."""

    companions: ClassVar[tuple[str, ...]] = ("dev", "test", "format")
    """Keys that belong to the training file and do not apply to another one."""
    vectors_per: ClassVar[tuple[Literal["token", "text"], ...]] = ()
    """What external vectors of the task may belong to, the default first. Empty: the task has none."""

    train: InputFile | dict[str, InputFile] = Field(
        description="training file, or a named file for each domain: "
        '{web = "a.conll", news = "b.conll"}; `bundled:NAME/FILE` is a corpus that ships with gonie'
    )
    dev: InputFile | dict[str, InputFile] | None = Field(
        default=None,
        description="dev file, or named files, to select the best epoch; unset: part of train is held out",
    )
    test: InputFile | dict[str, InputFile] | None = Field(
        default=None, description="test file, or named files, scored once after training"
    )
    leave_out: str | None = Field(
        default=None,
        description="domain of train that is not trained on but tested, on its file in test, or else on its "
        "training file",
    )
    replay: InputFile | None = Field(
        default=None,
        description="file of kept examples of train.start to train on too; unset: train.replay draws them "
        "from its training files",
    )
    holdout: Rate = Field(
        default=0.1, description="share of the training file to hold out if there is no dev file"
    )
    size: Size | None = Field(
        default=None,
        description="train on a sample of this many sentences, texts or pairs of the training file, drawn by "
        "train.seed with about the same share of each type or label; larger samples contain smaller ones; "
        "unset: all",
    )
    map: LabelNames = Field(
        default={},
        description='new names of labels: {person = "PER", misc = "O"}; O drops a label; also the name of a '
        "shipped map, such as nikl",
    )
    language: Literal["en", "ko"] = Field(default="en", description="language of raw text")
    unit: Literal["word", "eojeol", "syllable", "morpheme"] | None = Field(
        default=None, description="token unit: word for English; eojeol, syllable or morpheme for Korean"
    )
    fold_text: bool = Field(
        default=True,
        description="read decomposed (NFD), full-width and half-width text as ordinary text; offsets stay",
    )
    user_dictionary: InputFile | None = Field(
        default=None,
        description="words that Kiwi must know, one `form TAB tag [TAB score]` per line (unit morpheme only)",
    )
    backoff: bool = Field(
        default=False,
        description="cut words that Kiwi does not know, and words inside which training entities begin or "
        "end, into syllables (unit morpheme only)",
    )
    lowercase: bool = Field(
        default=True, description="look up words in lower case (characters keep their case)"
    )
    digits: bool = Field(default=True, description="look up words with every digit replaced by 0")
    correct_typos: bool = Field(
        default=False,
        description="look up an unknown word as the most frequent known word that it is one typing error "
        "away from (characters keep the error); best with pretrained vectors",
    )
    min_count: Size = Field(
        default=1, description="words rarer than this are unknown, unless they have a pretrained vector"
    )
    vectors: InputFile | None = Field(
        default=None, description="pretrained word vectors: GloVe, word2vec or fastText, uncompressed or gzip"
    )
    vectors_limit: Size | None = Field(default=None, description="read only the first N vectors")
    gazetteers: dict[str, InputFile] = Field(
        default={}, description='gazetteers: {city = "cities.txt"}, one entry per line'
    )
    context_window: Size = Field(default=2, description="words on each side that context features use")
    context_grams: Size = Field(
        default=2, description="words of the longest n-grams that context features use"
    )
    min_feature_count: Size = Field(default=1, description="sparse features rarer than this are ignored")
    cache: CacheFolder | None = Field(
        default=None,
        description="folder for the encoded corpus, memory-mapped; unset: the corpus is kept in memory",
    )

    @model_validator(mode="after")
    def _known_domain(self) -> CorpusConfig:
        if isinstance(self.train, dict) and not self.train:
            raise ValueError("data.train has no files")
        domains = _by_domain(self.train)
        by_path: dict[Path, str] = {}
        for name, file in domains.items():
            other = by_path.setdefault(locate(file).absolute(), name)
            if other != name:
                raise ValueError(
                    f"data.train.{other} and data.train.{name} are the same file: {file}; remove one"
                )
        if self.leave_out is not None and len(domains) < 2:
            raise ValueError(
                "data.leave_out: needs a training file for each of several domains; name them with "
                "--set data.train.NAME=FILE"
            )
        if self.leave_out is not None and self.leave_out not in domains:
            raise ValueError(f"data.leave_out: unknown domain {self.leave_out!r}; use {' or '.join(domains)}")
        return self

    def files(self, split: Literal["train", "dev", "test"]) -> dict[str, str]:
        """Return the files of a split by the name of their domain, which is empty for a single file."""
        named = self.named_files(split)
        if self.leave_out is None:
            return named
        if split == "test":
            return {self.leave_out: named.get(self.leave_out, self.named_files("train")[self.leave_out])}
        return {name: path for name, path in named.items() if name != self.leave_out}

    def named_files(self, split: Literal["train", "dev", "test"]) -> dict[str, str]:
        """Return the files of a split as ``files`` does, but without regard to ``leave_out``."""
        return _by_domain(getattr(self, split))

    @property
    def dev_is_trained_on(self) -> bool:
        """Whether a dev file is also a training file."""
        train = trained_files(self.model_dump(mode="json"))
        return any(real_path(file) in train for file in self.files("dev").values())

    def domains_learned_by(self, earlier: CorpusConfig) -> list[str]:
        """Return the domains that an earlier run was trained on: they have the same name there, or file."""
        names, files = earlier.files("train"), trained_files(earlier.model_dump(mode="json"))
        named = [pair for split in SPLITS for pair in self.named_files(split).items()]
        learned = (name for name, file in named if name in names or locate(file).resolve() in files)
        return list(dict.fromkeys(name for name in learned if name))

    @property
    def train_name(self) -> str:
        """The training files, for messages."""
        return ", ".join(self.files("train").values())

    @property
    def token_unit(self) -> str:
        """The token unit, or the default of the language."""
        return self.unit or ("word" if self.language == "en" else "eojeol")

    @property
    def further_columns(self) -> tuple[str, ...]:
        """Columns besides words and labels that context features may use."""
        return ()


def trained_files(data: Mapping[str, Any]) -> set[Path]:
    """Return the files whose labels are trained on, given the section ``data`` in JSON."""
    train = data.get("train")
    named = train if isinstance(train, dict) else {"": train}
    files = [file for name, file in named.items() if name != data.get("leave_out")]
    files += [data.get("partial"), data.get("replay")]
    return {real_path(file) for file in files if file}


def _by_domain(files: str | dict[str, str] | None) -> dict[str, str]:
    return {} if files is None else {"": files} if isinstance(files, str) else files


class NoisyCorpusConfig(CorpusConfig):
    """The data files of a task that can also learn from changed copies."""

    noise: NoiseConfig = Field(
        default=NoiseConfig(), description="noisy copies of training examples (Korean)"
    )

    augment: AugmentConfig = Field(
        default=AugmentConfig(), description="changed copies of training examples (augmentation)"
    )
    answers: InputFile | None = Field(
        default=None,
        description="folder with the answers of a teacher to unlabelled text, written by `gonie distill`; "
        "loss.teacher learns the answers",
    )
    answers_min_count: Size = Field(
        default=5,
        description="words of that text are in the vocabulary too, if they occur at least so often in it",
    )

    @model_validator(mode="after")
    def _noise_is_korean(self) -> NoisyCorpusConfig:
        if self.noise.copies and self.language != "ko":
            raise ValueError('data.noise.copies works only with Korean text (language = "ko"); set it to 0')
        korean = [kind for kind in self.augment.kinds if kind in KOREAN_KINDS]
        if self.augment.copies and korean and self.language != "ko":
            raise ValueError(
                f'data.augment.kinds: {", ".join(korean)} works only with Korean text (language = "ko"); '
                "remove it from data.augment.kinds"
            )
        return self

    @property
    def copies(self) -> int:
        """The number of changed copies of each training example, of both sections."""
        return self.noise.copies + self.augment.copies


class WordsConfig(Section):
    """Word embeddings."""

    width: Size = Field(default=100, description="width of random vectors; pretrained vectors have their own")
    tuned: Literal["missing", "all", "none"] = Field(
        default="missing",
        description="which vectors to train: missing (words without a pretrained vector), all, or none; "
        "without pretrained vectors, missing is the same as all",
    )
    singleton_rate: Rate = Field(
        default=0.5,
        description="probability that a word seen once in training is replaced by the unknown word",
    )


class CharsConfig(Section):
    """Character-based word embeddings."""

    kind: Annotated[str, ChoiceOf(CHARS)] = Field(default="cnn", description=choices(CHARS))
    width: Size = Field(default=30, description="width of a character's vector")
    hidden: Size = Field(
        default=30, description="number of convolution filters, or LSTM units in each direction"
    )
    kernel: Size = Field(default=3, description="kernel size of the convolution, in characters")
    dropout: Rate = Field(default=0.0, description="dropout on character vectors")
    jamo: bool = Field(default=False, description="decompose Hangul syllables into jamo")


class FeaturesConfig(Section):
    """Embeddings of sparse features, summed, as input to the encoder."""

    groups: list[Group] = Field(description="feature groups to embed")
    width: Size = Field(default=20, description="width of each group's vector")


class AdapterConfig(Section):
    """Adapters of a trained model, which are trained with the head while everything else is frozen."""

    kind: Annotated[str, ChoiceOf(ADAPTERS)] = Field(default="low-rank", description=choices(ADAPTERS))
    rank: Size = Field(default=8, description="rank of the changes of the encoder (low-rank, both)")
    hidden: Size = Field(default=16, description="units of each bottleneck (bottleneck, both)")
    embedding: Annotated[int, Field(ge=0)] | Literal["auto"] = Field(
        default="auto",
        description="rank of the changes of the character network and of the vectors of words in the "
        "training file; 0: no changes; auto is 24, or less for words, so that their change has at most 2.7% "
        "as many parameters as all word vectors",
    )
    rate: float = Field(default=3.0, gt=0, description="learning rate, as a multiple of train.lr")


class EmbeddingConfig(Section):
    """The embeddings of a token, which are concatenated."""

    words: WordsConfig | None = Field(default=None, description="word embeddings")
    chars: CharsConfig | None = Field(default=None, description="character-based word embeddings")
    features: FeaturesConfig | None = Field(default=None, description="embeddings of sparse features")
    adapter: AdapterConfig | None = Field(default=None, description="adapters of the model in train.start")

    @property
    def sees_tokens(self) -> bool:
        """Whether the encoder has any input, with undecided sources turned off."""
        seen = any(config.at != "output" and not config.undecided for config in self.contextual.values())
        return bool(self.words or self.chars or self.features or seen)

    @property
    def contextual(self) -> dict[str, SourceConfig]:
        """The sections of the recipe's contextual sources, by key."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: value for name, value in values.items() if isinstance(value, SourceConfig)}

    @property
    def groups(self) -> tuple[str, ...]:
        """The distinct feature groups that the model uses."""
        return tuple(dict.fromkeys(self.features.groups if self.features else []))


class EncoderConfig(Section):
    """The encoder."""

    kind: Annotated[str, ChoiceOf(ENCODERS)] = Field(default="lstm", description=choices(ENCODERS))
    hidden: Size = Field(
        default=200, description="hidden units in each direction; for cnn, filters of each kernel size"
    )
    layers: Size = Field(default=1, description="number of stacked layers")
    bidirectional: bool = Field(default=True, description="read in both directions (recurrent layers)")
    activation: Literal["tanh", "sigmoid"] = Field(default="tanh", description="activation (rnn only)")
    window: Size = Field(default=5, description="window size in words, an odd number (window network only)")

    kernels: list[Size] = Field(
        default=[3, 4, 5], min_length=1, description="kernel sizes in words (cnn only)"
    )

    @field_validator("window")
    @classmethod
    def _has_a_middle(cls, size: int) -> int:
        if size % 2 == 0:
            raise ValueError(f"window size must be odd: {size}")
        return size


class DropoutConfig(Section):
    """Dropout rates."""

    kind: Literal["variational", "plain"] = Field(
        default="variational", description="variational: one mask per sentence; plain: one mask per token"
    )
    input: Rate = Field(default=0.5, description="dropout on the encoder's input")
    output: Rate = Field(default=0.5, description="dropout on the encoder's output")
    between: Rate = Field(default=0.5, description="dropout between encoder layers")
    recurrent: Rate = Field(
        default=0.0,
        description="dropout on the encoder's recurrent weights, one mask per batch (Merity et al. 2018)",
    )
    word: Rate = Field(default=0.0, description="probability of dropping a token's whole input vector")


class LearningConfig(Section):
    """Training settings of every task."""

    epochs: Size = Field(default=30, description="maximum number of epochs")
    optimizer: Literal["sgd", "adam", "adamw", "nadam", "per-window"] = Field(
        default="adam",
        description="optimizer; per-window is SGD with an update after every token (window network only)",
    )
    lr: float = Field(default=0.002, gt=0, description="peak learning rate")
    momentum: Rate = Field(default=0.9, description="momentum (sgd only)")
    weight_decay: float = Field(default=0.0, ge=0, description="weight decay")
    warmup: int = Field(default=0, ge=0, description="warm-up steps, in which the learning rate rises from 0")
    schedule: Literal["constant", "linear", "cosine", "inverse"] = Field(
        default="constant",
        description="learning rate schedule; linear and cosine end at 0, inverse is lr / (1 + decay * epoch)",
    )
    decay: float = Field(default=0.05, ge=0, description="decay of the inverse schedule")
    clip: float = Field(default=5.0, ge=0, description="maximum gradient norm; 0: no clipping")
    normalize: bool = Field(
        default=False,
        description="scale every gradient to norm 1 instead of clipping it (Reimers & Gurevych 2017)",
    )
    average: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="decay of the moving average of the weights, which is then evaluated; 0: no average",
    )
    seed: int = Field(default=1, ge=0, description="random seed")
    device: Literal["auto", "cpu", "cuda"] = Field(
        default="auto", description="device; auto is a GPU if there is one"
    )
    precision: Literal["float32", "bf16"] = Field(
        default="float32", description="bf16 uses mixed precision on a GPU"
    )
    deterministic: bool = Field(default=False, description="bit-exact results on a GPU too, somewhat slower")
    threads: int = Field(default=0, ge=0, description="CPU threads; 0 chooses automatically")
    checkpoint_seconds: float = Field(
        default=30.0, gt=0, description="seconds between checkpoints; each epoch also ends with one"
    )


class EpisodesConfig(Section):
    """Episodic training: each step is a small few-shot task, drawn from the training examples."""

    ways: Size = Field(default=5, description="types, or labels, of an episode; fewer if there are fewer")
    shots: Size = Field(default=5, description="mentions of each type in the support examples")
    queries: Size = Field(default=5, description="query examples of each type")
    number: Size = Field(default=100, description="episodes of an epoch")


class TrainConfig(LearningConfig):
    """Training settings of taggers and classifiers."""

    patience: Size = Field(default=8, description="epochs without a better dev score before training stops")
    batch_tokens: Size = Field(default=1000, description="maximum tokens per batch, including padding")
    batch_sentences: Size | Literal["auto"] = Field(
        default="auto",
        description="maximum sentences, or texts, per batch; auto is 1% of the data, between 4 and 32",
    )
    accumulate: Size = Field(
        default=1,
        description="batches whose gradients are added for one step: the steps of larger batches in less "
        "memory",
    )
    l2: float = Field(
        default=0.0,
        ge=0,
        description="λ of the L2 penalty λ/2m ‖W‖² on the matrices of encoder and head (not biases or "
        "embeddings); m is the number of training examples, with the optimizer per-window that of tokens",
    )
    baselines: bool = Field(
        default=False,
        description="also score baselines: for taggers, every capitalised word, and the most frequent label "
        "of each word; for classifiers, the most frequent label",
    )
    start: RunFolder | None = Field(
        default=None,
        description="run folder of a trained model of the same task to start from: its vocabulary, vectors "
        "and weights; the shape of the network is that of the start",
    )
    keep_labels: bool = Field(
        default=False,
        description="also keep the labels of train.start that the training file does not have; the file says "
        "nothing about them: its O may be one of them (taggers), and so may a label that a text lacks "
        "(texts with several labels)",
    )
    replay: int = Field(
        default=0,
        ge=0,
        description="training examples of train.start, and of its own starts, to train on too, drawn by "
        "train.seed so that all their labels have about as many mentions; 0: none, or all of data.replay",
    )
    freeze: list[str] = Field(
        default=[],
        description="layers that are not trained, such as embedding and encoder; adapters always are",
    )
    unfreeze: float = Field(
        default=0.0,
        ge=0,
        description="gradual unfreezing (Howard & Ruder 2018): epochs before the next lower layer is trained "
        "too, beginning with the head alone; 0: all layers at once",
    )
    layer_rate: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="learning rate of a layer, as a multiple of that of the layer above it",
    )
    shots: int = Field(
        default=0,
        ge=0,
        description="train on a sample with at least this many mentions of each type, or texts of each "
        "label, drawn by train.seed; without a dev file, the sample is also the dev set; 0: all examples",
    )
    episodes: EpisodesConfig | None = Field(
        default=None,
        description="episodic training of the encoder, for the heads prototypes and nearest (Snell et al. "
        "2017); after each epoch, the head is computed from all training examples",
    )
    score_train: int = Field(
        default=0,
        ge=0,
        description="training sentences, or texts, to score after each epoch, to detect overfitting; 0: none",
    )


class Recipe(Section):
    """A recipe: everything that a run needs. Each task has its own subclass."""

    task: str = Field(description="the task")

    if TYPE_CHECKING:  # each recipe declares it after its data and model, which fixes the order of keys
        train: LearningConfig


class CorpusRecipe(Recipe):
    """The recipe of a task that learns from labelled examples."""

    data: CorpusConfig = Field(description="the data files")
    model: EmbeddingConfig = Field(description="the model")
    train: TrainConfig = Field(default=TrainConfig(), description="training")
    loss: dict[str, dict[str, Any]] = Field(
        default={},
        description="additional loss terms: [loss.NAME] with the keys of the term",
        examples=["weight=1"],
    )
    variants: dict[str, dict[str, Any]] = Field(
        default={},
        description="variants of the model, trained for comparison: a name, and the keys that differ",
    )

    @model_validator(mode="after")
    def _one_sample(self) -> CorpusRecipe:
        if self.data.size is not None and self.train.shots:
            raise ValueError("data.size cannot be combined with train.shots; remove one of them")
        return self


RecipeType = TypeVar("RecipeType", bound=Recipe)
SectionType = TypeVar("SectionType", bound=Section)


def with_sources(recipe: type[RecipeType]) -> type[RecipeType]:
    """Return the recipe type with a ``model`` key for every contextual source of the table."""
    model = recipe.model_fields["model"]
    if not (isinstance(model.annotation, type) and issubclass(model.annotation, EmbeddingConfig)):
        return recipe
    keys: dict[str, Any] = {
        name: (
            Annotated[source.section | None, AfterValidator(_unless_off)],
            Field(default=None, description=source.description),
        )
        for name, source in CONTEXTUAL.items()
    }
    opened = _extended(model.annotation, **keys)
    return _extended(recipe, model=(opened, Field(description=model.description)))


def _unless_off(section: SourceConfig | None) -> SourceConfig | None:
    return None if section is None or section.off else section


def _extended(section: type[SectionType], **keys: Any) -> type[SectionType]:
    """Return the section type with additional keys, under the same name and docstring."""
    found: type[SectionType] = create_model(
        section.__name__, __base__=section, __doc__=section.__doc__, __module__=section.__module__, **keys
    )
    return found
