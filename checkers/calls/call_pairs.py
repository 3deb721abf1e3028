"""Pairs of expected and actual calls of a single turn, for display.

This module checks every call and argument, and does not stop at the first error.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from checkers.calls.call_comparison import EntryRules, bind_arguments, check_call, get_shown_name
from checkers.calls.call_entry import CallEntry, ComparisonKind, ExpectedCall, FunctionDocument
from checkers.calls.single_turn_verdict import Fits, match_best, match_in_order
from checkers.causes.divergence import CallEffect, list_effects, list_mismatches
from checkers.causes.trace import TracedTurn
from checkers.results import ResultComparisonRule, check_result
from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from envs.state import ABSENT, cut_repr

MAX_PAIRS = 50


class ArgumentPair(NamedTuple):
    """Accepted values of a parameter, and the value that the model gave."""

    parameter: str
    allowed: tuple[Any, ...]
    """Accepted values; empty if the call should not contain the parameter."""
    optional: bool
    given: Any
    problem: str | None


class CallPair(NamedTuple):
    """An expected call and the closest call of the model; one of the two may be missing."""

    function: str | None
    """Name of the expected function, as the model knows it."""
    expected: str | None
    call: Call | MalformedCall | None
    problem: str | None = None
    arguments: tuple[ArgumentPair, ...] = ()
    expected_result: Result | None = None
    result: Result | None = None
    place: tuple[int, int] | None = None
    """Step and index of the model's call."""


def pair_answers(calls: Sequence[Call], task: CallEntry, rules: EntryRules) -> tuple[CallPair, ...]:
    """Pair a model's calls with the expected calls of an entry.

    Raises:
        UnjudgeableEntry: A function has no document, or a document has an unknown type.
    """
    match = match_best if rules.profile.maximum_matching else match_in_order
    return _AnswerPairing(calls[:MAX_PAIRS], task, rules).pairs(match)


def pair_results(
    truth: TracedTurn, model: TracedTurn, comparisons: Sequence[ResultComparisonRule]
) -> tuple[CallPair, ...]:
    """Pair each ground-truth call with a model's call, preferably one with the same result.

    ``comparisons`` contains the comparison rule of each ground-truth call.
    """
    return _ResultPairing(list_effects(truth), list_effects(model)[:MAX_PAIRS], comparisons).pairs(
        match_best
    )


_NOT_MADE = "not called"
_TOO_MANY = "surplus call"


class _CallPairing(ABC):
    wanted: int
    given: int

    @abstractmethod
    def problem(self, one: int, other: int) -> str | None:
        """Return the error of a pair, or None if the calls match."""

    @abstractmethod
    def distance(self, one: int, other: int) -> int | None:
        """Return the number of wrong arguments of a pair; None if the functions differ."""

    @abstractmethod
    def pair(self, one: int | None, other: int | None) -> CallPair:
        """Pair expected call ``one`` with actual call ``other``; ``None`` means a missing call."""

    def pairs(self, match: Callable[[int, int, Fits], dict[int, int]]) -> tuple[CallPair, ...]:
        """Return each expected call with the closest actual call, followed by the surplus calls."""
        found = match(self.wanted, self.given, lambda *both: self.problem(*both) is None)
        free = [other for other in range(self.given) if other not in found.values()]
        for is_near in (True, False):
            for one in [one for one in range(self.wanted) if one not in found]:
                distances = {other: self.distance(one, other) for other in free}
                near = [other for other in free if distances[other] is not None]
                # Calls of other functions fill the remaining pairs, in order.
                candidates = near if is_near else free
                if candidates:
                    found[one] = min(candidates, key=lambda other: distances[other] or 0)
                    free.remove(found[one])
        beside = [self.pair(one, found.get(one)) for one in range(self.wanted)]
        return (*beside, *[self.pair(None, other) for other in free])


class _AnswerPairing(_CallPairing):
    def __init__(self, calls: Sequence[Call], task: CallEntry, rules: EntryRules) -> None:
        self.wanted, self.given = len(task.answers), len(calls)
        self._calls = calls
        self._task = task
        self._rules = rules
        self._documents = [task.document_of(answer) for answer in task.answers]

    def problem(self, one: int, other: int) -> str | None:
        answer = self._task.answers[one]
        failure = check_call(self._calls[other], self._documents[one], answer, self._rules)
        return failure and failure.message

    def distance(self, one: int, other: int) -> int | None:
        if self._calls[other].name != self._name(one):
            return None
        wrong = sum(pair.problem is not None for pair in self._pair_arguments(one, other))
        return 0 if self.problem(one, other) is None else max(1, wrong)

    def pair(self, one: int | None, other: int | None) -> CallPair:
        call = None if other is None else self._calls[other]
        place = None if other is None else (0, other)
        if one is None:
            return CallPair(None, None, call, _explain_surplus(self._task), place=place)
        name = self._name(one)
        text = _format_answer(name, self._task.answers[one], self._documents[one])
        if other is None or call is None:
            return CallPair(name, text, None, _NOT_MADE)
        arguments = self._pair_arguments(one, other) if call.name == name else ()
        return CallPair(name, text, call, self.problem(one, other), arguments, place=place)

    def _name(self, one: int) -> str:
        return get_shown_name(self._documents[one].name, self._rules)

    def _pair_arguments(self, one: int, other: int) -> tuple[ArgumentPair, ...]:
        answer = self._task.answers[one]
        return _pair_arguments(self._calls[other], self._documents[one], answer, self._rules)


class _ResultPairing(_CallPairing):
    def __init__(
        self,
        truth: Sequence[CallEffect],
        model: Sequence[CallEffect],
        comparisons: Sequence[ResultComparisonRule],
    ) -> None:
        self.wanted, self.given = len(truth), len(model)
        self._truth = truth
        self._model = model
        self._comparisons = comparisons

    def problem(self, one: int, other: int) -> str | None:
        truth, model = self._truth[one].traced.result, self._model[other].traced.result
        failure = check_result(truth, model, self._comparisons[one])
        return failure and failure.message

    def distance(self, one: int, other: int) -> int | None:
        needed, act = self._truth[one], self._model[other]
        if needed.name != act.name:
            return None
        return 0 if self.problem(one, other) is None else 1 + len(list_mismatches(needed, act))

    def pair(self, one: int | None, other: int | None) -> CallPair:
        act = None if other is None else self._model[other]
        made = act.traced if act else None
        place = act and (act.step, act.position)
        found = CallPair(None, None, made and made.call, result=made and made.result, place=place)
        if one is None:
            return found._replace(problem=_TOO_MANY)
        needed = self._truth[one]
        result = needed.traced.result
        found = found._replace(function=needed.name, expected=needed.text, expected_result=result)
        if other is None or act is None:
            return found._replace(problem=_NOT_MADE)
        problem = self.problem(one, other)
        return found._replace(problem=problem, arguments=_pair_executed(needed, act, problem))


def _explain_surplus(task: CallEntry) -> str | None:
    if task.kind is ComparisonKind.RELEVANCE:
        return None
    return "no function fits" if task.kind is ComparisonKind.IRRELEVANCE else _TOO_MANY


def _pair_arguments(
    call: Call, document: FunctionDocument, answer: ExpectedCall, rules: EntryRules
) -> tuple[ArgumentPair, ...]:
    given = bind_arguments(call, document)
    names = dict.fromkeys([*answer.allowed, *given])
    return tuple(
        [_pair_argument(name, given.get(name, ABSENT), document, answer, rules) for name in names]
    )


def _pair_argument(
    name: str, given: Any, document: FunctionDocument, answer: ExpectedCall, rules: EntryRules
) -> ArgumentPair:
    parameters = {key: schema for key, schema in document.parameters.items() if key == name}
    required = [key for key in document.required if key == name]
    allowed = {key: values for key, values in answer.allowed.items() if key == name}
    call = Call(get_shown_name(document.name, rules), (), {} if given is ABSENT else {name: given})
    alone = FunctionDocument(document.name, parameters, required)
    failure = check_call(call, alone, ExpectedCall(answer.function, allowed), rules)
    right, optional = _split_values(allowed.get(name, ()), is_required=bool(required))
    return ArgumentPair(name, right, optional, given, failure and failure.message)


def _split_values(values: Sequence[Any], *, is_required: bool) -> tuple[tuple[Any, ...], bool]:
    """Return the accepted values of a parameter, and whether the parameter is optional."""
    optional = not is_required and "" in values
    return tuple([value for value in values if not (optional and value == "")]), optional


def _pair_executed(
    truth: CallEffect, act: CallEffect, problem: str | None
) -> tuple[ArgumentPair, ...]:
    if truth.name != act.name:
        return ()
    differing = {misfit.parameter for misfit in list_mismatches(truth, act)} if problem else set()
    return tuple(
        [
            _pair_executed_argument(name, truth.arguments.get(name, ABSENT), act, name in differing)
            for name in dict.fromkeys([*truth.arguments, *act.arguments])
        ]
    )


def _pair_executed_argument(
    name: str, expected: Any, act: CallEffect, differs: bool
) -> ArgumentPair:
    given = act.arguments.get(name, ABSENT)
    allowed = () if expected is ABSENT else (expected,)
    return ArgumentPair(name, allowed, False, given, "wrong value" if differs else None)


def _format_answer(name: str, answer: ExpectedCall, document: FunctionDocument) -> str:
    """Format an expected call, such as ``f(a=1 or 2, [b=3])``."""
    shown = []
    for parameter, values in answer.allowed.items():
        right, optional = _split_values(values, is_required=parameter in document.required)
        text = f"{parameter}={' or '.join(map(cut_repr, right))}" if right else parameter
        shown.append(f"[{text}]" if optional else text)
    return f"{name}({', '.join(shown)})"
