"""Files, atomic writes, folder locks, memory-mapped arrays, worker processes and threads."""
