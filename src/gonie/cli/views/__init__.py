"""What commands print, in modules of their own because they import Rich and parts of the package at once."""
