"""What commands show on the terminal."""
