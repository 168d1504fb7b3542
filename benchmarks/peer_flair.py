"""Flair for NER: its BiLSTM-CRF over GloVe and characters, trained by its own trainer.

The settings are those of its tutorial: 256 cells per direction, its character LSTM of 25 per direction, its
dropouts, and SGD at 0.1 over batches of 32, halved when dev has not improved for two epochs. The vectors come
from the file that gonie's recipe reads, without gensim, and the characters from the training file, so nothing
is downloaded.
"""

from __future__ import annotations

import gzip
import shutil
from pathlib import Path
from typing import Any

from train_tagger import Block, flair_sentences

FILE = "best-model.pt"
HIDDEN, RATE, EPOCHS, PATIENCE = 256, 0.1, 16, 1
BATCH = 64  # sentences per batch in prediction


class Flair:
    """Requirements, training and loading of Flair."""

    environment = "flair"
    requirements = ("torch==2.13.0", "flair==0.15.1")

    def train(self, learn: list[Block], dev: list[Block], folder: Path, vectors: Path) -> None:
        """Write the model of the best epoch to ``folder``."""
        import flair
        from flair.data import Corpus
        from flair.datasets import FlairDatapointDataset
        from flair.models import SequenceTagger
        from flair.trainers import ModelTrainer

        flair.set_seed(1)
        sets = [FlairDatapointDataset(flair_sentences(blocks)) for blocks in (learn, dev)]
        corpus = Corpus(train=sets[0], dev=sets[1], sample_missing_splits=False)
        tagger = SequenceTagger(
            embeddings=_embeddings(vectors, learn),
            tag_dictionary=corpus.make_label_dictionary("ner", add_unk=False),
            tag_type="ner",
            hidden_size=HIDDEN,
        )
        work = folder / "work"
        ModelTrainer(tagger, corpus).train(
            work, learning_rate=RATE, max_epochs=EPOCHS, patience=PATIENCE, save_final_model=False
        )
        shutil.move(work / FILE, folder / FILE)
        shutil.move(work / "loss.tsv", folder / "loss.tsv")
        shutil.rmtree(work)

    def load(self, folder: Path, threads: int) -> FlairSide:
        """Load the trained model."""
        return FlairSide(folder / FILE, threads)


def _embeddings(vectors: Path, learn: list[Block]) -> Any:
    import torch
    from flair.data import Dictionary
    from flair.embeddings import CharacterEmbeddings, StackedEmbeddings, WordEmbeddings

    with gzip.open(vectors, "rt", encoding="utf-8") as lines:
        rows = [line.rstrip("\n").split(" ") for line in lines]
    vocabulary = {row[0]: place for place, row in enumerate(rows)}
    table = torch.tensor([[float(number) for number in row[1:]] for row in rows])  # (words, width)
    words = WordEmbeddings(None, vocab=vocabulary, embedding_length=table.shape[1], name="glove")
    words.embedding.weight.data[: len(table)] = table  # the last row is for unknown words
    characters = Dictionary()
    for character in sorted({character for block in learn for word, _ in block for character in word}):
        characters.add_item(character)
    return StackedEmbeddings([words, CharacterEmbeddings(characters)])


class FlairSide:
    """The trained tagger."""

    def __init__(self, file: Path, threads: int) -> None:
        import logging

        import flair
        import torch
        from flair.models import SequenceTagger

        flair.logger.setLevel(logging.ERROR)
        torch.set_num_threads(threads)
        self._tagger = SequenceTagger.load(file)

    def ready(self, sentences: list[list[str]]) -> list[Any]:
        """Create new Sentences, without labels."""
        from flair.data import Sentence

        return [Sentence(words) for words in sentences]

    def one(self, sentence: Any) -> Any:
        """Tag one Sentence."""
        self._tagger.predict(sentence)
        return sentence

    def many(self, sentences: list[Any]) -> list[Any]:
        """Tag all Sentences."""
        self._tagger.predict(sentences, mini_batch_size=BATCH)
        return sentences

    def tags(self, sentence: Any) -> list[str]:
        """Return the entities as IOB2 tags."""
        tags = ["O"] * len(sentence)
        for span in sentence.get_spans("ner"):
            first, *rest = (token.idx - 1 for token in span)
            tags[first] = f"B-{span.tag}"
            for at in rest:
                tags[at] = f"I-{span.tag}"
        return tags
