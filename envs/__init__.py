"""The simulator: backends, their state, and the calls made on them. Imports nothing of ours.

A backend is one simulated API. A session is the backends of one trajectory: it turns calls of their
functions into results, and can be forked and compared.
"""

__version__ = "0.1.0"
"""Version of the simulator: results of one version are the same everywhere."""
