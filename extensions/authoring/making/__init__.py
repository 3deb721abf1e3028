"""Makers that derive the trajectories of all categories from scenarios."""
