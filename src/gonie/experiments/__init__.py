"""Comparisons of recipes and settings, and word vectors before and after training."""
