"""Reader of BFCL's retired executable data sets; the checker judges the results of calls.

Functions with BFCL's names are implemented in Turnwise. Models see the documents in the entry.
BFCL's recorded results are not used. Turnwise executes the model's calls and the expected calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from checkers.calls.call_entry import find_document_errors
from checkers.replies.as_bfcl.decoding import resolve_calls
from envs.calls import Call, read_call
from envs.errors import MalformedCall
from envs.registry import list_tools
from trajectories.bfcl_reader import PACKAGE, read_messages
from trajectories.schema import Category, ExpectedResults, ResultCheck, Trajectory, Turn

OF_THESE_ONLY = ("RetiredNumbers", "RetiredShapes", "RetiredErrands", "PublicServices")
"""Backends of the retired data sets. No other data set uses these backends."""
ENVIRONMENTS = (*OF_THESE_ONLY, "RestClient")
"""Backends with the functions of the retired data sets."""

_BY: Mapping[str, Literal["exact", "tolerance", "structure"]] = {
    "exact_match": "exact",
    "real_time_match": "tolerance",
    "structural_match": "structure",
}
"""Maps BFCL's names of comparisons to Turnwise's names."""
_STRUCTURE = "structural_match"


def truth_of(line: Mapping[str, Any], category: Category) -> tuple[str, Mapping[str, Any]]:
    """Return an entry's id and ground truth, from a line of the answer file.

    In the answer file of REST, each line is one request, and its id is a number.
    """
    if category is not Category.REST:
        return line["id"], line
    truth = {"ground_truth": [line["ground_truth"]], "execution_result_type": [_STRUCTURE]}
    return f"rest_{line['idx']}", truth


def read(entry: Mapping[str, Any], truth: Mapping[str, Any], category: Category) -> Trajectory:
    """Make a trajectory from a question and a ground truth.

    Raises TypeError or LookupError if the entry has an unexpected form.
    """
    (messages,) = entry["question"]
    documents = tuple(entry["function"])
    for path, misfit in find_document_errors(documents):
        raise TypeError(f"$.function{path}: {misfit}")
    calls = tuple([_literal(text) for text in truth["ground_truth"]])
    # One entry has more types than calls.
    types = truth["execution_result_type"][: len(calls)]
    checks = [ResultCheck(by=_BY[each]) for _, each in zip(calls, types, strict=True)]
    names = tuple([document["name"] for document in documents])
    return Trajectory(
        id=entry["id"],
        category=category,
        environments=_having(names),
        config={},
        turns=(Turn(read_messages(messages), calls),),
        expects=ExpectedResults(names, tuple(checks), documents),
        provenance={"source": PACKAGE},
    )


def _literal(text: str) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{text!r} is not a string with a call")
    if not isinstance(read_call(text), MalformedCall):
        return text
    try:
        [(name, arguments)] = resolve_calls(f"[{text}]")
    except MalformedCall as error:
        raise ValueError(f"{text!r:.60} is not a call: {error}") from None
    return str(Call(name, (), {str(key): value for key, value in arguments.items()}))


def _having(names: tuple[str, ...]) -> tuple[str, ...]:
    tools = list_tools(ENVIRONMENTS)
    having = {tools[name].backend for name in names if name in tools}
    return tuple([environment for environment in ENVIRONMENTS if environment in having])
