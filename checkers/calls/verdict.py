"""The records of judging a single-turn entry."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

from envs.state import brief, to_json


class Reason(StrEnum):
    """Why an entry failed; these are the reference's error types."""

    DECODER_FAILED = "ast_decoder:decoder_failed"
    WRONG_FORMAT = "ast_decoder:decoder_wrong_output_format"
    SIMPLE_COUNT = "simple_function_checker:wrong_count"
    MULTIPLE_COUNT = "multiple_function_checker:wrong_count"
    PARALLEL_COUNT = "parallel_function_checker_no_order:wrong_count"
    NO_MATCH = "parallel_function_checker_no_order:cannot_find_match"
    FUNCTION = "simple_function_checker:wrong_func_name"
    MISSING_REQUIRED = "simple_function_checker:missing_required"
    UNEXPECTED = "simple_function_checker:unexpected_param"
    MISSING_OPTIONAL = "simple_function_checker:missing_optional"
    TYPE = "type_error:simple"
    ITEM_TYPE = "type_error:nested"
    JAVA_TEXT = "type_error:java"
    JAVASCRIPT_TEXT = "type_error:js"
    STRING = "value_error:string"
    LIST = "value_error:list/tuple"
    DICT_KEY = "value_error:dict_key"
    DICT_VALUE = "value_error:dict_value"
    DICT_COUNT = "value_error:list_dict_count"
    OTHER_VALUE = "value_error:others"
    DICT_UNCLEAR = "dict_checker:unclear"
    DICTS_UNCLEAR = "list_dict_checker:unclear"
    CALL_MADE = "irrelevance_error:decoder_success"
    NO_CALL_MADE = "relevance_error:decoder_failed"


class Failure(NamedTuple):
    """Why the calls of one entry, or one call of it, are not right, with the evidence."""

    reason: StrEnum
    """A Reason, or that of another checker of single turns."""
    message: str
    """One sentence."""
    function: str | None = None
    """The function of the call that is wrong."""
    parameter: str | None = None
    """The parameter that is wrong."""
    expected: Any = None
    """What would have been right: a number of calls, a type, a list of allowed values."""
    actual: Any = None
    """What was given."""
    causes: tuple[Failure, ...] = ()
    """Why each of the calls that could have matched did not."""

    def lines(self) -> Iterator[str]:
        """Yield the failure and its causes, a line each."""
        place = ".".join(name for name in (self.function, self.parameter) if name)
        yield f"{place}: {self.message}" if place else self.message
        for cause in self.causes:
            yield from (f"  {line}" for line in cause.lines())

    def to_json(self) -> dict[str, Any]:
        """Return the failure as one JSON object; large values are cut short."""
        shown: dict[str, Any] = {"error_type": self.reason.value, "message": self.message}
        if self.function is not None:
            shown["function"] = self.function
        if self.parameter is not None:
            shown["parameter"] = self.parameter
            shown["expected"] = to_json(self.expected)
            shown["actual"] = brief(self.actual)
        if self.causes:
            shown["causes"] = [cause.to_json() for cause in self.causes]
        return shown


class SingleTurnVerdict(NamedTuple):
    """What became of one entry."""

    failure: Failure | None = None

    @property
    def valid(self) -> bool:
        """Whether the entry passes."""
        return self.failure is None

    @property
    def error_type(self) -> str | None:
        """The reference's name for what is wrong; None when the entry passes."""
        return self.failure.reason.value if self.failure else None

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as one JSON object."""
        if self.failure is None:
            return {"valid": True, "error_type": None}
        return {"valid": False, **self.failure.to_json()}
