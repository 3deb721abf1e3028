"""One episode as the page shows it: turns, steps, calls, and the state beside the ground truth's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from checkers.diagnosis import Diagnosis
from checkers.divergence import Divergence, off_path
from checkers.trace import Trace, TracedCall, TracedTurn
from checkers.verdict import Verdict
from envs.calls import Call
from envs.errors import MalformedCall
from envs.state import Difference, Snapshot, brief
from runner.report.bounds import Bounds
from trajectories.schema import Trajectory, Turn

Json = dict[str, Any]

_REQUEST = ("request_messages", "tools", "reply", "usage", "latency", "cost", "attempts")
"""Members of a recorded step that are shown; calls, results and changes are shown as executed."""


class Viewed(NamedTuple):
    """One episode with all that was found out about it."""

    trajectory: Trajectory
    trial: int
    truth: Trace
    model: Trace | None
    """None where there is no record of the model's steps."""
    verdict: Verdict
    divergence: Divergence | None
    diagnosis: Diagnosis | None
    record: Mapping[str, Any]
    """The run's own record; empty where the run has no such."""
    error: str | None
    """The error that ended the episode and is not the model's."""

    @property
    def outcome(self) -> str:
        """What became of it: passed, failed by the model, or an error that is not the model's."""
        if self.error is not None:
            return "error"
        return "passed" if self.verdict.valid else "failed"


def transcript(viewed: Viewed, bounds: Bounds) -> Json:
    """Return an episode as JSON data.

    Args:
        viewed: The episode.
        bounds: How much of its texts and values is shown.
    """
    writer = _Writer(bounds)
    turns = viewed.trajectory.turns
    reached = viewed.model.turns if viewed.model else ()
    asked = _requests(viewed.record, len(turns))
    failure = viewed.verdict.failure
    return {
        "start": writer.state(None, viewed.truth.turns[0].before),
        "missing": [bounds.cut(text) for text in failure.missing] if failure else [],
        "evidence": bounds.json(viewed.diagnosis.evidence) if viewed.diagnosis else {},
        "messages": [bounds.json(message) for message in viewed.record.get("messages", ())],
        "turns": [
            writer.turn(*parts)
            for parts in zip_longest(turns, viewed.truth.turns, asked, reached[: len(turns)])
        ],
    }


def _requests(record: Mapping[str, Any], turns: int) -> list[list[Mapping[str, Any]]]:
    """Return the recorded steps of a run, turn by turn."""
    asked: list[list[Mapping[str, Any]]] = [[] for _ in range(turns)]
    for step in record.get("steps", ()):
        asked[step["turn"]].append(step)
    return asked


class _Writer:
    """Turns the records of an episode into JSON data."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds

    def turn(
        self,
        turn: Turn,
        truth: TracedTurn,
        asked: Sequence[Mapping[str, Any]],
        model: TracedTurn | None,
    ) -> Json:
        """Return one turn; one that was not reached has no steps."""
        shown: Json = {
            "says": [[message.role, self._bounds.cut(message.content)] for message in turn.messages],
            "offers": list(turn.offers),
            "truth": self._calls(truth.before, truth.calls),
        }
        if model is None:
            return shown
        shown["steps"] = self._steps(truth, model, asked)
        shown["answer"] = None if model.answer is None else self._bounds.cut(model.answer)
        shown["unreadable"] = model.unreadable and model.unreadable.message
        shown["differences"] = self._pairs(truth.after.differences(model.after))
        return shown

    def _steps(
        self, truth: TracedTurn, model: TracedTurn, asked: Sequence[Mapping[str, Any]]
    ) -> list[Json]:
        """Return the steps, then what was asked last, where that led to no call."""
        steps = []
        before, off = model.before, off_path(truth, model.before)
        for calls, request in zip_longest(model.steps, asked, fillvalue=()):
            step: Json = {"calls": self._calls(before, calls or ())}
            for shown, call in zip(step["calls"], calls or (), strict=True):
                if call.after != before:
                    off = off_path(truth, call.after)
                before = call.after
                shown["off"] = self._pairs(off)
            if request:
                step["request"] = self._request(request)
            steps.append(step)
        return steps

    def _calls(self, before: Snapshot, calls: Iterable[TracedCall]) -> list[Json]:
        shown = []
        for call in calls:
            changes = before.differences(call.after)
            shown.append(
                {
                    "call": self._bounds.cut(_call_text(call.call)),
                    "name": call.call.name if isinstance(call.call, Call) else None,
                    "ok": call.result.ok,
                    "result": self._bounds.cut(call.result.text),
                    "changes": self._pairs(changes),
                    "state": self.state(before, call.after),
                }
            )
            before = call.after
        return shown

    def state(self, before: Snapshot | None, after: Snapshot) -> Json:
        """Return the fields that changed, by backend; all of them where there is no before."""
        return {
            name: fields
            for name, state in after.states.items()
            if (fields := self._fields(before.states[name] if before else {}, state))
        }

    def _fields(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
        return {
            field: self._bounds.state(value)
            for field, value in after.items()
            if _is_data(value) and not (field in before and before[field] == value)
        }

    def _pairs(self, differences: Iterable[Difference]) -> list[list[str]]:
        """Return path, expected and actual of differences; what is not there is ``nothing``."""
        text = self._bounds.text
        found = list(differences)
        shown = [[d.path, brief(d.expected, text), brief(d.actual, text)] for d in found]
        left = len(shown) - self._bounds.members
        return [*shown[: self._bounds.members], [f"… {left:,} more", "", ""]] if left > 0 else shown

    def _request(self, request: Mapping[str, Any]) -> Json:
        return {name: self._bounds.json(request.get(name)) for name in _REQUEST}


def _call_text(call: Call | MalformedCall) -> str:
    return call.message if isinstance(call, MalformedCall) else str(call)


def _is_data(value: Any) -> bool:
    """Tell whether a field is data, and not one of the objects that a backend works with."""
    return value is None or isinstance(
        value, (str, int, float, list, tuple, set, frozenset, Mapping)
    )
