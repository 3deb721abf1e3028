"""Text lines or JSON of an episode, as commands print them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain, zip_longest
from typing import Any

from checkers.calls.call_pairs import ArgumentPair, CallPair
from checkers.causes.diagnosis import bound_evidence
from checkers.causes.trace import TracedCall
from checkers.verdict import Failure
from envs.results import Result
from envs.state import ABSENT, Difference, cut_repr
from runner import extension
from runner.analysis.episode_view import WHOLE, EpisodeMoment, EpisodePart, TurnView, view
from runner.episodes.rejudged_episode import RejudgedEpisode, RejudgedMultiTurn, RejudgedSingleTurn
from runner.extension import Extension
from runner.records.episode_record import EpisodeRecord, RecordedEpisode, StepRecord, call_text
from runner.show.terminal import OutputLine, Tone, cut_to_terminal, format_count
from trajectories.schema import Message

Json = dict[str, Any]

_WIDTH = 200
_SAID = 2000
_MAX_ITEMS = 20

_MAX_UNSEEN = 3

_ENDED_IN_ERROR = "the episode ended in an error"

_MARK, _INDENT = "> ", " " * 10
_PLAIN: Tone = "plain"
_GOOD: Tone = "good"
_BAD: Tone = "bad"


@dataclass(frozen=True)
class EpisodeTextRenderer:
    """Renderer of an episode as lines; ``source`` is the name of the run or model."""

    source: str
    part: EpisodePart = WHOLE

    def turns(self, examined: RejudgedMultiTurn) -> Iterator[OutputLine]:
        """Yield the lines for an episode of several turns."""
        shown = self.part.of(view(examined))
        environments = f"; {', '.join(examined.trajectory.environments)}"
        course = chain.from_iterable(
            _turn_lines(turn, _kept_steps(examined, turn.number)) for turn in shown
        )
        return self._lines(examined, environments, course, _turns_ending(examined))

    def pairs(self, examined: RejudgedSingleTurn) -> Iterator[OutputLine]:
        """Yield the lines for a single-turn episode."""
        self.part.check_single(examined.trajectory.id)
        shown = _answer_lines(examined, only_diff=self.part.only_diff)
        return self._lines(examined, "", shown, answer_ending(examined))

    def _lines(
        self,
        examined: RejudgedEpisode,
        environments: str,
        course: Iterator[OutputLine],
        ending: Iterator[OutputLine],
    ) -> Iterator[OutputLine]:
        trajectory, recorded = examined.trajectory, examined.recorded
        yield OutputLine(f"{trajectory.id} ({trajectory.category}{environments})", "strong")
        yield OutputLine(f"{self.source}, profile {examined.profile.name}", "faint")
        if examined.unjudged:
            yield OutputLine(f"{_ENDED_IN_ERROR}: {recorded and recorded.error}", _BAD)
            for line in ((recorded and recorded.record.traceback) or "").splitlines():
                yield OutputLine(f"  {line}", "faint")
        elif recorded and recorded.error:
            yield OutputLine(f"no steps were recorded: {recorded.error}", _BAD)
        yield from course
        if recorded and self.part.step is None and not self.part.only_diff:
            for each in _extended(recorded.record):
                yield from each.episode_lines(recorded.record, self.part.turn)
        yield OutputLine("")
        yield from _unjudged_ending(recorded.record) if recorded and examined.unjudged else ending


@dataclass(frozen=True)
class EpisodeJsonRenderer:
    """Renderer that returns a part of an episode as a JSON object; see ``runner/README.md``."""

    source: str
    part: EpisodePart = WHOLE

    def turns(self, examined: RejudgedMultiTurn) -> Json:
        """Return an episode of several turns as a JSON object."""
        diagnosis = examined.diagnosis
        shown = self.part.of(view(examined))
        return {
            **self._head(examined, environments=list(examined.trajectory.environments)),
            "diagnosis": diagnosis and diagnosis.to_json(),
            "data_error": examined.data_error,
            "turns": [_turn_json(turn) for turn in shown],
        }

    def pairs(self, examined: RejudgedSingleTurn) -> Json:
        """Return a single-turn episode as a JSON object."""
        self.part.check_single(examined.trajectory.id)
        paired, diagnosis, only_diff = examined.paired, examined.diagnosis, self.part.only_diff
        words, problem, _ = paired.said
        return {
            **self._head(examined),
            "diagnosis": diagnosis and diagnosis.to_json(),
            "data_error": examined.data_error,
            "messages": [asdict(message) for message in examined.trajectory.turns[0].messages],
            "functions": [dict(function) for function in examined.functions],
            "aim": paired.aim,
            "calls": [_pair_json(pair) for pair in paired.pairs if pair.problem or not only_diff],
            "answer": words,
            "unreadable": problem,
        }

    def _head(self, examined: RejudgedEpisode, **more: Any) -> Json:
        trajectory, recorded = examined.trajectory, examined.recorded
        return {
            "id": trajectory.id,
            "trial": recorded.trial if recorded else None,
            "category": trajectory.category.value,
            **more,
            "source": self.source,
            "profile": examined.profile.name,
            "error": recorded.error if recorded else None,
            "verdict": None if examined.unjudged else examined.verdict.to_json(),
            **_extended_json(recorded),
        }


def _extended(record: EpisodeRecord) -> list[Extension]:
    return [extension.load_extension(name) for name in record.extensions]


def _extended_json(recorded: RecordedEpisode | None) -> Json:
    record = recorded and recorded.record
    members = [each.episode_json(record) for each in _extended(record)] if record else []
    return {name: value for member in members for name, value in member.items()}


def _kept_steps(examined: RejudgedEpisode, turn: int) -> Sequence[StepRecord]:
    if examined.recorded is None or not examined.unjudged:
        return ()
    return [step for step in examined.recorded.record.steps if step.turn == turn]


def _turn_lines(turn: TurnView, kept: Sequence[StepRecord] = ()) -> Iterator[OutputLine]:
    yield OutputLine("")
    not_judged = "" if turn.judged else " (after the failure, not judged)"
    yield OutputLine(f"turn {turn.number + 1}{not_judged}", "strong")
    for moment in turn.moments[:1]:
        yield from _event_lines(moment)
    yield from _messages(turn.asked.messages)
    if turn.asked.offers:
        yield OutputLine(f"  added functions: {', '.join(turn.asked.offers)}")
    for call in turn.calls:
        yield from _call_lines(call)
    if turn.model is None:
        for number, step in enumerate(kept):
            yield from _kept_lines(number, step)
        yield OutputLine("  the episode ended here" if kept else "  not reached", _BAD)
        return
    if turn.unreadable is not None:
        yield OutputLine(f"  unreadable: {cut_to_terminal(turn.unreadable, _WIDTH)}", _BAD)
    if turn.closing is not None:
        yield from _said("assistant", turn.closing)
    if turn.departs:
        yield from _truth_lines(turn)
    if turn.failure is not None:
        yield _failed(turn.failure, "  ")
        unseen = turn.failure.unseen
        for text in unseen[:_MAX_UNSEEN]:
            yield OutputLine(f"    unseen result: {cut_to_terminal(text, _WIDTH)}", _BAD)
        if len(unseen) > _MAX_UNSEEN:
            yield OutputLine(f"    unseen results: {len(unseen) - _MAX_UNSEEN} more", _BAD)


def _kept_lines(number: int, step: StepRecord) -> Iterator[OutputLine]:
    for call, result in zip_longest(step.calls, step.results):
        yield OutputLine(f"  step {number + 1}  {cut_to_terminal(call, _WIDTH)}")
        if result is not None:
            yield OutputLine(f"{_INDENT}-> {cut_to_terminal(result, _WIDTH)}")
    if step.reply.text:
        yield from _said("assistant", step.reply.text)


def _call_lines(call: EpisodeMoment) -> Iterator[OutputLine]:
    assert call.traced is not None
    mark, tone = (_MARK, _BAD) if call.diverges else ("  ", _PLAIN)
    yield OutputLine(f"{mark}step {call.place.step + 1}  {_clipped_call(call.traced)}", tone)
    yield _result_line(call.traced.result)
    yield from _listed(call.changes, f"{_INDENT}changed   ", "new", describe_change)
    yield from _event_lines(call)
    for label, text in call.remarks:
        yield OutputLine(f"{_INDENT}{label:9} {cut_to_terminal(text, _WIDTH)}", _BAD)
    yield from _listed(call.strays, f"{_INDENT}off path  ", _BAD, str)
    if call.diverges:
        yield OutputLine(f"{_INDENT}cause of the failure", _BAD)


def _event_lines(moment: EpisodeMoment) -> Iterator[OutputLine]:
    for notice in moment.notices:
        shown = f"{notice.event}, to {notice.to or 'nobody'}: {notice}"
        yield OutputLine(f"{_INDENT}event     {cut_to_terminal(shown, _WIDTH)}", "new")


def _truth_lines(turn: TurnView) -> Iterator[OutputLine]:
    if turn.diverges:
        yield OutputLine(f"{_MARK}end of the turn: cause of the failure", _BAD)
    yield OutputLine("  ground truth:" if turn.truth.calls else "  ground truth: no call")
    for traced in turn.truth.calls:
        yield OutputLine(f"{_INDENT}{_clipped_call(traced)}")
        yield _result_line(traced.result)
    if turn.differences:
        yield OutputLine("  state: differs from the ground truth", _BAD)
    else:
        yield OutputLine("  state: same as the ground truth")
    yield from _listed(turn.differences, "    ", _BAD, str)


def _unjudged_ending(record: EpisodeRecord) -> Iterator[OutputLine]:
    turn = record.steps[-1].turn if record.steps else 0
    yield OutputLine(
        f"no verdict: the episode ended in turn {turn + 1} after "
        f"{format_count(len(record.steps), 'answer')}",
        _BAD,
    )


def _turns_ending(examined: RejudgedMultiTurn) -> Iterator[OutputLine]:
    verdict = examined.verdict
    if verdict.failure and verdict.failed_turn is None:
        yield _failed(verdict.failure)
    turns = f"{verdict.turns_passed} of {verdict.turns} turns"
    yield (
        OutputLine(f"passed: {turns}", _GOOD)
        if verdict.valid
        else OutputLine(f"FAILED: {turns} passed", _BAD)
    )
    yield from _cause_lines(examined)


def _cause_lines(examined: RejudgedEpisode) -> Iterator[OutputLine]:
    if examined.diagnosis is not None:
        yield OutputLine(f"cause: {examined.diagnosis.sentence}")
    if examined.data_error is not None:
        yield OutputLine(examined.data_error)


def _answer_lines(examined: RejudgedSingleTurn, *, only_diff: bool) -> Iterator[OutputLine]:
    yield OutputLine("")
    yield from asked_lines(examined)
    for pair in examined.paired.pairs:
        if pair.problem or not only_diff:
            yield from pair_lines(pair)
    yield from answered_lines(examined)


def asked_lines(examined: RejudgedSingleTurn) -> Iterator[OutputLine]:
    """Yield lines with the messages, functions and expectation of a single turn."""
    yield from _messages(examined.trajectory.turns[0].messages)
    yield OutputLine(f"  functions: {', '.join(examined.paired.offered) or 'none'}", "faint")
    if examined.paired.aim is not None:
        yield OutputLine(f"  {examined.paired.aim}", "faint")


def pair_lines(pair: CallPair, width: int = _WIDTH) -> Iterator[OutputLine]:
    """Yield the lines that show a call and the expected call."""
    mark = _MARK if pair.problem else "  "
    tone = _BAD if pair.problem else _GOOD
    if pair.call is not None:
        yield OutputLine(f"{mark}called    {cut_to_terminal(call_text(pair.call), width)}", tone)
        mark, tone = "  ", _PLAIN
    if pair.result is not None:
        yield _result_line(pair.result)
    if pair.expected is not None:
        yield OutputLine(f"{mark}expected  {cut_to_terminal(pair.expected, width)}", tone)
    if pair.expected_result is not None:
        yield _result_line(pair.expected_result)
    wrong = [_describe(argument) for argument in pair.arguments if argument.problem is not None]
    for text in wrong or filter(None, [pair.problem]):
        yield OutputLine(f"{_INDENT}  {cut_to_terminal(text, width)}", _BAD)


def answered_lines(examined: RejudgedSingleTurn) -> Iterator[OutputLine]:
    """Yield the lines of an answer's text or parse error."""
    words, problem, _ = examined.paired.said
    if problem is not None:
        tone = _PLAIN if examined.verdict.valid else _BAD
        yield OutputLine(f"  calls could not be parsed: {cut_to_terminal(problem, _WIDTH)}", tone)
    if words is not None:
        yield from _said("assistant", words)


def _describe(argument: ArgumentPair) -> str:
    right = " or ".join(map(cut_repr, argument.allowed)) or "no value"
    optional = " or omitted" if argument.optional else ""
    given = "omitted" if argument.given is ABSENT else cut_repr(argument.given)
    return f"{argument.parameter}: expected {right}{optional}, got {given} ({argument.problem})"


def answer_ending(examined: RejudgedSingleTurn) -> Iterator[OutputLine]:
    """Yield the output lines for the verdict on a single-turn answer."""
    failure = examined.verdict.failure
    if failure is None:
        yield OutputLine("passed", _GOOD)
        return
    yield _failed(failure)
    if failure.calls is not None:
        yield from (
            OutputLine(f"  {cut_to_terminal(text, _WIDTH)}", _BAD) for text in failure.calls.lines()
        )
    yield from _cause_lines(examined)


def _failed(failure: Failure, indent: str = "") -> OutputLine:
    return OutputLine(f"{indent}FAILED {failure.reason}: {failure.reason.meaning}", _BAD)


def _messages(messages: Sequence[Message]) -> Iterator[OutputLine]:
    for message in messages:
        yield from _said(message.role, message.content)


def _said(role: str, text: str) -> Iterator[OutputLine]:
    first, *others = cut_to_terminal(text, _SAID).split("\n")
    yield OutputLine(f"  {role}: {first}")
    yield from (OutputLine(f"    {line}") for line in others)


def _result_line(result: Result) -> OutputLine:
    arrow = "->" if result.ok else "-> refused:"
    return OutputLine(f"{_INDENT}{arrow} {cut_to_terminal(result.observation, _WIDTH)}")


def _clipped_call(traced: TracedCall) -> str:
    return cut_to_terminal(call_text(traced.call), _WIDTH)


def _listed(
    differences: Sequence[Difference], start: str, tone: Tone, text: Callable[[Difference], str]
) -> Iterator[OutputLine]:
    for difference in differences[:_MAX_ITEMS]:
        yield OutputLine(f"{start}{cut_to_terminal(text(difference), _WIDTH + 100)}", tone)
    if len(differences) > _MAX_ITEMS:
        yield OutputLine(f"{start}and {len(differences) - _MAX_ITEMS} more places", tone)


def describe_change(change: Difference) -> str:
    """Format a state change as one line."""
    return f"{change.path}: was {cut_repr(change.expected)}, now {cut_repr(change.actual)}"


def executed(traced: TracedCall) -> Json:
    """Return an executed call as a JSON object."""
    return {
        "call": call_text(traced.call),
        "ok": traced.result.ok,
        "result": traced.result.observation,
    }


def _turn_json(turn: TurnView) -> Json:
    failure = turn.failure
    return {
        "turn": turn.number,
        **_notices_json(turn.moments[:1]),
        "messages": [asdict(message) for message in turn.asked.messages],
        "offers": list(turn.asked.offers),
        "reached": turn.model is not None,
        "judged": turn.judged,
        "steps": [
            {"step": number, "calls": [_call_json(call) for call in calls]}
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


def _notices_json(moments: Sequence[EpisodeMoment]) -> Json:
    found = [each._asdict() for moment in moments for each in moment.notices]
    return {"notices": found} if found else {}


def _call_json(call: EpisodeMoment) -> Json:
    assert call.traced is not None
    return {
        **executed(call.traced),
        "changes": [each.to_json("before", "after") for each in call.changes],
        **_notices_json([call]),
        **({"remarks": dict(call.remarks)} if call.remarks else {}),
        "off_path": [each.to_json() for each in call.off_path],
        "diverges": call.diverges,
    }


def _pair_json(pair: CallPair) -> Json:
    return {
        "call": pair.call and call_text(pair.call),
        "ok": pair.result and pair.result.ok,
        "result": pair.result and pair.result.text,
        "expected_call": pair.expected,
        "expected_result": pair.expected_result and pair.expected_result.text,
        "problem": pair.problem,
        "arguments": [_argument_json(argument) for argument in pair.arguments],
    }


def _argument_json(argument: ArgumentPair) -> Json:
    given = {} if argument.given is ABSENT else {"given": bound_evidence(argument.given)}
    return {
        "parameter": argument.parameter,
        "allowed": [bound_evidence(value) for value in argument.allowed],
        "optional": argument.optional,
        **given,
        "problem": argument.problem,
    }
