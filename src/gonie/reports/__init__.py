"""HTML pages and SVG drawings, rendered from plain values."""
