"""The functions behind ``gonie.train``, ``gonie.evaluate``, ``gonie.explain``, ``gonie.compare`` and more.

Each calls the same code as the command of its name. ``gonie`` imports them when they are first used.
"""
