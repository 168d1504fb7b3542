"""Comparisons of recipes and settings, and what training does to word vectors."""
