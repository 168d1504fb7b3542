"""Why a model says what it says: weights over words, how far they can be trusted, and pages that show them."""
