"""The version, where every part of the package can read it."""

__version__ = "0.2.0"
