"""Trajectories and data sets: loading, validation and preparation for runs.

A trajectory is an initial config and turns with their ground truth. The package imports ``envs``
and ``checkers``.
"""
