"""What a turn waits for: a value that the user tells, or functions handed over, one turn later."""

from __future__ import annotations

from collections.abc import Iterator

from checkers.told import literals, stands_in
from envs.calls import Call
from envs.docstrings import docstring
from envs.registry import backend_class
from envs.tool import Tool, parameter_names
from trajectories.scene import truth_calls
from trajectories.schema import Trajectory
from trajectories.told import words


def missing_names(trajectory: Trajectory, turn: int) -> list[str]:
    """Return texts that name what a turn waits for; none where it waits for nothing.

    For a value these are the parameter's name and what its document says of it, for functions
    their names and what they do.
    """
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
            text for tool in held for text in (_spaced(tool.name), docstring(tool.function).summary)
        ]
    return [*_supplied(trajectory, turn, tools)]


def _supplied(trajectory: Trajectory, turn: int, tools: dict[str, Tool]) -> Iterator[str]:
    """Yield what names the parameters whose values the user tells only in the turns after."""
    turns = trajectory.turns
    then = next((i for i in range(turn + 1, len(turns)) if turns[i].ground_truth), turn)
    said, answer = words(turns[: turn + 1]), "\n".join(words(turns[turn + 1 : then + 1]))
    for call in truth_calls(turns[then]):
        if not isinstance(call, Call) or call.name not in tools:
            continue
        tool = tools[call.name]
        for name in parameter_names(tool)[0]:
            values = literals(call.kwargs.get(name))
            if any(
                stands_in(value, answer) and not any(stands_in(value, text) for text in said)
                for value in values
            ):
                yield _spaced(name)
                yield docstring(tool.function).parameters.get(name, "")


def _spaced(name: str) -> str:
    """Return a name as words: dir_name and fillFuelTank are dir name and fill Fuel Tank."""
    return "".join(f" {char}" if char.isupper() else char for char in name).replace("_", " ")
