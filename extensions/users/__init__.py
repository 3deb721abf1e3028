"""Simulated users, who answer the agent in a dialogue."""
