"""One episode of turns as the page shows it: its calls, and the state beside the ground truth's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from checkers.why.divergence import off_path
from checkers.why.trace import TracedCall, TracedTurn
from envs.calls import Call
from envs.errors import MalformedCall
from envs.state import Difference, Snapshot, brief
from runner.analysis.report.bounds import Bounds
from runner.analysis.report.requests import Json, Requests
from runner.analysis.report.viewing import Viewed
from trajectories.schema import Turn


def transcript(viewed: Viewed, requests: Requests, bounds: Bounds) -> Json:
    """Return an episode as JSON data.

    Args:
        viewed: The episode; of a single turn, one that could not be judged.
        requests: Those of its run.
        bounds: How much of its texts and values is shown.
    """
    writer = _Writer(bounds)
    turns = viewed.trajectory.turns
    examined = viewed.examined
    truth = examined.truth.turns if examined else ()
    model = examined.model if examined else None
    reached = model.turns[: len(turns)] if model else ()
    asked = requests.by_turn(viewed.record, bounds, len(turns))
    failure = viewed.verdict.failure
    return {
        "start": writer.state(None, truth[0].before) if truth else {},
        "missing": [bounds.cut(text) for text in failure.missing] if failure else [],
        "evidence": bounds.json(viewed.diagnosis.evidence) if viewed.diagnosis else {},
        "messages": requests.messages(viewed.record, bounds),
        "turns": [writer.turn(*parts) for parts in zip_longest(turns, truth, asked, reached)],
    }


class _Writer:
    """Turns the records of an episode into JSON data."""

    def __init__(self, bounds: Bounds) -> None:
        self._bounds = bounds

    def turn(
        self,
        turn: Turn,
        truth: TracedTurn | None,
        asked: Sequence[Json],
        model: TracedTurn | None,
    ) -> Json:
        """Return one turn; one that was not reached has no steps."""
        shown: Json = {
            "says": [
                [message.role, self._bounds.cut(message.content)] for message in turn.messages
            ],
            "offers": list(turn.offers),
            "truth": self._calls(truth.before, truth.calls) if truth else None,
        }
        if model is None or truth is None:
            return shown
        off = off_path(truth, model.before)
        requests = [*asked, *[None] * len(model.steps), None]
        shown["off"] = self._pairs(off)
        shown["steps"] = self._steps(truth, model, off, requests)
        shown["end"] = {
            "request": requests[len(model.steps)],
            "answer": None if model.answer is None else self._bounds.cut(model.answer),
            "unreadable": model.unreadable and self._bounds.cut(model.unreadable.message),
            "differences": self._pairs(truth.after.differences(model.after)),
        }
        return shown

    def _steps(
        self,
        truth: TracedTurn,
        model: TracedTurn,
        off: list[Difference],
        requests: Iterable[Json | None],
    ) -> list[Json]:
        steps = []
        before = model.before
        for calls, request in zip(model.steps, requests, strict=False):
            shown = self._calls(before, calls)
            for traced, call in zip(calls, shown, strict=True):
                if traced.after != before:
                    off = off_path(truth, traced.after)
                before = traced.after
                call["off"] = self._pairs(off)
            steps.append({"calls": shown, "request": request})
        return steps

    def _calls(self, before: Snapshot, calls: Iterable[TracedCall]) -> list[Json]:
        shown = []
        for call in calls:
            changes = before.differences(call.after)
            shown.append(
                {
                    "call": self._bounds.cut(_call_text(call.call)),
                    "name": self._name(call.call),
                    "ok": call.result.ok,
                    "result": self._bounds.cut(call.result.text),
                    "changes": self._pairs(changes),
                    "state": self.state(before, call.after),
                }
            )
            before = call.after
        return shown

    def _name(self, call: Call | MalformedCall) -> str | None:
        """Return the function's name, with which the call's text begins, or None."""
        return call.name[: self._bounds.text] if isinstance(call, Call) else None

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


def _call_text(call: Call | MalformedCall) -> str:
    return call.message if isinstance(call, MalformedCall) else str(call)


def _is_data(value: Any) -> bool:
    """Tell whether a field is data, and not one of the objects that a backend works with."""
    return value is None or isinstance(
        value, (str, int, float, list, tuple, set, frozenset, Mapping)
    )
