"""Generators of long-context material for each backend's initial config."""
