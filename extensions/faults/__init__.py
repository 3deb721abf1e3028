"""Faults of functions, drawn by a seed."""
