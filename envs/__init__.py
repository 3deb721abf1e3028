"""Simulator: backends, their state and sessions. It imports no other package of Turnwise.

A backend is one simulated API. A session has the backends of one trajectory: it turns calls of
their functions into results, and can be forked and compared.
"""

__version__ = "0.1.0"
"""Version of the simulator; equal versions give equal results."""
