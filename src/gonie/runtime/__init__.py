"""Tagging and classifying without torch, from a bundle on disk to documents with spans, or to labels.

``load`` reads a bundle (``bundle``) and puts together a ``predictor``: tokenise, encode, score (``session``),
decode (``decoder``, over the ``chain`` and its ``lattice``), spans (``tagging``), what else it may be
(``candidates``); or a ``classifier``: cut, encode, score, calibrate.
"""
