"""Tree search: a model can undo steps and try other steps."""
