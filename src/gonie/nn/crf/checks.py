"""Checks of the inputs of the CRF layer.

Each function raises an ``InputError`` that names the first fault. Comparing shapes costs nothing, but reading
a mask or tags waits for a GPU, so training skips the checks (the layer's ``unchecked_`` methods).
Letters: B rows, T tokens, K tags, N segments.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import torch
from torch import Tensor

from gonie.errors import InputError

Fits = Callable[[Tensor, Tensor | None, int], bool]
"""mask (B, T), tags (B, T) or None, K -> whether both are valid; see ``ChainEngine.fits``."""


def check_shapes(
    emissions: Tensor, mask: Tensor, num_tags: int, *, edges: Tensor | None = None, tags: Tensor | None = None
) -> None:
    """Raise an error for inconsistent shapes or a mask that is not bool. Contents are not read."""
    shape, K = emissions.shape, num_tags
    if len(shape) != 3 or shape[2] != K:
        raise InputError(f"expected emissions of shape (B, T, {K}), got {tuple(shape)}")
    B, T, _ = shape
    if mask.dtype != torch.bool or mask.shape != (B, T):
        raise InputError(
            f"expected a bool mask of shape {(B, T)}, got {mask.dtype} of shape {tuple(mask.shape)}"
        )
    if edges is not None and edges.shape != (B, T - 1, K, K):
        raise InputError(f"expected edges of shape {(B, T - 1, K, K)}, got {tuple(edges.shape)}")
    if tags is not None and tags.shape != (B, T):
        raise InputError(f"expected tags of shape {(B, T)}, got {tuple(tags.shape)}")


def check_contents(mask: Tensor, tags: Tensor | None, num_tags: int, fits: Fits) -> None:
    """Raise an error for empty rows, masks that are not right-padded, and tags outside 0 to K-1.

    ``fits`` is the fast test of the whole batch. The fault is located only if it fails.
    """
    if mask.shape[1] == 0 or not fits(mask, tags, num_tags):
        _explain(mask, tags, num_tags)


def check_marks(values: Tensor, mask: Tensor, tags: Tensor | None, num_tags: int) -> None:
    """Raise the errors of ``check_contents`` for rows whose value (B,) an engine marked with +inf.

    This saves the GPU a separate test. A value of +inf for another reason raises no error.
    """
    if inf in values.tolist():
        _explain(mask, tags, num_tags)


def check_options(options: Tensor, mask: Tensor, num_tags: int) -> None:
    """Raise an error for options (B, T, K) of the wrong type or shape, and for tokens without options."""
    shape = (*mask.shape, num_tags)
    if options.dtype != torch.bool or options.shape != shape:
        raise InputError(
            f"expected bool options of shape {shape}, got {options.dtype} of shape {tuple(options.shape)}"
        )
    without = mask & ~options.any(2)  # (B, T)
    if without.any():
        row, at = (int(i) for i in without.nonzero()[0])
        raise InputError(
            f"no tag is allowed for token {at} of row {row}",
            fix="Allow every tag of a token whose label is unknown",
        )


def check_segments(rows: Tensor, starts: Tensor, tags: Tensor, mask: Tensor, num_tags: int) -> None:
    """Raise an error for empty segments, segments outside their row, and tags that do not exist.

    Shape: ``rows`` (N,), ``starts`` (N,), ``tags`` (N, L), -1 past a segment's end.
    """
    ends = starts + (tags >= 0).sum(1)  # (N,)
    wrong = (starts < 0) | (ends <= starts) | (ends > mask.sum(1)[rows]) | (tags >= num_tags).any(1)  # (N,)
    if wrong.any():
        at = int(wrong.nonzero()[0])
        raise InputError(
            f"invalid segment {at}: row {int(rows[at])}, start {int(starts[at])}, tags {tags[at].tolist()}",
            fix=f"A segment has at least one token, lies within its row, and has tags below {num_tags}",
        )


def check_count(n: int) -> None:
    """Raise an error if fewer than one path is requested."""
    if n < 1:
        raise InputError(f"n must be at least 1: {n}")


def _explain(mask: Tensor, tags: Tensor | None, num_tags: int) -> None:
    """Raise the error that names the first invalid row or tag, if there is one."""
    _explain_padding(mask)
    if tags is not None:
        _explain_tags(tags, mask, num_tags)


def _explain_tags(tags: Tensor, mask: Tensor, num_tags: int) -> None:
    wrong = mask & ((tags < 0) | (tags >= num_tags))  # (B, T)
    if wrong.any():
        row, at = (int(i) for i in wrong.nonzero()[0])
        raise InputError(
            f"tag out of range: {int(tags[row, at])} in row {row} at token {at}",
            fix=f"Where the mask is true, tags must be from 0 to {num_tags - 1}",
        )


def _explain_padding(mask: Tensor) -> None:
    lengths = mask.sum(1)  # (B,)
    padded_right = torch.arange(mask.shape[1], device=mask.device) < lengths.unsqueeze(1)  # (B, T)
    wrong = (lengths == 0) | (mask != padded_right).any(1)  # (B,)
    if wrong.any():
        row = int(wrong.nonzero()[0])
        empty = int(lengths[row]) == 0
        raise InputError(
            f"the mask has {'no token' if empty else 'a token after padding'} in row {row}",
            fix="Leave empty sentences out of the batch" if empty else "Pad after the last token only",
        )
