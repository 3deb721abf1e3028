"""Checks of documents, called directly."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge

from envs.tool import Tool
from extensions.contract.document_checks import find_result_error


def test_a_result_is_held_to_the_range_that_its_function_declares():
    def count() -> Annotated[int, Ge(1)]:
        """Count."""
        return 1

    tool = Tool("count", "Zoo", count, False)
    assert find_result_error(tool, 1) is None
    assert "greater than or equal to 1" in find_result_error(tool, 0)
    for value in ("1", 1.0, True, None):
        assert find_result_error(tool, value).startswith(
            "but the value is not of the declared type: "
        )
