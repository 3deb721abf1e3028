"""Imported APIs: environments that return recorded answers, and entries generated for them."""
