"""Turnwise: simulate and judge tool-calling agents.

The package's door, ``turnwise``, is here, in the one package that sees all others. Names are
imported when they are first used, so that the command starts at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from envs import __version__
    from envs import testing as testing
    from envs.calls import Call, parse_call

__all__ = ["Call", "__version__", "parse_call"]

_AT = "" if __name__ == "runner" else f"{__name__}."
"""Where our packages are: side by side in a checkout, within the door in a wheel."""

_HOMES = {
    "envs": ("__version__",),
    "envs.calls": ("Call", "parse_call"),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name == "testing":
        # Not in __all__, since it needs the extra ``dev``.
        return import_module("turnwise.testing")
    if name not in _HOME:
        raise AttributeError(f"module 'turnwise' has no attribute {name!r}")
    value = getattr(import_module(_AT + _HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "testing"]
