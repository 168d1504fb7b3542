"""`gonie vectors`: plot the word vectors of a run before and after training."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from gonie.system.outputs import check_output_files


def vectors(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder of `gonie train`.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="Words to show. Default: the most frequent words of each label."),
    ] = None,
    *,
    words_file: Annotated[
        Path | None, typer.Option("--words", metavar="FILE", help="File of words to show, one per line.")
    ] = None,
    method: Annotated[
        Literal["tsne", "pca"],
        typer.Option(help="tsne: preserves neighbourhoods; pca: the two directions of most change."),
    ] = "tsne",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Image to write: .png, .svg, or both without a suffix. Default: RUN/vectors."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed of t-SNE.")] = 1,
) -> None:
    """Plot the word vectors of a run before and after training.

    Also prints the words that moved most, and nearest neighbours before and after training.

    Examples:

      gonie vectors runs/ner

      gonie vectors runs/ner London Paris said --method pca --out cities.svg
    """
    from rich.markup import escape

    from gonie.cli.process_settings import limit_spinning
    from gonie.cli.views.vectors_table import print_vectors
    from gonie.reports.console import MessageConsole
    from gonie.system.files import atomic_write

    limit_spinning()
    from gonie.experiments.drawing import font_note
    from gonie.experiments.vector_map import HOW, map_together, mapper
    from gonie.experiments.vector_picture import VectorPicture, picture_files
    from gonie.experiments.word_vectors import read_word_vectors, read_words

    console = MessageConsole(highlight=False)
    files = picture_files(out or run / "vectors")
    if out is not None:
        check_output_files(*files, inputs=[words_file])
    put = mapper(method, seed=seed)
    asked = [*(words or []), *(read_words(words_file) if words_file else [])]
    with console.status(escape(f"reading {run}")) as status:
        found = read_word_vectors(run, lambda text: status.update(escape(text.partition("\n")[0])))
    chosen, missing = found.choose(asked)
    with console.status(f"mapping {len(chosen):,} words"):
        before, after = map_together(*found.of(chosen), put)
        title = f"Word vectors of {run.absolute().name}"
        picture = VectorPicture(chosen, before=before, after=after, title=title, note=HOW[method])
        for file in files:
            atomic_write(file, picture.draw(file.suffix.lower()))
    print_vectors(console, found, chosen, asked=bool(asked), missing=missing)
    if text := font_note(picture.unknown):
        console.print(text, style="yellow", markup=False)
    console.print(f"wrote {', '.join(map(str, files))}", markup=False, soft_wrap=True)
