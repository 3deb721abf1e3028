"""Tree search, in which a model can undo steps and try other steps."""
