"""Servers that give models in other programs sessions or episodes."""
