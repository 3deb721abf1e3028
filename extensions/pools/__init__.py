"""Many rollout environments at once, in worker processes."""
