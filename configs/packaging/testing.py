"""The contract that every environment keeps, as tests that its author runs."""

from turnwise.extensions.contract.contract import *  # noqa: F403
from turnwise.extensions.contract.contract import __all__ as __all__
