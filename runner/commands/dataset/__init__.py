"""The commands ``turnwise dataset ...``."""
