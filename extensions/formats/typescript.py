"""Functions as types of a TypeScript namespace, as gpt-oss is shown them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from runner.models.base import ChatMessage
from runner.models.tools import Document

_TYPES = {"integer": "number", "number": "number", "boolean": "boolean", "string": "string"}


def show(documents: Sequence[Document]) -> list[ChatMessage]:
    """Declare functions as types of a namespace."""
    types = "\n\n".join(map(_type_of_function, documents))
    space = (
        f"# Tools\n\n## functions\n\nnamespace functions {{\n\n{types}\n\n}} // namespace functions"
    )
    return [{"role": "developer", "content": space}]


def _type_of_function(document: Document) -> str:
    schema = document["parameters"]
    about = "\n".join(f"// {line}" for line in document["description"].splitlines())
    if not schema.get("properties"):
        return f"{about}\ntype {document['name']} = () => any;"
    required = schema.get("required", ())
    members = [
        f"// {' '.join(str(value.get('description', '')).split())}\n"
        f"{name}{'' if name in required else '?'}: {_type(value)},"
        for name, value in schema["properties"].items()
    ]
    return "\n".join([about, f"type {document['name']} = (_: {{", *members, "}) => any;"])


def _type(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if schema.get("type") == "array":
        return f"{_type(schema.get('items', {}))}[]"
    return _TYPES.get(str(schema.get("type")), "any")
