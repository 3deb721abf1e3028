"""Page data of one episode, with its calls next to the expected calls or states."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from checkers.calls.call_pairs import ArgumentPair, CallPair
from envs.calls import Call
from envs.errors import MalformedCall
from envs.state import ABSENT, Difference, Snapshot, cut_repr
from runner.analysis.episode_output import Json
from runner.analysis.episode_view import EpisodeMoment, TurnView, view
from runner.analysis.report.value_bounds import KnownValues, ValueBounds
from runner.episodes.rejudged_episode import RejudgedEpisode, RejudgedMultiTurn, RejudgedSingleTurn
from runner.records.episode_record import EpisodeRecord, call_text
from runner.records.json_codec import members_of
from runner.records.recorded_run import Run
from trajectories.schema import Trajectory, Turn

_OF_REQUESTS = ("request_messages", "tools", "reply", "usage", "latency", "cost", "attempts")
"""Fields that the page reads from a recorded step. The page recomputes calls and results."""


class SharedValues:
    """Values that the episodes of a run share; each value is stored once and has a number.

    ``run`` is None if no requests of the run were recorded.
    """

    def __init__(self, run: Run | None) -> None:
        self._run = run
        self._prompts: dict[str, int] = {}
        self._digests: dict[str, None] = {}
        self._documents: dict[str, tuple[int, Any]] = {}

    def add(self, record: EpisodeRecord, examined: RejudgedEpisode | None = None) -> None:
        """Number the values of an episode."""
        for message in filter(_is_prompt, record.messages):
            self._prompts.setdefault(message["content"], len(self._prompts))
        self._digests |= {step.tools: None for step in record.steps if step.tools}
        for document in examined.functions if examined else ():
            self._documents.setdefault(_key(document), (len(self._documents), document))

    def to_json(self, bounds: ValueBounds) -> Json:
        """Return the shared values: system messages, tool lists and function documents."""
        functions: dict[str, tuple[int, Any]] = {}
        lists = {}
        kept = self._run.kept_tools(self._digests) if self._run else {}
        for digest, tools in kept.items():
            for tool in tools:
                functions.setdefault(repr(tool), (len(functions), bounds.json(tool)))
            lists[digest] = [functions[repr(tool)][0] for tool in tools]
        return {
            "prompts": [bounds.cut(text) for text in self._prompts],
            "functions": [shown for _, shown in functions.values()],
            "tools": lists,
            "documents": [bounds.json(document) for _, document in self._documents.values()],
        }

    def documents(self, examined: RejudgedEpisode) -> list[int]:
        """Return the index of each function document of an episode."""
        return [self._documents[_key(document)][0] for document in examined.functions]

    def messages(self, record: EpisodeRecord, bounds: ValueBounds) -> list[Any]:
        """Return an episode's whole conversation."""
        return [
            {"role": "system", "prompt": self._prompts[message["content"]]}
            if _is_prompt(message)
            else bounds.json(message)
            for message in record.messages
        ]


@dataclass(frozen=True)
class EpisodeCardRenderer:
    """Renderer of a recorded episode as page data."""

    record: EpisodeRecord
    shared: SharedValues
    bounds: ValueBounds
    known: KnownValues = field(default_factory=dict)
    """State values that the card shows."""

    def turns(self, examined: RejudgedMultiTurn) -> Json:
        """Return the data of a multi-turn episode; each turn includes the ground truth's turn."""
        failure, bounds = examined.verdict.failure, self.bounds
        shown = view(examined)
        return {
            "start": self._state(None, shown[0].truth.before),
            "missing": [bounds.cut(text) for text in failure.unseen] if failure else [],
            "evidence": self._evidence(examined),
            "messages": self.shared.messages(self.record, bounds),
            "turns": [self._turn(*turns) for turns in zip(shown, [None, *shown], strict=False)],
        }

    def pairs(self, examined: RejudgedSingleTurn) -> Json:
        """Return the data of a single-turn episode with its calls and the expected calls."""
        bounds, paired, failure = self.bounds, examined.paired, examined.verdict.failure
        words, problem, _ = paired.said
        asked = self._requests(0)
        return {
            "says": self._says(examined.trajectory.turns[0]),
            "aim": paired.aim,
            "pairs": [self._pair(pair) for pair in paired.pairs],
            "answer": self._cut(words),
            "unreadable": self._cut(problem),
            "failure": failure and failure.calls and bounds.cut(next(failure.calls.lines())),
            "evidence": self._evidence(examined),
            "documents": self.shared.documents(examined),
            "messages": self.shared.messages(self.record, bounds),
            "request": asked[0] if asked else None,
        }

    def asked(self, trajectory: Trajectory) -> Json:
        """Return the user messages of an episode that has no verdict."""
        turns = [{**self._said(turn), "truth": None} for turn in trajectory.turns]
        messages = self.shared.messages(self.record, self.bounds)
        return {"start": {}, "missing": [], "evidence": {}, "messages": messages, "turns": turns}

    def _evidence(self, examined: RejudgedEpisode) -> Any:
        return self.bounds.json(examined.diagnosis.evidence) if examined.diagnosis else {}

    def _requests(self, turn: int) -> list[Json]:
        return [
            {
                name: self.bounds.json(value)
                for name, value in members_of(step).items()
                if name in _OF_REQUESTS
            }
            for step in self.record.steps
            if step.turn == turn
        ]

    def _turn(self, turn: TurnView, earlier: TurnView | None) -> Json:
        shown = {**self._said(turn.asked), "truth": [self._call(call) for call in turn.truth_calls]}
        expected = self._state(earlier.truth.after, turn.truth.before) if earlier else {}
        shown |= {"expected": expected} if expected else {}
        if not turn.moments:
            return shown
        shown |= self._between(turn.moments[0])
        steps = [calls for _, calls in turn.steps]
        requests = [*self._requests(turn.number), *[None] * len(steps), None]
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

    def _between(self, start: EpisodeMoment) -> Json:
        """If the state changed between two turns, return the changes and the events."""
        changed = self._state(start.before, start.after)
        return {"state": changed, **self._events(start)} if changed else {}

    def _events(self, moment: EpisodeMoment) -> Json:
        found = [[each.to or "nobody", self.bounds.cut(str(each))] for each in moment.notices]
        return {"events": found[: self.bounds.members]} if found else {}

    def _said(self, turn: Turn) -> Json:
        return {"says": self._says(turn), "offers": list(turn.offers)}

    def _says(self, turn: Turn) -> list[list[str]]:
        return [[message.role, self.bounds.cut(message.content)] for message in turn.messages]

    def _call(self, moment: EpisodeMoment) -> Json:
        assert moment.traced is not None
        call, result, _ = moment.traced
        text = call.message if isinstance(call, MalformedCall) else str(call)
        return {
            "call": self.bounds.cut(text),
            "name": self._name(call),
            "ok": result.ok,
            "result": self.bounds.cut(result.observation),
            "changes": self._pairs(moment.changes),
            **self._events(moment),
            "remarks": [[label, self.bounds.cut(text)] for label, text in moment.remarks],
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
        return call.name[: self.bounds.text] if isinstance(call, Call) else None

    def _cut(self, text: str | None) -> str | None:
        return text if text is None else self.bounds.cut(text)

    def _state(self, before: Snapshot | None, after: Snapshot) -> Json:
        """Return each backend's changed fields, or all fields if ``before`` is None."""
        return {
            name: fields
            for name, state in after.states.items()
            if (fields := self._fields(before.states[name] if before else {}, state))
        }

    def _fields(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> Json:
        return {
            field: self.bounds.state(value, self.known)
            for field, value in after.items()
            if _is_data(value) and not (field in before and before[field] == value)
        }

    def _pairs(self, differences: Sequence[Difference]) -> list[list[str]]:
        text, most = self.bounds
        kept, left = differences[:most], len(differences) - most
        shown = [[path, cut_repr(one, text), cut_repr(other, text)] for path, one, other in kept]
        return [*shown, [f"… {left:,} more", "", ""]] if left > 0 else shown


def _argument(argument: ArgumentPair, longest: int) -> list[str | None]:
    right = " or ".join([cut_repr(value, longest) for value in argument.allowed]) or repr(ABSENT)
    omitted = " or omitted" if argument.optional and argument.allowed else ""
    name, given = argument.parameter[:longest], cut_repr(argument.given, longest)
    return [name, f"{right}{omitted}", given, argument.problem]


def _is_data(value: Any) -> bool:
    return value is None or isinstance(
        value, (str, int, float, list, tuple, set, frozenset, Mapping)
    )


def _is_prompt(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "system" and isinstance(message.get("content"), str)


def _key(document: Any) -> str:
    return json.dumps(document)
