"""Tagging without torch, from a bundle on disk to documents with spans.

``load`` reads a bundle (``bundle``) and puts a ``predictor`` together: tokenise, encode, score (``session``),
decode (``decoder``, over the ``chain`` and its ``lattice``), spans (``tagging``).
"""
