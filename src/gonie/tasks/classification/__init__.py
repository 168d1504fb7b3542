"""Classification: one or several labels for each text."""
