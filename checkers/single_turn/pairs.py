"""The calls of a single turn beside those that were expected, for people to look at.

A verdict says the first thing that is wrong; this says of every call and every argument whether it
is right. Each is checked by itself, by the check that the verdict is from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from checkers.alignment import Act, acts_of, misfits
from checkers.single_turn.assignment import matched_best, matched_in_order
from checkers.single_turn.documents import Answer, FunctionDocument, Kind, Task
from checkers.single_turn.executable import Comparison, check_result
from checkers.single_turn.one_call import Rules, arguments_of, check_call, shown_name
from checkers.trace import TracedTurn
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
    """Put calls beside the answers of an entry.

    Args:
        calls: What the model called.
        task: The entry.
        rules: How calls are compared.

    Raises:
        CannotJudge: An answer's function has no document, or a document an unknown type.
    """
    calls = calls[:MOST]
    documents = [_document(task, answer) for answer in task.answers]

    def wrong(one: int, other: int) -> int | None:
        answer, document, call = task.answers[one], documents[one], calls[other]
        if call.name != shown_name(document.name, rules):
            return None
        if check_call(call, document, answer, rules) is None:
            return 0
        return max(1, sum(pair.problem is not None for pair in arguments(one, other)))

    def arguments(one: int, other: int) -> tuple[ArgumentPair, ...]:
        return _arguments(calls[other], documents[one], task.answers[one], rules)

    def pair(one: int | None, other: int | None) -> CallPair:
        call = None if other is None else calls[other]
        if one is None:
            return CallPair(None, None, call, _surplus(task))
        answer, document = task.answers[one], documents[one]
        name = shown_name(document.name, rules)
        expected = CallPair(name, _answer_text(name, answer, document), call, _NOT_MADE)
        if other is None or call is None:
            return expected
        failure = check_call(call, document, answer, rules)
        named = call.name == name
        return expected._replace(
            problem=failure and failure.message, arguments=arguments(one, other) if named else ()
        )

    match = matched_best if rules.profile.maximum_matching else matched_in_order
    matched = match(len(documents), len(calls), lambda one, other: wrong(one, other) == 0)
    return tuple([pair(*both) for both in _pairs(len(documents), len(calls), matched, wrong)])


def pair_results(
    truth: TracedTurn, model: TracedTurn, comparisons: Sequence[Comparison]
) -> tuple[CallPair, ...]:
    """Put executed calls beside those of the ground truth.

    Args:
        truth: The ground truth's turn.
        model: The model's turn.
        comparisons: How results are compared, one for each call of the ground truth.
    """
    wanted, given = acts_of(truth), acts_of(model)[:MOST]

    def problem(one: int, other: int) -> str | None:
        truth, model = wanted[one].traced.result, given[other].traced.result
        failure = check_result(truth, model, comparisons[one])
        return failure and failure.message

    def wrong(one: int, other: int) -> int | None:
        if wanted[one].name != given[other].name:
            return None
        return 0 if problem(one, other) is None else 1 + len(misfits(wanted[one], given[other]))

    def pair(one: int | None, other: int | None) -> CallPair:
        act = None if other is None else given[other]
        made = act.traced if act else None
        found = CallPair(None, None, made and made.call, result=made and made.result)
        if one is None:
            return found._replace(problem=_TOO_MANY)
        needed = wanted[one]
        found = found._replace(
            function=needed.name, expected=needed.text, expected_result=needed.traced.result
        )
        if other is None or act is None:
            return found._replace(problem=_NOT_MADE)
        why = problem(one, other)
        return found._replace(problem=why, arguments=_executed_arguments(needed, act, why))

    def fits(one: int, other: int) -> bool:
        return problem(one, other) is None

    matched = matched_best(len(wanted), len(given), fits)
    return tuple([pair(*both) for both in _pairs(len(wanted), len(given), matched, wrong)])


_NOT_MADE = "it is not called"
_TOO_MANY = "it is one call too many"


def _surplus(task: Task) -> str | None:
    """Return what is wrong with a call that no answer stands for."""
    if task.kind is Kind.RELEVANCE:
        return None
    return "no function fits" if task.kind is Kind.IRRELEVANCE else _TOO_MANY


def _document(task: Task, answer: Answer) -> FunctionDocument:
    return task.documents[0] if task.kind is Kind.SIMPLE else task.document(answer.function)


def _pairs(
    wanted: int,
    given: int,
    matched: Mapping[int, int],
    wrong: Callable[[int, int], int | None],
) -> Iterator[tuple[int | None, int | None]]:
    """Yield what is wanted, each with what comes closest to it, and then what is left.

    Args:
        wanted: How many things are wanted.
        given: How many were given.
        matched: What is right.
        wrong: Number of things that are wrong with a pair; None if it has nothing in common.
    """
    found = dict(matched)
    free = [other for other in range(given) if other not in found.values()]
    for is_near in (True, False):
        for one in range(wanted):
            distances = {other: wrong(one, other) for other in free} if one not in found else {}
            near = [other for other in free if distances.get(other) is not None]
            # What has nothing in common with anything stands for what else is left, in order.
            candidates = near if is_near else free
            if one not in found and candidates:
                found[one] = min(candidates, key=lambda other: distances[other] or 0)
                free.remove(found[one])
    for one in range(wanted):
        yield one, found.get(one)
    for other in free:
        yield None, other


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


def _executed_arguments(truth: Act, act: Act, problem: str | None) -> tuple[ArgumentPair, ...]:
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
