"""Contamination: whether a model has seen the entries of a data set."""
