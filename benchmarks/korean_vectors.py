"""Trains word vectors of Korean morphemes, which the recipe `sentiment-nsmc` can start from.

    python benchmarks/korean_vectors.py DATA/corpora/ko-0.txt.xz DATA/corpora/ko-1.txt.xz --out ko.vec.gz

Lines are split into surface morphemes by gonie's tokenizer, lower-cased, with digits replaced by 0. gensim
trains the vectors (word2vec, skip-gram; `pip install gensim`). Lines of more than --longest characters are
skipped: short ones are mostly reviews and conversation, and the analysis is slow (about 15,000 tokens/s).
"""

from __future__ import annotations

import argparse
import gzip
import lzma
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

NOTE_SECONDS = 10.0  # seconds between two progress notes


def main() -> None:
    """Tokenise the text, train the vectors, and write the most frequent ones."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="output file in word2vec's text format, gzip")
    parser.add_argument("--longest", type=int, default=140)
    parser.add_argument("--width", type=int, default=150)
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--words", type=int, default=30_000)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    from gensim.models import Word2Vec

    with tempfile.TemporaryDirectory() as folder:
        cut = Path(folder) / "morphemes.txt"
        with cut.open("w", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in morphemes(arguments.files, arguments.longest))
        print("training the vectors", flush=True)
        model = Word2Vec(
            corpus_file=str(cut),
            vector_size=arguments.width,
            window=5,
            min_count=5,
            sg=1,
            negative=5,
            sample=1e-4,
            epochs=arguments.epochs,
            workers=arguments.threads,
            seed=1,
        )
    words = model.wv.index_to_key[: arguments.words]
    with gzip.open(arguments.out, "wt", encoding="utf-8") as file:
        file.write(f"{len(words)} {arguments.width}\n")
        for word in words:
            file.write(f"{word} {' '.join(f'{value:.3f}' for value in model.wv[word])}\n")
    print(f"{len(words):,} vectors in {arguments.out}")


def morphemes(files: list[Path], longest: int) -> Iterator[str]:
    """Yield the sentences of the files as space-separated morphemes."""
    from gonie.text.normalize import Normalization
    from gonie.text.tokenizers import tokenizer

    cut, normal = tokenizer(language="ko", unit="morpheme"), Normalization(lowercase=True, digits=True)
    noted, done = time.monotonic(), 0
    for path in files:
        opened = lzma.open if path.suffix == ".xz" else gzip.open if path.suffix == ".gz" else open
        with opened(path, "rt", encoding="utf-8") as file:
            for line in file:
                if len(line) > longest:
                    continue
                for sentence in cut(line.strip()):
                    done += len(sentence)
                    yield " ".join(map(normal, sentence.words))
                if time.monotonic() - noted > NOTE_SECONDS:
                    print(f"{path.name}: {done:,} morphemes so far", flush=True)
                    noted = time.monotonic()


if __name__ == "__main__":
    main()
