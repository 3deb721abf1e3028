"""Calls of a model that plays the user: arguments that cannot be used are left out."""

from __future__ import annotations

import pytest

from extensions.users.model_user import _read_call


@pytest.mark.parametrize(
    "arguments",
    ["[" * 100_000, '{"a": ' + "[" * 60 + "]" * 60 + "}", '{"a": 1' + "0" * 5000 + "}", "{", "5"],
)
def test_arguments_that_cannot_be_used_are_left_out(arguments: str) -> None:
    assert _read_call("toggle_roaming", arguments).kwargs == {}


def test_usable_arguments_are_kept() -> None:
    assert _read_call("pay", '{"amount": 5}').kwargs == {"amount": 5}
