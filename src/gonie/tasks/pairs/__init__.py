"""Text pairs: a label or a value for two texts."""
