"""Single-turn entries in the harness: from a trajectory and a model's step to a verdict."""

from __future__ import annotations

from functools import cache

from checkers.profile import Mode, Profile
from checkers.single_turn.documents import Answer, FunctionDocument, Kind, Language, Task
from checkers.single_turn.errors import MissingGrammar
from checkers.single_turn.judge import inference_error, judge
from checkers.single_turn.profile import PROFILES
from checkers.verdict import Failure, Verdict
from envs.decoding import Step
from trajectories.errors import DataError
from trajectories.schema import Category, ExpectedCalls, Trajectory

_ERROR = "Error during inference:"
"""How the step of a request that failed begins in the reference's result files."""


def judge_step(trajectory: Trajectory, step: Step, mode: Mode, profile: Profile) -> Verdict:
    """Judge the one step of a single-turn entry whose calls are compared.

    Args:
        trajectory: The entry.
        step: What the model answered.
        mode: How it calls functions.
        profile: How the answer is read and compared.

    Raises:
        CannotJudge: There is no verdict, through no fault of the model.
        DataError: The libraries that read Java and JavaScript are not installed.
    """
    task, rules = task_of(trajectory), PROFILES[profile.name]
    try:
        if isinstance(step, str) and step.startswith(_ERROR):
            found = inference_error(task, rules)
        else:
            found = judge(task, step, mode, rules)
    except MissingGrammar as error:
        raise DataError(trajectory.category, str(error)) from None
    if found.failure is None:
        return Verdict(True, None, None, 1, 1)
    return Verdict(False, Failure(found.failure.reason, calls=found.failure), 0, 1, 0)


def without_dots(step: Step) -> Step:
    """Return a step with the function names that the reference's result files have.

    No provider takes a dot in a name, so the reference sends and records underscores.
    """
    if step is None or isinstance(step, str):
        return step
    return [{name.replace(".", "_"): value for name, value in call.items()} for call in step]


def task_of(trajectory: Trajectory) -> Task:
    """Return what the verdict on an entry depends on, but for the model's answer."""
    expects = trajectory.expects
    assert isinstance(expects, ExpectedCalls)
    return Task(
        _kind(trajectory.category),
        Language(expects.language),
        tuple([FunctionDocument.from_json(document) for document in expects.functions]),
        tuple([Answer.from_json(answer) for answer in expects.answers]),
    )


@cache
def _kind(category: Category) -> Kind:
    """Return how the calls of a category are compared, which its name says."""
    if category is Category.CHAT:
        return Kind.IRRELEVANCE
    for kind in (Kind.PARALLEL, Kind.MULTIPLE, Kind.IRRELEVANCE, Kind.RELEVANCE):
        if kind in category:
            return kind
    return Kind.SIMPLE
