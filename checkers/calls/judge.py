"""Judging a single-turn entry: from a model's step to the verdict."""

from __future__ import annotations

from checkers.calls.documents import Kind, Task
from checkers.calls.errors import CannotJudge, Unreadable
from checkers.calls.matching import call_made, check_call_made, check_calls, no_call_made
from checkers.calls.one_call import Rules
from checkers.profile import Mode, Profile
from checkers.replies.decoding import Step
from checkers.replies.single_turn import FormatReader, read_calls
from checkers.verdict import CallEvidence, Verdict

_CALL_OR_NOT = (Kind.IRRELEVANCE, Kind.RELEVANCE)


def judge(
    task: Task, step: Step, mode: Mode, profile: Profile, reader: FormatReader | None = None
) -> Verdict:
    """Judge what a model answered.

    Args:
        task: The entry.
        step: The answer: tool calls, text, or nothing.
        mode: How the model calls functions. With tool calls it has seen names without dots.
        profile: How the answer is read and compared.
        reader: How text is read, where it was asked for in another format than the usual one.

    Raises:
        CannotJudge: There is no verdict, through no fault of the model.
        MissingGrammar: The libraries that read Java and JavaScript are not installed.
    """
    rules = Rules(task.language, profile.calls, underscores=mode == "fc")
    try:
        calls = read_calls(step, task.language, mode, profile.calls, reader)
    except Unreadable as error:
        return Verdict.of_single_turn(_unreadable(error, task, profile))
    check = check_call_made if task.kind in _CALL_OR_NOT else check_calls
    return Verdict.of_single_turn(check(calls, task, rules))


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
