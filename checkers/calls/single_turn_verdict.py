"""Judging of a single-turn entry: each expected call must match a different actual call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from functools import cache

from checkers.call_mistakes import count_hallucinations
from checkers.calls.call_comparison import EntryRules, check_call, get_shown_name
from checkers.calls.call_entry import CallEntry, ComparisonKind, UnjudgeableEntry, UnreadableOutput
from checkers.evidence import CallEvidence
from checkers.profile import Mode, Profile
from checkers.reasons import Reason
from checkers.replies.decoding import Step
from checkers.replies.single_turn import FormatReader, read_calls
from checkers.verdict import NOTHING_MADE_UP, SelectionCounts, Verdict
from envs.calls import Call
from envs.state import cut_repr

_CALL_OR_NOT = (ComparisonKind.IRRELEVANCE, ComparisonKind.RELEVANCE)
Check = Callable[[Sequence[Call], CallEntry, EntryRules], CallEvidence | None]


def judge(
    task: CallEntry,
    step: Step,
    mode: Mode,
    profile: Profile,
    reader: FormatReader | None = None,
    check: Check | None = None,
) -> Verdict:
    """Judge a model's answer to a single-turn entry.

    Args:
        step: Recorded tool calls or text; None if the model gave no answer.
        mode: ``fc`` if the function names that the model saw have underscores in place of dots.
        profile: Rules for reading and comparing calls.
        reader: Reader of text in a calling format other than BFCL's.
        check: Check to use instead of the category's.

    Raises:
        UnjudgeableEntry: The entry's data allow no verdict.
        DataError: The libraries for Java and JavaScript are not installed.
    """
    rules = EntryRules(task.language, profile.calls, mode == "fc")
    try:
        named = () if mode == "fc" else task.named
        calls = read_calls(step, task.language, mode, profile.calls, reader, named)
    except UnreadableOutput as error:
        failure = _judge_unreadable(error, task, profile)
        return Verdict.of_single_turn(failure, NOTHING_MADE_UP, SelectionCounts(len(task.answers)))
    usual = check_call_made if task.kind in _CALL_OR_NOT else check_calls
    failure = (check or usual)(calls, task, rules)
    made_up, offered = NOTHING_MADE_UP, {}
    if calls:
        offered = {get_shown_name(each.name, rules): each.parameters for each in task.documents}
        fitting = task.kind is not ComparisonKind.IRRELEVANCE
        made_up = count_hallucinations(calls, offered, fits=fitting)
    # The check may have compared the only call with the only answer.
    single = usual is check_calls and len(calls) == len(task.answers) == 1
    fits = failure is None if single and (failure is None or not check) else None
    chosen = _count_selection(calls, task, rules, offered.keys(), fits)
    if check and not failure:  # all arguments are right, even if the answers do not list them
        chosen = chosen._replace(functions=chosen.needed, arguments=chosen.needed)
    return Verdict.of_single_turn(failure, made_up, chosen)


def _count_selection(
    calls: Sequence[Call], task: CallEntry, rules: EntryRules, offered: Set[str], fits: bool | None
) -> SelectionCounts:
    """Count the expected calls that the model made; ``fits`` is None if no result is known."""
    left, functions, arguments = [*calls], 0, 0
    for answer in task.answers:
        document = task.document_of(answer)
        name = get_shown_name(document.name, rules)
        same = [call for call in left if call.name == name]
        right: Iterable[Call] = same if fits else ()
        if fits is None:
            right = (call for call in same if check_call(call, document, answer, rules) is None)
        taken = next(iter(right), None)
        if same:
            left.remove(same[0] if taken is None else taken)
            functions += 1
            arguments += taken is not None
    known = {get_shown_name(answer.function, rules) for answer in task.answers}
    if task.kind is ComparisonKind.RELEVANCE:  # each call of an offered function is right
        known.update(offered)
    strangers = [call for call in calls if call.name in offered and call.name not in known]
    return SelectionCounts(len(task.answers), functions, arguments, len(strangers))


def inference_error(task: CallEntry, profile: Profile) -> Verdict:
    """Return the verdict on an entry after a failed request.

    Raises UnjudgeableEntry if the profile does not judge failed requests.
    """
    error = UnreadableOutput("the request failed")
    if not profile.calls.judges_inference_errors:
        raise UnjudgeableEntry(str(error))
    return Verdict.of_single_turn(_judge_unreadable(error, task, profile), NOTHING_MADE_UP, None)


def _judge_unreadable(
    error: UnreadableOutput, task: CallEntry, profile: Profile
) -> CallEvidence | None:
    if task.kind is ComparisonKind.RELEVANCE:
        return make_no_call_evidence(f"no call can be parsed: {error}")
    if task.kind is not ComparisonKind.IRRELEVANCE:
        return CallEvidence(error.reason, str(error))
    broken = error.attempted and profile.calls.counts_broken_calls
    return make_call_evidence(f"made a call that cannot be parsed: {error}") if broken else None


Fits = Callable[[int, int], bool]
"""Function that tells whether expected call ``i`` and actual call ``j`` may be matched."""


def find_unmatched(wanted: int, given: int, fits: Fits) -> int | None:
    """Return the index of the first expected call without a match; None if all calls match."""
    matched = len(match_best(wanted, given, fits))
    return matched if matched < wanted else None


def match_best(wanted: int, given: int, fits: Fits) -> dict[int, int]:
    """Map each expected call to a matching call, by index."""
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


def match_in_order(wanted: int, given: int, fits: Fits) -> dict[int, int]:
    """Map each expected call to the first unused call that matches, by index."""
    matched: dict[int, int] = {}
    free = [*range(given)]
    for one in range(wanted):
        candidate = next((candidate for candidate in free if fits(one, candidate)), None)
        if candidate is None:
            break
        matched[one] = candidate
        free.remove(candidate)
    return matched


def check_calls(calls: Sequence[Call], task: CallEntry, rules: EntryRules) -> CallEvidence | None:
    """Compare the model's calls with the expected calls of a single-turn entry.

    Raises:
        UnjudgeableEntry: No call is expected, a document is missing, or a type is unknown.
    """
    wanted = 1 if task.kind is ComparisonKind.SIMPLE else len(task.answers)
    if len(calls) != wanted:
        message = f"{wanted} expected, {len(calls)} made"
        return CallEvidence(_COUNTS[task.kind], message, expected=wanted, actual=str(len(calls)))
    if task.kind is ComparisonKind.PARALLEL:
        return _check_parallel(calls, task, rules)
    if not task.answers:
        raise UnjudgeableEntry("the entry has no answer")
    answer = task.answers[0]
    return check_call(calls[0], task.document_of(answer), answer, rules)


_COUNTS = {
    ComparisonKind.SIMPLE: Reason.SIMPLE_COUNT,
    ComparisonKind.MULTIPLE: Reason.MULTIPLE_COUNT,
    ComparisonKind.PARALLEL: Reason.PARALLEL_COUNT,
}


def _check_parallel(
    calls: Sequence[Call], task: CallEntry, rules: EntryRules
) -> CallEvidence | None:
    documents = [task.document_of(answer) for answer in task.answers]

    @cache
    def failure(answer: int, call: int) -> CallEvidence | None:
        return check_call(calls[call], documents[answer], task.answers[answer], rules)

    def fits(answer: int, call: int) -> bool:
        return failure(answer, call) is None

    match = match_best if rules.profile.maximum_matching else match_in_order
    left = len(match(len(task.answers), len(calls), fits))
    if left == len(task.answers):
        return None
    wanted = task.answers[left]
    message = f"no remaining call matches {cut_repr({wanted.function: wanted.allowed})}"
    found = tuple(filter(None, [failure(left, call) for call in range(len(calls))]))
    return CallEvidence(Reason.NO_MATCH, message, wanted.function, causes=found)


def check_call_made(
    calls: Sequence[Call], task: CallEntry, rules: EntryRules
) -> CallEvidence | None:
    """Check that the model made a call if and only if a function fits the request."""
    if task.kind is ComparisonKind.IRRELEVANCE:
        return make_call_evidence(f"called {cut_repr(str(calls[0]))}") if calls else None
    offered = [get_shown_name(document.name, rules) for document in task.documents]
    if not calls:
        return make_no_call_evidence("no call was made")
    if not rules.profile.only_offered or any(call.name in offered for call in calls):
        return None
    return make_no_call_evidence(f"{cut_repr(calls[0].name)} was not offered")


def make_call_evidence(did: str) -> CallEvidence:
    """Return evidence that the model made a call although no function fits the request."""
    return CallEvidence(Reason.CALL_MADE, f"no function fits, but the model {did}")


def make_no_call_evidence(why: str) -> CallEvidence:
    """Return evidence that the model made no call although a function fits the request."""
    return CallEvidence(Reason.NO_CALL_MADE, f"a function fits, but {why}")
