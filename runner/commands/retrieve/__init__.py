"""The commands ``turnwise retrieve ...``."""
