"""Environments of stateless functions and a market, for entries with executed calls."""
