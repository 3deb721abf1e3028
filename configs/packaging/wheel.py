"""Turnwise: simulate and judge tool-calling agents."""

from typing import TYPE_CHECKING

from turnwise.runner import __all__, __dir__, __getattr__  # noqa: F401

if TYPE_CHECKING:
    from turnwise.runner import *  # noqa: F403
