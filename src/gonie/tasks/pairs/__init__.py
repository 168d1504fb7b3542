"""Text pairs: one label, or one value, for two texts, as in inference and similarity."""
