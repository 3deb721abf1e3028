"""BFCL's retired sets whose calls were executed: entries that are judged by what calls give.

The functions are those of our library under BFCL's names; a model is shown the documents that come
with the entry. What BFCL recorded as results is not read: both sides are executed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from checkers.calls.documents import misfits
from checkers.replies.as_bfcl.decoding import resolve_calls
from envs.calls import Call, read_call
from envs.errors import MalformedCall
from envs.registry import tools_of
from trajectories.bfcl import PACKAGE, messages_of
from trajectories.schema import Category, ExpectedResults, ResultCheck, Trajectory, Turn

OF_THESE_ONLY = ("RetiredNumbers", "RetiredShapes", "RetiredErrands", "PublicServices")
"""The backends that nothing but these sets uses."""
ENVIRONMENTS = (*OF_THESE_ONLY, "RestClient")
"""The backends that have the functions of these sets."""

_BY: Mapping[str, Literal["exact", "tolerance", "structure"]] = {
    "exact_match": "exact",
    "real_time_match": "tolerance",
    "structural_match": "structure",
}
"""How a result is compared, by BFCL's word for it."""
_STRUCTURE = "structural_match"


def truth_of(line: Mapping[str, Any], category: Category) -> tuple[str, Mapping[str, Any]]:
    """Return the id of an entry and its ground truth, from a line of the file of answers.

    That of REST has one request a line, and a number for an id.
    """
    if category is not Category.REST:
        return line["id"], line
    truth = {"ground_truth": [line["ground_truth"]], "execution_result_type": [_STRUCTURE]}
    return f"rest_{line['idx']}", truth


def read(entry: Mapping[str, Any], truth: Mapping[str, Any], category: Category) -> Trajectory:
    """Return the trajectory of a line of the file of questions and of what ``truth_of`` gave.

    Raises:
        TypeError: It is not of the expected form, and likewise for other errors of a look-up.
    """
    (messages,) = entry["question"]
    documents = tuple(entry["function"])
    for path, misfit in misfits(documents):
        raise TypeError(f"$.function{path}: {misfit}")
    calls = tuple([_literal(text) for text in truth["ground_truth"]])
    # One entry has a word more than calls.
    words = truth["execution_result_type"][: len(calls)]
    checks = [ResultCheck(by=_BY[word]) for _, word in zip(calls, words, strict=True)]
    names = tuple([document["name"] for document in documents])
    return Trajectory(
        id=entry["id"],
        category=category,
        environments=_having(names),
        config={},
        turns=(Turn(messages_of(messages), calls),),
        expects=ExpectedResults(names, tuple(checks), documents),
        provenance={"source": PACKAGE},
    )


def _literal(text: str) -> str:
    """Return a call text whose arguments are literals, arithmetic in them worked out."""
    if not isinstance(read_call(text), MalformedCall):
        return text
    try:
        [(name, arguments)] = resolve_calls(f"[{text}]")
    except MalformedCall as error:
        raise ValueError(f"{text!r:.60} is no call: {error}") from None
    return str(Call(name, (), {str(key): value for key, value in arguments.items()}))


def _having(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the backends that have functions of these names."""
    tools = tools_of(ENVIRONMENTS)
    having = {tools[name].backend for name in names if name in tools}
    return tuple([environment for environment in ENVIRONMENTS if environment in having])
