"""From a recipe and its files to a run folder, for every task.

What is learned is a job of a task (``gonie.tasks.torch.job``), made by ``prepare``. It says how its model is
trained (``TrainingSetup``) and what a finished run leaves. All else is written once: ``loop`` trains
(``updates`` are its steps, ``optim`` their rules, ``average`` keeps averaged weights), ``state`` and
``folder`` keep it on disk, ``interrupt`` stops it between two steps, ``fit`` puts them together up to the
best weights, and ``run`` starts, resumes and finishes a run, with the ``variants`` of its recipe.

``export_run`` exports a finished run again. ``gradient_check`` compares the gradients of a small network with
``finite_differences`` of its loss.
"""
