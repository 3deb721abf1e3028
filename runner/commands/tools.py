"""The command ``turnwise tools``: the functions of environments, for people and for models."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from envs.backend import Backend
from envs.tool import Tool
from runner.commands.common import DONE, new_command
from runner.commands.environments import environments


def add_command(commands: Any) -> None:
    """Add the command to those of the command line."""
    text = "Show the functions of environments: a table, documents, tools, or a reference page."
    parser = new_command(commands, "tools", _tools, text)
    parser.add_argument(
        "environments", nargs="*", metavar="ENV", help="names of environments (default: all)"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="function documents, as a JSON list")
    form.add_argument("--openai", action="store_true", help="chat-completions tools, as JSON")
    form.add_argument("--markdown", action="store_true", help="a reference page, with examples")


def _tools(options: argparse.Namespace) -> int:
    backends = environments(options.environments)
    if options.json:
        print(json.dumps(_documents(backends), indent=2, ensure_ascii=False))
    elif options.openai:
        print(json.dumps(_openai_tools(backends), indent=2, ensure_ascii=False))
    elif options.markdown:
        print("\n".join(line for backend in backends for line in _page(backend)).rstrip())
    else:
        print("\n".join(_lines(backends)))
    return DONE


def _all_tools(backends: Iterable[type[Backend]]) -> list[Tool]:
    return [tool for backend in backends for tool in backend.TOOLS.values()]


def _documents(backends: Iterable[type[Backend]]) -> list[dict[str, Any]]:
    from envs.schema import spec

    return [spec(tool).document() for tool in _all_tools(backends)]


def _openai_tools(backends: Iterable[type[Backend]]) -> list[dict[str, Any]]:
    from runner.models.tools import Names, as_tool

    documents = _documents(backends)
    names = Names(document["name"] for document in documents)
    return [as_tool(document, names) for document in documents]


def _lines(backends: Sequence[type[Backend]]) -> Iterator[str]:
    """Yield a heading and a line per function: how it is called, what it may do, what it does."""
    from envs.schema import spec

    rows = []
    for tool in _all_tools(backends):
        about = spec(tool)
        takes = ", ".join(p.name if p.required else f"[{p.name}]" for p in about.parameters)
        summary = about.description.split(". ")[0].rstrip(".")
        access = "writes" if tool.writes else "reads"
        rows.append((tool.environment, f"{tool.name}({takes})", access, summary))
    width = max((len(row[1]) for row in rows), default=0)
    for environment, functions in groupby(rows, key=itemgetter(0)):
        yield environment
        for _, call, access, summary in functions:
            yield f"  {call:{width}}  {access:6}  {summary}"


def _page(backend: type[Backend]) -> Iterator[str]:
    """Yield the lines of the reference page of an environment."""
    yield from (f"# {backend.__name__}", "", (backend.__doc__ or "").partition("\n")[0], "")
    for tool in backend.TOOLS.values():
        yield from _section(tool)


def _section(tool: Tool) -> Iterator[str]:
    from envs.schema import spec

    about = spec(tool)
    yield from (f"## {tool.name}", "", about.description, "")
    if about.parameters:
        yield from ("| argument | type | default | meaning |", "|---|---|---|---|")
    for name, schema, required in about.parameters:
        default = "required" if required else f"`{json.dumps(schema['default'])}`"
        cells = [f"`{name}`", _type_of(schema), default, schema["description"]]
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    if about.parameters:
        yield ""
    changes = "May change the state." if tool.writes else "Leaves the state as it is."
    yield from (f"Returns {about.returns} {changes}", "")
    if about.examples:
        yield "```python"
        for example in about.examples:
            yield from (f">>> {example.call}", *([example.shown] if example.shown else []))
        yield from ("```", "")


def _type_of(schema: Mapping[str, Any]) -> str:
    """Return a JSON Schema in words."""
    if "anyOf" in schema:
        return " or ".join(map(_type_of, schema["anyOf"]))
    if "enum" in schema:
        return " or ".join(f"`{json.dumps(value)}`" for value in schema["enum"])
    kind = str(schema.get("type", "any"))
    if kind == "array":
        return f"array of {_type_of(schema.get('items', {}))}"
    bounds = [f"{word} {schema[key]}" for key, word in _BOUNDS.items() if key in schema]
    return ", ".join([kind, *bounds])


_BOUNDS = {
    "minimum": "from",
    "maximum": "to",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
    "multipleOf": "multiple of",
    "pattern": "like",
    "minLength": "at least this long:",
    "maxLength": "at most this long:",
}
