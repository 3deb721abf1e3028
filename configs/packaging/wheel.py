"""Turnwise: simulate and judge tool-calling agents."""

from typing import TYPE_CHECKING

from turnwise.runner import __all__, __dir__  # noqa: F401

if TYPE_CHECKING:
    from turnwise.runner import *  # noqa: F403
else:
    # A type checker would take any name for a member.
    from turnwise.runner import __getattr__  # noqa: F401
