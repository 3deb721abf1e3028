"""Rollout pools, which run many environments in worker processes."""
