"""Judging a single-turn entry: from a model's step to the verdict."""

from __future__ import annotations

from checkers.calls.documents import Kind, Language, Task
from checkers.calls.errors import CannotJudge, Unreadable
from checkers.calls.matching import check_calls
from checkers.calls.one_call import Rules
from checkers.calls.profile import SingleTurnProfile
from checkers.calls.relevance import call_made, check_call_made, no_call_made
from checkers.profile import Mode
from checkers.replies.decoding import Step
from checkers.verdict import CallEvidence, Verdict
from envs.calls import Call

_CALL_OR_NOT = (Kind.IRRELEVANCE, Kind.RELEVANCE)


def judge(task: Task, step: Step, mode: Mode, profile: SingleTurnProfile) -> Verdict:
    """Judge what a model answered.

    Args:
        task: The entry.
        step: The answer: tool calls, text, or nothing.
        mode: How the model calls functions. With tool calls it has seen names without dots.
        profile: How the answer is read and compared.

    Raises:
        CannotJudge: There is no verdict, through no fault of the model.
        MissingGrammar: The libraries that read Java and JavaScript are not installed.
    """
    rules = Rules(task.language, profile, underscores=mode == "fc")
    try:
        calls = read_calls(step, task.language, mode, profile)
    except Unreadable as error:
        return Verdict.of_single_turn(_unreadable(error, task, profile))
    check = check_call_made if task.kind in _CALL_OR_NOT else check_calls
    return Verdict.of_single_turn(check(calls, task, rules))


def inference_error(task: Task, profile: SingleTurnProfile) -> Verdict:
    """Return the verdict on an entry whose request failed.

    Raises:
        CannotJudge: The profile does not blame the model.
    """
    error = Unreadable("the request failed")
    if not profile.judges_inference_errors:
        raise CannotJudge(str(error))
    return Verdict.of_single_turn(_unreadable(error, task, profile))


def read_calls(
    step: Step, language: Language, mode: Mode, profile: SingleTurnProfile
) -> list[Call]:
    """Return the calls in what a model answered.

    Raises:
        Unreadable: There are none that can be read.
        MissingGrammar: The libraries that read Java and JavaScript are not installed.
    """
    return profile.read_tool_calls(step) if mode == "fc" else profile.read_text(step, language)


def _unreadable(error: Unreadable, task: Task, profile: SingleTurnProfile) -> CallEvidence | None:
    if task.kind is Kind.RELEVANCE:
        return no_call_made(f"no call can be read: {error}")
    if task.kind is not Kind.IRRELEVANCE:
        return CallEvidence(error.reason, str(error))
    broken = error.attempted and profile.counts_broken_calls
    return call_made(f"a call that cannot be read: {error}") if broken else None
