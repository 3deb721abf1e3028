"""The interface of a function, from its signature and docstring: one source for every reader.

Supported parameter types are those that pydantic can describe in JSON Schema: bool, int, float,
str, Literal, None, list, dict, TypedDict, unions of them, and Annotated with ranges or patterns.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, NotRequired, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import TypedDict

from envs.backend import Tool
from envs.binding import bind, parameters
from envs.errors import InvalidArgument
from envs.state import brief

_SECTION = re.compile(r"^(Args|Returns|Raises):\s*$", re.MULTILINE)
_ITEM = re.compile(r"^    (\w+): (.*(?:\n {8}.*)*)", re.MULTILINE)


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    schema: Mapping[str, Any]
    """JSON Schema of the value, with description and, where there is one, default."""
    required: bool


class ToolSpec(NamedTuple):
    """What a model is told about a function."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    returns: str

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
    summary, sections = _sections(inspect.getdoc(tool.function) or "")
    described = dict(_ITEM.findall(sections.get("Args", "")))
    properties = _adapter(tool).json_schema()
    described_parameters = []
    for parameter in parameters(tool):
        if parameter.name not in described:
            raise TypeError(f"{_where(tool)}: the docstring does not describe {parameter.name!r}")
        schema = _inlined(properties["properties"][parameter.name], properties.get("$defs", {}))
        schema["description"] = _joined(described[parameter.name])
        required = parameter.default is parameter.empty
        if not required:
            schema["default"] = parameter.default
        described_parameters.append(Parameter(parameter.name, schema, required))
    return ToolSpec(
        tool.name,
        _joined(summary),
        tuple(described_parameters),
        _joined(sections.get("Returns", "")),
    )


def check_arguments(tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    """Check that arguments fit a function's schema.

    Raises:
        InvalidArgument: One is missing, unknown, given twice, or of the wrong type.
    """
    arguments = bind(tool, args, kwargs)
    try:
        _adapter(tool).validate_python(arguments)
    except ValidationError as error:
        raise InvalidArgument(_explain(tool, error.errors()[0])) from None


@cache
def _adapter(tool: Tool) -> TypeAdapter[Any]:
    try:
        hints = get_type_hints(tool.function, include_extras=True)
        fields = {
            p.name: hints[p.name] if p.default is p.empty else NotRequired[hints[p.name]]
            for p in parameters(tool)
        }
        arguments: Any = TypedDict(tool.name, fields)  # type: ignore[misc]
        arguments.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)  # type: ignore[attr-defined]
        return TypeAdapter(arguments)
    except KeyError as error:
        raise TypeError(f"{_where(tool)}: the parameter {error} has no type") from None
    except Exception as error:
        raise TypeError(f"{_where(tool)}: {error}") from error


def _explain(tool: Tool, detail: ErrorDetails) -> str:
    name = "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in detail["loc"]
    ).lstrip(".")
    if detail["type"] == "missing":
        return f"{tool.name} needs the argument {name}."
    given = brief(detail["input"], 100)
    return f"{tool.name}: {name} = {given}: {detail['msg'][0].lower()}{detail['msg'][1:]}."


def _sections(doc: str) -> tuple[str, dict[str, str]]:
    summary, *rest = _SECTION.split(doc)
    return summary.strip(), dict(zip(rest[::2], rest[1::2], strict=True))


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


def _joined(text: str) -> str:
    return " ".join(text.split())


def _where(tool: Tool) -> str:
    return f"{tool.environment}.{tool.name}"
