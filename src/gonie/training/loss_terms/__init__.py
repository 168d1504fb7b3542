"""Loss terms: what a recipe adds to the loss of its task, one file each.

A step lowers loss(batch) + Σ term(model, batch). ``table`` lists the terms; the training loop knows none of
them.
"""
