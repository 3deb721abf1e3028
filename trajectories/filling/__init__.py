"""What each backend's initial config is filled with where a trajectory is long."""
