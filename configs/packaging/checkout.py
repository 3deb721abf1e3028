"""Turnwise as it is in a checkout: ``turnwise.envs`` is ``envs``, the very same module.

Written into site-packages by an editable install.
"""

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import TYPE_CHECKING

from runner import __all__, __dir__  # noqa: F401

if TYPE_CHECKING:
    from runner import *  # noqa: F403
else:
    # A type checker would take any name for a member.
    from runner import __getattr__  # noqa: F401


class _SecondName:
    """Finds modules of the checkout under the name that they have in a wheel.

    Without the base classes, because ``importlib.abc`` takes longer to load than this module.
    """

    def find_spec(self, fullname, path=None, target=None):
        door, _, name = fullname.partition(".")
        ours = name.partition(".")[0] in {
            "envs",
            "checkers",
            "trajectories",
            "runner",
            "extensions",
        }
        return ModuleSpec(fullname, self) if door == __name__ and ours else None

    def get_code(self, fullname):
        """Return what ``python -m`` runs."""
        name = fullname.partition(".")[2]
        return find_spec(name).loader.get_code(name)

    def create_module(self, spec):
        """Let Python create the module as usual."""

    def exec_module(self, module):
        name = module.__name__
        sys.modules[name] = import_module(name.partition(".")[2])


sys.meta_path.insert(0, _SecondName())
