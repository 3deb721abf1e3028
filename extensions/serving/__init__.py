"""Servers that let agents in other programs use sessions or play episodes."""
