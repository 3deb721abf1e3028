"""Faults of functions and changed functions, drawn by a seed."""
