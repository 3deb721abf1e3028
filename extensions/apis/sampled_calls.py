"""Make a collection of recorded answers from sampled calls of a registered environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

from envs.calls import Call
from envs.registry import backend_class, get_example_file, list_tools
from envs.session import Session
from extensions.apis.collection import ApiAnswer, ApiCollection, ApiFunction
from runner.models.toolbox import own_documents
from trajectories.jsonl import parse_object, read_text

_DRAWS = 40
"""Number of calls that are tried per function."""
_CALLS_PER_FUNCTION = 3
_MAX_VALUE_CHARS = 60
_WORD = re.compile(r"[a-z]+")
_USUAL: Mapping[str, Sequence[Any]] = {
    "string": ("Oslo", "green tea", "2024-03-15", "14:30", "notes.txt", "a quiet morning"),
    "integer": (2, 3, 5, 12, 40, 2024),
    "number": (2.5, 4, 12, 80, 150.5, 1000),
    "boolean": (True, False),
}
"""Values to try if a parameter accepts none of the values in the example config."""
_KINDS: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,)
}  # fmt: skip


class _KnownValue(NamedTuple):
    words: frozenset[str]
    """Words in the value's path, which is a JSON path in the config or in a result."""
    value: Any


def load_example(environment: str) -> dict[str, Any]:
    """Load an environment's example configs; without an example, return an empty config.

    Raises DataError if the file is malformed.
    """
    path = get_example_file(backend_class(environment))
    found = dict(parse_object(read_text(path), str(path))) if path.is_file() else {}
    return found if environment in found else {environment: {}}


def sample_calls(environment: str, config: Mapping[str, Any], seed: int) -> ApiCollection:
    """Return an environment's functions, and sampled calls that succeed in a session.

    Raises ConfigError if the config does not fit the environment.
    """
    session = Session.load([*config], config)
    tools, known = list_tools((environment,)), [*_list_values(config, frozenset())]
    functions: list[ApiFunction] = []
    answers: list[ApiAnswer] = []
    for document in own_documents([environment]):
        name, parameters = str(document["name"]), dict(document["parameters"])
        method = "POST" if tools[name].writes else "GET"
        functions.append(ApiFunction(name, str(document["description"]), parameters, method, ""))
        answers += _sample_function(session, functions[-1], known, Random(f"{seed}/{name}"))
    return ApiCollection(environment, functions, answers)


def _sample_function(
    session: Session, function: ApiFunction, known: Sequence[_KnownValue], random: Random
) -> list[ApiAnswer]:
    found: dict[str, ApiAnswer] = {}
    for _ in range(_DRAWS):
        given = {
            name: _draw(name, function.parameters["properties"][name], known, random)
            for name in function.parameters.get("required", ())
        }
        result = session.fork().call(Call(function.name, (), given))
        if result.ok:
            answer = ApiAnswer(function.name, given, 200, 0, result.text)
            found.setdefault(function.normal(given), answer)
        if len(found) == _CALLS_PER_FUNCTION:
            break
    return [*found.values()]


def _draw(
    name: str, schema: Mapping[str, Any], known: Sequence[_KnownValue], random: Random
) -> Any:
    if schema.get("enum"):
        return random.choice(schema["enum"])
    kind = str(schema.get("type", "string"))
    if kind == "array":
        return [_draw(name, schema.get("items", {}), known, random) for _ in range(2)]
    if kind == "object":
        members = schema.get("properties", {})
        return {each: _draw(each, members[each], known, random) for each in members}
    wanted = {*_WORD.findall(name.lower())}
    fitting = [each for each in known if type(each.value) in _KINDS.get(kind, ())]
    best = [each.value for each in fitting if wanted & each.words]
    return random.choice(best if best and random.random() < 0.8 else _USUAL.get(kind, ("Oslo",)))


def _list_values(value: Any, words: frozenset[str]) -> Iterator[_KnownValue]:
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield _KnownValue(words, name)
            own = frozenset(_WORD.findall(str(name).lower()))
            # "name" and "id" of a list "stations" are names and ids of a station.
            yield from _list_values(member, words | own | {each.rstrip("s") for each in own})
    elif isinstance(value, list):
        for member in value:
            yield from _list_values(member, words)
    elif isinstance(value, (int, float)) or (
        isinstance(value, str) and 0 < len(value) <= _MAX_VALUE_CHARS and value.isprintable()
    ):
        yield _KnownValue(words, value)
