"""Viewer, which shows all runs of a folder in the browser."""
