"""Single-turn entries in the harness: from a trajectory and a model's step to a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from checkers.calls.documents import Language
from checkers.calls.errors import MissingGrammar, Unreadable
from checkers.calls.judge import inference_error, judge
from checkers.profile import Mode, Profile
from checkers.replies.decoding import Step
from checkers.replies.single_turn import FormatReader, read_calls
from checkers.verdict import Verdict
from envs.calls import Call
from envs.errors import MalformedCall
from trajectories.errors import DataError
from trajectories.right_step import right_step
from trajectories.schema import Trajectory
from trajectories.tasks import task_of

_ERROR = "Error during inference:"
"""How the step of a request that failed begins in BFCL's result files."""


def judge_step(
    trajectory: Trajectory,
    step: Step,
    mode: Mode,
    profile: Profile,
    reader: FormatReader | None = None,
) -> Verdict:
    """Judge the one step of a single-turn entry whose calls are compared.

    Args:
        trajectory: The entry.
        step: What the model answered.
        mode: How it calls functions.
        profile: How the answer is read and compared.
        reader: How text is read, where it was asked for in another format than the usual one.

    Raises:
        CannotJudge: There is no verdict, through no fault of the model.
        DataError: The libraries that read Java and JavaScript are not installed.
    """
    task = task_of(trajectory)
    with _grammars(trajectory):
        if is_error(step):
            return inference_error(task, profile)
        return judge(task, step, mode, profile, reader)


def is_error(step: Step) -> bool:
    """Tell whether a step stands for a request that failed."""
    return isinstance(step, str) and step.startswith(_ERROR)


def calls_in_format(step: Step, profile: Profile, reader: FormatReader) -> list[Call]:
    """Return the calls that a prompting model's step in another format holds.

    Args:
        step: What the model answered.
        profile: How calls in Python are read.
        reader: How the answer is read.

    Raises:
        MalformedCall: It holds what looks like calls but cannot be read.
    """
    try:
        return read_calls(step, Language.PYTHON, "prompt", profile.calls, reader)
    except Unreadable as error:
        raise MalformedCall(str(error)) from None


def oracle_step(trajectory: Trajectory, profile: Profile) -> Step:
    """Return a function-calling model's step that is right for an entry whose calls are compared.

    Args:
        trajectory: The entry.
        profile: How the step will be read.

    Raises:
        CannotJudge: There is no verdict on the entry.
        DataError: The libraries that read Java and JavaScript are not installed.
    """
    with _grammars(trajectory):
        return right_step(task_of(trajectory), profile)


def without_dots(step: Step) -> Step:
    """Return a step with the function names that BFCL's result files have.

    No provider takes a dot in a name, so BFCL sends and records underscores.
    """
    if step is None or isinstance(step, str):
        return step
    return [{name.replace(".", "_"): value for name, value in call.items()} for call in step]


@contextmanager
def _grammars(trajectory: Trajectory) -> Iterator[None]:
    """Tell the user where libraries are not there that read an entry's language."""
    try:
        yield
    except MissingGrammar as error:
        raise DataError(trajectory.category, str(error)) from None
