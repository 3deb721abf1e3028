"""Simulated users: the side of a dialogue that answers the agent."""
