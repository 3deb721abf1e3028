"""What functions say of themselves: docstrings, types, examples, and that they stay so."""

from __future__ import annotations

import inspect
import json
import re

from envs.calls import Call, parse_call
from envs.errors import ConfigError, InvalidArgument, MalformedCall
from envs.registry import backend_class
from envs.registry import names as environment_names
from envs.results import Result
from envs.schema import Example, check_value, docstring_defects
from envs.session import Session
from envs.tool import Tool, parameters
from extensions.contract.play import Play, explore
from extensions.contract.subject import Broken, Subject


def names(subject: Subject) -> None:
    """Compare the functions' names with those of all other environments."""
    for other in environment_names():
        try:
            theirs = backend_class(other).TOOLS if other != subject.name else {}
        except ConfigError:
            continue
        for tool in subject.tools:
            if tool.name in theirs:
                raise subject.broken(f"{other} has a function of this name; take another", tool)


def docstrings(subject: Subject) -> None:
    """Read every docstring."""
    if not subject.tools:
        raise subject.broken("has no function; mark methods with @reads or @writes")
    for tool in subject.tools:
        for defect in docstring_defects(tool):
            raise subject.broken(f"the docstring: {defect}", tool, part=_part(tool, defect))


_DESCRIBED = re.compile(r"describes (\w+), which")
_UNDESCRIBED = re.compile(r"(?:does not describe|parameter) '?(\w+)")


def _part(tool: Tool, defect: str) -> str:
    """Return which part of a function a defect of its docstring is about: a line or a parameter."""
    if more := _DESCRIBED.search(defect):
        return f"{more[1]}:"
    if missing := _UNDESCRIBED.search(defect):
        return missing[1]
    return (inspect.getdoc(tool.function) or "").partition("\n")[0]


def types(subject: Subject) -> None:
    """Look for missing types of results, and for defaults that are not of their type."""
    for tool in subject.tools:
        if "return" not in tool.function.__annotations__:
            raise subject.broken("does not say of which type its result is", tool)
        for parameter in parameters(tool):
            if parameter.default is not parameter.empty:
                _check_default(subject, tool, parameter)


def _check_default(subject: Subject, tool: Tool, parameter: inspect.Parameter) -> None:
    try:
        json.dumps(parameter.default, allow_nan=False)
        check_value(tool, parameter.name, parameter.default)
    except (InvalidArgument, TypeError, ValueError) as error:
        message = f"the default of {parameter.name} does not fit its type: {error}"
        raise subject.broken(message, tool, part=parameter.name) from None


def examples(subject: Subject) -> None:
    """Play every docstring's examples, each docstring's in a session of its own."""
    for tool in subject.tools:
        shown = subject.spec(tool).examples
        if not shown:
            advice = "add a section Examples: with >>> and a call"
            part = _part(tool, advice)
            raise subject.broken(f"the docstring has no example; {advice}", tool, part=part)
        session = subject.session(checks_arguments=True)
        for example in shown:
            result = _make(subject, tool, session, example)
            if not _agree(example, result):
                given = " ".join(result.text.split())
                message = f"the example {example.call} gives {given}"
                raise subject.broken(message, tool, part=_line(example))


def _make(subject: Subject, tool: Tool, session: Session, example: Example) -> Result:
    try:
        return session.call(parse_call(example.call))
    except MalformedCall as error:
        message = f"the example cannot be read: {error}"
        raise subject.broken(message, tool, part=_line(example)) from None


def _line(example: Example) -> str:
    return f">>> {example.call}".partition("\n")[0]


def _agree(example: Example, result: Result) -> bool:
    """Tell whether a result is as shown; where nothing is shown, whether it is a success."""
    if not example.shown:
        return result.ok
    pattern = ".*".join(re.escape(part.strip()) for part in example.shown.split("..."))
    return bool(re.fullmatch(pattern, " ".join(result.text.split()), re.DOTALL))


def outcomes(subject: Subject) -> None:
    """Look for a success of every function, and a refusal of every one that refuses anything.

    What counts is what happens where examples start.
    """
    refused: dict[str, Call] = {}

    def examine(play: Play) -> None:
        for call, result in play.steps():
            if not result.ok and play.world == subject.worlds[0]:
                refused.setdefault(call.name, call)

    explore(subject, examine)
    for tool in subject.tools:
        succeeds = _shown_outcomes(subject, tool)
        if True not in succeeds and not subject.excepts("outcomes", tool):
            message = "no example in the docstring shows a success"
            raise subject.broken(message, tool, part="Examples:")
        if tool.name in refused and False not in succeeds:
            call = refused[tool.name]
            message = f"no example shows a refusal, and {call} is refused"
            raise subject.broken(message, tool, part="Examples:")


def _shown_outcomes(subject: Subject, tool: Tool) -> set[bool]:
    """Return whether the examples of a function, in its own docstring, succeed."""
    session = subject.session()
    found = set()
    for example in subject.spec(tool).examples:
        result = _make(subject, tool, session, example)
        if example.call.startswith(f"{tool.name}("):
            found.add(result.ok)
    return found


def frozen(subject: Subject) -> None:
    """Compare the function documents with the golden file."""
    file = subject.golden_file
    refresh = f"if that is meant: turnwise env tools {subject.name} --json > {file}"
    try:
        golden = {d["name"]: d for d in json.loads(file.read_text(encoding="utf-8"))}
    except OSError:
        raise subject.broken(f"its function documents are not frozen; {refresh}") from None
    except (ValueError, TypeError, KeyError):
        raise Broken(f"{file}:1", f"holds no function documents; {refresh}") from None
    for tool in subject.tools:
        if golden.get(tool.name) != json.loads(json.dumps(subject.spec(tool).document())):
            raise subject.broken(f"its document is not as in the golden file; {refresh}", tool)
    if list(golden) != list(subject.backend.TOOLS):
        raise subject.broken(f"has other functions than the golden file; {refresh}")
