"""Command ``turnwise env tools``: shows the functions of environments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from envs import registry
from envs.backend import Backend
from envs.errors import ConfigError, DataError
from envs.schema import make_spec
from envs.tool import Tool
from extensions.contract.langchain_export import module_text
from runner.commands import DONE
from runner.commands.options import argument, switch
from runner.models.toolbox import FunctionNameMapping, as_tool
from runner.show.terminal import say, say_json

EXAMPLE = "turnwise env tools TicketAPI --markdown"


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options for the environments and the output format."""

    environments: tuple[str, ...] = argument(
        "names of environments (default: all)", "NAME", required=False, default=()
    )
    json: bool = switch("print function documents as a JSON list", one_of="form")
    openai: bool = switch("print chat-completions tools as JSON", one_of="form")
    functions: bool = switch("print deprecated chat-completions functions", one_of="form")
    langchain: bool = switch("print a Python module with LangChain tools", one_of="form")
    markdown: bool = switch("print a reference page with examples", one_of="form")


def environments(names: Sequence[str]) -> list[type[Backend]]:
    """Return the named backends, or all backends if no name is given.

    Raises DataError if a name is unknown, or the named backend cannot be used.
    """
    try:
        return [registry.backend_class(name) for name in names or registry.names()]
    except ConfigError as error:
        problem = error.problems[0]
        raise DataError(problem.path.removeprefix("$."), problem.message) from None


def run(options: Options) -> int:
    """Print the functions of environments."""
    backends = environments(options.environments)
    if options.json:
        say_json(_documents(backends))
    elif options.openai:
        say_json(_openai_tools(backends))
    elif options.functions:
        say_json([tool["function"] for tool in _openai_tools(backends)])
    elif options.langchain:
        say(module_text(_openai_tools(backends)))
    elif options.markdown:
        say("\n".join(line for backend in backends for line in _page(backend)).rstrip())
    else:
        say("\n".join(_lines(backends)))
    return DONE


def _all_tools(backends: Iterable[type[Backend]]) -> list[Tool]:
    return [tool for backend in backends for tool in backend.TOOLS.values()]


def _documents(backends: Iterable[type[Backend]]) -> list[dict[str, Any]]:
    return [make_spec(tool).document() for tool in _all_tools(backends)]


def _openai_tools(backends: Iterable[type[Backend]]) -> list[dict[str, Any]]:
    documents = _documents(backends)
    names = FunctionNameMapping(document["name"] for document in documents)
    return [as_tool(document, names) for document in documents]


def _lines(backends: Sequence[type[Backend]]) -> Iterator[str]:
    rows = []
    for tool in _all_tools(backends):
        about = make_spec(tool)
        takes = ", ".join(p.name if p.required else f"[{p.name}]" for p in about.parameters)
        summary = about.description.split(". ")[0].rstrip(".")
        access = "final" if tool.irreversible else "writes" if tool.writes else "reads"
        rows.append((tool.backend, f"{tool.name}({takes})", access, summary))
    width = max((len(row[1]) for row in rows), default=0)
    for environment, functions in groupby(rows, key=itemgetter(0)):
        yield environment
        for _, call, access, summary in functions:
            yield f"  {call:{width}}  {access:6}  {summary}"


def _page(backend: type[Backend]) -> Iterator[str]:
    yield from (f"# {backend.__name__}", "", (backend.__doc__ or "").partition("\n")[0], "")
    for tool in backend.TOOLS.values():
        yield from _section(tool)


def _section(tool: Tool) -> Iterator[str]:
    about = make_spec(tool)
    yield from (f"## {tool.name}", "", about.description, "")
    if about.parameters:
        yield from ("| argument | type | default | meaning |", "|---|---|---|---|")
    for name, schema, required in about.parameters:
        default = "required" if required else f"`{json.dumps(schema['default'])}`"
        cells = [f"`{name}`", _type_of(schema), default, schema["description"]]
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    if about.parameters:
        yield ""
    changes = "May change the state." if tool.writes else "Does not change the state."
    yield from (f"Returns {about.returns} {changes}", "")
    if about.examples:
        yield "```python"
        for example in about.examples:
            yield from (f">>> {example.call}", *([example.shown] if example.shown else []))
        yield from ("```", "")


def _type_of(schema: Mapping[str, Any]) -> str:
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
