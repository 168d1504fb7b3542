"""The parts of ``compare_checkouts.py``."""
