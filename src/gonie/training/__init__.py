"""Training for every task: from a recipe and its data files to a run folder.

A job of a task (``gonie.tasks.torch.job``) defines how its model is trained (``TrainingSetup``) and what a
finished run writes. The rest is shared by all tasks: ``loop`` trains (``updates`` has its steps, ``optim``
the optimizers, ``average`` the averaged weights), ``state`` and ``folder`` save it to disk, and ``interrupt``
stops it between two steps. ``fit`` combines these up to the best checkpoint. ``run`` starts, resumes and
finishes a run, with the ``variants`` of its recipe.

``export_run`` exports a finished run again. ``gradient_check`` compares the gradients of a small network with
``finite_differences`` of its loss.
"""
