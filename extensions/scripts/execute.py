"""Execution of call scripts with an initial config, for use by other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from envs.backend import AS_BFCL
from envs.calls import read_call
from envs.errors import ConfigError, DataError
from envs.long_context import LongContextPack
from envs.session import Session


class CallScript(NamedTuple):
    """Initial config, and the calls of each turn as strings."""

    id: Any
    config: Mapping[str, Mapping[str, Any]]
    environments: Sequence[str]
    long_context: bool
    turns: Sequence[Sequence[str]]


def read_script(line: Mapping[str, Any], where: str) -> CallScript:
    """Return the script in a JSON object with BFCL's field names and ``turns``.

    Raises DataError if a field is missing or has the wrong type.
    """
    config = _member(line, where, "initial_config", dict, {})
    environments = _member(line, where, "involved_classes", list)
    for index, name in enumerate(environments):
        if not isinstance(name, str):
            raise DataError(
                where, f"$.involved_classes[{index}]: must be a string, but is {name!r:.60}"
            )
        if not isinstance(config.get(name, {}), dict):
            raise DataError(where, f"$.initial_config.{name}: must be an object")
    turns = _member(line, where, "turns", list)
    for index, turn in enumerate(turns):
        if not (isinstance(turn, list) and all(isinstance(call, str) for call in turn)):
            raise DataError(where, f"$.turns[{index}]: must be a list of calls as strings")
    long_context = _member(line, where, "long_context", bool, False)
    return CallScript(line.get("id"), config, environments, long_context, turns)


def _member(line: Mapping[str, Any], where: str, name: str, kind: type, default: Any = None) -> Any:
    value = line.get(name, default)
    if not isinstance(value, kind):
        raise DataError(where, f"$.{name}: must be a {kind.__name__}, but is {value!r:.60}")
    return value


def execute(
    script: CallScript, where: str, pack: Callable[[], LongContextPack], *, irregular: bool = True
) -> dict[str, Any]:
    """Execute a script and return ``{"id", "initial_state", "turns": [{"results", "state"}]}``.

    Args:
        where: The location for error messages.
        pack: Function that loads the long-context material on demand.
        irregular: Whether the config failed a strict check or was not checked.

    Raises:
        DataError: The config cannot be loaded.
        BackendFault: A backend crashed on well-formed arguments.
    """
    material = pack() if script.long_context else None
    try:
        # A backend may crash on an irregular state, but not on a regular one.
        session = Session.load(
            script.environments,
            script.config,
            material,
            tolerant=irregular,
            checks_config=False,
            behaviour=AS_BFCL,
        )
    except ConfigError as error:
        raise DataError(where, f"$.initial_config: {error}") from None
    try:
        initial = session.snapshot().to_json()
    except RecursionError:
        raise DataError(where, "$.initial_config: is nested too deep") from None
    turns = []
    for turn in script.turns:
        results = session.play([read_call(text) for text in turn])
        state = session.snapshot().to_json()
        turns.append({"results": [result.text for result in results], "state": state})
    return {"id": script.id, "initial_state": initial, "turns": turns}
