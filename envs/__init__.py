"""Simulator with backends, their state and sessions.

The package imports no other package of Turnwise.

A backend is one simulated API. A session has the backends of one trajectory and executes calls of
their functions. Sessions can be forked and compared.
"""

__version__ = "0.1.0"
"""Version of the simulator; equal versions give equal results."""
