"""What a single-turn entry is judged by, as the judge of single turns wants it."""

from __future__ import annotations

from functools import cache

from checkers.calls.documents import Answer, FunctionDocument, Kind, Language, Task
from trajectories.schema import Category, ExpectedCalls, Trajectory


def task_of(trajectory: Trajectory) -> Task:
    """Return what the verdict on an entry depends on, but for the model's answer.

    Raises:
        CannotJudge: A document or an answer is not of the form that there is a verdict on.
    """
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
