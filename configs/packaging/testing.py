"""The contract that every environment keeps, as tests that its author runs."""

from turnwise.envs.testing import *  # noqa: F403
from turnwise.envs.testing import __all__ as __all__
