"""The commands under ``turnwise env``: what concerns environments."""
