"""From a recipe and its files to a run folder, and from many recipes to a table.

``prepare`` reads and encodes, ``loop`` trains (``optim`` updates, ``average`` steadies, ``scoring`` judges on
dev), ``state`` and ``folder`` keep it on disk, ``interrupt`` stops it gently, and ``fit`` puts them together up
to the best weights. ``run`` makes a model of those.

A comparison is a ``grid`` of cells, kept as a ``plan``; each ``cell`` trains to an ``outcome``, by ``workers``
side by side; ``comparison`` judges the outcomes, ``tables`` and ``figure`` show them, ``compare`` does it all.
"""
