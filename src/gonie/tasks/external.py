"""External vectors as a source: features of tokens or texts that something other than gonie has computed.

Every data file of a recipe has a file of vectors (``gonie.features.external_vectors``). They are attached to
the sentences or texts as these are read, so that they stay with them in every split, sample and replay.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from gonie.errors import InputError, RecipeError
from gonie.features.external_vectors import WIDEST_VECTOR, Per, VectorFile, VectorOptions, read_vector_file
from gonie.tasks.contextual import ContextualSource, LoadedSource, Note, SourceConfig
from gonie.tasks.paths import InputFile, locate

if TYPE_CHECKING:
    from gonie.tasks.sections import CorpusConfig, CorpusRecipe

KEY = "external"
"""The name of the source in a recipe's ``model``."""
NO_TASK = f"model.{KEY}: works only with taggers and classifiers; remove it"
SPLITS: tuple[Literal["train", "dev", "test"], ...] = ("train", "dev", "test")


class ExternalConfig(SourceConfig):
    """External vectors of tokens or texts, such as those of pictures, from a file for each data file."""

    of_files: ClassVar[tuple[str, ...]] = ("train", "dev", "test", "per", "array", "ids")

    train: InputFile | dict[str, InputFile] = Field(
        description="vectors of data.train: .npz or .parquet, or a named file for each domain"
    )
    dev: InputFile | dict[str, InputFile] | None = Field(
        default=None, description="vectors of data.dev, if there is a dev file"
    )
    test: InputFile | dict[str, InputFile] | None = Field(
        default=None, description="vectors of data.test, if there is a test file"
    )
    per: Literal["auto", "token", "text"] = Field(
        default="auto",
        description="what a row belongs to: a token, or a text, whose tokens all get its vector (in CoNLL "
        "files, a sentence is a text); auto is token for taggers; classifiers have text only",
    )
    array: str | None = Field(
        default=None, description="name of the array, or the Parquet column; unset: the only one that fits"
    )
    ids: str | None = Field(
        default=None,
        description="name of the array, or the Parquet column, with the id of the text of each row; unset: "
        "rows are in the order of the data file",
    )
    projection: int = Field(
        default=0, ge=0, le=WIDEST_VECTOR, description="width of a learned projection of the vectors; 0: none"
    )
    normalize: bool = Field(default=False, description="scale every vector to length 1")

    def named_files(self, split: Literal["train", "dev", "test"]) -> dict[str, str]:
        """Return the files of a split by the name of their domain, which is empty for a single file."""
        files = getattr(self, split)
        return files if isinstance(files, dict) else {"": files} if files else {}

    def options(self, data: CorpusConfig) -> VectorOptions:
        """Return how the files are read, for the data of a task."""
        chosen: Per = data.vectors_per[0] if self.per == "auto" else self.per
        return VectorOptions(chosen, self.array, self.ids)


class RecipeVectors:
    """The vectors of the data files of a recipe, if its model reads external vectors."""

    def __init__(self, recipe: CorpusRecipe) -> None:
        config = recipe.model.contextual.get(KEY)
        self._config = config if isinstance(config, ExternalConfig) else None
        self._data = recipe.data
        self._read: dict[str, VectorFile] = {}

    def __bool__(self) -> bool:
        return self._config is not None

    def of(self, path: str | Path) -> VectorFile | None:
        """Return the vectors of a data file, None if it has none."""
        name = self._names.get(str(path))
        if self._config is None or name is None:
            return None
        if name not in self._read:
            self._read[name] = read_vector_file(locate(name), self._config.options(self._data))
        return self._read[name]

    @cached_property
    def _names(self) -> Mapping[str, str]:
        if self._config is None:
            return {}
        return {
            str(locate(file)): name for _, file, name in _pairs(self._config, self._data) if name is not None
        }


def _pairs(config: ExternalConfig, data: CorpusConfig) -> Iterator[tuple[str, str, str | None]]:
    """Yield the key of each file of vectors, its data file, and its name, None if the recipe has none."""
    for split in SPLITS:
        own = config.named_files(split)
        for domain, file in data.named_files(split).items():
            yield f"model.{KEY}.{split}{f'.{domain}' if domain else ''}", file, own.get(domain)


def open_vectors(config: ExternalConfig, data: CorpusConfig, note: Note) -> list[VectorFile]:
    """Read every file of vectors of a recipe once. ``note`` receives what was found in each.

    Missing files, other widths, and settings that change tokens are refused.
    """
    if problems := list(_problems(config, data)):
        raise RecipeError(problems)
    used = {file for split in SPLITS for file in data.files(split).values()}
    names = dict.fromkeys(name for _, file, name in _pairs(config, data) if name and file in used)
    found = [read_vector_file(locate(name), config.options(data)) for name in names]
    for file in found:
        note(str(file))
        if file.width != found[0].width:
            raise InputError(
                f"vectors of {file.width:,} numbers, but those of {found[0].path} have {found[0].width:,}",
                path=file.path,
                fix="Write all files with vectors of one width",
            )
    return found


def _problems(config: ExternalConfig, data: CorpusConfig) -> Iterator[str]:
    """Yield what is wrong with a section, given the data that it belongs to."""
    if not data.vectors_per:
        yield NO_TASK
        return
    if config.per not in ("auto", *data.vectors_per):
        yield f"model.{KEY}.per = {config.per}: classifiers read one vector for each text; set it to text"
    for key in ("partial", "replay"):
        if getattr(data, key, None) is not None:
            more = "; train.replay keeps them" if key == "replay" else ""
            yield f"data.{key}: cannot be combined with model.{KEY}, because its file has no vectors{more}"
    copies = [key for key in ("noise", "augment") if getattr(getattr(data, key, None), "copies", 0)]
    if "token" in data.vectors_per:
        for key in copies:
            yield (
                f"data.{key}.copies: cannot be combined with model.{KEY}, because the words of copies have "
                f"no vectors; set data.{key}.copies=0"
            )
    given: dict[str, str] = {}
    for key, file, name in _pairs(config, data):
        used = any(file in data.files(split).values() for split in SPLITS)
        if name is None and used and file not in given:
            yield f"{key}: the vectors of {file} are missing; set {key}=FILE"
        elif name is not None and given.setdefault(file, name) != name:
            yield f"{key}: {file} has two files of vectors: {given[file]} and {name}; name one of them twice"
    for split in SPLITS:
        for domain in config.named_files(split).keys() - data.named_files(split).keys():
            own = f"{split}.{domain}" if domain else split
            yield f"model.{KEY}.{own}: there is no data.{own}; name the data file, or remove the key"


def _load(config: ExternalConfig, data: CorpusConfig, note: Note) -> LoadedSource:
    from gonie.tasks.torch.external import LoadedExternal

    return LoadedExternal.of_files(open_vectors(config, data, note))


def _restore(run: Path) -> LoadedSource:
    from gonie.tasks.torch.external import LoadedExternal

    return LoadedExternal.restore(run)


def _synthetic(data: CorpusConfig, seed: int) -> LoadedSource:
    if not data.vectors_per:
        raise RecipeError([NO_TASK])
    from gonie.tasks.torch.external import LoadedExternal

    return LoadedExternal.synthetic()


EXTERNAL = ContextualSource(
    section=ExternalConfig,
    description="external vectors of tokens or texts, from files",
    load=_load,
    loaded_by=("train", "dev", "test", "per", "array", "ids"),
    restore=_restore,
    synthetic=_synthetic,
)
