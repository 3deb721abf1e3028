"""Conversion of single-turn entries to the input of the call checker."""

from __future__ import annotations

from checkers.calls.call_entry import CallEntry, ExpectedCall, FunctionDocument, Language
from trajectories.schema import ExpectedCalls, Trajectory

_LANGUAGES = {language.value: language for language in Language}


def make_call_entry(trajectory: Trajectory) -> CallEntry:
    """Return the task of an entry.

    Raises UnjudgeableEntry if a document or an answer has an unknown structure.
    """
    expects = trajectory.expects
    kind = trajectory.calls
    assert isinstance(expects, ExpectedCalls)
    assert kind is not None
    return CallEntry(
        kind,
        _LANGUAGES[expects.language],
        tuple([FunctionDocument.from_json(document) for document in expects.functions]),
        tuple([ExpectedCall.from_json(answer) for answer in expects.answers]),
        "\n".join([message.content for turn in trajectory.turns for message in turn.messages]),
    )
