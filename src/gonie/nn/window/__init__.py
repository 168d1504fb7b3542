"""The window network: classify a word from the words around it (Collobert & Weston 2008).

``by_hand`` has its cost and gradients in numpy, written for reading and as a reference for faster code.
``loops`` has the same compiled, with one update per window. ``sgd`` connects it to the weights of a model.
The network as a module with autograd is ``encoders.window``.
"""
