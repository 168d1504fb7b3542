"""The files of a classifier's recipe: their texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from gonie.formats.detect import is_table
from gonie.formats.labelled import LabelledSource
from gonie.formats.table import TEXT_FORMATS
from gonie.system.files import lines
from gonie.tasks.classification.read_options import text_options
from gonie.tasks.classification.recipe import TextDataConfig, TextRecipe
from gonie.tasks.external import RecipeVectors
from gonie.tasks.paths import locate
from gonie.tasks.torch.word_data import Note, tell
from gonie.text.domains import in_domain
from gonie.text.labelled_text import LabelledText
from gonie.text.report import count


def read_split(split: Literal["train", "dev", "test"], recipe: TextRecipe, note: Note) -> list[LabelledText]:
    """Return the texts of all files of a split, with their external vectors if the model reads any."""
    return _read_files(split, recipe.data, note, RecipeVectors(recipe))


def _read_files(
    split: Literal["train", "dev", "test"],
    data: TextDataConfig,
    note: Note,
    vectors: RecipeVectors | None = None,
) -> list[LabelledText]:
    options = text_options({"data": data.model_dump(mode="json")}, format=data.format)
    texts: list[LabelledText] = []
    for domain, path in data.files(split).items():
        source = LabelledSource(locate(path), options)
        own = vectors.of(locate(path)) if vectors else None
        given = source if own is None else own.attach_texts(source)
        texts += (in_domain(text, domain) for text in given)
        tell(path, source.report, note)
    return texts


def read_unlabelled(data: TextDataConfig, name: str, note: Note) -> list[LabelledText]:
    """Read the texts of a file without their labels. ``note`` receives what was found.

    The file has labelled texts in a known format, or one text per line.
    """
    path = locate(name)
    if is_table(path, TEXT_FORMATS):
        alone = data.model_copy(update={"train": name, "format": "auto", "leave_out": None})
        texts = _read_files("train", alone, note)
        return [replace(text, labels=()) for text in texts]
    rows = [(number, line.strip()) for number, line in lines(path)]
    texts = [LabelledText(line, (), (), name, number) for number, line in rows if line]
    note(f"{name}: {count(len(texts), 'text')} of plain text")
    return texts
