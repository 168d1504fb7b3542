"""Colours for drawings that colour-blind readers can distinguish."""

from __future__ import annotations

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe & Ito 2008, the most distinct colours first. The last, grey, is for what matters least."""
