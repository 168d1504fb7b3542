"""HTML pages and drawings, made from plain values."""
