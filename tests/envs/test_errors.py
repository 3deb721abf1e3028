from __future__ import annotations

from typing import Any

import pytest

from envs.errors import ConfigError, ConfigProblem, DataError, ToolError, require_type


@pytest.mark.parametrize(
    ("why", "kind"),
    [(None, "ToolError"), ("missing", "missing"), (KeyError("root"), "KeyError")],
)
def test_an_error_has_a_kind(why: str | BaseException | None, kind: str) -> None:
    assert ToolError("the folder does not exist", why).kind == kind


def test_an_error_keeps_the_values_of_its_message() -> None:
    assert ToolError("it costs 5", None, {"cost": 5}).values == {"cost": 5}
    assert ToolError("it costs 5").values == {}


@pytest.mark.parametrize(
    ("count", "shown"),
    [(1, "$.a0: wrong 0"), (2, "$.a0: wrong 0 (and 1 more)"), (3, "$.a0: wrong 0 (and 2 more)")],
)
def test_an_error_of_a_config_shows_the_first_problem_and_the_number_of_others(
    count: int, shown: str
) -> None:
    problems = [ConfigProblem(f"$.a{n}", f"wrong {n}") for n in range(count)]
    error = ConfigError(problems)
    assert str(error) == shown
    assert error.problems == tuple(problems)


@pytest.mark.parametrize(
    ("value", "kinds", "is_right"),
    [
        (1, (int,), True),
        (True, (int,), False),
        (True, (bool,), True),
        (True, (int, bool), True),
        (1.0, (int,), False),
        (None, (int, None), True),
        (None, (int,), False),
        (KeyError(), (Exception,), True),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_name(
    value: object, kinds: tuple[type | None, ...], is_right: bool
) -> None:
    if is_right:
        require_type("x", value, *kinds, described="right")
    else:
        with pytest.raises(DataError, match=f"^x: must be right, but is {value!r}$"):
            require_type("x", value, *kinds, described="right")


def test_an_error_at_a_place_that_is_no_text_has_a_message() -> None:
    where: Any = None
    assert str(DataError(where, "is wrong")) == "None: is wrong"
