"""Environments for entries whose calls Turnwise executes."""
