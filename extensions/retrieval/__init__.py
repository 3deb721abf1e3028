"""Retrieval of the functions that a request needs: corpora, rankings and training."""
