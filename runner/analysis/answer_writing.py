"""An answer of a single turn as lines for people, and as JSON: calls beside those expected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from checkers.calls.pairs import ArgumentPair, CallPair
from checkers.why.calls import PairedAnswer
from checkers.why.diagnosis import bounded
from envs.results import Result
from envs.state import ABSENT, brief
from runner.analysis.examined import Examined
from runner.analysis.writing import WIDTH, result_line, said
from runner.records.record import call_text
from runner.show.terminal import Line, Tone, clipped

_MARK, _INDENT = "> ", " " * 10


def lines(examined: Examined, source: str, *, only_diff: bool = False) -> Iterator[Line]:
    """Yield the lines that show an answer.

    Args:
        examined: The entry, a single turn.
        source: Where it is from.
        only_diff: Whether calls are left out that are as expected.
    """
    trajectory, recorded, answer = examined.trajectory, examined.recorded, _answer(examined)
    yield Line(f"{trajectory.id} ({trajectory.category})", "strong")
    yield Line(f"{source}, profile {examined.profile.name}", "faint")
    if recorded and recorded.error:
        yield Line(f"no steps were recorded: {recorded.error}", "bad")
    yield Line("")
    for message in trajectory.turns[0].messages:
        yield from said(message.role, message.content)
    yield Line(f"  functions: {', '.join(answer.offered) or 'none'}", "faint")
    if answer.aim is not None:
        yield Line(f"  {answer.aim}", "faint")
    for pair in answer.pairs:
        if pair.problem or not only_diff:
            yield from _pair_lines(pair)
    yield from _said_lines(answer, valid=examined.verdict.valid)
    yield Line("")
    yield from _ending(examined)


def document(examined: Examined, source: str, *, only_diff: bool = False) -> dict[str, Any]:
    """Return an answer as a JSON object; ``runner/README.md`` describes it.

    Args:
        examined: The entry, a single turn.
        source: Where it is from.
        only_diff: Whether calls are left out that are as expected.
    """
    trajectory, recorded, answer = examined.trajectory, examined.recorded, _answer(examined)
    diagnosis, pairs = examined.diagnosis, answer.pairs
    return {
        "id": trajectory.id,
        "trial": recorded.trial if recorded else None,
        "category": trajectory.category.value,
        "source": source,
        "profile": examined.profile.name,
        "error": recorded.error if recorded else None,
        "verdict": examined.verdict.to_json(),
        "diagnosis": diagnosis and diagnosis.to_json(),
        "messages": [asdict(message) for message in trajectory.turns[0].messages],
        "functions": [dict(function) for function in examined.functions],
        "aim": answer.aim,
        "calls": [_pair_json(pair) for pair in pairs if pair.problem or not only_diff],
        "answer": answer.said.answer,
        "unreadable": answer.said.problem,
    }


def _answer(examined: Examined) -> PairedAnswer:
    assert examined.answer is not None
    return examined.answer


def _pair_lines(pair: CallPair) -> Iterator[Line]:
    mark: str = _MARK if pair.problem else "  "
    tone: Tone = "bad" if pair.problem else "good"
    if pair.call is not None:
        yield Line(f"{mark}called    {clipped(call_text(pair.call), WIDTH)}", tone)
        yield from _result_lines(pair.result)
    if pair.expected is not None:
        mark = "  " if pair.call else mark
        yield Line(
            f"{mark}expected  {clipped(pair.expected, WIDTH)}", "plain" if pair.call else tone
        )
        yield from _result_lines(pair.expected_result)
    for argument in pair.arguments:
        if argument.problem is not None:
            yield Line(f"{_INDENT}  {clipped(_in_words(argument), WIDTH)}", "bad")
    if pair.problem is not None and not any(argument.problem for argument in pair.arguments):
        yield Line(f"{_INDENT}  {clipped(pair.problem, WIDTH)}", "bad")


def _result_lines(result: Result | None) -> Iterator[Line]:
    if result is not None:
        yield result_line(result)


def _in_words(argument: ArgumentPair) -> str:
    """Say what is wrong with an argument: what is right, what was given, and why that is not."""
    right = " or ".join(map(brief, argument.allowed)) or "not to be given"
    optional = ", or left out" if argument.optional else ""
    given = "left out" if argument.given is ABSENT else brief(argument.given)
    return f"{argument.parameter}: expected {right}{optional}, got {given} ({argument.problem})"


def _said_lines(paired: PairedAnswer, *, valid: bool) -> Iterator[Line]:
    answer, problem, _ = paired.said
    if problem is not None:
        tone: Tone = "plain" if valid else "bad"
        yield Line(f"  no call can be read: {clipped(problem, WIDTH)}", tone)
    if answer is not None:
        yield from said("assistant", answer)


def _ending(examined: Examined) -> Iterator[Line]:
    failure, diagnosis = examined.verdict.failure, examined.diagnosis
    if failure is None:
        yield Line("passed", "good")
        return
    yield Line(f"FAILED {failure.reason}: {failure.reason.meaning}", "bad")
    if failure.calls is not None:
        yield from (Line(f"  {clipped(text, WIDTH)}", "bad") for text in failure.calls.lines())
    if diagnosis is not None:
        yield Line(f"cause: {diagnosis.cause}: {diagnosis.detail}")


def _pair_json(pair: CallPair) -> dict[str, Any]:
    return {
        "call": pair.call and call_text(pair.call),
        "ok": pair.result and pair.result.ok,
        "result": pair.result and pair.result.text,
        "expected_call": pair.expected,
        "expected_result": pair.expected_result and pair.expected_result.text,
        "problem": pair.problem,
        "arguments": [_argument_json(argument) for argument in pair.arguments],
    }


def _argument_json(argument: ArgumentPair) -> dict[str, Any]:
    """Return an argument as a JSON object; one that was left out has no member ``given``."""
    given = {} if argument.given is ABSENT else {"given": bounded(argument.given)}
    return {
        "parameter": argument.parameter,
        "allowed": [bounded(value) for value in argument.allowed],
        "optional": argument.optional,
        **given,
        "problem": argument.problem,
    }
