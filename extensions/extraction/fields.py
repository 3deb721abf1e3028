"""Comparison of extracted data with the expected data, field by field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from math import isclose
from typing import Any, NamedTuple
from unicodedata import normalize

from checkers.evidence import CallEvidence
from checkers.reasons import Reason
from envs.state import cut_repr

ABSENT = None
"""Value for a missing field. A field with the JSON value null also counts as missing."""
_LEFT_OUT = ""
"""Marks a field that the text does not mention."""


class FieldMistake(NamedTuple):
    """A field with a wrong, a missing or an invented value."""

    path: str
    expected: Any
    given: Any

    def evidence(self, function: str) -> CallEvidence:
        """Return the evidence of the mistake: the field, the given and the expected value."""
        if self.expected is ABSENT:
            reason, message = Reason.UNEXPECTED, "the text does not state this field"
        elif self.given is ABSENT:
            reason, message = Reason.MISSING_REQUIRED, "the text states this field"
        else:
            reason, message = Reason.OTHER_VALUE, f"must be {cut_repr(self.expected)}"
        given = None if self.given is ABSENT else cut_repr(self.given)
        return CallEvidence(reason, message, function, self.path, self.expected, given)


class FieldComparison(NamedTuple):
    """Comparison of all fields of an extracted record."""

    fields: int = 0
    mistakes: tuple[FieldMistake, ...] = ()

    @property
    def invented(self) -> int:
        """Number of fields with an invented value, which the text does not state."""
        return sum(each.expected is ABSENT for each in self.mistakes)

    @property
    def right(self) -> int:
        """Number of right fields."""
        # An invented field of an unknown name is no expected field.
        wrong = {each.path for each in self.mistakes}
        return max(0, self.fields - len(wrong))


def compare_fields(
    accepted: Mapping[str, Sequence[Any]], given: Any, path: str = ""
) -> FieldComparison:
    """Compare an object with the accepted values of each field.

    Each field has a list of accepted values. If an accepted value is an object, each field of this
    object also has a list of accepted values. If an accepted value is the empty string, the field
    must be missing or empty.
    """
    members = given if isinstance(given, Mapping) else {}
    parts = [
        _compare_value(values, members.get(name), f"{path}.{name}" if path else name)
        for name, values in accepted.items()
    ]
    invented = [name for name in members if name not in accepted and _is_given(members[name])]
    more = [
        FieldMistake(f"{path}.{name}" if path else str(name), ABSENT, members[name])
        for name in invented
    ]
    return _sum([*parts, FieldComparison(len(more), tuple(more))])


def _compare_value(accepted: Sequence[Any], given: Any, path: str) -> FieldComparison:
    found = [_compare_option(option, given, path) for option in accepted]
    return min(found, key=lambda each: len(each.mistakes))


def _compare_option(option: Any, given: Any, path: str) -> FieldComparison:
    if option == _LEFT_OUT:
        wrong = _is_given(given)
        return FieldComparison(1, (FieldMistake(path, ABSENT, given),) if wrong else ())
    if isinstance(option, Mapping):
        return compare_fields(option, given, path)
    if isinstance(option, (list, tuple)):
        return _compare_list(option, given, path)
    right = _is_same(option, given)
    return FieldComparison(1, () if right else (FieldMistake(path, option, given),))


def _compare_list(options: Sequence[Any], given: Any, path: str) -> FieldComparison:
    """Compare each expected item with the most similar given item; the order is irrelevant."""
    left = [*given] if isinstance(given, (list, tuple)) else []
    found: list[FieldComparison] = []
    for place, option in enumerate(options):
        tried = [_compare_option(option, each, f"{path}[{place}]") for each in left]
        best = min(range(len(left)), key=lambda at: len(tried[at].mistakes), default=None)
        if best is None or len(tried[best].mistakes) == tried[best].fields:
            found.append(_compare_option(option, ABSENT, f"{path}[{place}]"))
        else:
            found.append(tried[best])
            del left[best]
    more = tuple([FieldMistake(f"{path}[+{n}]", ABSENT, each) for n, each in enumerate(left)])
    return _sum([*found, FieldComparison(len(more), more)])


def _sum(parts: Sequence[FieldComparison]) -> FieldComparison:
    mistakes = chain.from_iterable(each.mistakes for each in parts)
    return FieldComparison(sum(each.fields for each in parts), tuple(mistakes))


def _is_given(value: Any) -> bool:
    return value is not ABSENT and value not in ("", [], {})


def _is_same(expected: Any, given: Any) -> bool:
    if isinstance(expected, str):
        return isinstance(given, str) and _normal(expected) == _normal(given)
    if isinstance(expected, bool) or isinstance(given, bool):
        return expected is given
    is_number = isinstance(given, (int, float))
    return is_number and isclose(expected, given, rel_tol=1e-9, abs_tol=1e-9)


def _normal(text: str) -> str:
    return " ".join(normalize("NFKC", text).casefold().split()).strip(" .,;")
