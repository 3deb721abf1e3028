"""What an entry whose calls are compared is judged by: functions, and the right answers."""

from __future__ import annotations

from checkers.calls.documents import Answer, FunctionDocument, Language, Task
from trajectories.schema import ExpectedCalls, Trajectory


def task_of(trajectory: Trajectory) -> Task:
    """Return what the verdict on an entry depends on, but for the model's answer.

    Raises:
        CannotJudge: A document or an answer is not of the form that there is a verdict on.
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
