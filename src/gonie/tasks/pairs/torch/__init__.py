"""Training and exporting pair models; needs torch."""
