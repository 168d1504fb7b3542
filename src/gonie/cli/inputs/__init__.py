"""What commands read: a text, files or standard input."""
