"""Servers of sessions or episodes for models in other programs."""
