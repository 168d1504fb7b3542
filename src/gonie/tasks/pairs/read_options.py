"""Options for reading pairs for a model: the columns of its recipe, unless the user names others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from gonie.errors import InputError
from gonie.text.labelled_text import ColumnWords, PairOptions

AS_IN_TRAINING = "as in training"
NO_ADVICE = ColumnWords("", "")


def pair_options(recipe: Mapping[str, Any], **changes: Any) -> PairOptions:
    """Return the options in a recipe's ``data``, with ``changes``."""
    data = recipe.get("data", {})
    texts = data.get("text_columns")
    options = PairOptions(
        texts=None if texts is None else (texts[0], texts[1]),
        label=data.get("label_column"),
        value=data.get("value_column"),
        map=data.get("map", {}),
    )
    return replace(options, **changes)


def model_options(
    recipe: Mapping[str, Any],
    *,
    texts: Sequence[str] = (),
    answer: Mapping[str, str] | None = None,
    advice: ColumnWords = NO_ADVICE,
    **changes: Any,
) -> PairOptions:
    """Return the options for a trained model: the columns of its training, unless others are asked for.

    ``texts`` are the columns of the two texts, and ``answer`` maps ``label`` or ``value`` to a column.
    ``advice`` says how the command names columns, if it can.
    """
    if len(texts) not in (0, 2):
        raise InputError(
            f"expected two columns, one for each text of a pair, got {len(texts)}: {', '.join(texts)}",
            fix=f"Pass {advice.texts}",
        )
    asked = {**({"texts": tuple(texts)} if texts else {}), **(answer or {})}
    reasons = ColumnWords(*("as asked" if given else AS_IN_TRAINING for given in (texts, answer)))
    return pair_options(recipe, reasons=reasons, advice=advice, **asked, **changes)
