"""Servers through which agents in other programs use sessions or play episodes."""
