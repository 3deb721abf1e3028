"""The commands under ``turnwise dataset``: what concerns data."""
