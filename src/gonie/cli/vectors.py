"""`gonie vectors`: what training did to the word vectors of a run, as a picture and in figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def vectors(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="A run folder that `gonie train` has left.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", help="Words to show; the typical ones of each label if none."),
    ] = None,
    *,
    words_file: Annotated[
        Path | None, typer.Option("--words", metavar="FILE", help="A file of words to show, one a line.")
    ] = None,
    method: Annotated[
        Literal["tsne", "pca"],
        typer.Option(help="tsne: keeps neighbours together; pca: the two directions of most change."),
    ] = "tsne",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="FILE.png or FILE.svg; both without a suffix. RUN/vectors if not given."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Of t-SNE.")] = 1,
) -> None:
    """Draw word vectors before and after training side by side, and say which words moved.

    Examples:

      gonie vectors runs/ner

      gonie vectors runs/ner London Paris said --method pca --out cities.svg
    """
    from rich.console import Console
    from rich.markup import escape

    from gonie.cli.threads import calm_threads
    from gonie.cli.views.vectors_table import print_vectors
    from gonie.system.files import atomic_write

    calm_threads()
    from gonie.experiments.vector_map import HOW, map_together, mapper
    from gonie.experiments.vector_picture import VectorPicture, picture_files
    from gonie.experiments.word_vectors import read_word_vectors, read_words

    console = Console(highlight=False)
    files = picture_files(out or run / "vectors")
    put = mapper(method, seed=seed)
    asked = [*(words or []), *(read_words(words_file) if words_file else [])]
    with console.status(escape(f"reading the files of {run}")) as status:
        found = read_word_vectors(run, lambda text: status.update(escape(text.partition("\n")[0])))
    chosen, missing = found.choose(asked)
    with console.status(f"mapping {len(chosen):,} words"):
        before, after = map_together(*found.of(chosen), put)
        title = f"The word vectors of {run.absolute().name}"
        picture = VectorPicture(chosen, before=before, after=after, title=title, note=HOW[method])
        for file in files:
            atomic_write(file, picture.draw(file.suffix.lower()))
    print_vectors(console, found, chosen, asked=bool(asked), missing=missing)
    if picture.unknown:
        text = f"No font here has {picture.unknown[:20]}: a PNG shows boxes, an SVG its reader's own letters."
        console.print(text, style="yellow", markup=False)
    console.print(f"drawn: {', '.join(map(str, files))}", markup=False, soft_wrap=True)
