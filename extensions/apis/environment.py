"""Environment of a collection; its functions return recorded answers."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from envs.backend import Backend, reads
from envs.errors import Refused
from envs.tool import join_lines
from extensions.apis.collection import ApiCollection, ApiFunction

_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "array": list[Any],
    "object": dict[str, Any],
}
_MAX_SHOWN = 3


def make_backend(path: Path | str) -> type[Backend]:
    """Return a backend for the collection in a file.

    A function returns the answer that was recorded for the same arguments; other arguments are
    refused. The state is a list of all calls, except calls of read-only functions.

    Raises DataError if the file is not a collection.
    """
    found = ApiCollection.load(Path(path)).usable()
    functions = [_make_function(found, function) for function in found.functions]
    return Backend.from_functions({"performed": []}, functions, found.name)


def _make_function(collection: ApiCollection, spec: ApiFunction) -> Callable[..., Any]:
    own = [answer for answer in collection.answers if answer.function == spec.name]
    answers = {spec.normal(answer.arguments): answer.body for answer in own}
    shown = list(answers)[:_MAX_SHOWN]
    parameters = [*_parameters(spec)]
    signature = inspect.Signature(parameters)

    def call(state: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        key = spec.normal(bound.arguments)
        if key not in answers:
            raise Refused(
                f"{spec.name} has no recorded answer to {key}; recorded arguments are, for "
                f"example, {', '.join(shown)}"
            )
        if not spec.reads:
            state["performed"] = [*state["performed"], {"function": spec.name, **json.loads(key)}]
        return answers[key]

    state = inspect.Parameter("state", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call.__name__ = call.__qualname__ = spec.name
    call.__dict__["__signature__"] = inspect.Signature([state, *parameters])
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    call.__doc__ = _docstring(spec)
    return reads(call) if spec.reads else call


def _parameters(spec: ApiFunction) -> list[inspect.Parameter]:
    required = spec.parameters.get("required", [])
    found = []
    for name, schema in spec.parameters["properties"].items():
        kind = _TYPES.get(schema.get("type", ""), Any)
        default = inspect.Parameter.empty
        if name not in required:
            default = schema.get("default")
            kind = kind if default is not None else kind | None
        way = inspect.Parameter.POSITIONAL_OR_KEYWORD
        found.append(inspect.Parameter(name, way, default=default, annotation=kind))
    return sorted(found, key=lambda each: each.default is not inspect.Parameter.empty)


def _docstring(spec: ApiFunction) -> str:
    properties = spec.parameters["properties"]
    described = {
        name: join_lines(schema.get("description") or f"The {name}.")
        for name, schema in properties.items()
    }
    args = [f"    {name}: {text}" for name, text in described.items()]
    summary = join_lines(spec.description)
    return "\n".join([summary, "", "Args:", *args] if args else [summary])
