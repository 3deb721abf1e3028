"""Runs and judging on a Ray cluster."""
