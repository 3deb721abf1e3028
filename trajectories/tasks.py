"""What a single-turn entry is judged by, as the judge of single turns wants it."""

from __future__ import annotations

from checkers.calls.documents import Answer, FunctionDocument, Language, Task
from trajectories.schema import FACTS, ExpectedCalls, Trajectory


def task_of(trajectory: Trajectory) -> Task:
    """Return what the verdict on an entry depends on, but for the model's answer.

    Raises:
        CannotJudge: A document or an answer is not of the form that there is a verdict on.
    """
    expects = trajectory.expects
    kind = FACTS[trajectory.category].calls
    assert isinstance(expects, ExpectedCalls)
    assert kind is not None
    return Task(
        kind,
        Language(expects.language),
        tuple([FunctionDocument.from_json(document) for document in expects.functions]),
        tuple([Answer.from_json(answer) for answer in expects.answers]),
    )
