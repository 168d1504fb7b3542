"""A whole model as one graph that ends in answers: for other languages, and devices where gonie does not run.

A bundle has the letters' network apart and decodes in numpy; here both are in the graph, and all that is left
to whoever runs it is to look up ids (docs/onnx.md).
"""

from __future__ import annotations

from gonie.export.graph import Graph


class WholeGraph(Graph):
    """One graph for all: what depends on forms alone is written into it too."""

    @property
    def forms(self) -> Graph:
        """Itself."""
        return self

    def per_form(self, value: str, width: int) -> str:
        """The value as it is."""
        return value

    def serialize_forms(self) -> None:
        """There is no other graph."""
