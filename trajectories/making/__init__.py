"""Making trajectories out of trajectories: the harder categories, in any size."""
