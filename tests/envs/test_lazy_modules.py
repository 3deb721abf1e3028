"""Putting off an import: nothing is loaded before it is used, and then the real thing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from envs import schema
from envs.lazy_modules import lazy_module


def test_nothing_is_loaded_before_it_is_used() -> None:
    code = (
        "import sys; from envs.lazy_modules import lazy_module; colours = lazy_module('colorsys'); "
        "print('colorsys' in sys.modules, colours.ONE_THIRD < 1, 'colorsys' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True True\n"


def test_it_gives_what_the_module_has() -> None:
    lazy = lazy_module("envs.schema")
    assert lazy.make_spec is schema.make_spec
    assert lazy.make_spec is vars(lazy)["make_spec"]


def test_what_is_not_there() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_member'"):
        _ = lazy_module("envs.schema").no_such_member
    with pytest.raises(ModuleNotFoundError, match="No module named 'envs\\.no_such_module'"):
        _ = lazy_module("envs.no_such_module").anything
