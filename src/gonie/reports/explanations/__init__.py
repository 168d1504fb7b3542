"""Explanations as HTML: one page that needs nothing but itself, for texts and for tagged sentences.

What a page and a terminal share is here as well: the text cut at its tokens (``layout``), how dark each word
is (``shades``), and the sentence on what to trust (``verdict``).
"""
