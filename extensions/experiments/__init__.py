"""Experiments on the list of functions that a model is offered."""
