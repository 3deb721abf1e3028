"""Why an episode failed: one cause out of a closed list, worked out from what was recorded.

The rules are tried in order, and the first that applies gives the cause. What was done wrong comes
before what was left undone, which is certain only when the turn is over; and what was done in an
earlier turn that should have been left alone comes before both.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from checkers.evidence import ToldEvidence
from checkers.reasons import Explained, Reason
from checkers.verdict import Failure, Verdict
from checkers.why.amounts import SCALE, UNIT, miscounted
from checkers.why.answers import asks, declines, unread_calls
from checkers.why.divergence import (
    Act,
    acts_of,
    align,
    closest,
    in_words,
    listed,
    misfits,
    reaching,
    touching,
)
from checkers.why.left_out import (
    ASKED_FOR,
    IMPLICIT,
    UNFINISHED,
    WHOLE_TURN,
    implicit,
    is_login,
    is_telling,
    names,
)
from checkers.why.trace import Trace, TracedTurn
from envs.errors import MalformedCall
from envs.state import ABSENT, Difference, brief, cut, to_json

LOOP = 3
"""How often a call has to give the same result to count as a loop."""

_LONGEST = 2_000
"""Characters of one piece of evidence."""
_WORD = re.compile(r"\w+")
_TELLING = 5
"""Different words of a result that are hardly met together by chance."""
_LONG_TEXT = 10
"""Characters of a text that is hardly met again by chance."""
_BEFORE_MEMBER = re.compile(r"[.\[]")


class Cause(Explained):
    """The primary cause of a failed episode."""

    WRONG_FUNCTION = (
        "wrong_function",
        "another function was called in the place of the one that was needed",
    )
    WRONG_ARGUMENT = (
        "wrong_argument",
        "what was needed was called with a wrong argument, in vain or with the wrong effect",
    )
    MISSING_CALL = "missing_call", "a call that was needed was not made"
    EXTRA_CALL = "extra_call", "a call that was not needed changed the state"
    NOT_OFFERED = "not_offered", "it called a function that it was not offered"
    ACTED_INSTEAD_OF_ASKING = (
        "acted_instead_of_asking",
        "it acted in a turn in which something was missing and nothing was to be done",
    )
    ASKED_INSTEAD_OF_ACTING = (
        "asked_instead_of_acting",
        "it asked the user, where a call was needed",
    )
    GAVE_UP = "gave_up", "it declined or said nothing, where a call was needed"
    LOOP = "loop", "it made one call again and again, with the same result"
    UNREADABLE = "unreadable", "its calls could not be read, or there is no record of any"
    IGNORED_ERROR = (
        "ignored_error",
        "a call was refused, and it went no further, though something was still to be done",
    )
    STEP_LIMIT = "step_limit", "it was stopped at the limit of steps in a turn"
    REAUTHENTICATED = "reauthenticated", "it logged in, though it was logged in already"
    ACTED_WITHOUT_LOOKING = (
        "acted_without_looking",
        "it acted on what a call that only reads would have told it, and never made that call",
    )
    NOT_TOLD = "not_told", "no answer tells what the user asked to hear"
    CUT_OFF = "cut_off", "its answer was cut off before it could make a call"
    UNANSWERED = "unanswered", "its server gave no answer for a reason that is the model's"


SUB_REASONS: Mapping[str, str] = {
    IMPLICIT: "nobody names the call: only later calls of the turn need it",
    UNFINISHED: "others of the turn were made",
    ASKED_FOR: "calls were made, but none of the turn's",
    WHOLE_TURN: "no call was made in the turn",
    SCALE: "a number is wrong by a factor of 100",
    UNIT: "a number is right in another unit of measure",
    "no_record": "there is only an error where calls should be",
    "malformed": "the call's name or arguments are no such thing",
    "escaped": "the answer has the call with escape signs in its names",
    "bad_syntax": "the answer has the call, with a slip in its syntax",
    "in_text": "the answer has the call in its text, where it is not looked for",
    "other_format": "the answer has the call in another form than the one that is read",
}
"""What the sub-reasons of causes mean."""


class Diagnosis(NamedTuple):
    """Why one episode failed."""

    cause: Cause
    detail: str
    """What happened, in one line."""
    turn: int | None
    """Index of the turn in which it happened; None where that is not on record."""
    step: int | None
    """Index of the step in the turn; None where something was left undone."""
    evidence: Mapping[str, Any]
    """JSON values, those that apply of: ``call``, ``result``, ``expected_call``, ``parameter``,
    ``expected``, ``got``, ``also`` (further wrong parameters), ``paths`` (of the state),
    ``answer``, ``times``, ``problem``, and ``sub_reason``, one of ``SUB_REASONS``."""

    @property
    def sub_reason(self) -> str | None:
        """What kind of the cause it is; None where the cause says it all."""
        return self.evidence.get("sub_reason")

    @property
    def meaning(self) -> str:
        """What cause and sub-reason mean."""
        cause = self.cause.meaning
        return f"{cause}: {SUB_REASONS[self.sub_reason]}" if self.sub_reason else cause

    @property
    def name(self) -> str:
        """The cause, and the sub-reason in brackets where there is one."""
        return f"{self.cause} ({self.sub_reason})" if self.sub_reason else self.cause.value

    def to_json(self) -> dict[str, Any]:
        """Return the diagnosis as a JSON object."""
        return {**self._asdict(), "cause": self.cause.value}


def diagnose(
    truth: Trace, model: Trace | None, verdict: Verdict, said: Sequence[str] = ()
) -> Diagnosis | None:
    """Return why an episode failed, None if it passed.

    Args:
        truth: The ground truth's trace.
        model: The model's, under the profile of the verdict; None where there is no record of it.
        verdict: What the checker said.
        said: The user's words, one text a turn.
    """
    if verdict.failure is None:
        return None
    if verdict.said is not None:
        return unanswered(verdict.failure.reason, verdict.said, model)
    if model is None or not model.turns:
        return _unrecorded(verdict.failure)
    if verdict.failed_turn is None:
        return _unfinished(model)
    if isinstance(verdict.failure.evidence, ToldEvidence):
        untold = ", ".join(verdict.failure.evidence.untold)
        return diagnosed(Cause.NOT_TOLD, f"no answer tells {untold}", verdict.failed_turn, None, {})
    said = said[: verdict.failed_turn + 1]
    case = _Case(truth, model, verdict.failed_turn, verdict.failure, said)
    found = (rule(case) for rule in _RULES)
    return next(filter(None, found), None) or _left_undone(case)


def unanswered(reason: Reason, said: str, model: Trace | None) -> Diagnosis:
    """Return that the model's server gave no answer, and in which turn, where that is on record."""
    turn = len(model.turns) - 1 if model and model.turns else None
    step = None if model is None or turn is None else len(model.turns[turn].steps)
    return Diagnosis(Cause.UNANSWERED, reason.meaning, turn, step, {"problem": bounded(said)})


_LEFT_UNDONE = (
    Cause.MISSING_CALL,
    Cause.ASKED_INSTEAD_OF_ACTING,
    Cause.GAVE_UP,
    Cause.UNREADABLE,
    Cause.IGNORED_ERROR,
)


def cut_off(found: Diagnosis) -> Diagnosis:
    """Return a diagnosis of a turn whose last answer the server cut off.

    Nobody knows what would have come, so nothing was left out.
    """
    if found.cause not in _LEFT_UNDONE:
        return found
    return found._replace(cause=Cause.CUT_OFF, detail=Cause.CUT_OFF.meaning)


NO_RECORD = Diagnosis(
    Cause.UNREADABLE,
    "there is no record of calls, only of an error",
    None,
    None,
    {"sub_reason": "no_record"},
)


def diagnosed(
    cause: Cause, detail: str, turn: int, step: int | None, evidence: Mapping[str, Any]
) -> Diagnosis:
    """Return a diagnosis with what of the evidence there is, of bounded length."""
    known = {name: bounded(value) for name, value in evidence.items() if value is not ABSENT}
    return Diagnosis(cause, detail, turn, step, known)


def bounded(value: Any) -> Any:
    """Return a piece of evidence in JSON's types, cut off where it gets long."""
    if isinstance(value, str):
        return cut(value, _LONGEST)
    text = brief(value, _LONGEST)
    try:
        return to_json(value) if len(text) < _LONGEST else text
    except RecursionError:
        return text


class _Case:
    """The turn that failed, and what in it bears on the failure.

    Attributes:
        said: The user's words so far, one text a turn.
        missing: The ground truth's acts that nothing the model did stands for.
        extra: The model's acts that stand for nothing in the ground truth.
        displaced: Equal calls, the ground truth's and the model's, that did not do the same.
    """

    def __init__(
        self, truth: Trace, model: Trace, turn: int, failure: Failure, said: Sequence[str]
    ) -> None:
        self.truth = truth
        self.model = model
        self.turn = turn
        self.failure = failure
        self.said = said
        self.missing, self.extra, self.displaced = align(truth.turns[turn], model.turns[turn])

    @property
    def played(self) -> TracedTurn:
        """The model's turn."""
        return self.model.turns[self.turn]

    @cached_property
    def acts(self) -> Sequence[Act]:
        """What the model did in it."""
        return acts_of(self.played)

    @cached_property
    def planned(self) -> Sequence[Act]:
        """What the ground truth does in it."""
        return acts_of(self.truth.turns[self.turn])

    @cached_property
    def differences(self) -> Sequence[Difference]:
        """Where the state is not the ground truth's at the end of the turn."""
        return self.failure.differences

    @cached_property
    def wrong(self) -> list[Act]:
        """The model's own acts that changed the state where it differs."""
        reaches = reaching(self.differences)
        return [act for act in self.extra if any(map(reaches, act.changes))]

    @cached_property
    def needed(self) -> list[Act]:
        """The ground truth's acts whose result or change is what is not there."""
        if self.failure.reason is Reason.EMPTY_TURN:
            return list(self.missing)
        if self.failure.reason is Reason.RESPONSE_MISMATCH:
            return [act for act in self.missing if act.result in self.failure.missing]
        reaches = reaching(self.differences)
        return [act for act in self.missing if any(map(reaches, act.changes))]

    @cached_property
    def asked(self) -> Sequence[str]:
        """The user's words since the last turn in which something was to be done."""
        return self.said[_first_idle(self) :]

    def found(
        self, cause: Cause, detail: str, act: Act | None = None, **evidence: Any
    ) -> Diagnosis:
        """Return a diagnosis of this turn: of an act, or of what was left undone."""
        done = {"call": act.text, "result": act.result} if act else {}
        step = act.step if act else None
        return diagnosed(cause, detail, self.turn, step, {**done, **evidence})


def _unrecorded(failure: Failure) -> Diagnosis:
    if failure.reason is Reason.FORCE_TERMINATED:
        return Diagnosis(Cause.STEP_LIMIT, "the record ends before the last turn", None, None, {})
    return NO_RECORD


def _unfinished(model: Trace) -> Diagnosis:
    """Say whether an episode that was cut short went round in circles."""
    turn, steps = len(model.turns) - 1, len(model.turns[-1].steps)
    acts = acts_of(model.turns[-1])
    act = _repeated(acts)
    if act and 2 * len({(other.text, other.result) for other in acts}) <= len(acts):
        evidence = _loop_evidence(act, acts)
        detail = f"made one call {evidence['times']} times, until it was stopped: {_short(act)}"
        return Diagnosis(Cause.LOOP, detail, turn, act.step, evidence)
    detail = f"was stopped in turn {turn}, after {steps} steps with calls"
    return Diagnosis(Cause.STEP_LIMIT, detail, turn, None, {"times": steps})


def _acted_early(case: _Case) -> Diagnosis | None:
    """Find what was done in a turn that should have been left alone, and decided the failure."""
    if case.failure.reason is Reason.CHANGE_IN_EMPTY_TURN:
        changed = [act for act in case.acts if act.traced.result.changed]
        return _idle_act(case, case.turn, changed[0])
    idle = [*_acts_in_idle_turns(case)]
    if case.failure.reason is Reason.EMPTY_TURN:
        calls = [(needed.name, needed.arguments) for needed in case.needed]
        done = [(turn, act) for turn, act in idle if (act.name, act.arguments) in calls]
        if done:
            return _idle_act(case, *done[-1])
    early = [(turn, act) for turn, act in idle if act.changes]
    spoilt = [*_lasting(case), *_thrown_off(case)]
    spoils = reaching(spoilt)
    for turn, act in early:
        if any(map(spoils, act.changes)):
            return _idle_act(case, turn, act)
    blameless = not case.wrong and not case.needed
    for turn, act in early:
        if blameless or any(_forestalls(act, needed) for needed in case.needed[:1]):
            return _idle_act(case, turn, act)
    return None


def _guessed(case: _Case) -> Diagnosis | None:
    """Name the call that the verdict finds fault with by itself."""
    wrong = case.failure.calls
    acts = [act for act in case.acts if wrong and act.name == wrong.function]
    if wrong is None or not acts:
        return None
    if case.failure.reason is Reason.ABSENT_FUNCTION:
        return _idle_act(case, case.turn, acts[0])
    idle = not case.truth.turns[case.turn].calls
    cause = Cause.ACTED_INSTEAD_OF_ASKING if idle else Cause.WRONG_ARGUMENT
    given = (act for act in acts if repr(act.arguments.get(wrong.parameter or "")) == wrong.actual)
    act = next(given, acts[0])
    detail = f"gave {wrong.parameter} a value that nobody had told it: {_short(act)}"
    return case.found(cause, detail, act, parameter=wrong.parameter, got=wrong.actual)


def _acts_in_idle_turns(case: _Case) -> Iterator[tuple[int, Act]]:
    """Yield what was done, and when, in the turns just before in which nothing was to be done."""
    for turn in range(_first_idle(case), case.turn):
        for act in acts_of(case.model.turns[turn]):
            yield turn, act


def _first_idle(case: _Case) -> int:
    """Return the first of the turns just before in which nothing was to be done, or the turn."""
    first = case.turn
    while first and not case.truth.turns[first - 1].calls:
        first -= 1
    return first


def _lasting(case: _Case) -> list[Difference]:
    """Return where the state was wrong from the start, and would be whatever was done then."""
    truth = case.truth.turns[case.turn]
    inherited = touching(truth.before.differences(case.played.before), case.differences)
    done = [change for act in acts_of(truth) for change in act.changes]
    set_anew = {difference.path for difference in touching(inherited, done)}
    return [difference for difference in inherited if difference.path not in set_anew]


def _thrown_off(case: _Case) -> list[Difference]:
    """Return where calls that were right led to another state than they should have."""
    changes = [change for _, act in case.displaced for change in act.changes]
    return touching(changes, case.differences)


def _forestalls(early: Act, needed: Act) -> bool:
    """Tell whether what was needed had been done already, in this way or another."""
    return early.name == needed.name or bool(touching(early.changes, needed.changes))


def _idle_act(case: _Case, turn: int, act: Act) -> Diagnosis:
    if act.offered:
        cause = Cause.ACTED_INSTEAD_OF_ASKING
        did = "changed the state" if act.changes else "made a call"
        detail = f"nothing was to be done in the turn, and it {did}: {_short(act)}"
    else:
        cause = Cause.NOT_OFFERED
        detail = f"nothing was to be done, and it called what was not offered: {_short(act)}"
    return case.found(cause, detail, act, paths=_paths(act))._replace(turn=turn)


def _did_wrong(case: _Case) -> Diagnosis | None:
    """Explain the first act that changed the state where it now differs."""
    if not case.wrong:
        return None
    act = case.wrong[0]
    if not act.offered:
        return _not_offered(case, act)
    expected = closest(act, case.needed)
    if expected is not None:
        return _wrong_argument(case, expected, act)
    if _is_needless_login(act) and not any(map(is_login, case.missing)):
        detail = f"logged in again, though it was logged in: {_short(act)}"
        return case.found(Cause.REAUTHENTICATED, detail, act, paths=_paths(act))
    expected = _replaced_by(case, act)
    if expected is not None:
        return _wrong_function(case, expected, act)
    if (there := _made_again(case, act)) is not None:
        detail = f"made {brief(there, 60)} once more, without looking what is there: {_short(act)}"
        return case.found(Cause.ACTED_WITHOUT_LOOKING, detail, act, paths=_paths(act))
    detail = f"changed the state by a call that was not needed: {_short(act)}"
    return case.found(Cause.EXTRA_CALL, detail, act, paths=_paths(act))


def _made_again(case: _Case, act: Act) -> str | None:
    """Return the name of what a call made that was there, where nothing was read before it."""
    earlier = case.acts[: case.acts.index(act)]
    if any(each.ok and not each.moved and _backend(each) == _backend(act) for each in earlier):
        return None
    made = {_BEFORE_MEMBER.split(change.path)[-1].strip("'\"]") for change in act.changes}
    named = [v for v in act.arguments.values() if isinstance(v, str) and v in made]
    before = repr(case.played.before.states.get(_backend(act) or ""))
    return next((value for value in named if repr(value) in before), None)


def _read_wrong(case: _Case) -> Diagnosis | None:
    """Explain a needed call by one of the same function that succeeded on other arguments."""
    for needed in case.needed:
        act = closest(needed, [act for act in case.extra if act.ok])
        if act is not None:
            return _wrong_argument(case, needed, act)
    return None


def _unreadable(case: _Case) -> Diagnosis | None:
    """Find calls at the end of the turn that were meant and could not be read."""
    turn, form = case.played, None
    last = turn.calls[-1].call if turn.calls else None
    was_answered = isinstance(last, MalformedCall)
    problem = last if was_answered else turn.unreadable
    if problem is not None and turn.answer is None:
        form = "malformed"
    elif turn.answer is not None and not asks(turn.answer):
        form = unread_calls(turn.answer, turn.offered)
    if form is None:
        return None
    found = case.found(
        Cause.UNREADABLE,
        f"its calls could not be read: {form.replace('_', ' ')}",
        sub_reason=form,
        problem=ABSENT if problem is None else str(problem),
        answer=ABSENT if turn.answer is None else turn.answer,
    )
    return found._replace(step=len(turn.steps) - was_answered)


def _logged_in_again(case: _Case) -> Diagnosis | None:
    """Find a login that came to nothing, and went no further, where the truth does without one."""
    if any(map(is_login, case.planned)):
        return None
    wanted, last = {_backend(act) for act in case.needed}, _last_steps(case)
    for act in filter(is_login, case.extra):
        backend = _backend(act)
        if not act.changes and backend in wanted and last[backend] <= act.step:
            detail = f"logged in instead, though it was logged in: {_short(act)}"
            return case.found(Cause.REAUTHENTICATED, detail, act)
    return None


def _asked(case: _Case) -> Diagnosis | None:
    """Find an answer that asks the user, where a call was needed."""
    answer = case.played.answer
    if answer is None or not case.needed or not asks(answer):
        return None
    return _stopped_short(case, Cause.ASKED_INSTEAD_OF_ACTING, "asked the user")


def _looped(case: _Case) -> Diagnosis | None:
    """Find a call that gave one result again and again, without getting on."""
    act = _repeated(case.extra)
    # To look again and again and then go on is no loop.
    if act is None or (act.ok and case.acts[-1].text != act.text):
        return None
    evidence = _loop_evidence(act, case.extra)
    detail = f"made one call {evidence['times']} times with the same result: {_short(act)}"
    return case.found(Cause.LOOP, detail, act, **evidence)


def _called_unoffered(case: _Case) -> Diagnosis | None:
    """Find a call of what was not to be had, with no success after it, where a call is missing."""
    called = {act.name for act in case.extra}
    if not case.needed or case.needed[0].name in called:
        return None
    succeeded = max([act.step for act in case.acts if act.ok], default=0)
    for act in case.extra:
        if act.name and not act.offered and act.step >= succeeded:
            return _not_offered(case, act)
    return None


def _gave_up(case: _Case) -> Diagnosis | None:
    """Find an answer that is empty or declines, where a call was needed."""
    answer = case.played.answer
    if answer is None or not case.needed or not declines(answer):
        return None
    return _stopped_short(case, Cause.GAVE_UP, "gave up")


def _stopped_short(case: _Case, cause: Cause, did: str) -> Diagnosis:
    needed, answer = case.needed[0], case.played.answer
    detail = f"{did}, where a call was needed: {_short(needed)}"
    return case.found(cause, detail, expected_call=needed.text, answer=answer)


def _skipped_step(case: _Case) -> Diagnosis | None:
    """Find a call that was refused for want of one before it, of which the user said nothing."""
    called = {act.name for act in case.acts}
    for act in case.extra:
        aim = None if act.ok else closest(act, case.needed)
        # Where it lacks an argument or has one too many, that is what it was refused for.
        if aim and any(ABSENT in (wanted, got) for _, wanted, got in misfits(aim, act)):
            continue
        for step in case.planned[: case.planned.index(aim)] if aim else ():
            skipped = step in case.missing and step.name not in called
            if skipped and _backend(step) == _backend(act) and _is_implicit(case, step):
                return _missing_call(case, step, call=act.text, result=act.result)
    return None


def _is_implicit(case: _Case, act: Act) -> bool:
    return implicit(act, case.planned, case.asked)


def _ignored_error(case: _Case) -> Diagnosis | None:
    """Find a refused call after which nothing more was tried, though something was missing."""
    wanted, last = {_backend(act) for act in case.needed}, _last_steps(case)
    for act in case.extra:
        backend = _backend(act)
        if not act.ok and backend in wanted and last[backend] <= act.step:
            return _unanswered(case, act)
    return None


def _last_steps(case: _Case) -> dict[str | None, int]:
    """Return the last step of the turn in which each backend was called."""
    return {_backend(act): act.step for act in case.acts}


def _unanswered(case: _Case, act: Act) -> Diagnosis:
    expected = closest(act, case.missing)
    if expected and (wrong := _wrong_argument(case, expected, act)):
        return wrong
    detail = f"went no further after an error: {_short(act)}"
    return case.found(Cause.IGNORED_ERROR, detail, act, expected_call=case.needed[0].text)


def _tried_wrong(case: _Case) -> Diagnosis | None:
    """Explain a needed call by the best of those that were refused, and never put right."""
    last = {act.name: act.step for act in case.acts if act.ok}
    refused = [act for act in case.extra if act.step >= last.get(act.name, 0)]
    for needed in case.needed:
        act = closest(needed, refused)
        if act is not None:
            return _wrong_argument(case, needed, act)
    return None


def _did_otherwise(case: _Case) -> Diagnosis | None:
    """Find another function that was called on the same thing as the one that was needed."""
    for needed in case.needed:
        for act in case.extra:
            first = needed is case.needed[0] and _stands_in(case, needed, act)
            if act.name != needed.name and (first or _passes_on(needed, act)):
                return _wrong_function(case, needed, act)
    return None


def _stands_in(case: _Case, needed: Act, act: Act) -> bool:
    """Tell whether a call may have been made in the place of one of another function."""
    if touching(act.changes, needed.changes) or _is_reverse(needed, act):
        return True
    reads = act.ok and not act.moved and not needed.moved and _read_alike(needed, act)
    # What the user names as well is no substitute.
    return reads and not (case.asked and names(act, " ".join(case.asked)))


_RULES: Sequence[Callable[[_Case], Diagnosis | None]] = (
    _guessed,
    _acted_early,
    _did_wrong,
    _read_wrong,
    _unreadable,
    _logged_in_again,
    _asked,
    _looped,
    _called_unoffered,
    _gave_up,
    _skipped_step,
    _tried_wrong,
    _ignored_error,
    _did_otherwise,
)


def _left_undone(case: _Case) -> Diagnosis:
    """Name the first call that was not made, or else what put the others out of place."""
    if case.needed:
        return _missing_call(case, case.needed[0])
    for expected in case.missing:
        if expected.moved:
            act = closest(expected, [act for act in case.extra if act.moved])
            return (act and _wrong_argument(case, expected, act)) or _missing_call(case, expected)
    for act in case.extra:
        if act.moved:
            detail = f"a call that was not needed led elsewhere: {_short(act)}"
            return case.found(Cause.EXTRA_CALL, detail, act)
    for expected, act in case.displaced:
        detail = f"was called, but in another state than it was needed in: {_short(act)}"
        return case.found(Cause.MISSING_CALL, detail, act, expected_call=expected.text)
    return case.found(Cause.MISSING_CALL, "made no call, though the turn asked for some")


def _missing_call(case: _Case, expected: Act, **evidence: Any) -> Diagnosis:
    said = ABSENT if case.played.answer is None else case.played.answer
    if not case.played.steps:
        did, reason = "made no call, where some were needed", WHOLE_TURN
    elif not {act.name for act in case.acts} & {act.name for act in case.planned}:
        did, reason = "left out a call, and made none of the turn's", ASKED_FOR
    elif _is_implicit(case, expected):
        did, reason = "left out a call that nobody named", IMPLICIT
    else:
        did, reason = "left out a call, after others of the turn", UNFINISHED
    known = {"expected_call": expected.text, "answer": said, "sub_reason": reason, **evidence}
    return case.found(Cause.MISSING_CALL, f"{did}: {_short(expected)}", **known)


def _not_offered(case: _Case, act: Act) -> Diagnosis:
    expected = case.needed[0].text if case.needed else ABSENT
    detail = f"called a function that was not offered: {_short(act)}"
    return case.found(Cause.NOT_OFFERED, detail, act, expected_call=expected)


def _wrong_function(case: _Case, expected: Act, act: Act) -> Diagnosis:
    detail = f"called {act.name} where {expected.name} was needed: {_short(act)}"
    return case.found(Cause.WRONG_FUNCTION, detail, act, expected_call=expected.text)


def _wrong_argument(case: _Case, expected: Act, act: Act) -> Diagnosis | None:
    """Say which argument is wrong, and whether its value was there to be read; None if none is."""
    evidence = _argument_evidence(expected, act)
    if "parameter" not in evidence:
        return None
    parameter, value, got = evidence["parameter"], evidence["expected"], evidence["got"]
    source = _unread_source(case, expected, value) if act.ok and act.changes else None
    if source is not None:
        detail = f"{act.name}: {parameter} was to be had from {_short(source)}, never called"
        evidence["expected_call"] = source.text
        return case.found(Cause.ACTED_WITHOUT_LOOKING, detail, act, **evidence)
    if (reason := miscounted(value, got)) is not None:
        evidence["sub_reason"] = reason
    wrong = [
        in_words(name, [] if wanted is ABSENT else [wanted], given)
        for name, wanted, given in misfits(expected, act)
    ]
    detail = f"{act.name}: {listed(wrong)}"
    return case.found(Cause.WRONG_ARGUMENT, detail, act, **evidence)


def _argument_evidence(expected: Act, act: Act) -> dict[str, Any]:
    wrong = misfits(expected, act)
    evidence: dict[str, Any] = {"expected_call": expected.text}
    if wrong:
        evidence |= wrong[0]._asdict()
    if len(wrong) > 1:
        evidence["also"] = [misfit.parameter for misfit in wrong[1:]]
    return evidence


def _unread_source(case: _Case, expected: Act, value: object) -> Act | None:
    """Return the ground truth's call that gave a value which the model has seen in no result."""
    if not is_telling(value):
        return None
    seen = [act.result for turn in case.model.turns[: case.turn + 1] for act in acts_of(turn)]
    if any(str(value) in result for result in seen):
        return None
    reads = [act for act in case.missing if act is not expected and act.ok and not act.changes]
    return next((act for act in reads if str(value) in act.result), None)


def _replaced_by(case: _Case, act: Act) -> Act | None:
    """Return the ground truth's call in whose place another function was called."""
    if is_login(act):
        return next(filter(is_login, case.missing), None)
    called = {other.name for other in case.extra}
    uncalled = [other for other in case.needed or case.missing if other.name not in called]
    for expected in uncalled:
        if touching(act.changes, expected.changes) or _share_argument(expected, act):
            return expected
    alone = len(case.wrong) == len(case.needed) == 1
    return uncalled[0] if uncalled and alone else None


def _share_argument(one: Act, other: Act) -> bool:
    """Tell whether two calls have an argument value in common that is not common anyway."""
    theirs = [value for value in other.arguments.values() if is_telling(value)]
    return any(is_telling(value) and value in theirs for value in one.arguments.values())


def _passes_on(one: Act, other: Act) -> bool:
    """Tell whether a call hands another backend a text that a call was to be made with."""
    if _backend(one) == _backend(other):
        return False
    given = [text for text in other.arguments.values() if isinstance(text, str)]
    texts = [text for text in one.arguments.values() if isinstance(text, str)]
    return any(len(text) >= _LONG_TEXT and text in whole for text in texts for whole in given)


def _is_reverse(one: Act, other: Act) -> bool:
    """Tell whether two functions' names have the same words in another order."""
    names = [each.name.lower().split("_") for each in (one, other)]
    return names[0] != names[1] and sorted(names[0]) == sorted(names[1])


def _read_alike(one: Act, other: Act) -> bool:
    """Tell whether two calls read the same thing, or the other all that the first one tells."""
    told = set(_WORD.findall(one.result))
    return _share_argument(one, other) or (
        len(told) >= _TELLING and told <= set(_WORD.findall(other.result))
    )


def _repeated(acts: Sequence[Act]) -> Act | None:
    """Return the act that completes the first loop."""
    times: Counter[tuple[str, str]] = Counter()
    for act in acts:
        times[act.text, act.result] += 1
        if times[act.text, act.result] == LOOP:
            return act
    return None


def _loop_evidence(act: Act, acts: Sequence[Act]) -> dict[str, Any]:
    times = sum((other.text, other.result) == (act.text, act.result) for other in acts)
    return {"call": bounded(act.text), "result": bounded(act.result), "times": times}


def _is_needless_login(act: Act) -> bool:
    """Tell whether a call logs in where somebody is: it replaces what was set before."""
    replaced = all(change.expected not in (None, False, "", ABSENT) for change in act.changes)
    return is_login(act) and replaced


def _backend(act: Act) -> str | None:
    return act.tool.backend if act.tool else None


def _paths(act: Act) -> list[str]:
    return [change.path for change in act.changes]


def _short(act: Act) -> str:
    return cut(act.text, 100)
