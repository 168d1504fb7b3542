"""Compares the training speed of one BiLSTM-CRF in gonie and in Flair 0.15, on the same sentences.

    python benchmarks/train_tagger.py --peers .venv-peers/bin/python   # both on the CPU, and their ratio
    python benchmarks/train_tagger.py --device cuda                    # gonie, 32 and 256 sentences per batch

The model: word vectors of width 100, a character LSTM of 25 per direction over vectors of 25, an LSTM of 200
per direction, and a CRF over the BIOES tags of UNER English EWT; dropout 0.5 before and after the encoder
(one mask per sentence), word dropout 0.1; 32 sentences per batch, SGD at 0.1 without momentum, gradients
clipped at 5.

gonie runs its own loop, `gonie.training.loop.train`, with the environment that `gonie train` sets. Flair runs
a plain loop around `SequenceTagger.forward_loss`, with the steps of its `ModelTrainer` but without its
logging, and with random batches, as there. Its word vectors are `OneHotEmbeddings`, which are trainable and
need no file. Its linear layer over the embeddings, on by default, is off, as gonie's model has none. Nothing
is downloaded. Both have one thread per core. The sides take turns, one epoch per round, so that noise affects
both equally, and medians are printed. Only batches are timed, without the first three of a round.
`--same-batches` gives Flair gonie's batches of sentences of similar length.

Expected limit: the word LSTM takes 1.12 MFLOP per token forward and twice that backward, 3.4 in total. 43%
are the product of the input and 57% the recurrent one. The character LSTM adds 0.06 for each character of a
distinct form. The script times matrix products of the two shapes of the word LSTM and prints the tokens/s
that they alone would allow.

Result, 2-core AMD EPYC, 2026-11-15, nothing else running:

    gonie          24,434 tokens/s   its matrix products alone: 45,930
    flair           2,184 tokens/s
    gonie / flair  11.2

A step of 683 tokens (1,000 sentences) took about 27 ms on two threads:

    word LSTM                18.5 ms   16.0 of them matrix products, one thread per direction
    character LSTM            3.5 ms   each distinct form once
    CRF                       1.0 ms
    other                     4.0 ms   look-up, dropout, scores, clipping, SGD

So the gap to the speed of the products has two parts: the products of one time step, which have 32 rows or
fewer and reach three quarters of the best speed of OpenBLAS, and the 4 ms of small operations. With an LSTM
of oneDNN and a CRF of torch operations, as before, the same step took 42 ms.

On an H200, 12,000 sentences, 16 CPU cores: 43,884 tokens/s with 32 sentences per batch and 314,109 with 256
(33,950 and 224,562 with a CRF of torch operations and autograd's own thread). There, launching kernels is the
limit: the products alone would allow five to six times that.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter

from sides import CALM, ROOT, Worker, alternate, medians, serve

DATA = Path(os.environ.get("GONIE_DATA", ROOT.parent / "shared/data"))
TRAIN = "ner/uner_english_ewt/en_ewt-ud-train.iob2"
WORDS, CHARS, CHAR_HIDDEN, HIDDEN = 100, 25, 25, 200
DROPOUT, WORD_DROPOUT, RATE, CLIP = 0.5, 0.1, 0.1, 5.0
SEED = 1
WARM_UP = 3  # untimed batches per round
NO_LIMIT = 1_000_000  # cells in a batch: only the number of sentences limits it

Block = list[tuple[str, str]]  # a sentence: its words and tags


def read(path: Path, limit: int | None = None) -> list[Block]:
    """Read the first sentences of a CoNLL file whose words and tags are two adjacent columns."""
    blocks = (block.split("\n") for block in path.read_text(encoding="utf-8").strip().split("\n\n"))
    rows = ([line.split("\t") for line in lines if not line.startswith("#")] for lines in blocks)
    return [
        [(row[-2], row[-1]) if len(row) == 2 else (row[1], row[2]) for row in s] for s in islice(rows, limit)
    ]


def write(blocks: list[Block], path: Path) -> None:
    """Write the sentences as two columns, which both sides read."""
    text = "\n\n".join("\n".join(f"{word}\t{tag}" for word, tag in block) for block in blocks)
    path.write_text(text + "\n", encoding="utf-8")


class Stopwatch:
    """Measures tokens and seconds of the steps after the warm-up."""

    def __init__(self, wait: Callable[[], None] = lambda: None) -> None:
        self._wait = wait  # synchronises the device
        self._began = self._ended = 0.0
        self._tokens = 0

    def step(self, number: int, total: int, tokens: int) -> None:
        """Record that step ``number`` of ``total``, counted from 1, is done."""
        first = min(WARM_UP, total - 1)
        if number > first:
            self._tokens += tokens
        if number == first:
            self._wait()
            self._began = perf_counter()
        if number == total:
            self._wait()
            self._ended = perf_counter()

    def read(self) -> dict[str, float]:
        """Return the speed, and reset the watch for the next round."""
        tokens, self._tokens = self._tokens, 0
        return {"speed": tokens / (self._ended - self._began)}


def train_gonie(file: Path, *, sentences: int, device: str) -> Iterator[dict[str, float]]:
    """Yield the figures of rounds of gonie's own training loop."""
    import torch

    from gonie.tasks.tagging.recipe import TagRecipe as Recipe
    from gonie.tasks.tagging.torch.build import build_tagger
    from gonie.tasks.tagging.torch.data import read_tag_data
    from gonie.tasks.torch.example_batches import ExampleBatches
    from gonie.tasks.torch.training_setup import DevScore, TrainingSetup
    from gonie.training.average import WeightAverage
    from gonie.training.loop import Step, train
    from gonie.training.optim import build_optimizer
    from gonie.training.state import Progress, State

    recipe = Recipe.model_validate(gonie_recipe(file, sentences))
    prepared = read_tag_data(recipe, lambda note: None)
    torch.manual_seed(SEED)
    model = build_tagger(recipe.model, prepared.encoding).to(device)
    state = State(
        model=model,
        optimizer=build_optimizer(recipe.train, model.named_parameters()),
        average=WeightAverage(model, 0.0),
        progress=Progress(),
        loss=torch.zeros((), dtype=torch.float64, device=device),
        fingerprint="",
    )
    watch = Stopwatch(torch.cuda.synchronize if device == "cuda" else lambda: None)
    setup = TrainingSetup(
        batches=ExampleBatches(prepared.train, recipe.train, state.loss.device),
        evaluate=lambda: DevScore(0.0, "", ""),
        weights=model,
    )
    for event in train(state, setup, recipe.train):
        if isinstance(event, Step):
            watch.step(event.batch, event.batches, event.tokens)
        else:
            yield watch.read() | {"bound": bound(sentences, event.tokens / len(prepared.train), device)}


def gonie_recipe(file: Path, sentences: int) -> dict[str, object]:
    """Return the recipe of this benchmark. Dev is never scored."""
    return {
        "data": {"train": str(file), "dev": str(file)},
        "model": {
            "words": {"width": WORDS},
            "chars": {"kind": "lstm", "width": CHARS, "hidden": CHAR_HIDDEN},
            "encoder": {"kind": "lstm", "hidden": HIDDEN},
            "head": {"kind": "crf"},
            "dropout": {"kind": "variational", "input": DROPOUT, "output": DROPOUT, "word": WORD_DROPOUT},
        },
        "train": {
            "epochs": NO_LIMIT,
            "patience": NO_LIMIT,
            "batch_sentences": sentences,
            "batch_tokens": NO_LIMIT,
            "optimizer": "sgd",
            "lr": RATE,
            "momentum": 0.0,
            "clip": CLIP,
            "seed": SEED,
        },
    }


def bound(sentences: int, length: float, device: str) -> float:
    """Return the tokens/s that the matrix products of the word LSTM alone would allow."""
    width = WORDS + 2 * CHAR_HIDDEN
    whole = seconds_of_product(int(sentences * length), width, 4 * HIDDEN, device)  # all time steps at once
    step = seconds_of_product(sentences, HIDDEN, 4 * HIDDEN, device)
    return 1.0 / (
        2 * 3 * (whole / int(sentences * length) + step / sentences)
    )  # 2 directions, forward and backward


def seconds_of_product(rows: int, inner: int, columns: int, device: str) -> float:
    """Return the median time of one matrix product."""
    import torch

    left, right = torch.randn(rows, inner, device=device), torch.randn(inner, columns, device=device)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    times = []
    for _ in range(15):
        wait()
        began = perf_counter()
        for _ in range(20):
            left @ right
        wait()
        times.append((perf_counter() - began) / 20)
    return median(times)


def train_flair(
    file: Path, *, sentences: int, device: str, same_batches: bool = False
) -> Iterator[dict[str, float]]:
    """Yield the figures of rounds of Flair's tagger, over random batches or gonie's batches of that round."""
    import numpy as np
    import torch
    from flair.training_utils import store_embeddings

    from gonie.features.batching import shuffled_batches

    data = flair_sentences(read(file))
    model = flair_tagger(data)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    lengths = np.array([len(sentence) for sentence in data])
    watch = Stopwatch()
    model.train()
    for epoch in range(NO_LIMIT):
        generator = np.random.default_rng([SEED, epoch])
        if same_batches:
            batches = shuffled_batches(lengths, tokens=NO_LIMIT, sentences=sentences, generator=generator)
        else:
            drawn = generator.permutation(len(data))
            batches = [drawn[first : first + sentences] for first in range(0, len(data), sentences)]
        for number, rows in enumerate(batches, start=1):
            batch = [data[row] for row in rows]
            optimizer.zero_grad()
            loss, _ = model.forward_loss(batch)
            loss.backward()
            store_embeddings(batch, "none")
            torch.nn.utils.clip_grad_norm_(model.parameters(), CLIP)
            optimizer.step()
            watch.step(number, len(batches), int(lengths[rows].sum()))
        yield watch.read()


def flair_sentences(blocks: list[Block]):
    """Return sentences of Flair, with a span for each IOB2 entity."""
    from flair.data import Sentence

    data = []
    for block in blocks:
        sentence = Sentence([word for word, _ in block])
        tags = [tag for _, tag in block]
        for start, tag in enumerate(tags):
            if tag.startswith("B-"):
                inside = next(
                    (i for i in range(start + 1, len(tags)) if tags[i] != f"I-{tag[2:]}"), len(tags)
                )
                sentence[start:inside].add_label("ner", tag[2:])
        data.append(sentence)
    return data


def flair_tagger(data):
    """Build the same model from parts of Flair."""
    import logging

    import flair
    from flair.data import Dictionary
    from flair.embeddings import CharacterEmbeddings, OneHotEmbeddings, StackedEmbeddings
    from flair.models import SequenceTagger

    flair.logger.setLevel(logging.ERROR)
    words, characters, labels = Dictionary(), Dictionary(), Dictionary(add_unk=False)
    labels.span_labels = True
    for sentence in data:
        for token in sentence:
            words.add_item(token.text)
            for character in token.text:
                characters.add_item(character)
        for label in sentence.get_labels("ner"):
            labels.add_item(label.value)
    embeddings = [
        OneHotEmbeddings(words, embedding_length=WORDS),
        CharacterEmbeddings(characters, char_embedding_dim=CHARS, hidden_size_char=CHAR_HIDDEN),
    ]
    return SequenceTagger(
        embeddings=StackedEmbeddings(embeddings),
        tag_dictionary=labels,
        tag_type="ner",
        hidden_size=HIDDEN,
        rnn_layers=1,
        use_crf=True,
        reproject_embeddings=False,
        word_dropout=WORD_DROPOUT,
        locked_dropout=DROPOUT,
    )


SIDES: dict[str, Callable[..., Iterator[dict[str, float]]]] = {
    "gonie": train_gonie,
    "flair": train_flair,
    "flair-same-batches": partial(train_flair, same_batches=True),
}


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder that contains {TRAIN}, or that file")
    parser.add_argument("--sentences", type=int, default=2000, help="train on the first N sentences")
    parser.add_argument("--rounds", type=int, default=5, help="number of epochs per side")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="CPU threads per side")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--peers", metavar="PYTHON", help="Python interpreter that has Flair; see benchmarks/README.md"
    )
    parser.add_argument("--same-batches", action="store_true", help="give Flair gonie's batches")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--file", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def main() -> None:
    arguments = parse()
    if arguments.side:
        side = SIDES[arguments.side]
        serve(side(arguments.file, sentences=arguments.batch, device=arguments.device))
        return
    source = arguments.data if arguments.data.is_file() else arguments.data / TRAIN
    sizes = (32, 256) if arguments.device == "cuda" else (32,)
    blocks = read(source, arguments.sentences)
    if len(blocks) <= sizes[-1]:
        sys.exit(f"too few sentences: {len(blocks)}. Two batches need more than {sizes[-1]}")
    tokens = sum(map(len, blocks))
    print(f"{len(blocks):,} sentences, {tokens:,} tokens, {arguments.threads} CPU threads")
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        file = Path(folder) / "train.conll"
        write(blocks, file)

        def worker(python: str, side: str, batch: int) -> Worker:
            own = ["--side", side, "--file", file, "--batch", batch, "--device", arguments.device]
            calm = CALM if side == "gonie" else {}
            made = Worker(__file__, own, threads=arguments.threads, python=python, environment=calm)
            return stack.enter_context(made)

        if arguments.device == "cuda":
            workers = {f"gonie, {size} per batch": worker(sys.executable, "gonie", size) for size in sizes}
        else:
            workers = {"gonie": worker(sys.executable, "gonie", *sizes)}
            if arguments.peers:
                side = "flair-same-batches" if arguments.same_batches else "flair"
                workers["flair"] = worker(arguments.peers, side, *sizes)
        found = alternate(workers, arguments.rounds, "tokens/s")
        show({name: medians(figures) for name, figures in found.items()})


def show(found: dict[str, dict[str, float]]) -> None:
    for name, figures in found.items():
        limit = f"   its matrix products alone: {figures['bound']:,.0f}" if "bound" in figures else ""
        print(f"{name:<24} {figures['speed']:>10,.0f} tokens/s{limit}")
    if "flair" in found:
        print(f"gonie / flair {found['gonie']['speed'] / found['flair']['speed']:.1f}")
    elif "gonie" in found:
        print("no Flair: use --peers with an interpreter that has it (see benchmarks/README.md)")


if __name__ == "__main__":
    main()
