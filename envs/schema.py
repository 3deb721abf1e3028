"""What pydantic and docstrings say: the interface of a function, and the types of initial configs.

JSON Schema, the check of arguments and of configs and the reference page all come from here. Which
types a parameter may have is checked when a backend's class is made, in ``envs.tool``.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple, NotRequired, get_type_hints

from pydantic import ConfigDict, Discriminator, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import TypedDict

from envs.docstrings import docstring, joined
from envs.errors import ConfigProblem, InvalidArgument
from envs.state import brief
from envs.tool import Tool, bind, parameters


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    schema: Mapping[str, Any]
    """JSON Schema of the value, with description and, where there is one, default."""
    required: bool


class Example(NamedTuple):
    """A call that a docstring shows, in the environment's example config."""

    call: str
    """Text of the call."""
    shown: str
    """The text of its result, ``...`` for any part of it; empty where none is shown."""


class ToolSpec(NamedTuple):
    """What a model is told about a function, and examples, which it is not."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    returns: str
    examples: tuple[Example, ...]

    def document(self) -> dict[str, Any]:
        """Return the function document: name, description, and parameters as JSON Schema."""
        return {
            "name": self.name,
            "description": f"{self.description} Returns: {self.returns}",
            "parameters": self.json_schema(),
        }

    def json_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments object."""
        return {
            "type": "object",
            "properties": {p.name: dict(p.schema) for p in self.parameters},
            "required": [p.name for p in self.parameters if p.required],
            "additionalProperties": False,
        }


@cache
def spec(tool: Tool) -> ToolSpec:
    """Return the interface of a function.

    Raises:
        TypeError: A parameter has no type or one that JSON Schema cannot express, or the
            docstring does not describe it.
    """
    told = docstring(tool.function)
    properties = _schema(tool)
    described_parameters = []
    for parameter in parameters(tool):
        if parameter.name not in told.parameters:
            raise TypeError(f"{_where(tool)}: the docstring does not describe {parameter.name!r}")
        schema = _inlined(properties["properties"][parameter.name], properties.get("$defs", {}))
        schema["description"] = told.parameters[parameter.name]
        required = parameter.default is parameter.empty
        if not required:
            schema["default"] = parameter.default
        described_parameters.append(Parameter(parameter.name, schema, required))
    return ToolSpec(
        tool.name,
        told.summary,
        tuple(described_parameters),
        told.returns,
        tuple(_examples(told.examples)),
    )


def docstring_defects(tool: Tool) -> Iterator[str]:
    """Yield what is wrong with a function's docstring."""
    try:
        told = spec(tool)
    except TypeError as error:
        yield str(error)
        return
    if not told.description.endswith("."):
        yield "its summary is no sentence that ends in a full stop"
    if not told.returns:
        yield "does not say what is returned"
    names = [parameter.name for parameter in told.parameters]
    for name in docstring(tool.function).parameters:
        if name not in names:
            yield f"describes {name}, which is no parameter"


def check_arguments(tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Check that arguments fit a function's schema.

    Returns:
        The arguments by name, those that are pydantic models made.

    Raises:
        InvalidArgument: One is missing, unknown, given twice, or of the wrong type.
    """
    return check_bound(tool, bind(tool, args, kwargs))


def check_bound(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Do what ``check_arguments`` does with arguments that are known by name."""
    try:
        fitting: dict[str, Any] = _adapter(tool).validate_python(arguments, strict=True)
        return fitting
    except ValidationError as error:
        raise InvalidArgument(_explain(tool, error.errors()[0])) from None


def check_value(tool: Tool, name: str, value: Any) -> None:
    """Check that a value fits one parameter, whatever the others are.

    Raises:
        InvalidArgument: It does not.
    """
    try:
        _adapter(tool).validate_python({name: value}, strict=True)
    except ValidationError as error:
        for detail in error.errors():
            if detail["loc"][0] == name:
                raise InvalidArgument(_explain(tool, detail)) from None


def result_defect(tool: Tool, value: Any) -> str | None:
    """Say why a result is not of the type that its function declares; None if it is."""
    try:
        _result(tool).validate_python(value, strict=True)
    except ValidationError as error:
        detail = error.errors()[0]
        where = _path(value, detail["loc"])
        return f"not of the declared type: {where.lstrip('.') or 'it'}: {_said(detail)}"
    return None


@cache
def _result(tool: Tool) -> TypeAdapter[Any]:
    hints = get_type_hints(inspect.unwrap(tool.function), include_extras=True)
    return TypeAdapter(hints.get("return", Any))


@cache
def _strict(kind: Any) -> TypeAdapter[Any]:
    kind.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    return TypeAdapter(kind)


@cache
def _adapter(tool: Tool) -> TypeAdapter[Any]:
    try:
        hints = get_type_hints(tool.function, include_extras=True)
        fields = {
            p.name: hints[p.name] if p.default is p.empty else NotRequired[hints[p.name]]
            for p in parameters(tool)
        }
        arguments: Any = TypedDict(tool.name, fields)  # type: ignore[misc]
        return _strict(arguments)
    except Exception as error:
        raise TypeError(f"{_where(tool)}: {error}") from error


def _schema(tool: Tool) -> dict[str, Any]:
    try:
        return _adapter(tool).json_schema()
    except PydanticUserError as error:
        raise TypeError(f"{_where(tool)}: {error.message}") from error


def _explain(tool: Tool, detail: ErrorDetails) -> str:
    name = "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in detail["loc"]
    ).lstrip(".")
    if detail["type"] == "missing":
        return f"{tool.name} needs the argument {name}."
    given = brief(detail["input"], 100)
    return f"{tool.name}: {name} = {given}: {_said(detail)}."


def _said(detail: ErrorDetails) -> str:
    return detail["msg"][0].lower() + detail["msg"][1:]


def _examples(section: str) -> Iterator[Example]:
    for example in section.split(">>> ")[1:]:
        first, *rest = map(str.strip, example.splitlines())
        further = list(takewhile(lambda line: line.startswith("... "), rest))
        call = " ".join([first, *(line.removeprefix("... ") for line in further)])
        yield Example(call, joined(" ".join(rest[len(further) :])))


def _inlined(schema: Any, definitions: Mapping[str, Any]) -> Any:
    """Return a schema with its references replaced and pydantic's titles dropped."""
    if isinstance(schema, dict):
        if "$ref" in schema:
            return _inlined(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
        return {
            key: _inlined(value, definitions)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    if isinstance(schema, list):
        return [_inlined(member, definitions) for member in schema]
    return schema


def _where(tool: Tool) -> str:
    return f"{tool.backend}.{tool.name}"


BY_TYPE = Discriminator("type")
"""Has a union of objects checked as what their ``type`` says, not as any of them."""


def config_schema(kind: type) -> dict[str, Any]:
    """Return the JSON Schema of the type of a backend's initial config."""
    return _strict(kind).json_schema()


def check_config(backend: str, kind: type, config: object) -> list[ConfigProblem]:
    """Return what does not fit the type of one backend's initial config, in the config's order."""
    try:
        _strict(kind).validate_python(config)
    except ValidationError as error:
        return [_problem(f"$.{backend}", kind, config, detail) for detail in error.errors()]
    return []


def _problem(root: str, kind: type, config: object, detail: ErrorDetails) -> ConfigProblem:
    path = root + _path(config, detail["loc"])
    if detail["type"] == "extra_forbidden":
        key = str(detail["loc"][-1])
        known = list(kind.__annotations__) if len(detail["loc"]) == 1 else []
        close = get_close_matches(key, known, n=1)
        advice = f"did you mean {close[0]}?" if close else "remove it"
        return ConfigProblem(path, f"unknown key; {advice}")
    if detail["type"] == "missing":
        return ConfigProblem(path, "is missing")
    return ConfigProblem(path, f"{_said(detail)}, got {brief(detail['input'], 60)}")


def _path(config: object, location: tuple[int | str, ...]) -> str:
    """Write a pydantic location as a JSON path, without the names of union members in it."""
    path, here = "", config
    for position, step in enumerate(location):
        last = position == len(location) - 1
        if isinstance(here, dict) and (step in here or last):
            path += f".{step}" if str(step).isidentifier() else f"[{step!r}]"
            here = here.get(step)
        elif isinstance(here, list) and isinstance(step, int):
            path += f"[{step}]"
            here = here[step] if step < len(here) else None
    return path
