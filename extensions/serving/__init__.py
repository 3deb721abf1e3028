"""Servers through which other programs (with a model) use sessions or episodes."""
