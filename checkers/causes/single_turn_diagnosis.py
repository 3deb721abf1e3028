"""Diagnosis of failed single-turn entries.

A wrong number of calls takes precedence over a wrong call.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from checkers.calls.call_pairs import ArgumentPair, CallPair
from checkers.causes.answer_patterns import (
    classify_unparsed_calls,
    declines,
    is_question,
    is_refusal,
)
from checkers.causes.diagnosis import (
    MALFORMED,
    MISSING,
    NESTED,
    NO_RECORD,
    NOT_NESTED,
    Cause,
    Diagnosis,
    make_diagnosis,
)
from checkers.causes.divergence import describe_argument, join_descriptions
from checkers.causes.wrong_amounts import classify_wrong_amount
from checkers.evidence import CallEvidence
from checkers.reasons import Reason
from envs.calls import Call, list_inner_calls
from envs.errors import MalformedCall
from envs.state import ABSENT, cut

_MAX_SHOWN_CHARS = 100


class ReplyStatus(NamedTuple):
    """A model's reply: its text, its parse error if any, and a flag for a failed request."""

    answer: str | None = None
    problem: str | None = None
    """Parse error, if the reply could not be parsed."""
    request_failed: bool = False


class PairedAnswer(NamedTuple):
    """An answer to a single-turn entry, paired with the expected calls."""

    pairs: tuple[CallPair, ...] = ()
    said: ReplyStatus = ReplyStatus()
    offered: tuple[str, ...] = ()
    aim: str | None = None
    """Text such as "no function fits", for an entry without expected calls."""

    def diagnosis(self, evidence: CallEvidence) -> Diagnosis:
        """Diagnose the failed answer."""
        return diagnose_calls(self, evidence)


def diagnose_calls(answer: PairedAnswer, failure: CallEvidence) -> Diagnosis:
    """Diagnose a failed answer from its calls and the checker's evidence."""
    pairs, said, offered, _ = answer
    made = [pair for pair in pairs if pair.call is not None]
    if failure.reason is Reason.CALL_MADE:
        return _diagnose_needless(made, said, offered)
    if not made:
        return _diagnose_silence(pairs, said, offered)
    surplus = [pair for pair in made if pair.expected is None]
    if surplus:
        return _diagnose_surplus(surplus[0], pairs, offered)
    left_out = [pair for pair in pairs if pair.call is None]
    if left_out:
        outer = next((pair for pair in made if _is_part(pair.call, left_out[0].function)), None)
        if outer is None:
            return _report_missing(left_out[0], "left out a call", said)
        detail = f"{left_out[0].expected} was made only inside another call: {_shorten(outer.call)}"
        evidence = _collect_calls(left_out[0]) | {"call": str(outer.call), "sub_reason": NESTED}
        return _diagnose(Cause.MISSING_CALL, cut(detail, 300), outer.place, **evidence)
    wrong = [pair for pair in made if pair.problem is not None]
    if wrong:
        return _diagnose_wrong(wrong[0], offered, failure)
    return _diagnose(Cause.WRONG_ARGUMENT, failure.message, made[0].place)


def _diagnose_needless(
    made: Sequence[CallPair], said: ReplyStatus, offered: Collection[str]
) -> Diagnosis:
    if not made:
        detail = f"tried to call a function although no function fits: {said.problem}"
        return _diagnose(Cause.ACTED_INSTEAD_OF_ASKING, detail, None, **_collect_reply(said))
    call = made[0].call
    if _is_offered(call, offered):
        detail = f"called a function although no function fits: {_shorten(call)}"
        return _diagnose(Cause.ACTED_INSTEAD_OF_ASKING, detail, made[0].place, call=str(call))
    return _report_unoffered(made[0])


def _diagnose_silence(
    pairs: Sequence[CallPair], said: ReplyStatus, offered: Collection[str]
) -> Diagnosis:
    expected = next((pair for pair in pairs if pair.expected), CallPair(None, None, None))
    if said.request_failed:
        return NO_RECORD
    form = _classify_unparsed(said, offered)
    if form is not None:
        detail = f"calls could not be parsed: {form.replace('_', ' ')}"
        return _diagnose(Cause.UNREADABLE, detail, None, sub_reason=form, **_collect_reply(said))
    if said.answer is not None and is_question(said.answer):
        return _report_missing(expected, "asked the user", said, Cause.ASKED_INSTEAD_OF_ACTING)
    if said.answer and declines(said.answer):
        return _report_missing(expected, "refused", said, Cause.REFUSAL)
    if said.answer and is_refusal(said.answer):
        return _report_missing(expected, "gave up", said, Cause.GAVE_UP)
    return _report_missing(expected, "made no call", said)


def _classify_unparsed(said: ReplyStatus, offered: Collection[str]) -> str | None:
    if said.answer is None:
        return MALFORMED if said.problem else None
    return classify_unparsed_calls(said.answer, offered, offered)


def _diagnose_surplus(
    pair: CallPair, pairs: Sequence[CallPair], offered: Collection[str]
) -> Diagnosis:
    if not _is_offered(pair.call, offered):
        return _report_unoffered(pair)
    evidence = _collect_calls(pair)
    if any(_is_part_of_expected(each, pair.call) for each in pairs):
        detail = f"made a separate call that belongs inside another call: {_shorten(pair.call)}"
        evidence["sub_reason"] = NOT_NESTED
    else:
        detail = f"made an unneeded call: {_shorten(pair.call)}"
    return _diagnose(Cause.EXTRA_CALL, detail, pair.place, **evidence)


def _is_part(call: Call | MalformedCall | None, function: str | None) -> bool:
    return any(inner.name == function for inner in list_inner_calls(call))


def _is_part_of_expected(pair: CallPair, call: Call | MalformedCall | None) -> bool:
    text, function = pair.expected or "", pair.function or ""
    return isinstance(call, Call) and f"{call.name}(" in text[len(function) + 1 :]


def _report_missing(
    pair: CallPair, did: str, said: ReplyStatus, cause: Cause = Cause.MISSING_CALL
) -> Diagnosis:
    needed = f": {cut(pair.expected, _MAX_SHOWN_CHARS)}" if pair.expected else ""
    detail = f"{did}, but a call was needed{needed}"
    return _diagnose(cause, detail, None, **_collect_calls(pair), **_collect_reply(said))


def _diagnose_wrong(pair: CallPair, offered: Collection[str], failure: CallEvidence) -> Diagnosis:
    if isinstance(pair.call, MalformedCall):
        detail = f"a call could not be parsed: {pair.call}"
        evidence = {"sub_reason": MALFORMED, "problem": str(pair.call)}
        return _diagnose(Cause.UNREADABLE, detail, pair.place, **evidence)
    if not _is_offered(pair.call, offered):
        return _report_unoffered(pair)
    if pair.call is not None and pair.call.name != pair.function:
        detail = f"called {cut(pair.call.name, _MAX_SHOWN_CHARS)} instead of {pair.function}"
        return _diagnose(Cause.WRONG_FUNCTION, detail, pair.place, **_collect_calls(pair))
    return _report_wrong_arguments(pair, failure)


def _report_wrong_arguments(pair: CallPair, failure: CallEvidence) -> Diagnosis:
    wrong = [argument for argument in pair.arguments if argument.problem is not None]
    # The argument that the verdict names comes first.
    wrong.sort(key=lambda argument: argument.parameter != failure.parameter)
    if not wrong:
        detail = f"{pair.function}: {pair.problem}"
        return _diagnose(Cause.WRONG_ARGUMENT, detail, pair.place, **_collect_calls(pair))
    first, *others = wrong
    evidence = {"parameter": first.parameter, "expected": _get_expected(first), "got": first.given}
    if (reason := _classify(first)) is not None:
        evidence["sub_reason"] = reason
    if others:
        evidence["also"] = [argument.parameter for argument in others]
    detail = f"{pair.function}: {join_descriptions([_describe(argument) for argument in wrong])}"
    return _diagnose(Cause.WRONG_ARGUMENT, detail, pair.place, **_collect_calls(pair), **evidence)


def _classify(argument: ArgumentPair) -> str | None:
    if argument.given is ABSENT:
        return MISSING
    kinds = (classify_wrong_amount(value, argument.given) for value in argument.allowed)
    return next(filter(None, kinds), None)


def _get_expected(argument: ArgumentPair) -> Any:
    allowed = argument.allowed
    return (allowed[0] if len(allowed) == 1 else [*allowed]) if allowed else ABSENT


def _describe(argument: ArgumentPair) -> str:
    if argument.given in argument.allowed:
        return f"{cut(argument.parameter, _MAX_SHOWN_CHARS)}: {argument.problem}"
    return describe_argument(argument.parameter, argument.allowed, argument.given)


def _report_unoffered(pair: CallPair) -> Diagnosis:
    detail = f"called a function that was not offered: {_shorten(pair.call)}"
    return _diagnose(Cause.NOT_OFFERED, detail, pair.place, **_collect_calls(pair))


def _is_offered(call: Call | MalformedCall | None, offered: Collection[str]) -> bool:
    return isinstance(call, Call) and call.name in offered


def _diagnose(
    cause: Cause, detail: str, place: tuple[int, int] | None, **evidence: Any
) -> Diagnosis:
    step, call = place or (None, None)
    return make_diagnosis(cause, detail, 0, step, call, evidence)


def _collect_calls(pair: CallPair) -> dict[str, Any]:
    texts = {
        "call": pair.call and str(pair.call),
        "result": pair.result and pair.result.text,
        "expected_call": pair.expected,
    }
    return {name: text for name, text in texts.items() if text is not None}


def _collect_reply(said: ReplyStatus) -> dict[str, Any]:
    texts = {"answer": said.answer, "problem": said.problem}
    return {name: text for name, text in texts.items() if text is not None}


def _shorten(call: Call | MalformedCall | None) -> str:
    return cut(str(call), _MAX_SHOWN_CHARS)
