"""Runs on disk: written, read, summed up, exported."""
