"""`gonie import-elmo`: published ELMo weights as a language model of gonie's."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def import_elmo(
    options: Annotated[
        Path, typer.Argument(metavar="OPTIONS.json", help="The options that came with the weights.")
    ],
    weights: Annotated[Path, typer.Argument(metavar="WEIGHTS.hdf5", help="The weights.")],
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the language model.")],
    language: Annotated[Literal["en", "ko"], typer.Option(help="Language of its text.")] = "en",
    unit: Annotated[
        str | None,
        typer.Option(help="What its tokens are: word for English; eojeol, syllable or morpheme for Korean."),
    ] = None,
    storage: Annotated[
        Literal["float32", "float16", "int8"],
        typer.Option(help="float32 keeps every digit; the others take a half or a quarter of the room."),
    ] = "float32",
) -> None:
    """Read an ELMo model in the format of its authors, and leave one that `gonie embed` can use.

    Examples:

      gonie import-elmo options.json weights.hdf5 --out runs/elmo

      gonie embed runs/elmo "They play in the play." --out play.npz
    """
    from gonie.cli.threads import calm_threads
    from gonie.cli.views.waiting import Waiting

    calm_threads()
    from gonie.tasks.language_model.torch.folder import check_free, save_bilm
    from gonie.tasks.language_model.torch.published_elmo import read_published
    from gonie.text.tokenizers import tokenizer

    cut = tokenizer(language=language, unit=unit or ("word" if language == "en" else "eojeol"))
    check_free(out)
    with Waiting("reading the weights") as waiting:
        saved = read_published(options, weights, language=cut.language, unit=cut.unit)
        waiting.say(f"writing {out}")
        save_bilm(out, saved, storage=storage)
    shape = saved.shape
    number = sum(weight.numel() for weight in saved.bilm.parameters())
    typer.echo(
        f"{out}: {number:,} parameters; bytes {shape.byte_width} wide, "
        f"{sum(count for _, count in shape.filters):,} filters, {shape.highways} highway layers; "
        f"{shape.layers} layers of {shape.hidden:,} cells and states {shape.width} wide in each direction, "
        f"{'with' if shape.skip else 'without'} skip connections; "
        f"vectors: {saved.bilm.layers} layers of width {saved.bilm.width}"
    )
