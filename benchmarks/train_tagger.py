"""How fast one BiLSTM-CRF trains in gonie and in Flair 0.15: same model, same sentences, one run.

    python benchmarks/train_tagger.py --peers .venv-peers/bin/python   # both on the CPU, and their ratio
    python benchmarks/train_tagger.py --device cuda                    # gonie at 32 and 256 sentences a batch

The model: word vectors of width 100 and a character LSTM of 25 each way over vectors of 25, an LSTM of 200
each way, a CRF over the BIOES tags of UNER English EWT; dropout 0.5 before and after the encoder (one mask a
sentence), 0.1 of the words; 32 sentences a batch, SGD at 0.1 without momentum, gradients clipped at 5.

gonie runs its own loop, `gonie.training.loop.train`, in the environment that `gonie train` sets. Flair runs a
plain loop around `SequenceTagger.forward_loss`, with the steps of its `ModelTrainer` and none of its logging,
over batches drawn at random, as there. Its word table is `OneHotEmbeddings`, the trainable one that needs no
file; the linear layer over the embeddings, its default, is off, since gonie's model has none. Nothing is
downloaded. Both get one thread a core. Rounds, one epoch each, alternate, so that both meet the same noise,
and the medians count; only batches are timed, without the first three of a round. `--same-batches` hands
Flair gonie's batches, sentences of like length together.

What should limit it: the word LSTM takes 1.12 MFLOP a token forward and twice that backward, 3.4 in all, 43%
of it the input's product and 57% the recurrent one; the character LSTM adds 0.06 for each character of a
distinct form. The script times matrix products of the word LSTM's two shapes and prints the tokens/s that
they alone would allow.

Result, 2-core AMD EPYC, 2026-11-15, nothing else running:

    gonie          24,434 tokens/s   its matrix products alone: 45,930
    flair           2,184 tokens/s
    gonie / flair  11.2

A step of 683 tokens (1,000 sentences) took about 27 ms on two threads:

    word LSTM, both ways     18.5 ms   16.0 of them matrix products, one direction a thread
    character LSTM            3.5 ms   each distinct form once
    CRF                       1.0 ms
    all else                  4.0 ms   look-up, dropout, scores, clipping, SGD

So the gap to the products' own rate is the products of one time step, 32 rows or fewer, which OpenBLAS does
at three quarters of its best speed, and the 4 ms of small operations. Where an LSTM of oneDNN and a CRF of
torch operations stood before, the same step took 42 ms.

On an H200, 12,000 sentences, 16 CPU cores: 43,884 tokens/s at 32 sentences a batch and 314,109 at 256 (33,950
and 224,562 with a CRF of torch operations and autograd's own thread). There a step waits for its launches:
the products alone would allow five to six times that.
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
WARM_UP = 3  # batches of each round that are not timed
NO_LIMIT = 1_000_000  # cells in a batch: only sentences are counted

Block = list[tuple[str, str]]  # a sentence: words with their tags


def read(path: Path, limit: int | None = None) -> list[Block]:
    """The first sentences of a CoNLL file whose words and tags are two neighbouring columns."""
    blocks = (block.split("\n") for block in path.read_text(encoding="utf-8").strip().split("\n\n"))
    rows = ([line.split("\t") for line in lines if not line.startswith("#")] for lines in blocks)
    return [
        [(row[-2], row[-1]) if len(row) == 2 else (row[1], row[2]) for row in s] for s in islice(rows, limit)
    ]


def write(blocks: list[Block], path: Path) -> None:
    """The same as two columns, what both sides read."""
    text = "\n\n".join("\n".join(f"{word}\t{tag}" for word, tag in block) for block in blocks)
    path.write_text(text + "\n", encoding="utf-8")


class Stopwatch:
    """Tokens and seconds of the steps after the warm-up."""

    def __init__(self, wait: Callable[[], None] = lambda: None) -> None:
        self._wait = wait  # until the device has done what it was given
        self._began = self._ended = 0.0
        self._tokens = 0

    def step(self, number: int, total: int, tokens: int) -> None:
        """Step ``number`` of ``total``, counted from 1, is done."""
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
        """What was measured; the watch is ready for the next round."""
        tokens, self._tokens = self._tokens, 0
        return {"speed": tokens / (self._ended - self._began)}


def train_gonie(file: Path, *, sentences: int, device: str) -> Iterator[dict[str, float]]:
    """Rounds of gonie's own training loop."""
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
    """The model and the training of this benchmark as a recipe; dev is never scored."""
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
    """Tokens a second if the word LSTM's matrix products were all there is to do."""
    width = WORDS + 2 * CHAR_HIDDEN
    whole = seconds_of_product(int(sentences * length), width, 4 * HIDDEN, device)  # all time steps at once
    step = seconds_of_product(sentences, HIDDEN, 4 * HIDDEN, device)
    return 1.0 / (
        2 * 3 * (whole / int(sentences * length) + step / sentences)
    )  # 2 directions, forward and backward


def seconds_of_product(rows: int, inner: int, columns: int, device: str) -> float:
    """The median time of one matrix product."""
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
    """Rounds of Flair's tagger, over random batches or over those of gonie's same round."""
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
    """Flair's sentences, with a span for each IOB2 entity."""
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
    """The same model made of Flair's parts."""
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
    parser.add_argument("--data", type=Path, default=DATA, help=f"folder that holds {TRAIN}, or that file")
    parser.add_argument("--sentences", type=int, default=2000, help="train on the first N sentences")
    parser.add_argument("--rounds", type=int, default=5, help="epochs of each side; the median counts")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="CPU threads of each side")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument(
        "--peers", metavar="PYTHON", help="an interpreter that has Flair; see benchmarks/README.md"
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
        sys.exit(f"expected more than {sizes[-1]} sentences, two batches at least, got {len(blocks)}")
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
            workers = {f"gonie, {size} a batch": worker(sys.executable, "gonie", size) for size in sizes}
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
        print("no Flair: give --peers an interpreter that has it (benchmarks/README.md says how to make one)")


if __name__ == "__main__":
    main()
