"""Environments of stateless functions and a market, for entries whose calls are executed."""
