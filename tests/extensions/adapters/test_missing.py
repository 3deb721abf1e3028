from __future__ import annotations

import sys

import pytest

from envs.errors import DataError

ADAPTERS = {
    "gymnasium_env": "gymnasium",
    "inspect_task": "inspect_ai",
    "verifiers_env": "verifiers",
}


@pytest.mark.parametrize(("module", "library"), ADAPTERS.items())
def test_without_the_library_it_says_what_to_install(monkeypatch, module, library):
    monkeypatch.delitem(sys.modules, f"extensions.adapters.{module}", raising=False)
    monkeypatch.setitem(sys.modules, library, None)
    extra = module.partition("_")[0]
    with pytest.raises(DataError, match=rf"is not installed: pip install 'turnwise\[{extra}\]'"):
        __import__(f"extensions.adapters.{module}")
