"""Loss terms that a recipe adds to the loss of its task, one file each.

A step minimises loss(batch) + Σ term(model, batch, states), with the states that the model computed for the
batch. ``table`` lists the terms.
"""
