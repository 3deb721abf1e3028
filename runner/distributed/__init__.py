"""Runs and rollouts on a Ray cluster, or on a local one that is started for them."""
