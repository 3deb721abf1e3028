"""Which functions a model is offered where these are not all: by turn, and by what it finds itself.

Data, as what is asked and what is right: the loop asks it, and nothing of how it came about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from envs.calls import Call
from envs.errors import MalformedCall, Refused, ToolError
from envs.results import Result

FIND = "find_functions"
"""The function by which a model looks for others; no backend has it."""
LONGEST_QUERY = 2_000
"""Characters of what a model looks for."""

DOCUMENT: Mapping[str, Any] = {
    "name": FIND,
    "description": "Look for functions that can do something. Those found can be called from the "
    "next step on. Returns: found: The functions, each with name and description.",
    "parameters": {
        "type": "dict",
        "properties": {
            "query": {"type": "string", "description": "What is to be done, in plain words."}
        },
        "required": ["query"],
    },
}
"""What a model reads of it."""

Find = Callable[[str, frozenset[str]], Sequence[Mapping[str, Any]]]
"""Takes a query and the functions there are; gives documents, the nearest first."""


class Offering(NamedTuple):
    """The functions of one trajectory that its model is offered."""

    turns: tuple[frozenset[str], ...]
    """Of each turn; none that the trajectory does not offer there."""
    find: Find | None = None
    """Finds further ones for the model; None where it is not to look."""

    def of(self, turn: int, there: frozenset[str], found: frozenset[str]) -> frozenset[str]:
        """Return what is offered in a turn.

        Args:
            turn: Which, from 0.
            there: All that the trajectory offers in it.
            found: What the model has found.
        """
        own = self.turns[turn] | (found & there)
        return own | {FIND} if self.find else own

    def seeks(self, call: Call | MalformedCall) -> bool:
        """Tell whether a call looks for functions."""
        return self.find is not None and isinstance(call, Call) and call.name == FIND

    def answer(self, call: Call, there: frozenset[str]) -> tuple[Result, frozenset[str]]:
        """Return the result of looking for functions, and the names of those found."""
        assert self.find is not None
        try:
            query = _query(call)
        except ToolError as error:
            return Result.refused(error), frozenset()
        documents = self.find(query, there)
        told = [{"name": d["name"], "description": d["description"]} for d in documents]
        return Result({"found": told}), frozenset(str(d["name"]) for d in documents)


def _query(call: Call) -> str:
    """Return what is looked for.

    Raises:
        ToolError: The call does not say it.
    """
    given = [*call.args, *call.kwargs.values()]
    if call.nested or len(given) != 1 or not {*call.kwargs} <= {"query"}:
        raise Refused(f"{FIND} takes one argument, query: what is to be done, in plain words.")
    [query] = given
    if not isinstance(query, str) or len(query) > LONGEST_QUERY:
        raise Refused(f"query must be a text of at most {LONGEST_QUERY} characters.")
    return query
