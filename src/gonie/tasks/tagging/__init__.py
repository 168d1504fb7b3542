"""Tagging: one tag for each token, and the spans that tags form."""
