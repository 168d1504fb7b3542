"""Colours that colour-blind readers tell apart, for whatever is drawn."""

from __future__ import annotations

OKABE_ITO = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
"""Okabe & Ito 2008, the most unlike first; the last, grey, is for what matters least."""
