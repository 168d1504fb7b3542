"""Explanations by gradients; needs torch."""
