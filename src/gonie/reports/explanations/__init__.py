"""Explanations of texts and tagged sentences as self-contained HTML pages.

This package also holds what pages and the terminal share: the text split at its tokens (``layout``), the
shade of each word (``shades``) and the sentence on which method to trust (``verdict``).
"""
