"""Live runs, checking and rollouts on a Ray cluster."""
