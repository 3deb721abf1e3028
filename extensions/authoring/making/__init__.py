"""Maker of trajectories: derives all categories from scenarios."""
