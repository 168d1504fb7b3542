"""The torch-free runtime: the bundle format, ONNX sessions and decoding in numpy.

``bundle`` reads and writes bundles and checks them. ``session`` runs their graphs with ONNX Runtime.
``decoder`` finds tag sequences and their probabilities over a linear ``chain``. The tasks combine these parts
into taggers and classifiers (``gonie.tasks``).
"""
