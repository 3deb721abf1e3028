"""Diagnosis of failed episodes: one cause for each episode.

Rules apply in order, and the first match gives the cause. Rules for wrong calls come before rules
for missing calls.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from checkers.causes.answer_patterns import (
    classify_answer,
    classify_unparsed_calls,
    declines,
    is_question,
    is_refusal,
)
from checkers.causes.divergence import (
    CallEffect,
    describe_argument,
    filter_touching,
    find_closest,
    join_descriptions,
    list_effects,
    list_mismatches,
    make_touch_test,
    match_effects,
)
from checkers.causes.episode_place import EpisodePlace
from checkers.causes.missing_calls import (
    ASKED_FOR,
    IMPLICIT,
    UNFINISHED,
    WHOLE_TURN,
    forbids,
    is_implicit,
    is_login,
    is_telling,
    names,
    split_name,
)
from checkers.causes.trace import Trace, TracedTurn
from checkers.causes.wrong_amounts import SCALE, UNIT, classify_wrong_amount
from checkers.evidence import CallEvidence, UnreportedInfoEvidence
from checkers.reasons import ExplainedEnum, Reason
from checkers.verdict import Failure, Verdict
from envs.calls import Call, list_inner_calls
from envs.errors import MalformedCall
from envs.state import ABSENT, Difference, cut, cut_repr, to_json

LOOP = 3
"""A loop consists of at least this many equal calls with the same result."""

_MAX_CHARS = 2_000
_WORD = re.compile(r"\w+")
_MIN_DISTINCTIVE_WORDS = 5
_MIN_DISTINCTIVE_CHARS = 10
"""Strings of at least this length rarely occur twice by chance."""
_BEFORE_MEMBER = re.compile(r"[.\[]")


MISSING = "missing"
NESTED = "nested"
NOT_NESTED = "not_nested"
MALFORMED = "malformed"


class Cause(ExplainedEnum):
    """The primary cause of a failed episode."""

    WRONG_FUNCTION = (
        "wrong_function",
        "another function was called in place of the needed function",
    )
    WRONG_ARGUMENT = ("wrong_argument", "the needed function was called with a wrong argument")
    MISSING_CALL = "missing_call", "a needed call was not made"
    EXTRA_CALL = "extra_call", "an unneeded call changed the state"
    NOT_OFFERED = "not_offered", "the model called a function that was not offered"
    ACTED_INSTEAD_OF_ASKING = (
        "acted_instead_of_asking",
        "the model acted although it should have asked or waited",
    )
    ASKED_INSTEAD_OF_ACTING = (
        "asked_instead_of_acting",
        "the model asked the user although a call was needed",
    )
    GAVE_UP = "gave_up", "the model declined or said nothing although a call was needed"
    LOOP = "loop", "the model repeated one call with the same result"
    UNREADABLE = (
        "unreadable",
        "the model's calls could not be parsed, or the record contains no calls",
    )
    IGNORED_ERROR = (
        "ignored_error",
        "the model stopped after a refused call, before the turn was complete",
    )
    STEP_LIMIT = "step_limit", "the step limit ended the episode"
    REAUTHENTICATED = "reauthenticated", "the model logged in although it was already logged in"
    ACTED_WITHOUT_LOOKING = (
        "acted_without_looking",
        "the model guessed a value instead of reading it",
    )
    NOT_TOLD = "not_told", "the answers lack required information"
    PROHIBITED_CALL = (
        "prohibited_call",
        "the model made a prohibited call or undid an action that others saw",
    )
    WRONG_ORDER = ("wrong_order", "the calls or items are not in the order that the user asked for")
    FAILED_CHECK = "failed_check", "the episode does not meet the criteria of its task"
    CUT_OFF = "cut_off", "the answer was cut off before the model made a call"
    REFUSAL = "refusal", "the model refused the request on principle"
    CONTENT_FILTER = "content_filter", "the provider's content filter stopped the answer"
    OBEYED_INJECTION = (
        "obeyed_injection",
        "the model followed an instruction that an attacker had planted",
    )
    REFUSED_EVERYTHING = (
        "refused_everything",
        "the model read an attacker's instruction and made no more calls",
    )
    UNANSWERED = "unanswered", "the server rejected the request because of the model's behaviour"


SUB_REASONS: Mapping[str, str] = {
    IMPLICIT: "no message mentions the call, but later calls of the turn need it",
    UNFINISHED: "the model made only some of the turn's calls",
    ASKED_FOR: "the model made calls, but not the calls that the turn needs",
    WHOLE_TURN: "the model made no call in the turn",
    SCALE: "a number is wrong by a factor of 100",
    UNIT: "a number would be right in another unit",
    MISSING: "a required argument is missing",
    NESTED: "the call was made within another call, so its own result is missing",
    NOT_NESTED: "the parts of a nested call were made as separate calls",
    "no_record": "the record has an error instead of calls",
    MALFORMED: "the call's name or arguments are malformed",
    "escaped": "the call in the answer has escape characters in its names",
    "bad_syntax": "the call in the answer has a syntax error",
    "in_text": "the call is in the answer's text, which is not parsed",
    "other_format": "the call in the answer is in another calling format",
}


class Diagnosis(NamedTuple):
    """Diagnosis of one failed episode."""

    cause: Cause
    detail: str
    turn: int | None
    """Index of the turn; None if the record does not show it."""
    step: int | None
    """Index of the step among the steps with calls; None if the turn had ended."""
    call: int | None
    """Index of the call within the step; None if the turn had ended."""
    evidence: Mapping[str, Any]
    """JSON values that explain the diagnosis.

    The names are ``call``, ``result``, ``expected_call``, ``parameter``, ``expected``, ``got``,
    ``also`` (further wrong parameters), ``paths`` (of the state), ``answer``, ``times``,
    ``problem`` and ``sub_reason`` (a key of ``SUB_REASONS``).
    """

    @property
    def sub_reason(self) -> str | None:
        """Sub-reason of the cause, if any."""
        return self.evidence.get("sub_reason")

    @property
    def meaning(self) -> str:
        """Meaning of the cause and its sub-reason."""
        cause = self.cause.meaning
        return f"{cause}: {SUB_REASONS[self.sub_reason]}" if self.sub_reason else cause

    @property
    def name(self) -> str:
        """The cause, followed by the sub-reason in brackets."""
        return f"{self.cause} ({self.sub_reason})" if self.sub_reason else self.cause.value

    @property
    def place(self) -> EpisodePlace | None:
        """Place of the failure, if the record shows it."""
        if self.turn is None:
            return None
        if self.step is None or self.call is None:
            return EpisodePlace(self.turn, "end")
        return EpisodePlace(self.turn, "call", self.step, self.call)

    @property
    def sentence(self) -> str:
        """Cause, place and description in one sentence."""
        where = "" if self.place is None else f" at {self.place}"
        return f"{self.name}{where}: {self.detail}"

    def to_json(self) -> dict[str, Any]:
        """Return a JSON object."""
        place = None if self.place is None else str(self.place)
        members = {**self._asdict(), "cause": self.cause.value}
        return {**members, "place": place, "sentence": self.sentence}


def diagnose(
    truth: Trace, model: Trace | None, verdict: Verdict, said: Sequence[str] = ()
) -> Diagnosis | None:
    """Return the diagnosis of a failed episode, or None for a passed episode.

    Args:
        truth: Trace of the ground truth.
        model: Trace of the model under the verdict's profile; None if no steps were recorded.
        verdict: Verdict on the episode.
        said: Messages of the user, one string per turn.
    """
    if verdict.failure is None:
        return None
    if verdict.said is not None:
        return diagnose_unanswered(verdict.failure.reason, verdict.said, model)
    if verdict.failure.reason is Reason.CRITERIA_NOT_MET:
        return _report_criteria(verdict.failure, verdict.failed_turn)
    if model is None or not model.turns:
        return _report_unrecorded(verdict.failure)
    if verdict.failed_turn is None:
        return _report_step_limit(model)
    if isinstance(verdict.failure.evidence, UnreportedInfoEvidence):
        detail = f"not reported: {', '.join(verdict.failure.evidence.untold)}"
        return make_diagnosis(Cause.NOT_TOLD, detail, verdict.failed_turn, None, None, {})
    said = said[: verdict.failed_turn + 1]
    case = _FailedTurn(truth, model, verdict.failed_turn, verdict.failure, said)
    return next(filter(None, (rule(case) for rule in _RULES)), None) or _report_first_missing(case)


def diagnose_unanswered(reason: Reason, said: str, model: Trace | None) -> Diagnosis:
    """Return the diagnosis of an episode that ended because a request got no answer."""
    turn = len(model.turns) - 1 if model and model.turns else None
    return make_diagnosis(Cause.UNANSWERED, reason.meaning, turn, None, None, {"problem": said})


def _report_criteria(failure: Failure, turn: int | None) -> Diagnosis:
    causes = failure.calls.causes if failure.calls else ()
    detail = "; ".join(cause.message for cause in causes) or Cause.FAILED_CHECK.meaning
    return make_diagnosis(Cause.FAILED_CHECK, cut(detail, _MAX_CHARS), turn, None, None, {})


_LEFT_UNDONE = (
    Cause.MISSING_CALL,
    Cause.ASKED_INSTEAD_OF_ACTING,
    Cause.GAVE_UP,
    Cause.REFUSAL,
    Cause.UNREADABLE,
    Cause.IGNORED_ERROR,
)
_STOPS = {str(cause): cause for cause in (Cause.CUT_OFF, Cause.REFUSAL, Cause.CONTENT_FILTER)}


def replace_by_stop(found: Diagnosis, stop: str) -> Diagnosis:
    """Replace a diagnosis of missing calls if the server stopped the answer early.

    If the stop reason is not in ``_STOPS``, return the diagnosis unchanged.
    """
    cause = _STOPS.get(stop)
    if cause is None or found.cause not in _LEFT_UNDONE:
        return found
    kept = {name: value for name, value in found.evidence.items() if name != "sub_reason"}
    place = (found.step, found.call) if found.sub_reason == MALFORMED else (None, None)
    return Diagnosis(cause, cause.meaning, found.turn, *place, kept)


NO_RECORD = Diagnosis(
    Cause.UNREADABLE, SUB_REASONS["no_record"], None, None, None, {"sub_reason": "no_record"}
)


def make_diagnosis(
    cause: Cause,
    detail: str,
    turn: int | None,
    step: int | None,
    call: int | None,
    evidence: Mapping[str, Any],
) -> Diagnosis:
    """Return a diagnosis; long evidence is shortened, and evidence that is ABSENT is left out."""
    known = {name: bound_evidence(value) for name, value in evidence.items() if value is not ABSENT}
    return Diagnosis(cause, detail, turn, step, call, known)


def bound_evidence(value: Any) -> Any:
    """Return a piece of evidence as a JSON value, cut to the maximum length."""
    if isinstance(value, (str, Call)):
        return cut(str(value), _MAX_CHARS)
    text = cut_repr(value, _MAX_CHARS)
    try:
        return to_json(value) if len(text) < _MAX_CHARS else text
    except RecursionError:
        return text


class _FailedTurn:
    """Failed turn together with the calls that explain the failure."""

    def __init__(
        self, truth: Trace, model: Trace, turn: int, failure: Failure, said: Sequence[str]
    ) -> None:
        self.truth = truth
        self.model = model
        self.turn = turn
        self.failure = failure
        self.said = said
        self.missing, self.extra, self.displaced = match_effects(
            truth.turns[turn], model.turns[turn]
        )

    @property
    def played(self) -> TracedTurn:
        return self.model.turns[self.turn]

    @cached_property
    def acts(self) -> Sequence[CallEffect]:
        """Calls of the model."""
        return list_effects(self.played)

    @cached_property
    def planned(self) -> Sequence[CallEffect]:
        """Calls of the ground truth."""
        return list_effects(self.truth.turns[self.turn])

    @cached_property
    def wrong(self) -> list[CallEffect]:
        """The model's extra calls that set a wrong value."""
        reaches = make_touch_test(self.failure.differences)
        return [act for act in self.extra if any(map(reaches, act.changes))]

    @cached_property
    def needed(self) -> list[CallEffect]:
        """Missing calls that explain the failure."""
        if self.failure.reason is Reason.EMPTY_TURN:
            return list(self.missing)
        if self.failure.reason is Reason.RESPONSE_MISMATCH:
            return [act for act in self.missing if act.result in self.failure.missing]
        reaches = make_touch_test(self.failure.differences)
        return [act for act in self.missing if any(map(reaches, act.changes))]

    @cached_property
    def asked(self) -> Sequence[str]:
        """User messages since the last turn that needed calls."""
        return self.said[_find_first_idle(self) :]

    def found(
        self, cause: Cause, detail: str, act: CallEffect | None = None, **evidence: Any
    ) -> Diagnosis:
        done = {"call": act.text, "result": act.result} if act else {}
        place: tuple[int | None, int | None] = (act.step, act.position) if act else (None, None)
        return make_diagnosis(cause, detail, self.turn, *place, {**done, **evidence})


def _report_unrecorded(failure: Failure) -> Diagnosis:
    if failure.reason is Reason.FORCE_TERMINATED:
        detail = "the record ends before the last turn"
        return make_diagnosis(Cause.STEP_LIMIT, detail, None, None, None, {})
    return NO_RECORD


def _report_step_limit(model: Trace) -> Diagnosis:
    turn, steps = len(model.turns) - 1, len(model.turns[-1].steps)
    acts = list_effects(model.turns[-1])
    act = _find_repeated_call(acts)
    if act and any(_is_repetitive(some) for some in (acts, acts[-2 * LOOP :])):
        evidence = _collect_loop_evidence(act, acts)
        detail = (
            f"repeated one call {evidence['times']} times until the step limit: {_shorten(act)}"
        )
        return make_diagnosis(Cause.LOOP, detail, turn, act.step, act.position, evidence)
    detail = f"reached the step limit after {steps} steps with calls"
    return make_diagnosis(Cause.STEP_LIMIT, detail, turn, None, None, {"times": steps})


_BREACHES = {Reason.PROHIBITED_CALL: Cause.PROHIBITED_CALL, Reason.WRONG_ORDER: Cause.WRONG_ORDER}


def _find_breach(case: _FailedTurn) -> Diagnosis | None:
    cause, evidence = _BREACHES.get(case.failure.reason), case.failure.evidence
    if cause is None or not isinstance(evidence, CallEvidence):
        return None
    acts = [act for act in case.acts if act.name == evidence.function]
    act = next((act for act in acts if act.text == evidence.actual), acts[-1] if acts else None)
    detail = "; ".join(evidence.lines())
    if evidence.parameter is None:
        return case.found(cause, detail, act)
    return case.found(
        cause,
        detail,
        act,
        parameter=evidence.parameter,
        expected=evidence.expected,
        got=evidence.actual,
    )


def _find_early_act(case: _FailedTurn) -> Diagnosis | None:
    """If the failure comes from a call in a turn that needed no calls, find this call."""
    if case.failure.reason is Reason.CHANGE_IN_EMPTY_TURN:
        changed = [act for act in case.acts if act.traced.result.changed]
        return _report_idle_act(case, case.turn, changed[0])
    idle = [*_list_idle_acts(case)]
    if case.failure.reason is Reason.EMPTY_TURN:
        changes = {needed.name for needed in case.needed if needed.moved}
        calls = [(needed.name, needed.arguments) for needed in case.needed]
        done = [
            (turn, act)
            for turn, act in idle
            if (act.name, act.arguments) in calls or act.name in changes
        ]
        if done:
            return _report_idle_act(case, *done[-1])
    early = [(turn, act) for turn, act in idle if act.changes]
    spoils = make_touch_test([*_list_inherited(case), *_list_displaced(case)])
    for turn, act in early:
        if any(map(spoils, act.changes)):
            return _report_idle_act(case, turn, act)
    blameless = not case.wrong and not case.needed
    for turn, act in early:
        if blameless or any(_is_early(act, needed) for needed in case.needed[:1]):
            return _report_idle_act(case, turn, act)
    return None


def _find_guess(case: _FailedTurn) -> Diagnosis | None:
    """Diagnose a call with an invented argument, or a call of an unknown function."""
    wrong = case.failure.calls
    acts = [act for act in case.acts if wrong and act.name == wrong.function]
    if wrong is None or not acts:
        return None
    if case.failure.reason is Reason.ABSENT_FUNCTION:
        return _report_idle_act(case, case.turn, acts[0])
    idle = not case.truth.turns[case.turn].calls
    cause = Cause.ACTED_INSTEAD_OF_ASKING if idle else Cause.WRONG_ARGUMENT
    given = (act for act in acts if repr(act.arguments.get(wrong.parameter or "")) == wrong.actual)
    act = next(given, acts[0])
    changed = next((each for each in case.acts if each.changes), act)
    if idle and changed.step < act.step:
        return _report_idle_act(case, case.turn, changed)
    detail = f"invented the value of {wrong.parameter}: {_shorten(act)}"
    return case.found(cause, detail, act, parameter=wrong.parameter, got=wrong.actual)


def _list_idle_acts(case: _FailedTurn) -> Iterator[tuple[int, CallEffect]]:
    for turn in range(_find_first_idle(case), case.turn):
        for act in list_effects(case.model.turns[turn]):
            yield turn, act


def _find_first_idle(case: _FailedTurn) -> int:
    first = case.turn
    while first and not case.truth.turns[first - 1].calls:
        first -= 1
    return first


def _list_inherited(case: _FailedTurn) -> list[Difference]:
    """Return the state values that were already wrong before this turn."""
    truth = case.truth.turns[case.turn]
    inherited = filter_touching(
        truth.before.differences(case.played.before), case.failure.differences
    )
    done = [change for act in list_effects(truth) for change in act.changes]
    set_anew = {difference.path for difference in filter_touching(inherited, done)}
    return [difference for difference in inherited if difference.path not in set_anew]


def _list_displaced(case: _FailedTurn) -> list[Difference]:
    """Return the wrong state changes that were made by right calls."""
    changes = [change for _, act in case.displaced for change in act.changes]
    return filter_touching(changes, case.failure.differences)


def _is_early(early: CallEffect, needed: CallEffect) -> bool:
    return early.name == needed.name or bool(filter_touching(early.changes, needed.changes))


def _report_idle_act(case: _FailedTurn, turn: int, act: CallEffect) -> Diagnosis:
    if act.offered:
        cause = Cause.ACTED_INSTEAD_OF_ASKING
        did = "changed the state" if act.changes else "made a call"
        detail = f"the turn needed no calls, but the model {did}: {_shorten(act)}"
    else:
        cause = Cause.NOT_OFFERED
        detail = f"called a function that was not offered: {_shorten(act)}"
    return case.found(cause, detail, act, paths=_list_paths(act))._replace(turn=turn)


def _find_wrong_change(case: _FailedTurn) -> Diagnosis | None:
    if not case.wrong:
        return None
    act = case.wrong[0]
    if not act.offered:
        return _report_unoffered_call(case, act)
    left_out = [each for each in case.missing if each.changes]
    expected = find_closest(act, case.needed) or find_closest(act, left_out)
    if expected is not None:
        return _report_wrong_argument(case, expected, act)
    if _is_needless_login(act) and not any(map(is_login, case.missing)):
        detail = f"logged in although it was already logged in: {_shorten(act)}"
        return case.found(Cause.REAUTHENTICATED, detail, act, paths=_list_paths(act))
    expected = _find_replaced_call(case, act)
    if expected is not None:
        return _report_wrong_function(case, expected, act)
    if (there := _find_duplicate(case, act)) is not None:
        detail = f"created {cut_repr(there, 60)} again without reading it first: {_shorten(act)}"
        return case.found(Cause.ACTED_WITHOUT_LOOKING, detail, act, paths=_list_paths(act))
    if any(forbids(text, act.name) for text in case.said[-1:]):
        detail = f"made a call that the user had ruled out: {_shorten(act)}"
        return case.found(Cause.PROHIBITED_CALL, detail, act, paths=_list_paths(act))
    detail = f"changed the state by an unneeded call: {_shorten(act)}"
    return case.found(Cause.EXTRA_CALL, detail, act, paths=_list_paths(act))


def _find_other_order(case: _FailedTurn) -> Diagnosis | None:
    """If only the order of the needed calls is wrong, find the first call in the wrong place."""
    keys = [[_make_key(act) for act in acts] for acts in (case.planned, case.acts)]
    made = [act for act, key in zip(case.acts, keys[1], strict=True) if key in keys[0]]
    if Counter(keys[0]) != Counter(map(_make_key, made)):
        return None
    if any(act.moved and act not in made for act in case.acts):
        return None
    moves = {_make_key(act) for act in case.planned if act.moved}
    planned = [act for act in case.planned if _make_key(act) in moves]
    for expected, act in zip(
        planned, (act for act in made if _make_key(act) in moves), strict=True
    ):
        if _make_key(expected) != _make_key(act):
            if not act.ok:
                return None
            detail = f"made {_shorten(act)} before {_shorten(expected)}"
            return case.found(Cause.WRONG_ORDER, detail, act, expected_call=expected.text)
    return None


def _make_key(act: CallEffect) -> tuple[str, str]:
    return act.name, repr(sorted(act.arguments.items()))


def _find_duplicate(case: _FailedTurn, act: CallEffect) -> str | None:
    """Return the name of an existing object that the model created again."""
    earlier = case.acts[: case.acts.index(act)]
    reads = [each for each in earlier if each.ok and not each.moved]
    seen = " ".join(each.result for each in reads if _get_backend(each) == _get_backend(act))
    made = {
        _BEFORE_MEMBER.split(change.path)[-1].strip("'\"]")
        for change in act.changes
        if change.expected is ABSENT
    }
    named = [v for v in act.arguments.values() if isinstance(v, str) and v in made]
    before = repr(case.played.before.states.get(_get_backend(act) or ""))
    return next((value for value in named if repr(value) in before and value not in seen), None)


def _find_other_nesting(case: _FailedTurn) -> Diagnosis | None:
    for needed in case.needed:
        for act in case.acts:
            if _is_only_inside(case, needed, act):
                did, reason = "was made only inside another call", NESTED
            elif _is_parted(case, needed, act):
                did, reason = "was split into several calls, such as", NOT_NESTED
            else:
                continue
            detail = f"{_shorten(needed)} {did}: {_shorten(act)}"
            known = {"expected_call": needed.text, "sub_reason": reason}
            return case.found(Cause.MISSING_CALL, detail, act, **known)
    return None


def _is_only_inside(case: _FailedTurn, needed: CallEffect, act: CallEffect) -> bool:
    if all(str(inner) != needed.text for inner in list_inner_calls(act.traced.call)):
        return False
    aim = find_closest(act, case.missing)
    return aim is None or all(isinstance(each.got, Call) for each in list_mismatches(aim, act))


def _is_parted(case: _FailedTurn, needed: CallEffect, act: CallEffect) -> bool:
    if act.name != needed.name or not act.ok:
        return False
    made = {each.text for each in case.acts}
    parts = [mismatch.expected for mismatch in list_mismatches(needed, act)]
    return bool(parts) and all(isinstance(part, Call) and str(part) in made for part in parts)


def _find_wrong_read(case: _FailedTurn) -> Diagnosis | None:
    for needed in case.needed:
        act = find_closest(needed, [act for act in case.extra if act.ok])
        if act is not None:
            return _report_wrong_argument(case, needed, act)
    return None


def _find_malformed_call(case: _FailedTurn) -> Diagnosis | None:
    """Find a malformed call that the model did not repeat correctly."""
    first_wrong = case.wrong[0].step if case.wrong else len(case.played.steps)
    for place, act in enumerate(case.extra):
        if not isinstance(act.traced.call, MalformedCall) or act.step > first_wrong:
            continue
        words = set(_WORD.findall(act.text))
        if any(other.ok and other.name in words for other in case.extra[place + 1 :]):
            continue
        is_last = act.traced is case.played.calls[-1] and not words & case.played.offered
        if is_last or any(_explains(case, left) for left in case.missing if left.name in words):
            detail = f"a call could not be parsed: {_shorten(act)}"
            evidence = {"sub_reason": MALFORMED, "problem": act.text}
            return case.found(Cause.UNREADABLE, detail, act, **evidence)
    return None


def _explains(case: _FailedTurn, left_out: CallEffect) -> bool:
    """Tell whether a missing call explains the failure."""
    return (
        left_out.moved
        or left_out in case.needed
        or any(
            is_telling(value) and str(value) in left_out.result
            for needed in case.needed
            for value in needed.arguments.values()
        )
    )


def _find_unparsed_calls(case: _FailedTurn) -> Diagnosis | None:
    turn, form = case.played, None
    if turn.answer is not None:
        left_out = {act.name for act in case.missing if act.moved or act in case.needed}
        form = classify_unparsed_calls(
            turn.answer, turn.offered, left_out & turn.offered, made={act.text for act in case.acts}
        )
    elif turn.unreadable is not None:
        form = MALFORMED
    if form is None:
        return None
    return case.found(
        Cause.UNREADABLE,
        f"calls could not be parsed: {form.replace('_', ' ')}",
        sub_reason=form,
        problem=ABSENT if turn.unreadable is None else str(turn.unreadable),
        answer=ABSENT if turn.answer is None else turn.answer,
    )


def _find_needless_login(case: _FailedTurn) -> Diagnosis | None:
    if any(map(is_login, case.planned)):
        return None
    wanted, last = {_get_backend(act) for act in case.needed}, _last_steps(case)
    for act in filter(is_login, case.extra):
        backend = _get_backend(act)
        if not act.changes and backend in wanted and last[backend] <= act.step:
            detail = f"logged in although it was already logged in: {_shorten(act)}"
            return case.found(Cause.REAUTHENTICATED, detail, act)
    return None


def _find_question(case: _FailedTurn) -> Diagnosis | None:
    answer = case.played.answer
    if answer is None or not case.needed or not is_question(answer):
        return None
    return _report_stop(case, Cause.ASKED_INSTEAD_OF_ACTING, "asked the user")


def _find_loop(case: _FailedTurn) -> Diagnosis | None:
    surplus = {each.text for each in case.extra}
    acts = [each for each in case.acts if each.text in surplus]
    act = _find_repeated_call(acts)
    # Repeated reads before another call are not a loop.
    if act is None or (act.ok and case.acts[-1].text != act.text):
        return None
    evidence = _collect_loop_evidence(act, acts)
    detail = f"repeated one call {evidence['times']} times with the same result: {_shorten(act)}"
    return case.found(Cause.LOOP, detail, act, **evidence)


def _find_unoffered_call(case: _FailedTurn) -> Diagnosis | None:
    """Find a call of an unoffered function.

    A call before the last successful step counts only if the call resembles a needed call.
    """
    called = {act.name for act in case.extra}
    if not case.needed or case.needed[0].name in called:
        return None
    succeeded = max([act.step for act in case.acts if act.ok], default=0)
    for act in case.extra:
        if not act.name or act.offered:
            continue
        if act.step >= succeeded or any(_is_similar(act, each) for each in case.needed):
            return _report_unoffered_call(case, act)
    return None


def _is_similar(act: CallEffect, needed: CallEffect) -> bool:
    """Tell whether a call of an unknown function resembles a needed call."""
    words = split_name(act.name) & split_name(needed.name)
    given = [value for value in _list_given(act) if is_telling(value)]
    return (
        bool(words)
        or _has_equal_values(act, needed)
        or any(value in given for value in needed.arguments.values())
    )


def _find_surrender(case: _FailedTurn) -> Diagnosis | None:
    """Find an empty answer or a refusal in a turn that needed a call."""
    answer = case.played.answer
    if answer is None or not case.needed:
        return None
    if declines(answer):
        return _report_stop(case, Cause.REFUSAL, "refused")
    return _report_stop(case, Cause.GAVE_UP, "gave up") if is_refusal(answer) else None


def _report_stop(case: _FailedTurn, cause: Cause, did: str) -> Diagnosis:
    needed, answer = case.needed[0], case.played.answer
    detail = f"the model {did}, but this call was needed: {_shorten(needed)}"
    return case.found(cause, detail, expected_call=needed.text, answer=answer)


def _list_refused_aims(
    case: _FailedTurn,
) -> Iterator[tuple[CallEffect, CallEffect, bool, list[CallEffect]]]:
    """Yield each refused call together with the most similar needed call."""
    for act in case.extra:
        aim = None if act.ok else find_closest(act, [*case.needed, *case.missing])
        wrong = list_mismatches(aim, act) if aim else []
        # A missing or surplus argument alone explains the refusal.
        if aim is None or any(ABSENT in (wanted, got) for _, wanted, got in wrong):
            continue
        before = [
            step
            for step in case.planned[: case.planned.index(aim)]
            if step in case.missing and _get_backend(step) == _get_backend(act)
        ]
        yield act, aim, bool(wrong), before


def _find_unseen(case: _FailedTurn) -> Diagnosis | None:
    called = {act.name for act in case.acts}
    for act, aim, is_wrong, before in _list_refused_aims(case):
        looks = [step for step in before if is_wrong and step.ok and not step.moved]
        looks = [step for step in looks if step.name not in called and _is_implicit(case, step)]
        if looks:
            evidence = _collect_argument_evidence(aim, act) | {"expected_call": looks[-1].text}
            detail = f"{_shorten(act)} was refused; {_shorten(looks[-1])} was never called"
            return case.found(Cause.ACTED_WITHOUT_LOOKING, detail, act, **evidence)
    return None


def _find_skipped_step(case: _FailedTurn) -> Diagnosis | None:
    """Find a call that was refused because an earlier call is missing or wrong."""
    called, last = {act.name for act in case.acts}, _last_steps(case)
    is_claim = case.played.answer and classify_answer(case.played.answer) == "other"
    for act, aim, is_wrong, before in _list_refused_aims(case):
        is_last = last[_get_backend(act)] <= act.step
        skipped = [step for step in before if step.name not in called]
        implicit = [s for s in skipped if (is_wrong or s.moved) and _is_implicit(case, s)]
        moves = [] if is_wrong else [step for step in before if step.moved]
        for step in moves if not implicit else ():
            made = find_closest(step, case.extra)
            if found := made and _report_wrong_argument(case, step, made):
                return found
        if is_claim and is_last and before and not is_wrong:
            return _report_ignored_error(case, act, aim)
        if implicit or moves:
            return _report_missing_call(case, (implicit or moves)[0], act)
    return None


def _find_stand_in(case: _FailedTurn) -> Diagnosis | None:
    for needed in case.needed or case.missing:
        act = next((each for each in case.extra if _is_stand_in(needed, each)), None)
        if act is not None:
            return _report_wrong_function(case, needed, act)
    return None


def _is_stand_in(needed: CallEffect, act: CallEffect) -> bool:
    related = act.name != needed.name and _get_backend(act) == _get_backend(needed)
    return related and needed.moved and _has_equal_values(act, needed)


def _is_implicit(case: _FailedTurn, act: CallEffect) -> bool:
    return is_implicit(act, case.planned, case.asked)


def _find_ignored_error(case: _FailedTurn) -> Diagnosis | None:
    """Find a refused call that the model did not correct."""
    wanted, last = {_get_backend(act) for act in case.needed}, _last_steps(case)
    needed = {act.text for act in case.needed}
    # The ground truth may have the same refused call, and repeat it.
    refused = [act for act in case.acts if not act.ok and (act in case.extra or act.text in needed)]
    for act in refused:
        backend = _get_backend(act)
        if backend in wanted and last[backend] <= act.step:
            return _report_refused_call(case, act)
    return None


def _last_steps(case: _FailedTurn) -> dict[str | None, int]:
    return {_get_backend(act): act.step for act in case.acts}


def _report_refused_call(case: _FailedTurn, act: CallEffect) -> Diagnosis:
    expected = find_closest(act, case.missing)
    if expected and (wrong := _report_wrong_argument(case, expected, act)):
        return wrong
    return _report_ignored_error(case, act, case.needed[0])


def _report_ignored_error(case: _FailedTurn, act: CallEffect, expected: CallEffect) -> Diagnosis:
    detail = f"stopped after a refused call: {_shorten(act)}"
    return case.found(Cause.IGNORED_ERROR, detail, act, expected_call=expected.text)


def _find_refused_call(case: _FailedTurn) -> Diagnosis | None:
    """Find the refused and uncorrected call that is most similar to a needed call."""
    last = {act.name: act.step for act in case.extra if act.ok}
    refused = [act for act in case.extra if act.step >= last.get(act.name, 0)]
    for needed in case.needed:
        act = find_closest(needed, refused)
        if act is not None:
            return _report_wrong_argument(case, needed, act)
    return None


def _find_wrong_function(case: _FailedTurn) -> Diagnosis | None:
    for needed in case.needed:
        for act in case.extra:
            first = needed is case.needed[0] and _is_substitute(case, needed, act)
            if act.name != needed.name and (first or _is_relay(needed, act)):
                return _report_wrong_function(case, needed, act)
    return None


def _is_substitute(case: _FailedTurn, needed: CallEffect, act: CallEffect) -> bool:
    if filter_touching(act.changes, needed.changes) or _is_reverse(needed, act):
        return True
    reads = act.ok and not act.moved and not needed.moved and _is_equivalent_read(needed, act)
    # A call that the user also asked for is no substitute.
    return reads and not (case.asked and names(act, " ".join(case.asked)))


_RULES: Sequence[Callable[[_FailedTurn], Diagnosis | None]] = (
    _find_breach,
    _find_guess,
    _find_early_act,
    _find_malformed_call,
    _find_other_order,
    _find_wrong_change,
    _find_other_nesting,
    _find_loop,
    _find_wrong_read,
    _find_unparsed_calls,
    _find_needless_login,
    _find_unseen,
    _find_question,
    _find_unoffered_call,
    _find_surrender,
    _find_stand_in,
    _find_skipped_step,
    _find_refused_call,
    _find_ignored_error,
    _find_wrong_function,
)


def _report_first_missing(case: _FailedTurn) -> Diagnosis:
    if case.needed:
        return _report_missing_call(case, case.needed[0])
    for expected in case.missing:
        if expected.moved:
            act = find_closest(expected, [act for act in case.extra if act.moved or not act.ok])
            return (act and _report_wrong_argument(case, expected, act)) or _report_missing_call(
                case, expected
            )
    for act in case.extra:
        if act.moved:
            detail = f"an unneeded call changed the effect of other calls: {_shorten(act)}"
            return case.found(Cause.EXTRA_CALL, detail, act)
    for expected, act in case.displaced:
        detail = f"made the call in the wrong state: {_shorten(act)}"
        return case.found(Cause.MISSING_CALL, detail, act, expected_call=expected.text)
    return case.found(Cause.MISSING_CALL, "made no call although the turn needed calls")


def _report_missing_call(
    case: _FailedTurn, expected: CallEffect, refused: CallEffect | None = None
) -> Diagnosis:
    said = ABSENT if case.played.answer is None else case.played.answer
    if not case.played.steps:
        did, reason = "made no call; this call is missing", WHOLE_TURN
    elif not {act.name for act in case.acts} & {act.name for act in case.planned}:
        did, reason = "called no function that the turn needs; this call is missing", ASKED_FOR
    elif _is_implicit(case, expected):
        did, reason = "left out a needed call that no message mentions", IMPLICIT
    else:
        did, reason = "made only some of the turn's calls; this call is missing", UNFINISHED
    known = {"expected_call": expected.text, "answer": said, "sub_reason": reason}
    return case.found(Cause.MISSING_CALL, f"{did}: {_shorten(expected)}", refused, **known)


def _report_unoffered_call(case: _FailedTurn, act: CallEffect) -> Diagnosis:
    expected = case.needed[0].text if case.needed else ABSENT
    detail = f"called a function that was not offered: {_shorten(act)}"
    return case.found(Cause.NOT_OFFERED, detail, act, expected_call=expected)


def _report_wrong_function(case: _FailedTurn, expected: CallEffect, act: CallEffect) -> Diagnosis:
    detail = f"called {act.name} instead of {expected.name}: {_shorten(act)}"
    return case.found(Cause.WRONG_FUNCTION, detail, act, expected_call=expected.text)


def _report_wrong_argument(
    case: _FailedTurn, expected: CallEffect, act: CallEffect
) -> Diagnosis | None:
    evidence = _collect_argument_evidence(expected, act)
    if "parameter" not in evidence:
        return None
    parameter, value, got = evidence["parameter"], evidence["expected"], evidence["got"]
    acted = act.changes or (expected.changes and not act.ok)
    is_guess = acted and got is not ABSENT
    source = _find_unread_source(case, expected, act, value) if is_guess else None
    made = source and find_closest(source, [each for each in case.extra if each.ok])
    if source is not None and made is not None and made is not act:
        # The value comes from a call that was made with wrong arguments.
        return _report_wrong_argument(case, source, made)
    if source is not None:
        tries = [each for each in case.extra if each.name == act.name and not each.ok]
        act = min([*tries, act], key=lambda each: (each.step, each.position))
        detail = f"{act.name}: the model guessed {parameter} and never called {_shorten(source)}"
        evidence["expected_call"] = source.text
        return case.found(Cause.ACTED_WITHOUT_LOOKING, detail, act, **evidence)
    reason = MISSING if got is ABSENT else classify_wrong_amount(value, got)
    if reason is not None:
        evidence["sub_reason"] = reason
    wrong = [
        describe_argument(name, [] if wanted is ABSENT else [wanted], given)
        for name, wanted, given in list_mismatches(expected, act)
    ]
    detail = f"{act.name}: {join_descriptions(wrong)}"
    return case.found(Cause.WRONG_ARGUMENT, detail, act, **evidence)


def _collect_argument_evidence(expected: CallEffect, act: CallEffect) -> dict[str, Any]:
    wrong = list_mismatches(expected, act)
    evidence: dict[str, Any] = {"expected_call": expected.text}
    if wrong:
        evidence |= wrong[0]._asdict()
    if len(wrong) > 1:
        evidence["also"] = [misfit.parameter for misfit in wrong[1:]]
    return evidence


def _find_unread_source(
    case: _FailedTurn, expected: CallEffect, act: CallEffect, value: object
) -> CallEffect | None:
    """If the model guessed a value, return the omitted ground-truth call that shows the value."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)) or value in (0, 1, ""):
        return None
    is_shown = _make_value_test(value)
    turns = case.model.turns[: case.turn]
    earlier = [*case.said, *(each.result for turn in turns for each in list_effects(turn))]
    here = (act.step, act.position)
    earlier += [each.result for each in case.acts if (each.step, each.position) < here]
    later = [each.result for each in case.acts if (each.step, each.position) > here and each.ok]
    if any(map(is_shown, [*earlier, *later])):
        return None
    reads = [each for each in case.missing if each is not expected and each.ok and not each.changes]
    return next((each for each in reads if is_shown(each.result)), None)


def _make_value_test(value: float | str) -> Callable[[str], bool]:
    """Return a function that tells whether a text contains the value."""
    if isinstance(value, str):
        return lambda text: value in text
    number = re.escape(repr(value).removesuffix(".0"))
    return lambda text: bool(re.search(rf"(?<![\w.]){number}(?:\.0+)?(?!\w|\.\d)", text))


def _find_replaced_call(case: _FailedTurn, act: CallEffect) -> CallEffect | None:
    if is_login(act):
        return next(filter(is_login, case.missing), None)
    called = {other.name for other in case.extra}
    uncalled = [other for other in case.needed or case.missing if other.name not in called]
    for expected in uncalled:
        if filter_touching(act.changes, expected.changes) or _has_common_argument(expected, act):
            return expected
    alone = len(case.wrong) == len(case.needed) == 1
    return uncalled[0] if uncalled and alone else None


def _has_common_argument(one: CallEffect, other: CallEffect) -> bool:
    theirs = [value for value in other.arguments.values() if is_telling(value)]
    return any(is_telling(value) and value in theirs for value in one.arguments.values())


def _is_relay(one: CallEffect, other: CallEffect) -> bool:
    """Tell whether a call forwards a text to another backend."""
    if _get_backend(one) == _get_backend(other):
        return False
    given = [text for text in other.arguments.values() if isinstance(text, str)]
    texts = [text for text in one.arguments.values() if isinstance(text, str)]
    return any(
        len(text) >= _MIN_DISTINCTIVE_CHARS and text in whole for text in texts for whole in given
    )


def _is_reverse(one: CallEffect, other: CallEffect) -> bool:
    names = [each.name.lower().split("_") for each in (one, other)]
    return names[0] != names[1] and sorted(names[0]) == sorted(names[1])


def _is_equivalent_read(one: CallEffect, other: CallEffect) -> bool:
    """Tell whether two reads probably show the same data."""
    words = set(_WORD.findall(one.result))
    return _has_common_argument(one, other) or (
        len(words) >= _MIN_DISTINCTIVE_WORDS and words <= set(_WORD.findall(other.result))
    )


def _find_repeated_call(acts: Sequence[CallEffect]) -> CallEffect | None:
    """Return the second of ``LOOP`` equal calls, or None."""
    seen: dict[tuple[str, str], list[CallEffect]] = {}
    for act in acts:
        equal = seen.setdefault((act.text, act.result), [])
        equal.append(act)
        if len(equal) == LOOP:
            return equal[1]
    return None


def _is_repetitive(acts: Sequence[CallEffect]) -> bool:
    return 2 * len({(act.text, act.result) for act in acts}) <= len(acts)


def _collect_loop_evidence(act: CallEffect, acts: Sequence[CallEffect]) -> dict[str, Any]:
    times = sum((other.text, other.result) == (act.text, act.result) for other in acts)
    return {"call": act.text, "result": act.result, "times": times}


def _is_needless_login(act: CallEffect) -> bool:
    replaced = all(change.expected not in (None, False, "", ABSENT) for change in act.changes)
    return is_login(act) and replaced


def _has_equal_values(one: CallEffect, other: CallEffect) -> bool:
    """Tell whether two calls have the same arguments, regardless of parameter names."""
    ours, theirs = ([repr(v) for v in _list_given(act)] for act in (one, other))
    return bool(ours) and sorted(ours) == sorted(theirs)


def _list_given(act: CallEffect) -> list[Any]:
    call = act.traced.call
    return [] if isinstance(call, MalformedCall) else [*call.args, *call.kwargs.values()]


def _get_backend(act: CallEffect) -> str | None:
    return act.tool.backend if act.tool else None


def _list_paths(act: CallEffect) -> list[str]:
    return [change.path for change in act.changes]


def _shorten(act: CallEffect) -> str:
    return cut(act.text, 100)
