"""Tests domains of examples: the names of their files."""

from __future__ import annotations

from gonie.text.domains import domain_names, in_domain
from gonie.text.labelled_text import LabelledText
from gonie.text.types import Sentence


def test_an_example_keeps_its_other_values() -> None:
    text = in_domain(LabelledText("a", meta={"year": "1999"}), "web")
    assert text.meta == {"year": "1999", "domain": "web"}
    assert in_domain(text, "") is text


def test_domains_are_in_the_order_of_the_examples() -> None:
    examples = [in_domain(Sentence(("a",)), name) for name in ("web", "news", "web", "")]
    assert domain_names(examples) == ["web", "news"]
