"""The calls of a single turn beside those that were expected, for people to look at.

A verdict says the first thing that is wrong; this says of every call and every argument whether it
is right. Each is checked by itself, by the check that the verdict is from.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from checkers.calls.documents import Answer, FunctionDocument, Kind, Task
from checkers.calls.judge import Fits, matched_best, matched_in_order
from checkers.calls.one_call import Rules, arguments_of, check_call, shown_name
from checkers.results import Comparison, check_result
from checkers.why.divergence import Act, acts_of, misfits
from checkers.why.trace import TracedTurn
from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from envs.state import ABSENT, brief

MOST = 50
"""How many of a model's calls are looked at."""


class ArgumentPair(NamedTuple):
    """What was given for a parameter beside what is right."""

    parameter: str
    allowed: tuple[Any, ...]
    """The values that are right; none where it should not be given."""
    optional: bool
    """Whether it may be left out."""
    given: Any
    """ABSENT where it was left out."""
    problem: str | None
    """What is wrong with it."""


class CallPair(NamedTuple):
    """An expected call and the model's that comes closest to it; one of the two may be missing."""

    function: str | None
    """The function that was to be called, under the name that the model knows."""
    expected: str | None
    """The call that was expected, as text."""
    call: Call | MalformedCall | None
    """What the model called."""
    problem: str | None = None
    """Why the two are not the same thing."""
    arguments: tuple[ArgumentPair, ...] = ()
    """Of two calls of one function."""
    expected_result: Result | None = None
    """What the expected call gives, where calls are executed."""
    result: Result | None = None
    """What the model's gave."""


def pair_answers(calls: Sequence[Call], task: Task, rules: Rules) -> tuple[CallPair, ...]:
    """Put the calls of a model beside the answers of an entry.

    Raises:
        CannotJudge: An answer's function has no document, or a document an unknown type.
    """
    match = matched_best if rules.profile.maximum_matching else matched_in_order
    return _Answers(calls[:MOST], task, rules).pairs(match)


def pair_results(
    truth: TracedTurn, model: TracedTurn, comparisons: Sequence[Comparison]
) -> tuple[CallPair, ...]:
    """Put executed calls beside the ground truth's, for each of which there is a comparison."""
    return _Results(acts_of(truth), acts_of(model)[:MOST], comparisons).pairs(matched_best)


_NOT_MADE = "it is not called"
_TOO_MANY = "it is one call too many"


class _Sides(ABC):
    """What is wanted and what was given, both named by number.

    Attributes:
        wanted: How many things are wanted.
        given: How many were given.
    """

    wanted: int
    given: int

    @abstractmethod
    def problem(self, one: int, other: int) -> str | None:
        """Return what is wrong with a pair, None if it is right."""

    @abstractmethod
    def distance(self, one: int, other: int) -> int | None:
        """Return how much is wrong; None for a call of another function."""

    @abstractmethod
    def pair(self, one: int | None, other: int | None) -> CallPair:
        """Return what is wanted and what was given; one of them may be missing."""

    def pairs(self, match: Callable[[int, int, Fits], dict[int, int]]) -> tuple[CallPair, ...]:
        """Return what is wanted, each with what comes closest to it, and then what is left."""
        found = match(self.wanted, self.given, lambda *both: self.problem(*both) is None)
        free = [other for other in range(self.given) if other not in found.values()]
        for is_near in (True, False):
            for one in [one for one in range(self.wanted) if one not in found]:
                distances = {other: self.distance(one, other) for other in free}
                near = [other for other in free if distances[other] is not None]
                # What has nothing in common with anything stands for what is left, in order.
                candidates = near if is_near else free
                if candidates:
                    found[one] = min(candidates, key=lambda other: distances[other] or 0)
                    free.remove(found[one])
        beside = [self.pair(one, found.get(one)) for one in range(self.wanted)]
        return (*beside, *[self.pair(None, other) for other in free])


class _Answers(_Sides):
    """The answers of an entry, and a model's calls."""

    def __init__(self, calls: Sequence[Call], task: Task, rules: Rules) -> None:
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
        wrong = sum(pair.problem is not None for pair in self._arguments(one, other))
        return 0 if self.problem(one, other) is None else max(1, wrong)

    def pair(self, one: int | None, other: int | None) -> CallPair:
        call = None if other is None else self._calls[other]
        if one is None:
            return CallPair(None, None, call, _surplus(self._task))
        name = self._name(one)
        text = _answer_text(name, self._task.answers[one], self._documents[one])
        if other is None or call is None:
            return CallPair(name, text, None, _NOT_MADE)
        arguments = self._arguments(one, other) if call.name == name else ()
        return CallPair(name, text, call, self.problem(one, other), arguments)

    def _name(self, one: int) -> str:
        return shown_name(self._documents[one].name, self._rules)

    def _arguments(self, one: int, other: int) -> tuple[ArgumentPair, ...]:
        answer = self._task.answers[one]
        return _arguments(self._calls[other], self._documents[one], answer, self._rules)


class _Results(_Sides):
    """What the ground truth did, and what a model did."""

    def __init__(
        self, truth: Sequence[Act], model: Sequence[Act], comparisons: Sequence[Comparison]
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
        return 0 if self.problem(one, other) is None else 1 + len(misfits(needed, act))

    def pair(self, one: int | None, other: int | None) -> CallPair:
        act = None if other is None else self._model[other]
        made = act.traced if act else None
        found = CallPair(None, None, made and made.call, result=made and made.result)
        if one is None:
            return found._replace(problem=_TOO_MANY)
        needed = self._truth[one]
        result = needed.traced.result
        found = found._replace(function=needed.name, expected=needed.text, expected_result=result)
        if other is None or act is None:
            return found._replace(problem=_NOT_MADE)
        problem = self.problem(one, other)
        return found._replace(problem=problem, arguments=_executed(needed, act, problem))


def _surplus(task: Task) -> str | None:
    """Return what is wrong with a call that no answer stands for."""
    if task.kind is Kind.RELEVANCE:
        return None
    return "no function fits" if task.kind is Kind.IRRELEVANCE else _TOO_MANY


def _arguments(
    call: Call, document: FunctionDocument, answer: Answer, rules: Rules
) -> tuple[ArgumentPair, ...]:
    given = arguments_of(call, document)
    names = dict.fromkeys([*answer.allowed, *given])
    return tuple(
        [_argument(name, given.get(name, ABSENT), document, answer, rules) for name in names]
    )


def _argument(
    name: str, given: Any, document: FunctionDocument, answer: Answer, rules: Rules
) -> ArgumentPair:
    """Check an argument as that of a call which has no other."""
    parameters = {key: schema for key, schema in document.parameters.items() if key == name}
    required = [key for key in document.required if key == name]
    allowed = {key: values for key, values in answer.allowed.items() if key == name}
    call = Call(shown_name(document.name, rules), (), {} if given is ABSENT else {name: given})
    alone = FunctionDocument(document.name, parameters, required)
    failure = check_call(call, alone, Answer(answer.function, allowed), rules)
    right, optional = _right_values(allowed.get(name, ()), is_required=bool(required))
    return ArgumentPair(name, right, optional, given, failure and failure.message)


def _right_values(values: Sequence[Any], *, is_required: bool) -> tuple[tuple[Any, ...], bool]:
    """Return the values that are right, and whether none at all is right too."""
    optional = not is_required and "" in values
    return tuple([value for value in values if not (optional and value == "")]), optional


def _executed(truth: Act, act: Act, problem: str | None) -> tuple[ArgumentPair, ...]:
    if truth.name != act.name:
        return ()
    differing = {misfit.parameter for misfit in misfits(truth, act)} if problem else set()
    return tuple(
        [
            _executed_argument(name, truth.arguments.get(name, ABSENT), act, name in differing)
            for name in dict.fromkeys([*truth.arguments, *act.arguments])
        ]
    )


def _executed_argument(name: str, expected: Any, act: Act, differs: bool) -> ArgumentPair:
    given = act.arguments.get(name, ABSENT)
    allowed = () if expected is ABSENT else (expected,)
    return ArgumentPair(name, allowed, False, given, "it is another value" if differs else None)


def _answer_text(name: str, answer: Answer, document: FunctionDocument) -> str:
    """Return an answer as a call with all values that are right, and what may be left out."""
    shown = []
    for parameter, values in answer.allowed.items():
        right, optional = _right_values(values, is_required=parameter in document.required)
        text = f"{parameter}={' or '.join(map(brief, right))}" if right else parameter
        shown.append(f"[{text}]" if optional else text)
    return f"{name}({', '.join(shown)})"
