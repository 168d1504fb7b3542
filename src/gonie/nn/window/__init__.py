"""The window network: a word's class from the words around it (Collobert & Weston 2008).

``by_hand`` has its cost and its gradients in numpy, line by line, to be read and to hold faster code
against. ``loops`` has the same compiled, an update a window; ``sgd`` binds it to the weights of a model. The
network as a part, under autograd, is ``encoders.window``.
"""
