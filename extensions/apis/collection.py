"""Collection: the functions of an imported API, and recorded answers of the API's service."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from keyword import iskeyword
from pathlib import Path
from typing import Any, NamedTuple, Self

from envs.errors import DataError
from runner.records.json_codec import members_of, read
from trajectories.jsonl import parse_object, read_text

Arguments = Mapping[str, Any]
MAX_SECONDS = 10.0
"""Default timeout for an answer, in seconds."""


class ApiFunction(NamedTuple):
    """A function of a service."""

    name: str
    description: str
    parameters: dict[str, Any]
    """JSON Schema of the arguments."""
    method: str
    url: str
    """URL of the function; the argument ``name`` replaces ``{name}``."""
    sent: dict[str, str] = {}
    """Names that the service uses for parameters, if the names differ."""

    @property
    def reads(self) -> bool:
        """Whether the HTTP method only reads data."""
        return self.method in ("GET", "HEAD", "OPTIONS")

    def normal(self, arguments: Arguments) -> str:
        """Return a key for comparing arguments. The key omits None and default values."""
        schemas = self.parameters["properties"]
        kept = {
            name: value
            for name, value in arguments.items()
            if value is not None and value != schemas.get(name, {}).get("default")
        }
        return json.dumps(kept, sort_keys=True)


class ApiAnswer(NamedTuple):
    """An answer of a service to a call."""

    function: str
    arguments: dict[str, Any]
    status: int
    seconds: float
    body: Any
    """JSON value; text if the service did not answer in JSON."""

    @property
    def problem(self) -> str | None:
        """Why the answer cannot be used; None if it can be used."""
        if self.status >= 400:
            return "failed"
        if isinstance(self.body, str) and self.body.lstrip()[:1] == "<":
            return "HTML"
        return "empty" if self.body in (None, "", {}, []) else None


class ApiCollection(NamedTuple):
    """The functions of a service, and recorded answers of the service."""

    name: str
    """Name of the environment's class."""
    functions: list[ApiFunction]
    answers: list[ApiAnswer]

    @property
    def by_name(self) -> Mapping[str, ApiFunction]:
        """The functions by name."""
        return {function.name: function for function in self.functions}

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a file. Raises DataError if the file is not a collection."""
        found = read(cls, parse_object(read_text(path), str(path)), str(path))
        names = [function.name for function in found.functions]
        unknown = {answer.function for answer in found.answers}.difference(names)
        if unknown or len({*names}) < len(names):
            raise DataError(
                str(path), "contains a function twice, or answers for an unknown function"
            )
        for number, function in enumerate(found.functions):
            if not (function.method.isascii() and function.method.isalpha()):
                where = f"{path}: $.functions[{number}].method"
                raise DataError(where, f"{function.method!r:.60} is not a method of HTTP")
            if misfit := _find_misfit(function.parameters):
                raise DataError(str(path), f"$.functions[{number}].parameters.{misfit}")
        return found

    def encoded(self) -> Sequence[bytes]:
        """Return the content of the collection's file."""
        value = {
            "name": self.name,
            "functions": [members_of(each) for each in self.functions],
            "answers": [members_of(each) for each in self.answers],
        }
        text = json.dumps(value, indent=1, ensure_ascii=False)
        return text.encode("utf-8", "backslashreplace"), b"\n"

    def usable(self, max_seconds: float = MAX_SECONDS) -> Self:
        """Return a copy with only the usable answers and their functions."""
        kept = [
            answer
            for answer in self.answers
            if answer.problem is None and answer.seconds <= max_seconds
        ]
        names = {answer.function for answer in kept}
        functions = [function for function in self.functions if function.name in names]
        return self._replace(functions=functions, answers=kept)

    def yields(self, max_seconds: float = MAX_SECONDS) -> Iterator[tuple[str, int]]:
        """Count all functions, the omitted functions by reason, and the kept functions."""
        usable = {function.name for function in self.usable(max_seconds).functions}
        reasons: dict[str, int] = {}
        for function in self.functions:
            if function.name not in usable:
                found = [each for each in self.answers if each.function == function.name]
                reason = (found[0].problem or "slow") if found else "no answer"
                reasons[reason] = reasons.get(reason, 0) + 1
        yield "functions", len(self.functions)
        yield from sorted(reasons.items())
        yield "kept", len(usable)


def _find_misfit(schema: Mapping[str, Any]) -> str | None:
    """Return the place and the mistake of parameters that no function can have."""
    properties, required = schema.get("properties"), schema.get("required", [])
    if not isinstance(properties, dict):
        return f"properties: must be an object, but is {properties!r:.60}"
    for name, each in properties.items():
        if not name.isidentifier() or iskeyword(name):
            return f"properties: {name!r:.60} is not a name of a parameter"
        if not isinstance(each, dict):
            return f"properties.{name}: must be an object, but is {each!r:.60}"
        for member in ("type", "description"):
            if not isinstance(each.get(member, ""), str):
                return f"properties.{name}.{member}: must be a string, but is {each[member]!r:.60}"
    if not isinstance(required, list) or not all(name in [*properties] for name in required):
        return f"required: must be a list of parameters, but is {required!r:.60}"
    return None
