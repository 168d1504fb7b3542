"""How fast a language model is pretrained, and what the time goes to.

    python benchmarks/bilm.py --text wiki.txt.xz --device cuda
    python benchmarks/bilm.py --text wiki.txt.xz --recipe elmo-small --rows 512 1024 2048 --steps 200

The recipe is trained by gonie's own loop, over real text that is tokenised before, from the arrays on disk to
the optimiser's step; words/s is all of it. The stages are then timed one by one in a second pass that waits
for the device after each, which is slower as a whole: only their shares mean something. What would limit it:
the LSTMs run a step of text after the other, so at few rows a step's latency counts, not its arithmetic.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

WARM = 20
"""Steps before time is taken."""


def main() -> None:
    """Time the recipe with each number of rows, and print a row for it."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--text", type=Path, action="append", required=True)
    parser.add_argument("--recipe", default="elmo", help="elmo is the paper's small shape: 2 × 1024, 128")
    parser.add_argument("--rows", type=int, nargs="+", default=[1024])
    parser.add_argument("--steps", type=int, default=200, help="steps that are timed")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--set", action="append", default=[], help="further settings of the recipe")
    parser.add_argument("--cache", type=Path, help="folder to keep the tokenised text in")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        cache = arguments.cache or Path(name)
        for number, rows in enumerate(arguments.rows):
            found = run(arguments, rows, cache)
            if number == 0:
                print(f"| recipe | rows | words/s | ms a step | {' | '.join(found['shares'])} |")
                print("|---|---:|---:|---:|" + "---:|" * len(found["shares"]))
            shares = " | ".join(f"{share:.0%}" for share in found["shares"].values())
            ms = 1000 * found["seconds"] / arguments.steps
            print(
                f"| {arguments.recipe} | {rows} | {found['words']:,.0f} | {ms:.1f} | {shares} |", flush=True
            )


def run(arguments: argparse.Namespace, rows: int, cache: Path) -> dict[str, Any]:
    """Words a second in gonie's loop, and the share of each stage."""
    from gonie.tasks.recipe import load_recipe
    from gonie.tasks.torch.prepare import prepare
    from gonie.training.fit import begin_training

    texts = ", ".join(f'"{path}"' for path in arguments.text)
    settings = [f"data.text=[{texts}]", f"train.rows={rows}", f"train.device={arguments.device}"]
    recipe = load_recipe(arguments.recipe, [*settings, *arguments.set], command="pretrain")
    session = begin_training(prepare(recipe, lambda text: None, folder=cache))
    seconds = timed(session, recipe.train, arguments.steps)
    words = arguments.steps * rows * recipe.train.steps / seconds
    return {"seconds": seconds, "words": words, "shares": shares(session, recipe.train, arguments.steps // 4)}


def timed(session: Any, config: Any, steps: int) -> float:
    """Seconds of ``steps`` steps of gonie's own loop, from arrays on disk to the optimiser."""
    from gonie.training.loop import train

    events = train(session.state, session.setup, config)
    for _ in range(WARM):
        next(events)
    finish(session)
    started = time.perf_counter()
    for _ in range(steps):
        next(events)
    finish(session)
    return time.perf_counter() - started


def shares(session: Any, config: Any, steps: int) -> dict[str, float]:
    """The share of each stage of a step, each waited for."""
    import torch
    import torch.nn.functional as F

    from gonie.nn.precision import autocast
    from gonie.training.optim import bound_gradients

    spent: dict[str, float] = {}

    @contextmanager
    def stage(name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        finish(session)
        spent[name] = spent.get(name, 0.0) + time.perf_counter() - started

    reader, optimizer = session.model, session.state.optimizer
    model = reader.model
    device = session.state.loss.device
    batches = session.setup.batches.batches(0, session.state.progress.batch)
    reader.train()
    for _ in range(steps):
        with stage("batch"):
            batch = next(batches).content
        with autocast(config.precision, device):
            with stage("spelling"):
                vectors = model.bilm.words(batch.chars)
            with stage("LSTMs"):
                tops = [
                    way(F.embedding(stretch.inputs, vectors), carried)[0][-1]
                    for way, stretch, carried in (
                        (model.bilm.ahead, batch.ahead, model.start(config.rows).ahead),
                        (model.bilm.back, batch.back, model.start(config.rows).back),
                    )
                ]
            with stage("softmax"):
                targets = torch.stack([batch.ahead.targets, batch.back.targets]).flatten()
                loss = model.softmax(torch.stack(tops).flatten(0, 2), targets).mean()
        with stage("backward"):
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
        with stage("optimiser"):
            bound_gradients(config, list(reader.parameters()))
            optimizer.step()
    total = sum(spent.values())
    return {name: seconds / total for name, seconds in spent.items()}


def finish(session: Any) -> None:
    """Wait for the device."""
    import torch

    if session.state.loss.is_cuda:
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
