"""Trajectories as environments: rollouts, search, and adapters to other libraries."""
