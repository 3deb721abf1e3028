"""Retrieval of the functions that a request needs, with corpora, rankings and training."""
