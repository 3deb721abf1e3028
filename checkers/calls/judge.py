"""Judging a single-turn entry: from a model's step to the verdict.

Each of the entry's answers is matched with a call of its own; one call is compared in ``one_call``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache

from checkers.calls.documents import CannotJudge, Kind, Task, Unreadable
from checkers.calls.one_call import Rules, check_call, shown_name
from checkers.evidence import CallEvidence
from checkers.excess import made_up_in_answer
from checkers.profile import Mode, Profile
from checkers.reasons import Reason
from checkers.replies.decoding import Step
from checkers.replies.single_turn import FormatReader, read_calls
from checkers.verdict import Selected, Verdict
from envs.calls import Call
from envs.state import brief

_CALL_OR_NOT = (Kind.IRRELEVANCE, Kind.RELEVANCE)


Check = Callable[[Sequence[Call], Task, Rules], CallEvidence | None]
"""Tells what is wrong with the calls of an entry."""


def judge(
    task: Task,
    step: Step,
    mode: Mode,
    profile: Profile,
    reader: FormatReader | None = None,
    check: Check | None = None,
) -> Verdict:
    """Judge what a model answered.

    Args:
        task: The entry.
        step: The answer: tool calls, text, or nothing.
        mode: How the model calls functions. With tool calls it has seen names without dots.
        profile: How the answer is read and compared.
        reader: How text is read, where it was asked for in another format than the usual one.
        check: How calls are checked, where not as their category has it.

    Raises:
        CannotJudge: There is no verdict, through no fault of the model.
        MissingGrammar: The libraries that read Java and JavaScript are not installed.
    """
    rules = Rules(task.language, profile.calls, underscores=mode == "fc")
    try:
        calls = read_calls(step, task.language, mode, profile.calls, reader, task.named)
    except Unreadable as error:
        verdict = Verdict.of_single_turn(_unreadable(error, task, profile))
        return verdict._replace(selected=Selected(len(task.answers)))
    usual = check_call_made if task.kind in _CALL_OR_NOT else check_calls
    verdict = Verdict.of_single_turn((check or usual)(calls, task, rules))
    offered = {shown_name(each.name, rules): each.parameters for each in task.documents}
    made_up = made_up_in_answer(calls, offered, fits=task.kind is not Kind.IRRELEVANCE)
    chosen = _selected(calls, task, rules, offered)
    if check and verdict.valid:  # its arguments are right, whatever the answers list
        chosen = chosen._replace(functions=chosen.needed, arguments=chosen.needed)
    return verdict._replace(hallucinated=made_up, selected=chosen)


def _selected(
    calls: Sequence[Call], task: Task, rules: Rules, offered: Collection[str]
) -> Selected:
    """Return which of the answers' functions were called, and which of these with right arguments.

    Every answer takes a call of its own: of its function, and rather a right one.
    """
    left, functions, arguments = [*calls], 0, 0
    for answer in task.answers:
        document = task.document_of(answer)
        name = shown_name(document.name, rules)
        same = [call for call in left if call.name == name]
        right = (call for call in same if check_call(call, document, answer, rules) is None)
        taken = next(right, None)
        if same:
            left.remove(same[0] if taken is None else taken)
            functions += 1
            arguments += taken is not None
    known = {shown_name(answer.function, rules) for answer in task.answers}
    strangers = sum(call.name in offered and call.name not in known for call in calls)
    return Selected(len(task.answers), functions, arguments, strangers)


def inference_error(task: Task, profile: Profile) -> Verdict:
    """Return the verdict on an entry whose request failed.

    Raises:
        CannotJudge: The profile does not blame the model.
    """
    error = Unreadable("the request failed")
    if not profile.calls.judges_inference_errors:
        raise CannotJudge(str(error))
    return Verdict.of_single_turn(_unreadable(error, task, profile))


def _unreadable(error: Unreadable, task: Task, profile: Profile) -> CallEvidence | None:
    if task.kind is Kind.RELEVANCE:
        return no_call_made(f"no call can be read: {error}")
    if task.kind is not Kind.IRRELEVANCE:
        return CallEvidence(error.reason, str(error))
    broken = error.attempted and profile.calls.counts_broken_calls
    return call_made(f"a call that cannot be read: {error}") if broken else None


Fits = Callable[[int, int], bool]
"""Tells of two indices, wanted and given, whether the one may be matched to the other."""


def first_unmatched(wanted: int, given: int, fits: Fits) -> int | None:
    """Return the first wanted thing for which nothing given is left, None if all find their own."""
    matched = len(matched_best(wanted, given, fits))
    return matched if matched < wanted else None


def matched_best(wanted: int, given: int, fits: Fits) -> dict[int, int]:
    """Return matches, from wanted to given, up to the first thing for which nothing is left.

    Things that were matched earlier move to others where that makes room.
    """
    wanted_of: dict[int, int] = {}

    def match(one: int, tried: set[int]) -> bool:
        for candidate in range(given):
            if candidate in tried or not fits(one, candidate):
                continue
            tried.add(candidate)
            if candidate not in wanted_of or match(wanted_of[candidate], tried):
                wanted_of[candidate] = one
                return True
        return False

    for one in range(wanted):
        if not match(one, set()):
            break
    return {one: candidate for candidate, one in wanted_of.items()}


def matched_in_order(wanted: int, given: int, fits: Fits) -> dict[int, int]:
    """Do as ``matched_best`` does, but leave what was matched earlier where it is."""
    matched: dict[int, int] = {}
    free = [*range(given)]
    for one in range(wanted):
        candidate = next((candidate for candidate in free if fits(one, candidate)), None)
        if candidate is None:
            break
        matched[one] = candidate
        free.remove(candidate)
    return matched


def check_calls(calls: Sequence[Call], task: Task, rules: Rules) -> CallEvidence | None:
    """Compare the calls of an entry that expects certain calls with its answers.

    Raises:
        CannotJudge: There is no answer, it has no document, or a document has an unknown type.
    """
    wanted = 1 if task.kind is Kind.SIMPLE else len(task.answers)
    if len(calls) != wanted:
        message = f"{wanted} expected, {len(calls)} made"
        return CallEvidence(_COUNTS[task.kind], message, expected=wanted, actual=str(len(calls)))
    if task.kind is Kind.PARALLEL:
        return _check_parallel(calls, task, rules)
    if not task.answers:
        raise CannotJudge("there is no answer to compare with")
    answer = task.answers[0]
    return check_call(calls[0], task.document_of(answer), answer, rules)


_COUNTS = {
    Kind.SIMPLE: Reason.SIMPLE_COUNT,
    Kind.MULTIPLE: Reason.MULTIPLE_COUNT,
    Kind.PARALLEL: Reason.PARALLEL_COUNT,
}


def _check_parallel(calls: Sequence[Call], task: Task, rules: Rules) -> CallEvidence | None:
    documents = [task.document_of(answer) for answer in task.answers]

    @cache
    def failure(answer: int, call: int) -> CallEvidence | None:
        return check_call(calls[call], documents[answer], task.answers[answer], rules)

    def fits(answer: int, call: int) -> bool:
        return failure(answer, call) is None

    match = matched_best if rules.profile.maximum_matching else matched_in_order
    left = len(match(len(task.answers), len(calls), fits))
    if left == len(task.answers):
        return None
    wanted = task.answers[left]
    message = f"no call is left that matches {brief({wanted.function: wanted.allowed})}"
    causes = (failure(left, call) for call in range(len(calls)))
    found = tuple([cause for cause in causes if cause])
    return CallEvidence(Reason.NO_MATCH, message, wanted.function, causes=found)


def check_call_made(calls: Sequence[Call], task: Task, rules: Rules) -> CallEvidence | None:
    """Check that a call was made where one fits, and none where none does."""
    if task.kind is Kind.IRRELEVANCE:
        return call_made(f"the call {brief(str(calls[0]))}") if calls else None
    offered = [shown_name(document.name, rules) for document in task.documents]
    if not calls:
        return no_call_made("no call was made")
    if not rules.profile.only_offered or any(call.name in offered for call in calls):
        return None
    return no_call_made(f"{brief(calls[0].name)} is none of the functions offered")


def call_made(what: str) -> CallEvidence:
    """Return the failure of an entry in which no function fits."""
    return CallEvidence(Reason.CALL_MADE, f"no function fits, and yet there is {what}")


def no_call_made(why: str) -> CallEvidence:
    """Return the failure of an entry in which a function fits."""
    return CallEvidence(Reason.NO_CALL_MADE, f"a function fits, but {why}")
