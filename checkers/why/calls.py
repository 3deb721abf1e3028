"""Why a single turn failed: a cause out of the closed list, from what was called and expected.

What was done wrong comes before what was left undone, unless it is the number of calls that is
wrong: then that is the cause.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from checkers.calls.pairs import ArgumentPair, CallPair
from checkers.evidence import CallEvidence
from checkers.reasons import Reason
from checkers.why.answers import asks, declines, unread_calls
from checkers.why.diagnosis import NO_RECORD, Cause, Diagnosis, diagnosed
from checkers.why.divergence import in_words, listed
from envs.calls import Call
from envs.errors import MalformedCall
from envs.state import ABSENT, cut

_SHORT = 100


class Said(NamedTuple):
    """What a model answered, apart from calls that could be read."""

    answer: str | None = None
    """What it said in words."""
    problem: str | None = None
    """Why no call could be read, where none could."""
    request_failed: bool = False
    """Whether there is only an error in place of an answer."""


class PairedAnswer(NamedTuple):
    """The one answer of a single turn, with what was expected beside it."""

    pairs: tuple[CallPair, ...] = ()
    """What was called beside what was expected."""
    said: Said = Said()
    """What the model answered besides."""
    offered: tuple[str, ...] = ()
    """The functions, under the names that the model knows."""
    aim: str | None = None
    """What is right where no certain call is expected."""

    def diagnosis(self, evidence: CallEvidence) -> Diagnosis:
        """Return why the answer failed, from what the checker said."""
        return diagnose_calls(self, evidence)


def diagnose_calls(answer: PairedAnswer, failure: CallEvidence) -> Diagnosis:
    """Return why a single turn failed, from what was answered and what the checker said."""
    pairs, said, offered, _ = answer
    made = [pair for pair in pairs if pair.call is not None]
    if failure.reason is Reason.CALL_MADE:
        return _acted(made, said, offered)
    if not made:
        return _did_nothing(pairs, said, offered)
    surplus = [pair for pair in made if pair.expected is None]
    if surplus:
        return _surplus(surplus[0], offered)
    left_out = [pair for pair in pairs if pair.call is None]
    if left_out:
        return _missing(left_out[0], "left out a call", said)
    wrong = [pair for pair in made if pair.problem is not None]
    if wrong:
        return _wrong(wrong[0], offered, failure)
    return _found(Cause.WRONG_ARGUMENT, failure.message, 0)


def _acted(made: Sequence[CallPair], said: Said, offered: Collection[str]) -> Diagnosis:
    if not made:
        detail = f"no function fits, and it tried to call one: {said.problem}"
        return _found(Cause.ACTED_INSTEAD_OF_ASKING, detail, 0, **_said(said))
    call = made[0].call
    if _is_offered(call, offered):
        detail = f"no function fits, and it called one: {_short(call)}"
        return _found(Cause.ACTED_INSTEAD_OF_ASKING, detail, 0, call=str(call))
    return _not_offered(made[0])


def _did_nothing(pairs: Sequence[CallPair], said: Said, offered: Collection[str]) -> Diagnosis:
    """Explain why there is no call, by what was said instead."""
    expected = next((pair for pair in pairs if pair.expected), CallPair(None, None, None))
    if said.request_failed:
        return NO_RECORD
    form = _unread_form(said, offered)
    if form is not None:
        detail = f"its calls could not be read: {form.replace('_', ' ')}"
        return _found(Cause.UNREADABLE, detail, 0, sub_reason=form, **_said(said))
    if said.answer is not None and asks(said.answer):
        return _missing(expected, "asked the user", said, Cause.ASKED_INSTEAD_OF_ACTING)
    if said.answer and declines(said.answer):
        return _missing(expected, "gave up", said, Cause.GAVE_UP)
    return _missing(expected, "made no call", said)


def _unread_form(said: Said, offered: Collection[str]) -> str | None:
    """Return in which form calls were meant that could not be read, or None."""
    if said.answer is None:
        return "malformed" if said.problem else None
    return None if asks(said.answer) else unread_calls(said.answer, offered)


def _surplus(pair: CallPair, offered: Collection[str]) -> Diagnosis:
    if not _is_offered(pair.call, offered):
        return _not_offered(pair)
    detail = f"made a call that was not needed: {_short(pair.call)}"
    return _found(Cause.EXTRA_CALL, detail, 0, **_calls(pair))


def _missing(pair: CallPair, did: str, said: Said, cause: Cause = Cause.MISSING_CALL) -> Diagnosis:
    needed = f": {cut(pair.expected, _SHORT)}" if pair.expected else ""
    detail = f"{did}, where one was needed{needed}"
    return _found(cause, detail, None, **_calls(pair), **_said(said))


def _wrong(pair: CallPair, offered: Collection[str], failure: CallEvidence) -> Diagnosis:
    """Explain a call that is not the expected one."""
    if isinstance(pair.call, MalformedCall):
        detail = f"a call could not be read: {pair.call}"
        return _found(Cause.UNREADABLE, detail, 0, sub_reason="malformed", problem=str(pair.call))
    if not _is_offered(pair.call, offered):
        return _not_offered(pair)
    if pair.call is not None and pair.call.name != pair.function:
        detail = f"called {cut(pair.call.name, _SHORT)} where {pair.function} was needed"
        return _found(Cause.WRONG_FUNCTION, detail, 0, **_calls(pair))
    return _wrong_argument(pair, failure)


def _wrong_argument(pair: CallPair, failure: CallEvidence) -> Diagnosis:
    wrong = [argument for argument in pair.arguments if argument.problem is not None]
    # The one that the checker came upon comes first.
    wrong.sort(key=lambda argument: argument.parameter != failure.parameter)
    if not wrong:
        detail = f"{pair.function}: {pair.problem}"
        return _found(Cause.WRONG_ARGUMENT, detail, 0, **_calls(pair))
    first, *others = wrong
    evidence = {"parameter": first.parameter, "expected": _expected(first), "got": first.given}
    if others:
        evidence["also"] = [argument.parameter for argument in others]
    detail = f"{pair.function}: {listed([_in_words(argument) for argument in wrong])}"
    return _found(Cause.WRONG_ARGUMENT, detail, 0, **_calls(pair), **evidence)


def _expected(argument: ArgumentPair) -> Any:
    """Return what is right: a value, a list where several are, ABSENT where none is."""
    allowed = argument.allowed
    return (allowed[0] if len(allowed) == 1 else [*allowed]) if allowed else ABSENT


def _in_words(argument: ArgumentPair) -> str:
    if argument.given in argument.allowed:
        return f"{cut(argument.parameter, _SHORT)}: {argument.problem}"
    return in_words(argument.parameter, argument.allowed, argument.given)


def _not_offered(pair: CallPair) -> Diagnosis:
    detail = f"called a function that was not offered: {_short(pair.call)}"
    return _found(Cause.NOT_OFFERED, detail, 0, **_calls(pair))


def _is_offered(call: Call | MalformedCall | None, offered: Collection[str]) -> bool:
    return isinstance(call, Call) and call.name in offered


def _found(cause: Cause, detail: str, step: int | None, **evidence: Any) -> Diagnosis:
    return diagnosed(cause, detail, 0, step, evidence)


def _calls(pair: CallPair) -> dict[str, Any]:
    texts = {
        "call": pair.call and str(pair.call),
        "result": pair.result and pair.result.text,
        "expected_call": pair.expected,
    }
    return {name: text for name, text in texts.items() if text is not None}


def _said(said: Said) -> dict[str, Any]:
    texts = {"answer": said.answer, "problem": said.problem}
    return {name: text for name, text in texts.items() if text is not None}


def _short(call: Call | MalformedCall | None) -> str:
    return cut(str(call), _SHORT)
