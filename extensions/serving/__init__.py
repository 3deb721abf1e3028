"""Servers with which agents in other programs use sessions or play episodes."""
