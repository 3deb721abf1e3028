"""How much a model calls: an option of ``eval``, a figure of runs, and a command."""
