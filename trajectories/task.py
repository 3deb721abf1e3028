"""Conversion of entries whose calls are compared to tasks of the checker."""

from __future__ import annotations

from checkers.calls.documents import Answer, FunctionDocument, Language, Task
from trajectories.schema import ExpectedCalls, Trajectory


def make_task(trajectory: Trajectory) -> Task:
    """Return the task of an entry.

    Raises UnjudgeableEntry if a document or an answer has an unknown structure.
    """
    expects = trajectory.expects
    kind = trajectory.calls
    assert isinstance(expects, ExpectedCalls)
    assert kind is not None
    return Task(
        kind,
        Language(expects.language),
        tuple([FunctionDocument.from_json(document) for document in expects.functions]),
        tuple([Answer.from_json(answer) for answer in expects.answers]),
        "\n".join([message.content for turn in trajectory.turns for message in turn.messages]),
    )
