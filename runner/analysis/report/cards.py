"""One episode as the page shows it: its calls, beside what they should have been or led to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from checkers.calls.pairs import ArgumentPair, CallPair
from envs.calls import Call
from envs.errors import MalformedCall
from envs.state import ABSENT, Difference, Snapshot, brief
from runner.analysis.document import Json
from runner.analysis.report.bounds import Bounds
from runner.analysis.report.requests import Requests
from runner.analysis.view import Moment, TurnView, view
from runner.episodes.examined import Examined, ExaminedCalls, ExaminedTurns
from runner.records.record import EpisodeRecord, call_text
from trajectories.schema import Trajectory, Turn


class Documents:
    """The function documents of a run, of which many are given to several entries.

    Args:
        examined: The episodes of the run.
    """

    def __init__(self, examined: Iterable[Examined]) -> None:
        given = [document for each in examined for document in each.functions]
        self._documents = {_key(document): document for document in given}
        self._numbers = {key: number for number, key in enumerate(self._documents)}

    def shared(self, bounds: Bounds) -> list[Any]:
        """Return the documents, which answers name by number."""
        return [bounds.json(document) for document in self._documents.values()]

    def numbers(self, examined: Examined) -> list[int]:
        """Return the numbers of the documents that an answer's model was given."""
        return [self._numbers[_key(document)] for document in examined.functions]


@dataclass(frozen=True)
class Card:
    """Lays an episode out as the JSON data that the page shows.

    Attributes:
        record: The run's own record of it.
        requests: Those of its run.
        documents: Those of its run.
        bounds: How much of its texts and values is shown.
    """

    record: EpisodeRecord
    requests: Requests
    documents: Documents
    bounds: Bounds

    def turns(self, examined: ExaminedTurns) -> Json:
        """Return turns, each beside the ground truth's."""
        failure, bounds = examined.verdict.failure, self.bounds
        shown = view(examined)
        requests = self.requests.by_turn(self.record, bounds, len(shown))
        return {
            "start": self._state(None, shown[0].truth.before),
            "missing": [bounds.cut(text) for text in failure.missing] if failure else [],
            "evidence": self._evidence(examined),
            "messages": self.requests.messages(self.record, bounds),
            "turns": [self._turn(*pair) for pair in zip(shown, requests, strict=True)],
        }

    def pairs(self, examined: ExaminedCalls) -> Json:
        """Return an answer, its calls beside those expected."""
        bounds, paired, failure = self.bounds, examined.paired, examined.verdict.failure
        words, problem, _ = paired.said
        (asked,) = self.requests.by_turn(self.record, bounds, 1)
        return {
            "says": self._says(examined.trajectory.turns[0]),
            "aim": paired.aim,
            "pairs": [self._pair(pair) for pair in paired.pairs],
            "answer": self._cut(words),
            "unreadable": self._cut(problem),
            "failure": failure and failure.calls and bounds.cut(next(failure.calls.lines())),
            "evidence": self._evidence(examined),
            "documents": self.documents.numbers(examined),
            "messages": self.requests.messages(self.record, bounds),
            "request": asked[0] if asked else None,
        }

    def asked(self, trajectory: Trajectory) -> Json:
        """Return what was asked, of an episode on which there is no verdict."""
        turns = [{**self._said(turn), "truth": None} for turn in trajectory.turns]
        messages = self.requests.messages(self.record, self.bounds)
        return {"start": {}, "missing": [], "evidence": {}, "messages": messages, "turns": turns}

    def _evidence(self, examined: Examined) -> Any:
        return self.bounds.json(examined.diagnosis.evidence) if examined.diagnosis else {}

    def _turn(self, turn: TurnView, asked: Sequence[Json]) -> Json:
        """Return one turn; one that was not reached has no steps."""
        shown = {**self._said(turn.asked), "truth": [self._call(call) for call in turn.truth_calls]}
        if not turn.moments:
            return shown
        steps = [calls for _, calls in turn.steps]
        requests = [*asked, *[None] * len(steps), None]
        shown["off"] = self._pairs(turn.moments[0].off_path)
        shown["steps"] = [
            {
                "calls": [{**self._call(c), "off": self._pairs(c.off_path)} for c in calls],
                "request": request,
            }
            for calls, request in zip(steps, requests, strict=False)
        ]
        shown["end"] = {
            "request": requests[len(steps)],
            "answer": self._cut(turn.closing),
            "unreadable": self._cut(turn.unreadable),
            "differences": self._pairs(turn.differences),
        }
        return shown

    def _said(self, turn: Turn) -> Json:
        return {"says": self._says(turn), "offers": list(turn.offers)}

    def _says(self, turn: Turn) -> list[list[str]]:
        return [[message.role, self.bounds.cut(message.content)] for message in turn.messages]

    def _call(self, moment: Moment) -> Json:
        assert moment.traced is not None
        call, result, _ = moment.traced
        text = call.message if isinstance(call, MalformedCall) else str(call)
        return {
            "call": self.bounds.cut(text),
            "name": self._name(call),
            "ok": result.ok,
            "result": self.bounds.cut(result.text),
            "changes": self._pairs(moment.changes),
            "state": self._state(moment.before, moment.after),
        }

    def _pair(self, pair: CallPair) -> Json:
        call, result, expected_result = pair.call, pair.result, pair.expected_result
        return {
            "call": call and self.bounds.cut(call_text(call)),
            "name": self._name(call),
            "ok": result is None or result.ok,
            "result": result and self.bounds.cut(result.text),
            "function": pair.function,
            "expected": self._cut(pair.expected),
            "expected_result": expected_result and self.bounds.cut(expected_result.text),
            "problem": self._cut(pair.problem),
            "arguments": [
                _argument(each, self.bounds.text) for each in pair.arguments[: self.bounds.members]
            ],
        }

    def _name(self, call: Call | MalformedCall | None) -> str | None:
        """Return the function's name, with which the call's text begins, or None."""
        return call.name[: self.bounds.text] if isinstance(call, Call) else None

    def _cut(self, text: str | None) -> str | None:
        return text if text is None else self.bounds.cut(text)

    def _state(self, before: Snapshot | None, after: Snapshot) -> Json:
        """Return the fields that changed, by backend; all of them where there is no before."""
        return {
            name: fields
            for name, state in after.states.items()
            if (fields := self._fields(before.states[name] if before else {}, state))
        }

    def _fields(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
        return {
            field: self.bounds.state(value)
            for field, value in after.items()
            if _is_data(value) and not (field in before and before[field] == value)
        }

    def _pairs(self, differences: Sequence[Difference]) -> list[list[str]]:
        """Return path, expected and actual of differences; what is not there is ``nothing``."""
        text, most = self.bounds
        shown = [[path, brief(one, text), brief(other, text)] for path, one, other in differences]
        left = len(shown) - most
        return [*shown[:most], [f"… {left:,} more", "", ""]] if left > 0 else shown


def _argument(argument: ArgumentPair, longest: int) -> list[str | None]:
    """Return parameter, what is right, what was given and what is wrong with it."""
    right = " or ".join([brief(value, longest) for value in argument.allowed]) or repr(ABSENT)
    left_out = " or left out" if argument.optional and argument.allowed else ""
    name, given = argument.parameter[:longest], brief(argument.given, longest)
    return [name, f"{right}{left_out}", given, argument.problem]


def _is_data(value: Any) -> bool:
    """Tell whether a field is data, and not one of the objects that a backend works with."""
    return value is None or isinstance(
        value, (str, int, float, list, tuple, set, frozenset, Mapping)
    )


def _key(document: Any) -> str:
    return json.dumps(document)
