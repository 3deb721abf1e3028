from __future__ import annotations

import pytest

from envs.errors import ToolError


@pytest.mark.parametrize(
    ("why", "kind"),
    [(None, "ToolError"), ("missing", "missing"), (KeyError("root"), "KeyError")],
)
def test_an_error_has_a_kind(why: str | BaseException | None, kind: str) -> None:
    assert ToolError("the folder does not exist", why).kind == kind
