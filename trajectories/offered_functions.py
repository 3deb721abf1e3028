"""Functions that are offered to a model: a selection per turn, and functions found by search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from envs.calls import Call
from envs.errors import MalformedCall, Refused, ToolError
from envs.results import Result

FIND = "find_functions"
"""Name of the search function; no backend has it."""
MAX_QUERY_CHARS = 2_000

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

Find = Callable[[str, frozenset[str]], Sequence[Mapping[str, Any]]]
"""Search function: receives a query and function names, and returns documents, best first."""


class OfferedFunctions(NamedTuple):
    """Functions offered to the model of one trajectory."""

    turns: tuple[frozenset[str], ...]
    """Functions that are offered in each turn."""
    find: Find | None = None
    """Function that searches for more functions; None if the model cannot search."""

    def of(self, turn: int, there: frozenset[str], found: frozenset[str]) -> frozenset[str]:
        """Return the functions offered in a turn.

        ``there`` contains the trajectory's functions. ``found`` contains the functions that the
        model has found with searches.
        """
        own = self.turns[turn] | (found & there)
        return own | {FIND} if self.find else own

    def seeks(self, call: Call | MalformedCall) -> bool:
        """Tell whether a call is a search for functions."""
        return self.find is not None and isinstance(call, Call) and call.name == FIND

    def answer(self, call: Call, there: frozenset[str]) -> tuple[Result, frozenset[str]]:
        """Return the result of a search, and the names of the functions found."""
        assert self.find is not None
        try:
            query = _read_query(call)
        except ToolError as error:
            return Result.refused(error), frozenset()
        documents = self.find(query, there)
        told = [{"name": d["name"], "description": d["description"]} for d in documents]
        return Result({"found": told}), frozenset(str(d["name"]) for d in documents)


def _read_query(call: Call) -> str:
    given = [*call.args, *call.kwargs.values()]
    if call.nested or len(given) != 1 or not {*call.kwargs} <= {"query"}:
        raise Refused(f"{FIND} takes one argument, query: what is to be done, in plain words.")
    [query] = given
    if not isinstance(query, str) or len(query) > MAX_QUERY_CHARS:
        raise Refused(f"query must be a string of at most {MAX_QUERY_CHARS} characters.")
    return query
