"""What every function document of a single turn must have, whoever wrote it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any


def misfits(documents: Iterable[object]) -> Iterator[tuple[str, str]]:
    """Yield JSON path and what is wrong of function documents that nobody could work with."""
    for index, document in enumerate(documents):
        path = f"[{index}]"
        if not isinstance(document, Mapping):
            yield path, "must be an object"
            continue
        for name in ("name", "description"):
            if not isinstance(document.get(name), str):
                yield f"{path}.{name}", "must be text"
        schema = document.get("parameters")
        if not isinstance(schema, Mapping):
            yield f"{path}.parameters", "must be an object"
        elif "properties" not in schema:
            yield f"{path}.parameters.properties", "is missing"
        else:
            yield from _in_schema(f"{path}.parameters", schema)


def _in_schema(path: str, schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping):
        yield f"{path}.properties", "must be an object"
    else:
        for name, each in properties.items():
            if not isinstance(each, Mapping):
                yield f"{path}.properties.{name}", "must be an object"
            else:
                yield from _in_schema(f"{path}.properties.{name}", each)
    if isinstance(schema.get("items"), Mapping):
        yield from _in_schema(f"{path}.items", schema["items"])
    if not isinstance(required, list | tuple) or not all(isinstance(n, str) for n in required):
        yield f"{path}.required", "must be a list of names"
