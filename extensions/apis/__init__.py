"""Imported APIs: recorded answers as an environment, and entries generated over them."""
