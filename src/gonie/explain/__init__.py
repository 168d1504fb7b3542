"""Why a model says what it says: weights over words, how far to trust them, and pages that show them."""
