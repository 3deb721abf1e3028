"""Command ``turnwise env record``: records answers of the real service."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from envs.errors import DataError
from extensions.apis.collection import MAX_SECONDS, ApiAnswer, ApiCollection, ApiFunction
from extensions.apis.commands.import_api import print_yields
from extensions.apis.recorder import record
from runner.commands import DONE
from runner.commands.options import argument, option, positive
from runner.records.durable_files import write_whole
from runner.show.terminal import format_count, say
from trajectories.jsonl import read_objects

EXAMPLE = "turnwise env record faker.json --allow faker.example.com"

NOTES = (
    "Requests reach the real service and may change its data. Requests go only to the hosts in "
    "--allow.\n"
)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options of ``env record``."""

    collection: Path = argument("collection file, to which the answers are added", "FILE")
    allow: str = option(
        "hosts that may receive requests, separated by commas", "HOSTS", required=True
    )
    calls: Path | None = option(
        'JSON Lines file with the calls, such as {"function": "f", "arguments": {}} '
        "(default: the example calls of the collection)",
        "FILE",
    )
    header: str | None = option(
        "header of all requests; the environment variable VARIABLE contains the value",
        "NAME=VARIABLE",
    )
    timeout: int = option("maximum time per request", "SECONDS", default=20, read=positive)


def run(options: Options) -> int:
    """Call the service, and add the answers to the collection file."""
    found = ApiCollection.load(options.collection)
    calls = [*_read_calls(options.calls)] if options.calls else _known_calls(found)
    allowed = [host.strip() for host in options.allow.split(",")]
    functions = found.by_name
    answers = {_key(functions, answer): answer for answer in found.answers}
    for answer in record(found, calls, allowed, _headers(options.header), options.timeout):
        answers[_key(functions, answer)] = answer
    found = found._replace(answers=[*answers.values()])
    write_whole(options.collection, found.encoded(), named=True)
    say(f"{options.collection}: {format_count(len(calls), 'answer')} recorded")
    print_yields(found, MAX_SECONDS)
    return DONE


def _read_calls(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for where, value in read_objects(path):
        match value:
            case {"function": str(name), "arguments": dict(arguments)}:
                yield name, arguments
            case _:
                raise DataError(where, 'must have "function", a string, and "arguments", an object')


def _known_calls(found: ApiCollection) -> list[tuple[str, dict[str, Any]]]:
    """Return all recorded calls and the calls that need no arguments."""
    calls = [(answer.function, answer.arguments) for answer in found.answers]
    known = {name for name, _ in calls}
    free: list[tuple[str, dict[str, Any]]] = [
        (function.name, {})
        for function in found.functions
        if function.name not in known and not function.parameters.get("required")
    ]
    return [*calls, *free]


def _headers(given: str | None) -> dict[str, str]:
    if given is None:
        return {}
    name, _, variable = given.partition("=")
    if not name or variable not in os.environ:
        raise DataError("--header", f"{variable or given!r} is not an environment variable")
    return {name: os.environ[variable]}


def _key(functions: Mapping[str, ApiFunction], answer: ApiAnswer) -> tuple[str, str]:
    return answer.function, functions[answer.function].normal(answer.arguments)
