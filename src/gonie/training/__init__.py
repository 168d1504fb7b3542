"""From a recipe and its files to a run folder, and from many recipes to a table.

``prepare`` reads and encodes, ``loop`` trains (``optim`` updates, ``average`` steadies, ``scoring`` judges on
dev), ``state`` and ``folder`` keep it on disk, ``interrupt`` stops it gently, and ``fit`` puts them together
up to the best weights, of which ``run`` makes a model that ships, to be read ``beside`` others.

A comparison is a ``grid`` of cells, kept as a ``plan``. Each ``cell`` trains to an ``outcome``, side by side
in ``workers``; ``comparison`` judges the outcomes, ``tables`` and ``figure`` show them; ``compare`` leads.

``gradient_check`` asks of a small ``specimen`` whether what is learned by is the gradient of the loss.
``word_vectors`` are mapped (``vector_map``) and drawn (``vector_picture``) as they were and as they became.
"""
