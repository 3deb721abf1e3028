"""An episode's transcript as lines for people, and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from checkers.verdict import Failure
from checkers.why.trace import TracedCall
from envs.results import Result
from envs.state import Difference, brief
from runner.analysis.examined import Examined
from runner.analysis.transcript import ShownCall, ShownStep, ShownTurn
from runner.records.record import call_text
from runner.show.terminal import Line, Tone, clipped

WIDTH = 200
"""Longest call or result that is shown, in characters."""
_SAID = 2000
"""Longest message."""
_MOST = 20
"""Differences that are shown of one place."""

_MARK, _INDENT = "> ", " " * 10
_PLAIN: Tone = "plain"
_GOOD: Tone = "good"
_BAD: Tone = "bad"


def lines(examined: Examined, turns: Sequence[ShownTurn], source: str) -> Iterator[Line]:
    """Yield the lines that show an episode.

    Args:
        examined: The episode.
        turns: What to show of it.
        source: Where its calls are from.
    """
    trajectory, record = examined.prepared.trajectory, examined.recorded
    environments = ", ".join(trajectory.environments)
    yield Line(f"{trajectory.id} ({trajectory.category}; {environments})", "strong")
    yield Line(f"{source}, profile {examined.profile.name}", "faint")
    if record and record.error:
        yield Line(f"no steps were recorded: {record.error}", _BAD)
    for turn in turns:
        yield Line("")
        yield from _turn_lines(turn)
    yield Line("")
    yield from _ending(examined)


def document(examined: Examined, turns: Sequence[ShownTurn], source: str) -> dict[str, Any]:
    """Return an episode as a JSON object; ``runner/README.md`` describes it.

    Args:
        examined: The episode.
        turns: What to show of it.
        source: Where its calls are from.
    """
    trajectory, recorded = examined.prepared.trajectory, examined.recorded
    divergence, diagnosis = examined.divergence, examined.diagnosis
    return {
        "id": trajectory.id,
        "trial": recorded.trial if recorded else None,
        "category": trajectory.category.value,
        "environments": list(trajectory.environments),
        "source": source,
        "profile": examined.profile.name,
        "error": recorded.error if recorded else None,
        "verdict": examined.verdict.to_json(),
        "divergence": divergence
        and {
            **divergence._asdict(),
            "differences": [each.to_json() for each in divergence.differences],
        },
        "diagnosis": diagnosis and diagnosis.to_json(),
        "turns": [_turn_json(turn) for turn in turns],
    }


def said(role: str, text: str) -> Iterator[Line]:
    """Yield the lines of a message."""
    first, *others = clipped(text, _SAID).split("\n")
    yield Line(f"  {role}: {first}")
    yield from (Line(f"    {line}") for line in others)


def result_line(result: Result) -> Line:
    """Return the line of what a call gave."""
    arrow = "->" if result.ok else "-> refused:"
    return Line(f"{_INDENT}{arrow} {clipped(result.text, WIDTH)}")


def executed_json(traced: TracedCall) -> dict[str, Any]:
    """Return an executed call as a JSON object."""
    return {
        "call": call_text(traced.call),
        "ok": traced.result.ok,
        "result": traced.result.text,
    }


def _turn_lines(turn: ShownTurn) -> Iterator[Line]:
    not_judged = "" if turn.judged else " (after the failure, not judged)"
    yield Line(f"turn {turn.number}{not_judged}", "strong")
    for message in turn.asked.messages:
        yield from said(message.role, message.content)
    if turn.asked.offers:
        yield Line(f"  functions handed over: {', '.join(turn.asked.offers)}")
    for step in turn.steps:
        for call in step.calls:
            yield from _call_lines(step, call)
    if turn.model is None:
        yield Line("  not reached", _BAD)
        return
    if turn.model.unreadable is not None:
        yield Line(f"  unreadable: {clipped(str(turn.model.unreadable), WIDTH)}", _BAD)
    if turn.model.answer is not None:
        yield from said("assistant", turn.model.answer)
    if turn.departs:
        yield from _truth_lines(turn)
    if turn.failure is not None:
        yield from _failure_lines(turn.failure)


def _call_lines(step: ShownStep, call: ShownCall) -> Iterator[Line]:
    mark, tone = (_MARK, _BAD) if call.diverges else ("  ", _PLAIN)
    yield Line(f"{mark}step {step.number}  {_clipped_call(call.traced)}", tone)
    yield result_line(call.traced.result)
    yield from _listed(call.changes, f"{_INDENT}changed   ", "new", _change)
    yield from _listed(call.strays, f"{_INDENT}off path  ", _BAD, str)
    if call.diverges:
        yield Line(f"{_INDENT}here it leaves the ground truth", _BAD)


def _truth_lines(turn: ShownTurn) -> Iterator[Line]:
    """Yield what the ground truth does in a turn, and how the state stands against it."""
    if turn.diverges:
        yield Line(f"{_MARK}here it leaves the ground truth, by what is not done", _BAD)
    yield Line("  ground truth:" if turn.truth.calls else "  ground truth: no call")
    for traced in turn.truth.calls:
        yield Line(f"{_INDENT}{_clipped_call(traced)}")
        yield result_line(traced.result)
    if turn.differences:
        yield Line("  state: not as in the ground truth", _BAD)
    else:
        yield Line("  state: as in the ground truth")
    yield from _listed(turn.differences, "    ", _BAD, str)


def _failure_lines(failure: Failure) -> Iterator[Line]:
    yield Line(f"  FAILED {failure.reason}: {failure.reason.meaning}", _BAD)
    yield from (Line(f"    not seen: {clipped(text, WIDTH)}", _BAD) for text in failure.missing)


def _ending(examined: Examined) -> Iterator[Line]:
    verdict, divergence, diagnosis = examined.verdict, examined.divergence, examined.diagnosis
    if verdict.failure and verdict.failed_turn is None:
        reason = verdict.failure.reason
        yield Line(f"FAILED {reason}: {reason.meaning}", _BAD)
    word, tone = ("passed", _GOOD) if verdict.valid else ("FAILED", _BAD)
    yield Line(f"{word}: {verdict.turns_passed} of {verdict.turns} turns", tone)
    if divergence is not None:
        step = "at its end" if divergence.call is None else f"step {divergence.step}"
        yield Line(f"left the ground truth: turn {divergence.turn}, {step}")
    if diagnosis is not None:
        turn = "" if diagnosis.turn is None else f", turn {diagnosis.turn}"
        yield Line(f"cause: {diagnosis.cause}{turn}: {diagnosis.detail}")


def _clipped_call(traced: TracedCall) -> str:
    return clipped(call_text(traced.call), WIDTH)


def _listed(
    differences: Sequence[Difference], start: str, tone: Tone, text: Callable[[Difference], str]
) -> Iterator[Line]:
    for difference in differences[:_MOST]:
        yield Line(f"{start}{text(difference)}", tone)
    if len(differences) > _MOST:
        yield Line(f"{start}and {len(differences) - _MOST} more places", tone)


def _change(difference: Difference) -> str:
    was, now = brief(difference.expected), brief(difference.actual)
    return f"{difference.path}: was {was}, now {now}"


def _turn_json(turn: ShownTurn) -> dict[str, Any]:
    model, failure = turn.model, turn.failure
    return {
        "turn": turn.number,
        "messages": [asdict(message) for message in turn.asked.messages],
        "offers": list(turn.asked.offers),
        "reached": model is not None,
        "judged": turn.judged,
        "steps": [
            {"step": step.number, "calls": [_call_json(call) for call in step.calls]}
            for step in turn.steps
        ],
        "answer": model.answer if model else None,
        "unreadable": str(model.unreadable) if model and model.unreadable else None,
        "truth": [executed_json(traced) for traced in turn.truth.calls],
        "differences": [each.to_json() for each in turn.differences],
        "diverges": turn.diverges,
        "failed": failure.reason.value if failure else None,
        "missing_results": list(failure.missing) if failure else [],
    }


def _call_json(call: ShownCall) -> dict[str, Any]:
    return {
        **executed_json(call.traced),
        "changes": [each.to_json("before", "after") for each in call.changes],
        "off_path": [each.to_json() for each in call.off_path],
        "diverges": call.diverges,
    }
