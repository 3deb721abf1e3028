"""Environments of plain functions, for entries whose calls are executed."""
