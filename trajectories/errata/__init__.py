"""Errata: judgements of single published entries, and their corrections."""
