"""The data: trajectories, where they come from, and their long-context packs."""
