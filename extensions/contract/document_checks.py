"""Checks of function documents: docstrings, types, examples and golden files."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter, ValidationError

from envs.calls import Call, parse_call
from envs.errors import InvalidArgument, MalformedCall
from envs.results import Result
from envs.schema import ExampleCall, check_value, json_path, list_docstring_errors, lower_first
from envs.session import Session
from envs.tool import Tool, parameters
from extensions.contract.checked_environment import CheckedEnvironment, ContractViolation
from extensions.contract.random_play import RandomPlay, explore


def docstrings(subject: CheckedEnvironment) -> None:
    """Check that every docstring is complete."""
    if not subject.tools:
        raise subject.broken("has no function; mark methods with @reads or @writes")
    for tool in subject.tools:
        for defect in list_docstring_errors(tool):
            raise subject.broken(f"the docstring: {defect}", tool, part=_part(tool, defect))


_DESCRIBED = re.compile(r"describes (\w+), which")
_UNDESCRIBED = re.compile(r"(?:does not describe|parameter) '?(\w+)")


def _part(tool: Tool, defect: str) -> str:
    if more := _DESCRIBED.search(defect):
        return f"{more[1]}:"
    if missing := _UNDESCRIBED.search(defect):
        return missing[1]
    return (inspect.getdoc(tool.function) or "").partition("\n")[0]


_SECTION = re.compile(r"^(?:Args|Returns|Raises|Examples):\s*$", re.MULTILINE)
_KEY = re.compile(r"^    (\w+): (.*(?:\n {5}.*)*)", re.MULTILINE)
_LISTED = re.compile(r"[^:]+: ([a-z]\w*(?:, [a-z]\w*)*(?:,? and [a-z]\w*)?)\.?")
"""Description with a list of keys, such as ``The new tweet: id, username and content.``"""
_IN_PARENTHESES = re.compile(r"(?<!\s)\s*\([^()]*\)")
_CONDITION = re.compile(r"\b(?:if|only|optional|unless|when|may|perhaps)\b", re.IGNORECASE)


def find_result_error(tool: Tool, value: Any) -> str | None:
    """Return the mismatch between a result and the function's return type, or None."""
    try:
        _result_adapter(tool).validate_python(value, strict=True)
    except ValidationError as error:
        detail = error.errors()[0]
        where = json_path(value, detail["loc"])
        part = where.lstrip(".") or "the value"
        return f"but {part} is not of the declared type: {lower_first(detail)}"
    return None


@cache
def _result_adapter(tool: Tool) -> TypeAdapter[Any]:
    hints = get_type_hints(inspect.unwrap(tool.function), include_extras=True)
    return TypeAdapter(hints.get("return", Any))


def find_key_error(tool: Tool, value: object) -> str | None:
    """Return an error if a result's keys differ from the keys in the docstring, else None.

    The result may lack a key if the key's description has a condition, such as "if the cart is
    empty".
    """
    described = _list_result_keys(tool)
    if not (described and isinstance(value, dict)):
        return None
    for key in value.keys() - described.keys():
        return f"but the docstring lacks the key {key}"
    for key, text in described.items():
        if key not in value and not _CONDITION.search(text):
            return f"but the docstring says that the key {key} always exists"
    return None


@cache
def _list_result_keys(tool: Tool) -> Mapping[str, str]:
    document = inspect.getdoc(inspect.unwrap(tool.function)) or ""
    _, found, after = document.partition("\nReturns:\n")
    section = _SECTION.split(after)[0] if found else ""
    listed = _LISTED.fullmatch(" ".join(_IN_PARENTHESES.sub("", section).split()))
    keys = dict(_KEY.findall(section))
    if listed and not keys:
        return dict.fromkeys(re.split(r",? and |, ", listed[1]), "")
    return keys


def types(subject: CheckedEnvironment) -> None:
    """Check that functions declare a result type, and that defaults have the declared type."""
    for tool in subject.tools:
        if "return" not in tool.function.__annotations__:
            raise subject.broken("does not declare the type of its result", tool)
        for parameter in parameters(tool):
            if parameter.default is not parameter.empty:
                _check_default(subject, tool, parameter)


def _check_default(subject: CheckedEnvironment, tool: Tool, parameter: inspect.Parameter) -> None:
    try:
        json.dumps(parameter.default, allow_nan=False)
        check_value(tool, parameter.name, parameter.default)
    except (InvalidArgument, TypeError, ValueError) as error:
        message = f"the default of {parameter.name} does not fit its type: {error}"
        raise subject.broken(message, tool, part=parameter.name) from None


def examples(subject: CheckedEnvironment) -> None:
    """Execute the examples of every docstring, each docstring in its own session."""
    for tool in subject.tools:
        shown = subject.spec(tool).examples
        if not shown:
            advice = 'add a section "Examples:" that contains >>> and a call'
            part = _part(tool, advice)
            raise subject.broken(f"the docstring has no example; {advice}", tool, part=part)
        session = subject.session(checks_arguments=True)
        for example in shown:
            result = _make(subject, tool, session, example)
            if not _agree(example, result):
                given = " ".join(result.text.split())
                message = f"the example {example.call} gives {given}"
                raise subject.broken(message, tool, part=_line(example))


def _make(
    subject: CheckedEnvironment, tool: Tool, session: Session, example: ExampleCall
) -> Result:
    try:
        return session.call(parse_call(example.call))
    except MalformedCall as error:
        message = f"the example cannot be read: {error}"
        raise subject.broken(message, tool, part=_line(example)) from None


def _line(example: ExampleCall) -> str:
    return f">>> {example.call}".partition("\n")[0]


def _agree(example: ExampleCall, result: Result) -> bool:
    if not example.shown:
        return result.ok
    pattern = ".*".join(re.escape(part.strip()) for part in example.shown.split("..."))
    return bool(re.fullmatch(pattern, " ".join(result.text.split()), re.DOTALL))


def outcomes(subject: CheckedEnvironment) -> None:
    """Check that the docstring of each function shows a successful call and a refused call.

    A function that never refuses a call needs only the successful call.
    """
    refused: dict[str, Call] = {}

    def examine(play: RandomPlay) -> None:
        for call, result in play.steps():
            if not result.ok and play.start == subject.starts[0]:
                refused.setdefault(call.name, call)

    explore(subject, examine)
    for tool in subject.tools:
        succeeds = _shown_outcomes(subject, tool)
        if True not in succeeds and not subject.excepts("outcomes", tool):
            message = "no example in the docstring shows a success"
            raise subject.broken(message, tool, part="Examples:")
        if tool.name in refused and False not in succeeds:
            call = refused[tool.name]
            message = f"no example shows a refusal, although {call} is refused"
            raise subject.broken(message, tool, part="Examples:")


def _shown_outcomes(subject: CheckedEnvironment, tool: Tool) -> set[bool]:
    session = subject.session()
    found = set()
    for example in subject.spec(tool).examples:
        result = _make(subject, tool, session, example)
        if example.call.startswith(f"{tool.name}("):
            found.add(result.ok)
    return found


def frozen(subject: CheckedEnvironment) -> None:
    """Compare the function documents with the golden file."""
    file = subject.golden_file
    refresh = f"if this is intended, run: turnwise env tools {subject.name} --json > {file}"
    try:
        golden = {d["name"]: d for d in json.loads(file.read_text(encoding="utf-8"))}
    except OSError:
        raise subject.broken(f"the function documents have no golden file; {refresh}") from None
    except (ValueError, TypeError, KeyError):
        raise ContractViolation(f"{file}:1", f"contains no function documents; {refresh}") from None
    for tool in subject.tools:
        if golden.get(tool.name) != json.loads(json.dumps(subject.spec(tool).document())):
            raise subject.broken(
                f"the function document differs from the golden file; {refresh}", tool
            )
    if list(golden) != list(subject.backend.TOOLS):
        raise subject.broken(f"the golden file lists other functions; {refresh}")
