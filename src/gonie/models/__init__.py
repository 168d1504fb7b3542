"""Whole models, and what describes them.

``tagger`` composes the parts, ``config`` says what a recipe may ask for, ``recipe`` reads it from TOML,
``build`` turns it into a tagger, ``checkpoint`` keeps the weights, ``scorer`` lets the runtime use them.
"""
