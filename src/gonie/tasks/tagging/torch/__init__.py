"""Training and exporting taggers; needs torch."""
