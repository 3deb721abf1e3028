"""Retrieval of the functions that a request needs: corpora, rankings, measures, training."""
