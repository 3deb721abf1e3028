"""Reader of recorded answers for ``turnwise.judge``: steps, messages or OpenAI's tool calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from checkers.replies.decoding import Step
from envs.errors import DataError
from runner.models.model_types import ToolCall
from runner.models.recorded_messages import (
    MalformedMessage,
    call_entry,
    match_entry,
    read_answer,
    read_turns,
    step_of,
)
from runner.models.toolbox import Toolbox, toolbox_of
from trajectories.schema import Trajectory

_STEP = 'is neither a step nor a message; a step is a string or a list of {"function": arguments}'


def read_messages(messages: object, trajectory: Trajectory) -> list[list[Step]]:
    """Return the steps in the messages of a conversation.

    Raises DataError if an item is not a message.
    """
    try:
        turns = match_entry(read_turns(messages), trajectory)
    except MalformedMessage as error:
        raise DataError("messages", f"${error.path}: {error.message}") from None
    return [turn.steps(toolbox_of(trajectory)) for turn in turns]


def read_steps(turns: object, trajectory: Trajectory) -> list[list[Step]]:
    """Convert the answers of each turn to steps; an answer can be a step or a chat message.

    Raises DataError if a value is neither a step nor a message.
    """
    if not isinstance(turns, (list, tuple)):
        raise DataError("turns", f"must be a list of turns or None, but is {turns!r:.60}")
    if turns and all(isinstance(each, Mapping) for each in turns):
        return read_messages(turns, trajectory)
    toolbox = toolbox_of(trajectory)
    found = []
    for number, turn in enumerate(turns):
        if not isinstance(turn, (list, tuple)):
            raise DataError("turns", f"$[{number}]: must be a list of steps, but is {turn!r:.60}")
        found.append([step for place, each in enumerate(turn)
                      for step in _read_step(each, f"$[{number}][{place}]", toolbox)])  # fmt: skip
    return found


def _read_step(step: object, path: str, toolbox: Toolbox) -> Sequence[Step]:
    try:
        if isinstance(step, Mapping):
            role = step.get("role", "assistant")
            return [step_of(read_answer(step), toolbox)] if role == "assistant" else []
        if isinstance(step, (list, tuple)):
            return [[_read_call(each, f"[{place}]", toolbox) for place, each in enumerate(step)]]
    except MalformedMessage as error:
        raise DataError("turns", f"{path}{error.path}: {error.message}") from None
    if step is None or isinstance(step, str):
        return [step]
    raise DataError("turns", f"{path}: {_STEP}, but is {step!r:.60}")


def _read_call(call: object, path: str, toolbox: Toolbox) -> Mapping[str, Any]:
    if not isinstance(call, Mapping) or not all(isinstance(name, str) for name in call):
        raise MalformedMessage(_STEP, path)
    is_entry = isinstance(call.get("function"), Mapping) or "type" in call
    if not is_entry and not (call.keys() >= {"name", "arguments"}):
        return call
    function = call_entry(call, path)["function"]
    return toolbox.real_call(ToolCall(None, **function))
