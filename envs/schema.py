"""Schemas of functions and initial configs, from type annotations and docstrings.

The module makes JSON Schemas and the data of the reference page, and checks arguments and configs.
``envs.tool`` checks the types of parameters when a backend's class is created.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from itertools import takewhile
from typing import Any, NamedTuple, NotRequired, get_type_hints

from pydantic import ConfigDict, Discriminator, PydanticUserError, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails
from typing_extensions import TypedDict

from envs.errors import ConfigProblem, DataError, InvalidArgument
from envs.state import cut_repr
from envs.tool import Tool, bind, join_lines, parameters, parse_docstring


class Parameter(NamedTuple):
    """One parameter of a function."""

    name: str
    schema: Mapping[str, Any]
    """JSON Schema of the value, with its description and default."""
    required: bool


class ExampleCall(NamedTuple):
    """Example call in a docstring; the call runs with the environment's example config."""

    call: str
    shown: str
    """Text of the result, with ``...`` for omitted parts; empty if the example shows no result."""


class ToolSpec(NamedTuple):
    """A function as the model sees it, and examples that only the documentation shows."""

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    returns: str
    examples: tuple[ExampleCall, ...]

    def document(self) -> dict[str, Any]:
        """Return the function document: name, description and parameters as JSON Schema."""
        returns = f" Returns: {self.returns}" if self.returns else ""
        return {
            "name": self.name,
            "description": f"{self.description}{returns}",
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
def make_spec(tool: Tool) -> ToolSpec:
    """Return the interface of a function.

    Raises DataError if a parameter has no type, no description, or a type that JSON Schema cannot
    express.
    """
    told = parse_docstring(tool.function)
    properties = _arguments_schema(tool)
    described_parameters = []
    for parameter in parameters(tool):
        if parameter.name not in told.parameters:
            why = f"the docstring does not describe {parameter.name!r}"
            raise DataError(_qualified_name(tool), why)
        schema = _inline_references(
            properties["properties"][parameter.name], properties.get("$defs", {})
        )
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
        tuple(_parse_examples(told.examples)),
    )


def list_docstring_errors(tool: Tool) -> Iterator[str]:
    """Yield the errors in a function's docstring."""
    try:
        told = make_spec(tool)
    except DataError as error:
        yield str(error)
        return
    if not told.description.endswith("."):
        yield "the summary must end with a full stop" if told.description else "it is missing"
    if not told.returns:
        yield "the section Returns is missing"
    names = [parameter.name for parameter in told.parameters]
    for name in parse_docstring(tool.function).parameters:
        if name not in names:
            yield f"the section Args describes {name}, which is not a parameter"


def check_arguments(tool: Tool, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Check arguments against a function's schema, and return the arguments by name.

    Raises InvalidArgument if an argument is missing, unknown, given twice, or of the wrong type.
    """
    return check_bound(tool, bind(tool, args, kwargs))


def check_bound(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Check named arguments in the same way as ``check_arguments``."""
    try:
        fitting: dict[str, Any] = _adapter(tool).validate_python(arguments, strict=True)
        return fitting
    except ValidationError as error:
        raise InvalidArgument(_explain(tool, error.errors()[0])) from None


def check_value(tool: Tool, name: str, value: Any) -> None:
    """Check a parameter's value. Raises InvalidArgument if the value does not match the schema."""
    try:
        _adapter(tool).validate_python({name: value}, strict=True)
    except ValidationError as error:
        for detail in error.errors():
            if detail["loc"][0] == name:
                raise InvalidArgument(_explain(tool, detail)) from None


@cache
def _strict_adapter(kind: Any) -> TypeAdapter[Any]:
    kind.__pydantic_config__ = ConfigDict(extra="forbid", strict=True)
    try:
        return TypeAdapter(kind)
    except PydanticUserError as error:  # such as a TypedDict of typing before Python 3.12
        raise DataError(kind.__name__, join_lines(error.message)) from error


@cache
def _adapter(tool: Tool) -> TypeAdapter[Any]:
    try:
        hints = get_type_hints(tool.function, include_extras=True)
        fields = {
            p.name: hints[p.name] if p.default is p.empty else NotRequired[hints[p.name]]
            for p in parameters(tool)
        }
        arguments: Any = TypedDict(tool.name, fields)  # type: ignore[misc]
        return _strict_adapter(arguments)
    except Exception as error:
        raise DataError(_qualified_name(tool), join_lines(str(error))) from error


def _arguments_schema(tool: Tool) -> dict[str, Any]:
    try:
        return _adapter(tool).json_schema()
    except PydanticUserError as error:
        raise DataError(_qualified_name(tool), error.message) from error


def _explain(tool: Tool, detail: ErrorDetails) -> str:
    name = "".join(
        f"[{step}]" if isinstance(step, int) else f".{step}" for step in detail["loc"]
    ).lstrip(".")
    if detail["type"] == "missing":
        return f"{tool.name} needs the argument {name}."
    given = cut_repr(detail["input"], 100)
    return f"{tool.name}: {name} = {given}: {lower_first(detail)}."


def lower_first(detail: ErrorDetails) -> str:
    """Return pydantic's message with a lower-case first letter."""
    return detail["msg"][0].lower() + detail["msg"][1:]


def _parse_examples(section: str) -> Iterator[ExampleCall]:
    for example in section.split(">>> ")[1:]:
        first, *rest = map(str.strip, example.splitlines())
        further = list(takewhile(lambda line: line.startswith("... "), rest))
        call = " ".join([first, *(line.removeprefix("... ") for line in further)])
        yield ExampleCall(call, join_lines(" ".join(rest[len(further) :])))


def _inline_references(schema: Any, definitions: Mapping[str, Any]) -> Any:
    if isinstance(schema, dict):
        if "$ref" in schema:
            return _inline_references(definitions[schema["$ref"].rsplit("/", 1)[1]], definitions)
        return {
            key: _inline_references(value, definitions)
            for key, value in schema.items()
            if not (key == "title" and isinstance(value, str))
        }
    if isinstance(schema, list):
        return [_inline_references(member, definitions) for member in schema]
    return schema


def _qualified_name(tool: Tool) -> str:
    return f"{tool.backend}.{tool.name}"


BY_TYPE = Discriminator("type")
"""The field ``type`` selects one of several object types."""


def make_config_schema(kind: type) -> dict[str, Any]:
    """Return the JSON Schema of a backend's initial config."""
    return _strict_adapter(kind).json_schema()


def check_config(
    backend: str, kind: type, config: object, *, strict: bool = True
) -> list[ConfigProblem]:
    """Return the type errors of one backend's initial config, in the config's order."""
    try:
        _strict_adapter(kind).validate_python(config, strict=strict)
    except ValidationError as error:
        return [_make_problem(f"$.{backend}", kind, config, detail) for detail in error.errors()]
    return []


def _make_problem(root: str, kind: type, config: object, detail: ErrorDetails) -> ConfigProblem:
    path = root + json_path(config, detail["loc"])
    if detail["type"] == "extra_forbidden":
        key = str(detail["loc"][-1])
        known = list(kind.__annotations__) if len(detail["loc"]) == 1 else []
        close = get_close_matches(key, known, n=1)
        advice = f"did you mean {close[0]}?" if close else "remove it"
        return ConfigProblem(path, f"unknown key; {advice}")
    if detail["type"] == "missing":
        return ConfigProblem(path, "is missing")
    return ConfigProblem(path, f"{lower_first(detail)}, got {cut_repr(detail['input'], 60)}")


def json_path(config: object, location: tuple[int | str, ...]) -> str:
    """Return the JSON path of a location that pydantic reports, without the root."""
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
