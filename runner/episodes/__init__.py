"""Episodes: calls go in, what became of the trajectory comes out; no I/O."""
