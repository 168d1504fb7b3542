"""If this breaks, a wrong wish is found out only after a thousand texts."""

from __future__ import annotations

import pytest

from gonie.errors import InputError
from gonie.explain.methods import checked_methods
from gonie.reports.explanation import Method

KNOWN: tuple[Method, ...] = ("integrated gradients", "erasure")


def test_methods_are_taken_once_in_the_order_asked() -> None:
    asked: list[Method] = ["erasure", "integrated gradients", "erasure"]
    assert checked_methods(asked, known=KNOWN, torch=True) == ("erasure", "integrated gradients")
    assert checked_methods(["erasure"], known=KNOWN, torch=False) == ("erasure",)


def test_what_cannot_be_done_is_refused_with_what_can() -> None:
    with pytest.raises(InputError, match="methods among integrated gradients, erasure, got 'attention'"):
        checked_methods(["attention"], known=KNOWN, torch=True)
    with pytest.raises(InputError, match="Explain the run's folder"):
        checked_methods(["integrated gradients"], known=KNOWN, torch=False)
