"""From a recipe and its files to a run folder.

``prepare`` reads and encodes, ``loop`` trains (``optim`` updates, ``average`` steadies, ``scoring`` judges on
dev), ``state`` and ``folder`` keep it on disk, ``interrupt`` stops it gently, and ``run`` puts them together.
``gradient_check`` asks of a small ``specimen`` whether what is learned by is the gradient of the loss.
"""
