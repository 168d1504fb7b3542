"""What the recipes of every task may say: each key once, with its type, its default and what it means.

``recipe.py`` in the folder of a task has what is its own. These classes only
describe: ``gonie.tasks.torch.build`` turns them into parts, and ``gonie.tasks.recipe`` reads them from TOML.
Unknown keys are refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, create_model, field_validator

from gonie.features.encoding import EXTRACTORS
from gonie.tasks.contextual import ContextualConfig
from gonie.tasks.parts import CHARS, CONTEXTUAL, ENCODERS, choices
from gonie.tasks.paths import CacheFolder, InputFile
from gonie.tasks.section import ChoiceOf, Rate, Section, Size

Group = Annotated[str, ChoiceOf(EXTRACTORS)]
"""The name of a group of sparse features."""


class CorpusConfig(Section):
    """The files of any task, and how their words are looked up."""

    companions: ClassVar[tuple[str, ...]] = ("dev", "test", "format")
    """Keys that belong to the training file: with another one, they do not apply."""

    train: InputFile = Field(
        description="training file; `bundled:NAME/FILE` is a corpus that ships with gonie"
    )
    dev: InputFile | None = Field(
        default=None, description="file to choose the best epoch on; without one, part of train is held out"
    )
    test: InputFile | None = Field(default=None, description="file scored once, at the end")
    holdout: Rate = Field(
        default=0.1, description="share of the training file held out when there is no dev file"
    )
    language: Literal["en", "ko"] = Field(default="en", description="language of raw text")
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
    vectors: InputFile | None = Field(
        default=None, description="pretrained word vectors: GloVe, word2vec or fastText, plain or gzip"
    )
    vectors_limit: Size | None = Field(default=None, description="read only the first N vectors")
    gazetteers: dict[str, InputFile] = Field(
        default={}, description='lists of names: {city = "cities.txt"}, one entry a line'
    )
    context_window: Size = Field(default=2, description="words to each side that context features look at")
    min_feature_count: Size = Field(default=1, description="sparse features rarer than this are left out")
    cache: CacheFolder | None = Field(
        default=None, description="folder to keep the encoded corpus in, memory-mapped, if larger than memory"
    )

    @property
    def token_unit(self) -> str:
        """The unit, or the language's usual one."""
        return self.unit or ("word" if self.language == "en" else "eojeol")

    @property
    def further_columns(self) -> tuple[str, ...]:
        """Columns beside words and labels that context features may use."""
        return ()


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

    kind: Annotated[str, ChoiceOf(CHARS)] = Field(default="cnn", description=choices(CHARS))
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


class EmbeddingConfig(Section):
    """What the model sees of a token, side by side."""

    words: WordsConfig | None = Field(default=None, description="word vectors")
    chars: CharsConfig | None = Field(default=None, description="character vectors")
    features: FeaturesConfig | None = Field(default=None, description="embedded sparse features")

    @property
    def sees_tokens(self) -> bool:
        """Whether there is anything for an encoder to read."""
        seen = any(config.at != "output" for config in self.contextual.values())
        return bool(self.words or self.chars or self.features or seen)

    @property
    def contextual(self) -> dict[str, ContextualConfig]:
        """The sections of contextual sources that the recipe has, by their key."""
        values = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: value for name, value in values.items() if isinstance(value, ContextualConfig)}

    @property
    def groups(self) -> tuple[str, ...]:
        """Feature groups that any part of the model uses, each once."""
        return tuple(dict.fromkeys(self.features.groups if self.features else []))


class EncoderConfig(Section):
    """What reads the sentence."""

    kind: Annotated[str, ChoiceOf(ENCODERS)] = Field(default="lstm", description=choices(ENCODERS))
    hidden: Size = Field(
        default=200, description="cells in each direction; filters of each kernel of the cnn"
    )
    layers: Size = Field(default=1, description="layers, one on top of the other")
    bidirectional: bool = Field(default=True, description="read the sentence both ways (recurrent layers)")
    activation: Literal["tanh", "sigmoid"] = Field(default="tanh", description="of the rnn only")
    window: Size = Field(
        default=5, description="words that the window network sees at once, an odd number, its own included"
    )

    kernels: list[Size] = Field(
        default=[3, 4, 5], min_length=1, description="words under the filters of the cnn, one size each"
    )

    @field_validator("window")
    @classmethod
    def _has_a_middle(cls, size: int) -> int:
        if size % 2 == 0:
            raise ValueError(f"expected an odd number of words, so that one is in the middle, got {size}")
        return size


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


class LearningConfig(Section):
    """How any model learns."""

    epochs: Size = Field(default=30, description="passes over the training data, at most")
    optimizer: Literal["sgd", "adam", "adamw", "nadam", "per-window"] = Field(
        default="adam",
        description="the update rule; per-window is plain SGD after every single token, for the window "
        "network alone",
    )
    lr: float = Field(default=0.002, gt=0, description="learning rate at its highest")
    momentum: Rate = Field(default=0.9, description="of sgd")
    weight_decay: float = Field(default=0.0, ge=0, description="pull of the weights towards zero")
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
    checkpoint_seconds: float = Field(
        default=30.0, gt=0, description="a checkpoint at least this often, besides every epoch's"
    )


class TrainConfig(LearningConfig):
    """How a tagger or classifier learns."""

    patience: Size = Field(default=8, description="stop after so many epochs without a better dev score")
    batch_tokens: Size = Field(default=1000, description="cells in a batch at most, padding counted")
    batch_sentences: Size | Literal["auto"] = Field(
        default="auto",
        description="sentences, or texts, in a batch at most; auto is a hundredth of all, but from 4 to 32",
    )
    l2: float = Field(
        default=0.0,
        ge=0,
        description="λ: λ/2m ‖W‖² is part of the cost, for the matrices of encoder and head (not biases, not "
        "vectors), where m is the number of training tokens",
    )
    baselines: bool = Field(
        default=False,
        description="score two taggers beside the model that learn next to nothing: every capitalised word, "
        "and words known by heart",
    )
    score_train: int = Field(
        default=0,
        ge=0,
        description="training sentences, or texts, to score after each epoch, for curves that show "
        "overfitting; 0 for none",
    )


class Recipe(Section):
    """All that a run needs; each task has its own, which adds to this."""

    task: str = Field(description="what to learn")

    if TYPE_CHECKING:  # declared by each recipe after its data and model, so that keys stay in this order
        train: LearningConfig


class CorpusRecipe(Recipe):
    """The recipe of a task that learns from labelled examples in files."""

    data: CorpusConfig = Field(description="the files")
    model: EmbeddingConfig = Field(description="the parts of the model")
    train: TrainConfig = Field(default=TrainConfig(), description="training")
    loss: dict[str, dict[str, Any]] = Field(
        default={}, description="terms that are added to the task's loss: [loss.NAME] with the term's keys"
    )
    variants: dict[str, dict[str, Any]] = Field(
        default={},
        description="models trained beside this one for comparison: a name, and the keys that differ",
    )


RecipeType = TypeVar("RecipeType", bound=Recipe)
SectionType = TypeVar("SectionType", bound=Section)


def with_sources(recipe: type[RecipeType]) -> type[RecipeType]:
    """The recipe whose ``model`` also has a key for every contextual source of the table."""
    model = recipe.model_fields["model"]
    if not (isinstance(model.annotation, type) and issubclass(model.annotation, EmbeddingConfig)):
        return recipe
    keys: dict[str, Any] = {
        name: (source.section | None, Field(default=None, description=source.description))
        for name, source in CONTEXTUAL.items()
    }
    opened = _extended(model.annotation, **keys)
    return _extended(recipe, model=(opened, Field(description=model.description)))


def _extended(section: type[SectionType], **keys: Any) -> type[SectionType]:
    """The section with further keys, under its own name and docstring."""
    found: type[SectionType] = create_model(
        section.__name__, __base__=section, __doc__=section.__doc__, __module__=section.__module__, **keys
    )
    return found
