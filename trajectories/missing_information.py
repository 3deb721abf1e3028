"""Search for values and functions that a turn lacks and that a later turn supplies."""

from __future__ import annotations

from collections.abc import Iterator

from checkers.known_values import contains_value, list_literals
from envs.calls import Call
from envs.registry import backend_class
from envs.tool import Tool, parameter_names, parse_docstring
from trajectories.replay_queries import list_messages, read_truth_calls
from trajectories.schema import Trajectory


def list_missing_names(trajectory: Trajectory, turn: int) -> list[str]:
    """Return names and descriptions of functions or parameters that a turn lacks."""
    turns = trajectory.turns
    asked = turns[turn]
    if turn + 1 == len(turns) or asked.ground_truth or asked.only_asks or not asked.messages:
        return []
    tools = {
        name: tool
        for environment in trajectory.environments
        for name, tool in backend_class(environment).TOOLS.items()
    }
    if turns[turn + 1].offers:
        held = [tools[name] for name in turns[turn + 1].offers if name in tools]
        return [
            text
            for tool in held
            for text in (_split_words(tool.name), parse_docstring(tool.function).summary)
        ]
    return [*_list_supplied(trajectory, turn, tools)]


def _list_supplied(trajectory: Trajectory, turn: int, tools: dict[str, Tool]) -> Iterator[str]:
    turns = trajectory.turns
    then = next((i for i in range(turn + 1, len(turns)) if turns[i].ground_truth), turn)
    said, answer = (
        list_messages(turns[: turn + 1]),
        "\n".join(list_messages(turns[turn + 1 : then + 1])),
    )
    for call in read_truth_calls(turns[then]):
        if not isinstance(call, Call) or call.name not in tools:
            continue
        tool = tools[call.name]
        for name in parameter_names(tool)[0]:
            values = list_literals(call.kwargs.get(name))
            if any(
                contains_value(value, answer)
                and not any(contains_value(value, text) for text in said)
                for value in values
            ):
                yield _split_words(name)
                yield parse_docstring(tool.function).parameters.get(name, "")


def _split_words(name: str) -> str:
    return "".join(f" {char}" if char.isupper() else char for char in name).replace("_", " ")
