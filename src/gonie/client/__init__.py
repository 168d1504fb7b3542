"""A client of the HTTP service (``gonie serve``), with the surface of a local model.

Everything but the transport is written once, as generators that yield requests and receive responses
(``exchange``). ``Client`` and ``AsyncClient`` run them.
"""
