"""Compression: shortened tool results."""
