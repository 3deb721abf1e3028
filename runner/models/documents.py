"""Function documents as JSON, as Python stubs or as XML: three ways to say the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal
from xml.sax.saxutils import escape, quoteattr

from runner.models.tools import Document

Notation = Literal["json", "python", "xml"]

_PYTHON_TYPES = {
    "string": "str",
    "integer": "int",
    "float": "float",
    "boolean": "bool",
    "array": "list",
    "tuple": "tuple",
    "dict": "dict",
    "any": "Any",
}
_TOLD_APART = ("type", "description", "items", "properties", "required")
"""Members of a schema that are not listed with the others, such as a default."""


def render(documents: Sequence[Document], notation: Notation) -> str:
    """Return documents as text.

    Args:
        documents: In BFCL's dialect of JSON Schema.
        notation: What they are written in.
    """
    if notation == "json":
        return json.dumps(documents, indent=4, ensure_ascii=False)
    write = _python if notation == "python" else _xml
    return "\n\n".join("\n".join(write(document)) for document in documents)


def _python(document: Document) -> Iterator[str]:
    schema = document["parameters"]
    required = schema.get("required", ())
    parameters = [
        f"{name}: {_type(value, _PYTHON_TYPES)}{'' if name in required else ' = ...'}"
        for name, value in schema["properties"].items()
    ]
    yield f"def {document['name']}({', '.join(parameters)}):"
    yield f'    """{document["description"]}'
    if parameters:
        yield ""
        yield "    Args:"
        yield from _python_members(schema["properties"], 8)
    yield '    """'


def _python_members(properties: Mapping[str, Any], indent: int) -> Iterator[str]:
    for name, schema in properties.items():
        notes = [f"{key}: {json.dumps(v, ensure_ascii=False)}." for key, v in _more(schema)]
        about = " ".join([f"{schema.get('description', '')}", *notes])
        yield f"{' ' * indent}{name} ({_type(schema, _PYTHON_TYPES)}): {about}"
        yield from _python_members(_members(schema), indent + 4)


def _type(schema: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """Return a type with that of its elements, by other names where there are any."""
    word = str(schema.get("type", "any"))
    name = names.get(word, word)
    items = schema.get("items")
    return f"{name}[{_type(items, names)}]" if isinstance(items, Mapping) else name


def _xml(document: Document) -> Iterator[str]:
    schema = document["parameters"]
    yield f"<function name={quoteattr(document['name'])}>"
    yield f"  <description>{escape(document['description'])}</description>"
    yield from _xml_members(schema, 2)
    yield "</function>"


def _xml_members(schema: Mapping[str, Any], indent: int) -> Iterator[str]:
    blanks = " " * indent
    members = _members(schema)
    for name, member in members.items():
        # A schema that does not say which members it requires means all.
        required = "true" if name in schema.get("required", members) else "false"
        attributes = f"name={quoteattr(name)} type={quoteattr(_type(member, {}))}"
        yield f'{blanks}<parameter {attributes} required="{required}">'
        yield f"{blanks}  <description>{escape(str(member.get('description', '')))}</description>"
        for key, value in _more(member):
            text = escape(json.dumps(value, ensure_ascii=False))
            yield f"{blanks}  <{key}>{text}</{key}>"
        yield from _xml_members(member, indent + 2)
        yield f"{blanks}</parameter>"


def _more(schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield what else a schema says of a value or its elements, such as an enumeration."""
    items = schema.get("items")
    for part in (schema, items if isinstance(items, Mapping) else {}):
        yield from ((key, value) for key, value in part.items() if key not in _TOLD_APART)


def _members(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the members of an object, or of the objects in a list."""
    items = schema.get("items")
    found = schema.get("properties") or (_members(items) if isinstance(items, Mapping) else {})
    return found if isinstance(found, Mapping) else {}
