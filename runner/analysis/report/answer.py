"""The one answer of a single turn as the page shows it: its calls beside those expected."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from checkers.calls.pairs import ArgumentPair, CallPair
from envs.calls import Call
from envs.state import ABSENT, brief
from runner.analysis.examined import Examined
from runner.analysis.report.bounds import Bounds
from runner.analysis.report.requests import Json, Requests
from runner.records.record import call_text


class Documents:
    """The function documents of a run, of which many are given to several entries.

    Args:
        answers: The examined answers of the run.
    """

    def __init__(self, answers: Iterable[Examined]) -> None:
        documents = {
            _key(document): document for answer in answers for document in answer.functions
        }
        self._documents = documents
        self._numbers = {key: number for number, key in enumerate(documents)}

    def shared(self, bounds: Bounds) -> list[Any]:
        """Return the documents, which answers name by number."""
        return [bounds.json(document) for document in self._documents.values()]

    def numbers(self, answer: Examined) -> list[int]:
        """Return the numbers of the documents that an answer's model was given."""
        return [self._numbers[_key(document)] for document in answer.functions]


def answer_card(
    examined: Examined, requests: Requests, documents: Documents, bounds: Bounds
) -> Json:
    """Return an answer as JSON data.

    Args:
        examined: The entry, a single turn.
        requests: Those of its run.
        documents: Those of its run.
        bounds: How much of its texts and values is shown.
    """
    assert examined.recorded is not None
    record, answer = examined.recorded.record, examined.answer
    assert answer is not None
    said, failure, diagnosis = answer.said, examined.verdict.failure, examined.diagnosis
    (asked,) = requests.by_turn(record, bounds, 1)
    return {
        "says": [[m.role, bounds.cut(m.content)] for m in examined.trajectory.turns[0].messages],
        "aim": answer.aim,
        "pairs": [_pair(pair, bounds) for pair in answer.pairs],
        "answer": None if said.answer is None else bounds.cut(said.answer),
        "unreadable": said.problem and bounds.cut(said.problem),
        "failure": failure and failure.calls and bounds.cut(next(failure.calls.lines())),
        "evidence": bounds.json(diagnosis.evidence) if diagnosis else {},
        "documents": documents.numbers(examined),
        "messages": requests.messages(record, bounds),
        "request": asked[0] if asked else None,
    }


def _pair(pair: CallPair, bounds: Bounds) -> Json:
    call, result, expected_result = pair.call, pair.result, pair.expected_result
    return {
        "call": call and bounds.cut(call_text(call)),
        "name": call.name[: bounds.text] if isinstance(call, Call) else None,
        "ok": result is None or result.ok,
        "result": result and bounds.cut(result.text),
        "function": pair.function,
        "expected": pair.expected and bounds.cut(pair.expected),
        "expected_result": expected_result and bounds.cut(expected_result.text),
        "problem": pair.problem and bounds.cut(pair.problem),
        "arguments": [_argument(each, bounds.text) for each in pair.arguments[: bounds.members]],
    }


def _argument(argument: ArgumentPair, longest: int) -> list[str | None]:
    """Return parameter, what is right, what was given and what is wrong with it."""
    right = " or ".join([brief(value, longest) for value in argument.allowed]) or repr(ABSENT)
    left_out = " or left out" if argument.optional and argument.allowed else ""
    name, given = argument.parameter[:longest], brief(argument.given, longest)
    return [name, f"{right}{left_out}", given, argument.problem]


def _key(document: Any) -> str:
    return json.dumps(document)
