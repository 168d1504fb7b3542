"""Explanations by gradients, which need torch."""
