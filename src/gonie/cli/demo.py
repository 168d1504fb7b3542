"""`gonie demo`: train, score, tag and explain on bundled corpora in about a minute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gonie.system.outputs import check_output_folder

if TYPE_CHECKING:
    from rich.console import Console

KOREAN = "korean"  # subfolder of the Korean run
EXAMPLE, WHY = "example.conll", "why.html"
# Sentences of the bundled test files, which are not used in training.
ENGLISH_SENTENCE = (
    "I have just checked with RAC ( David Gorte ) and we have a green light to go ahead with the project ."
)
KOREAN_SENTENCE = "데뷔 17년을 맞이한 가수 홍경민이 해금연주자 김유나 (28)씨와 결혼을 전제로 교제하고 있다."


def demo(
    out: Annotated[Path, typer.Option(help="Folder to write.")] = Path("runs/demo"),
) -> None:
    """Train, score and explain taggers on bundled English and Korean data.

    Takes about a minute on a CPU.
    """
    import time

    from gonie.cli.process_settings import keep_freed_memory, limit_spinning
    from gonie.cli.views.training_display import TrainingDisplay
    from gonie.messages import say
    from gonie.reports.console import MessageConsole
    from gonie.text.report import clock

    check_output_folder(out)
    limit_spinning()
    keep_freed_memory()
    from gonie.tasks.paths import locate
    from gonie.tasks.recipe import load_recipe
    from gonie.training.run import start_run

    began = time.monotonic()
    console = MessageConsole(highlight=False, soft_wrap=True)
    example = "\n\n".join(locate("bundled:english/train.conll").read_text("utf-8").split("\n\n")[:300]) + "\n"
    _clear_folder(out, example)
    for title, name, folder in (
        ("English: names of people, places and organisations", "demo", out),
        ("Korean: 여섯 가지 개체명, 음절 단위", "demo-ko", out / KOREAN),
    ):
        console.rule(f"[bold]{say(title)}")
        with TrainingDisplay(console, closing=False) as display:
            if start_run(load_recipe(name), folder, display, name=name) is None:
                raise typer.Exit(130)
    console.rule(f"[bold]{say('Results')}")
    _show(console, out, ENGLISH_SENTENCE)
    _show(console, out / KOREAN, KOREAN_SENTENCE)
    _explain(console, out, ENGLISH_SENTENCE)
    took = clock(time.monotonic() - began)
    console.print(f"\nThe demo took {took}. See {out}/report.html for more. Try next:\n", markup=False)
    _next_commands(console, out)


def _clear_folder(out: Path, example: str) -> None:
    """Delete an earlier demo in the folder. Any other run is kept, and an error is raised later.

    The folder of a demo is recognised by its example file, which is written first.
    """
    from gonie.system.files import atomic_write
    from gonie.training.folder import RunFolder

    mark = out / EXAMPLE
    if mark.is_file() and mark.read_bytes() == example.encode():
        RunFolder(out).remove()
        RunFolder(out / KOREAN).remove()
    RunFolder(out).create()
    atomic_write(mark, example)


def _show(console: Console, folder: Path, sentence: str) -> None:
    """Print the test score and one tagged sentence of the test corpus."""
    import json

    from rich.markup import escape

    from gonie.tasks.load import load_tagger
    from gonie.tasks.tagging.document_view import Colors, pretty

    scores = json.loads((folder / "evaluation.json").read_text("utf-8"))["test"]
    low, high = scores["intervals"]["f1"]
    interval = f"(95% {100 * low:.1f} to {100 * high:.1f})"
    console.print(f"[bold]test F1 {100 * scores['f1']:.1f}[/bold]  {interval}  {escape(str(folder))}")
    tagger = load_tagger(folder)
    console.print("  ", pretty(tagger(sentence), tagger.document_scheme, Colors()), sep="")


def _explain(console: Console, folder: Path, sentence: str) -> None:
    """Write a page that explains the tags of the sentence."""
    from gonie.explaining.methods import explain_items
    from gonie.system.files import atomic_write
    from gonie.tasks.loaded import load_model

    model = load_model(folder).explained({})
    found = [each.explanation for each in explain_items(model, model.items(sentence, []))]
    page = model.page(found, (), title="Explanation of the tags")
    atomic_write(folder / WHY, page)
    console.print(f"explanation of the tags: {folder / WHY}", markup=False)


def _next_commands(console: Console, out: Path) -> None:
    import shlex

    gonie, english, korean = shlex.quote(_executable()), shlex.quote(str(out)), shlex.quote(str(out / KOREAN))
    example = shlex.quote(str(out / EXAMPLE))
    for line in (
        f'{gonie} tag {english} "Angela Merkel met Samsung managers in Seoul."',
        f'{gonie} tag {korean} "이순신은 1545년 서울에서 태어났다."',
        f'{gonie} explain {english} "Angela Merkel met Samsung managers in Seoul."',
        f'echo "John lives in New York." | {gonie} tag {english} --output jsonl',
        f"{gonie} data check {example}",
        f"{gonie} train ner {example}  # use your own file here",
    ):
        console.print(f"  {line}", markup=False)


def _executable() -> str:
    """Return how to call gonie from this shell: by name if that finds this installation, else by path."""
    import os
    import shutil
    import sys

    here = Path(sys.argv[0])
    found = shutil.which("gonie")
    if here.name != "gonie" or (found and Path(found).resolve() == here.resolve()):
        return "gonie"
    return os.path.relpath(here)
