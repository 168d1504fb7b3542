"""From a recipe and its files to a run folder, and from many recipes to a table.

What is learned is a ``job``: ``tag_job`` for taggers, ``text_job`` for classifiers, made by ``prepare``. A
job has its data read and encoded (``tag_data``, ``text_data``; ``word_data`` is what both read alike) and
brings the predictor by which ``dev_evaluator`` scores it. All else is written once: ``loop`` trains
(``updates`` are its steps, ``optim`` their rules, ``average`` steadies), ``state`` and ``folder`` keep it on
disk, ``interrupt`` stops it gently, and ``fit`` puts them together up to the best weights, of which ``run``
makes a model that ships, to be read ``beside`` others.

A comparison is a ``grid`` of cells, kept as a ``plan`` of runs by seed and fold. Each ``cell`` trains to an
``outcome``, side by side in ``workers``; ``comparison`` judges the outcomes, ``tables`` and ``figure`` show
them; ``compare`` leads.

``gradient_check`` asks of a small ``specimen`` (``tag_specimen``, ``text_specimen``, both of ``made_up``
words) whether what is learned by is the gradient of the loss. ``word_vectors`` are mapped (``vector_map``)
and drawn (``vector_picture``) as they were and as they became.
"""
