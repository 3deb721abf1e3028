"""Rollouts: trajectories as training environments, and evaluation of agents from Python."""
