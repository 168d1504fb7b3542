"""Measures the speed of pretraining a language model, and the share of each stage.

    python benchmarks/bilm.py --text wiki.txt.xz --device cuda
    python benchmarks/bilm.py --text wiki.txt.xz --recipe elmo-small --rows 512 1024 2048 --steps 200

gonie's own training loop runs the recipe over real text that was tokenised beforehand. words/s covers
everything from the arrays on disk to the optimiser step. A second pass times the stages one by one and
synchronises the device after each. This makes it slower as a whole, so only the shares are meaningful.

Expected limit: the LSTMs process one time step after the other. With few rows, the latency of a time step
dominates, not its arithmetic.
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
"""Warm-up steps that are not timed."""


def main() -> None:
    """Time the recipe with each number of rows, and print a table."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--text", type=Path, action="append", required=True)
    parser.add_argument(
        "--recipe", default="elmo", help="elmo has the small shape of the paper: 2 × 1024, 128"
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[1024])
    parser.add_argument("--steps", type=int, default=200, help="number of timed steps")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--set", action="append", default=[], help="KEY=VALUE: another setting of the recipe")
    parser.add_argument("--cache", type=Path, help="folder that caches the tokenised text")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        cache = arguments.cache or Path(name)
        for number, rows in enumerate(arguments.rows):
            found = run(arguments, rows, cache)
            if number == 0:
                print(f"| recipe | rows | words/s | ms per step | {' | '.join(found['shares'])} |")
                print("|---|---:|---:|---:|" + "---:|" * len(found["shares"]))
            shares = " | ".join(f"{share:.0%}" for share in found["shares"].values())
            ms = 1000 * found["seconds"] / arguments.steps
            print(
                f"| {arguments.recipe} | {rows} | {found['words']:,.0f} | {ms:.1f} | {shares} |", flush=True
            )


def run(arguments: argparse.Namespace, rows: int, cache: Path) -> dict[str, Any]:
    """Measure words per second in gonie's loop, and the share of each stage."""
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
    """Return the seconds of ``steps`` steps of gonie's own loop, from arrays on disk to the optimiser."""
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
    """Return the share of each stage of a step, with a synchronisation after each."""
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
