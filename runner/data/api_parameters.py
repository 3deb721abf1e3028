"""Checks of the Python API's parameters."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from math import inf

from envs.errors import DataError, require_type, suggest_name

_PARAMETERS = {"category": "categories", "resume": "resume=True", "run-dir": "run_dir"}
_FLAG = re.compile(r"--([a-z][a-z-]*)")


def require_number(name: str, value: object, *, optional: bool = False, most: float = inf) -> None:
    """Raise DataError unless a value is an integer of at least 1; ``optional`` also allows None."""
    described = f"an integer of at least 1{' or None' if optional else ''}"
    require_type(name, value, int, *([None] if optional else []), described=described)
    if isinstance(value, int) and value < 1:
        raise DataError(name, f"must be {described}, but is {value}")
    if isinstance(value, int) and value > most:
        raise DataError(name, f"must be at most {most:,}, but is {value!r:.60}")


def require_names(name: str, value: object) -> None:
    """Raise DataError unless a value is None, a string, or a sequence of strings."""
    described = "a string or a list of strings"
    require_type(name, value, None, str, list, tuple, described=described)
    for each in value if isinstance(value, (list, tuple)) else ():
        require_type(name, each, str, described=described)


def require_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise DataError unless a value is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        hint = suggest_name(str(value), choices)
        raise DataError(name, f"must be {' or '.join(choices)}, but is {value!r:.60}{hint}")


@contextmanager
def name_parameters() -> Iterator[None]:
    """In errors of a ``with`` block, replace names of options with names of parameters."""
    try:
        yield
    except DataError as error:
        named = lambda found: _PARAMETERS.get(found[1], found[1].replace("-", "_"))  # noqa: E731
        error.args = (_FLAG.sub(named, str(error)),)
        raise
