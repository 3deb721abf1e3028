"""The simulator: backends, their state, and the calls made on them. Imports nothing of ours."""

__version__ = "0.1.0"
"""Version of the simulator: results of one version are the same everywhere."""
