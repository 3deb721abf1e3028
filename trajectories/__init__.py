"""The data: trajectories, the data sets they are in, how they are made and checked.

A trajectory is an initial config and turns with their ground truth; ``trajectories.prepare`` makes
of one what every run starts from. Imports ``envs`` and ``checkers``.
"""
