"""HTML pages that need nothing but themselves: their frame, their style, and text that stays text."""
