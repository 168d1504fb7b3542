"""spaCy for NER: blank English, trained by `spacy train` with its own config for a CPU.

That config (`spacy init config --pipeline ner --optimize efficiency`) has hash embeddings of word forms and
shapes, four convolutions of width 96 and early stopping, but no word vectors. `nlp.pipe` with two processes
starts them at each call. For files of 25,000 tokens it is slower than with one.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from train_tagger import Block

BATCH = 256  # Docs per batch; 128 and 512 are as fast, the default of 1000 is a little slower


class Spacy:
    """Requirements, training and loading of spaCy."""

    environment = "spacy"
    requirements = ("spacy==3.8.18",)

    def train(self, learn: list[Block], dev: list[Block], folder: Path, vectors: Path) -> None:
        """Write the model of the best epoch to ``folder``."""
        from spacy.cli.init_config import init_config
        from spacy.cli.train import train

        work = folder / "work"
        work.mkdir(parents=True)
        init_config(lang="en", pipeline=["ner"], optimize="efficiency").to_disk(work / "config.cfg")
        _write(learn, work / "train.spacy")
        _write(dev, work / "dev.spacy")
        overrides = {"paths.train": str(work / "train.spacy"), "paths.dev": str(work / "dev.spacy")}
        train(work / "config.cfg", work, overrides=overrides)
        shutil.move(work / "model-best", folder / "best")
        shutil.rmtree(work)

    def load(self, folder: Path, threads: int) -> SpacySide:
        """Load the trained model. It does not use threads."""
        return SpacySide(folder / "best")


def _write(blocks: Iterable[Block], path: Path) -> None:
    import spacy
    from spacy.tokens import Doc, DocBin

    vocab = spacy.blank("en").vocab
    docs = (Doc(vocab, words=[w for w, _ in block], ents=[tag for _, tag in block]) for block in blocks)
    DocBin(docs=docs).to_disk(path)


class SpacySide:
    """The trained pipeline: `tok2vec`, then `ner`."""

    def __init__(self, folder: Path) -> None:
        import spacy

        self._nlp = spacy.load(folder)

    def ready(self, sentences: list[list[str]]) -> list[Any]:
        """Create new Docs, because `ner` keeps the entities of a Doc."""
        from spacy.tokens import Doc

        return [Doc(self._nlp.vocab, words=words) for words in sentences]

    def one(self, doc: Any) -> Any:
        """Tag one Doc."""
        return self._nlp(doc)

    def many(self, docs: list[Any]) -> list[Any]:
        """Tag all Docs."""
        return list(self._nlp.pipe(docs, batch_size=BATCH))

    def tags(self, doc: Any) -> list[str]:
        """Return the entities as IOB2 tags."""
        return [f"{token.ent_iob_}-{token.ent_type_}" if token.ent_type_ else "O" for token in doc]
