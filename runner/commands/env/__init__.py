"""The commands ``turnwise env ...``."""
