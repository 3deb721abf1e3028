"""Imported APIs: environments that return recorded answers, and generated entries."""
