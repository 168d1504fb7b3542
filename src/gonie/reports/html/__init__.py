"""Self-contained HTML pages: frame, style sheet and escaping."""
