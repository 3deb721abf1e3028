"""Making trajectories out of scenarios: the base, and the harder categories in any size."""
