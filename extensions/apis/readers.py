"""Readers of OpenAPI files, and of RapidAPI files in the two formats of ToolBench."""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from envs.errors import DataError
from extensions.apis.collection import ApiAnswer, ApiCollection, ApiFunction
from extensions.drafting import openapi
from extensions.drafting.schema_types import plain_text
from extensions.drafting.stubs import identifier
from extensions.retrieval.corpus_files import read_file_value

_TYPES = {"STRING": "string", "NUMBER": "number", "BOOLEAN": "boolean", "ARRAY": "array"}
_TYPES |= {"OBJECT": "object", "INTEGER": "integer"}
_MAX_DESCRIPTION_CHARS, _MAX_EXAMPLE_CHARS = 600, 300
_LISTS = ("api_list", "apis", "tools", "functions")


def read_collection(
    path: Path, name: str, notify: Callable[[str], None] | None = None
) -> ApiCollection:
    """Return a collection with the functions and the example responses of a file.

    The reader calls ``notify`` with a warning about references that lead nowhere.

    Raises DataError if the file has no function of a known form.
    """
    value = read_file_value(path)
    if isinstance(value, Mapping) and ("openapi" in value or "swagger" in value):
        warning = openapi.describe_missing(value, str(path))
        if warning and notify is not None:
            notify(warning)
        found = [*_read_openapi(value, str(path))]
    else:
        found = [*_read_rapidapi(value, str(path))]
    if not found:
        raise DataError(
            str(path),
            'contains no function; use a RapidAPI file with "api_list", or an OpenAPI file',
        )
    functions: dict[str, ApiFunction] = {}
    answers = []
    for function, example in found:
        unique, number = function.name, 2
        while unique in functions:
            unique, number = f"{function.name}_{number}", number + 1
        functions[unique] = function._replace(name=unique)
        if example is not None:
            answers.append(example._replace(function=unique))
    return ApiCollection(name, [*functions.values()], answers)


def _read_rapidapi(value: object, where: str) -> Iterator[tuple[ApiFunction, ApiAnswer | None]]:
    """Yield each function and its example answer.

    The example answer has the default arguments and the example response.
    """
    tools = value if isinstance(value, list) else [value]
    for tool in tools:
        if not isinstance(tool, Mapping):
            raise DataError(where, f"must contain only objects, but contains {tool!r:.60}")
        inner = next((tool[name] for name in _LISTS if isinstance(tool.get(name), list)), None)
        for api in [tool] if inner is None else inner:
            if isinstance(api, Mapping) and ("api_name" in api or "required_parameters" in api):
                yield _rapidapi_function(api)


def _rapidapi_function(api: Mapping[str, Any]) -> tuple[ApiFunction, ApiAnswer | None]:
    properties: dict[str, Any] = {}
    sent: dict[str, str] = {}
    required = []
    given: dict[str, Any] = {}
    for group in ("required_parameters", "optional_parameters"):
        listed = api.get(group)
        for each in listed if isinstance(listed, list) else ():
            if not isinstance(each, Mapping):
                continue
            old = str(each.get("name", "value"))
            name = _parameter_name(old, properties)
            schema, default = _rapidapi_schema(each)
            properties[name] = schema
            sent |= {} if name == old else {name: old}
            if group == "required_parameters":
                required.append(name)
                given[name] = schema.pop("default", None) if default is None else default
                schema.pop("default", None)
    body = next((api[n] for n in ("body", "example", "template_response") if api.get(n)), None)
    title = str(api.get("api_name") or api.get("name") or "function")
    told = str(api.get("api_description") or api.get("description") or title)
    function = ApiFunction(
        identifier(title, "function").lower(),
        _describe(told, body),
        {"type": "object", "properties": properties, "required": required},
        str(api.get("method", "GET")).upper(),
        str(api.get("url", "")),
        sent,
    )
    if body is None or None in given.values():
        return function, None
    status = api.get("statuscode", 200)
    return function, ApiAnswer("", given, status if type(status) is int else 200, 0.0, body)


def _rapidapi_schema(parameter: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    kind = _TYPES.get(str(parameter.get("type", "")).upper(), "string")
    told = plain_text(str(parameter.get("description") or ""), _MAX_DESCRIPTION_CHARS)
    schema: dict[str, Any] = {"type": kind, "description": told}
    default = _value(parameter.get("default"), kind)
    if default is not None:
        schema["default"] = default
    return schema, default


def _value(given: object, kind: str) -> Any:
    if given is None or given == "":
        return None
    if kind == "string":
        return str(given)
    try:
        value = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return None
    kinds: dict[str, Any] = {
        "number": (int, float),
        "integer": int,
        "boolean": bool,
        "array": list,
        "object": dict,
    }
    fits = isinstance(value, kinds[kind]) and (kind == "boolean") == isinstance(value, bool)
    return value if fits else None


def _read_openapi(
    value: Mapping[str, Any], where: str
) -> Iterator[tuple[ApiFunction, ApiAnswer | None]]:
    """Yield each operation as a function, with its example answer or None."""
    for operation in openapi.functions(value, where):
        document = operation.document
        properties: dict[str, Any] = {}
        sent: dict[str, str] = {}
        schemas = document["parameters"]["properties"]
        for old, schema in schemas.items():
            name = _parameter_name(old, properties)
            properties[name] = dict(schema)
            sent |= {} if name == old else {name: old}
        names = {sent.get(name, name): name for name in properties}
        required = [names[name] for name in document["parameters"]["required"] if name in names]
        examples = {
            name: schema.get("example", schema.get("default"))
            for name, schema in properties.items()
            if name in required
        }
        function = ApiFunction(
            identifier(document["name"], "function").lower(),
            _describe(document["description"] or document["name"], operation.example),
            {"type": "object", "properties": properties, "required": required},
            operation.method.upper(),
            operation.url,
            sent,
        )
        is_known = operation.example is not None and None not in examples.values()
        answer = ApiAnswer("", examples, 200, 0.0, operation.example)
        yield function, answer if is_known else None


def _parameter_name(old: str, used: Mapping[str, Any]) -> str:
    name = identifier(old, "value")
    if keyword.iskeyword(name) or name in ("self", "state"):
        name += "_"
    while name in used:
        name += "_"
    return name


def _describe(text: str, example: object) -> str:
    told = plain_text(text, _MAX_DESCRIPTION_CHARS) or "A function."
    told = told if told.endswith((".", "!", "?")) else f"{told}."
    if example is None:
        return told
    shown = plain_text(json.dumps(example, ensure_ascii=False), _MAX_EXAMPLE_CHARS)
    return f"{told} Example response: {shown}."
