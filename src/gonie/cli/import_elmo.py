"""`gonie import-elmo`: convert published ELMo weights."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from gonie.system.outputs import check_output_folder


def import_elmo(
    options: Annotated[
        Path, typer.Argument(metavar="OPTIONS.json", help="Options file of the published model.")
    ],
    weights: Annotated[
        Path, typer.Argument(metavar="WEIGHTS.hdf5", help="Weights file of the published model.")
    ],
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write the language model to.")],
    language: Annotated[Literal["en", "ko"], typer.Option(help="Language of the model.")] = "en",
    unit: Annotated[
        str | None,
        typer.Option(help="Tokens: word for English; eojeol (default), syllable or morpheme for Korean."),
    ] = None,
    storage: Annotated[
        Literal["float32", "float16", "int8"],
        typer.Option(help="Number format of the stored weights. float32 is exact; the others are smaller."),
    ] = "float32",
) -> None:
    """Convert published ELMo weights to a gonie language model.

    The result can be used with `gonie embed` and in recipes (model.elmo).

    Examples:

      gonie import-elmo options.json weights.hdf5 --out runs/elmo

      gonie embed runs/elmo "They play in the play." --out play.npz
    """
    from gonie.cli.process_settings import limit_spinning
    from gonie.cli.views.progress import StepProgress

    check_output_folder(out)
    limit_spinning()
    from gonie.messages import say
    from gonie.tasks.language_model.torch.folder import check_free, save_bilm
    from gonie.tasks.language_model.torch.published_elmo import read_published
    from gonie.text.tokenizers import tokenizer

    cut = tokenizer(language=language, unit=unit or ("word" if language == "en" else "eojeol"))
    check_free(out)
    with StepProgress("reading the weights") as progress:
        saved = read_published(options, weights, language=cut.language, unit=cut.unit)
        progress.describe(f"writing {out}")
        save_bilm(out, saved, storage=storage)
    shape = saved.shape
    number = sum(weight.numel() for weight in saved.bilm.parameters())
    told = (
        f"{out}: {number:,} parameters; byte embeddings of width {shape.byte_width}, "
        f"{sum(count for _, count in shape.filters):,} filters, {shape.highways} highway layers; "
        f"{shape.layers} LSTM layers per direction with {shape.hidden:,} cells and projection {shape.width}, "
        f"{'with' if shape.skip else 'without'} skip connections; "
        f"output: {saved.bilm.layers} layers of width {saved.bilm.width}"
    )
    typer.echo(say(told))
