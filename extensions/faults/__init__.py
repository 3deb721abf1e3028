"""Seeded faults of functions, and functions that change."""
