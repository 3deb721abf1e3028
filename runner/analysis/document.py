"""An episode as a JSON object, whose members ``runner/README.md`` describes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from checkers.calls.pairs import ArgumentPair, CallPair
from checkers.why.diagnosis import bounded
from checkers.why.trace import TracedCall
from envs.state import ABSENT
from runner.analysis.view import WHOLE, EpisodePart, Moment, TurnView, view
from runner.episodes.examined import Examined, ExaminedCalls, ExaminedTurns
from runner.records.record import call_text

Json = dict[str, Any]


@dataclass(frozen=True)
class Document:
    """Lays an episode out as a JSON object.

    Attributes:
        source: Where its calls are from.
        part: What to show of it.
    """

    source: str
    part: EpisodePart = WHOLE

    def turns(self, examined: ExaminedTurns) -> Json:
        """Return turns as a JSON object."""
        divergence, diagnosis = examined.divergence, examined.diagnosis
        shown = self.part.of(view(examined))
        return {
            **self._head(examined, environments=list(examined.trajectory.environments)),
            "divergence": divergence
            and {
                **divergence._asdict(),
                "differences": [each.to_json() for each in divergence.differences],
            },
            "diagnosis": diagnosis and diagnosis.to_json(),
            "turns": [_turn(turn) for turn in shown],
        }

    def pairs(self, examined: ExaminedCalls) -> Json:
        """Return one answer as a JSON object."""
        self.part.check_single(examined.trajectory.id)
        paired, diagnosis, only_diff = examined.paired, examined.diagnosis, self.part.only_diff
        words, problem, _ = paired.said
        return {
            **self._head(examined),
            "diagnosis": diagnosis and diagnosis.to_json(),
            "messages": [asdict(message) for message in examined.trajectory.turns[0].messages],
            "functions": [dict(function) for function in examined.functions],
            "aim": paired.aim,
            "calls": [_pair(pair) for pair in paired.pairs if pair.problem or not only_diff],
            "answer": words,
            "unreadable": problem,
        }

    def _head(self, examined: Examined, **more: Any) -> Json:
        trajectory, recorded = examined.trajectory, examined.recorded
        return {
            "id": trajectory.id,
            "trial": recorded.trial if recorded else None,
            "category": trajectory.category.value,
            **more,
            "source": self.source,
            "profile": examined.profile.name,
            "error": recorded.error if recorded else None,
            "verdict": examined.verdict.to_json(),
        }


def executed(traced: TracedCall) -> Json:
    """Return an executed call as a JSON object."""
    return {"call": call_text(traced.call), "ok": traced.result.ok, "result": traced.result.text}


def _turn(turn: TurnView) -> Json:
    failure = turn.failure
    return {
        "turn": turn.number,
        "messages": [asdict(message) for message in turn.asked.messages],
        "offers": list(turn.asked.offers),
        "reached": turn.model is not None,
        "judged": turn.judged,
        "steps": [
            {"step": number, "calls": [_call(call) for call in calls]}
            for number, calls in turn.steps
        ],
        "answer": turn.closing,
        "unreadable": turn.unreadable,
        "truth": [executed(traced) for traced in turn.truth.calls],
        "differences": [each.to_json() for each in turn.differences],
        "diverges": turn.diverges,
        "failed": failure.reason.value if failure else None,
        "missing_results": list(failure.missing) if failure else [],
    }


def _call(call: Moment) -> Json:
    assert call.traced is not None
    return {
        **executed(call.traced),
        "changes": [each.to_json("before", "after") for each in call.changes],
        "off_path": [each.to_json() for each in call.off_path],
        "diverges": call.diverges,
    }


def _pair(pair: CallPair) -> Json:
    return {
        "call": pair.call and call_text(pair.call),
        "ok": pair.result and pair.result.ok,
        "result": pair.result and pair.result.text,
        "expected_call": pair.expected,
        "expected_result": pair.expected_result and pair.expected_result.text,
        "problem": pair.problem,
        "arguments": [_argument(argument) for argument in pair.arguments],
    }


def _argument(argument: ArgumentPair) -> Json:
    """Return an argument as a JSON object; one that was left out has no member ``given``."""
    given = {} if argument.given is ABSENT else {"given": bounded(argument.given)}
    return {
        "parameter": argument.parameter,
        "allowed": [bounded(value) for value in argument.allowed],
        "optional": argument.optional,
        **given,
        "problem": argument.problem,
    }
