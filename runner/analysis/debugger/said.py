"""What a model said and thought along with its calls, as far as that is on record."""

from __future__ import annotations

from typing import NamedTuple

from checkers.profile import Profile
from runner.analysis.examined import Examined
from runner.episodes.scripts import recorded as script_of
from runner.records.record import Recorded, ReplyRecord


class StepWords(NamedTuple):
    """What came with the calls of one step."""

    text: str
    reasoning: str = ""


def said(examined: Examined) -> dict[tuple[int, int], StepWords]:
    """Return what was said in steps with calls, by the index of the turn and that of the step.

    Where a turn has not as many such steps as are on record, as under another profile than that of
    the run, it is left out.
    """
    if examined.recorded is None or examined.model is None:
        return {}
    by_turn = _by_turn(examined.recorded, examined.profile)
    return {
        (turn, step): what
        for turn, (played, found) in enumerate(zip(examined.model.turns, by_turn, strict=False))
        if len(played.steps) == len(found)
        for step, what in enumerate(found)
    }


def _by_turn(recorded: Recorded, profile: Profile) -> list[list[StepWords]]:
    turns = recorded.turns or ()
    if recorded.record.outcome is not None:
        steps = recorded.record.steps
        return [
            [_replied(step.reply) for step in steps if step.turn == turn and step.calls]
            for turn in range(len(turns))
        ]
    if recorded.mode == "fc":
        return []
    decoder = profile.replies.decoders[recorded.mode]
    return [
        [_written(str(step)) for step in steps if any(script_of([[step]], decoder, profile))]
        for steps in turns
    ]


def _replied(reply: ReplyRecord) -> StepWords:
    return _written(reply.text or "")._replace(reasoning=reply.reasoning or "")


def _written(text: str) -> StepWords:
    # A text that is a list of calls and nothing else says nothing more than they do.
    only_calls = text.strip().startswith("[") and text.strip().endswith("]")
    return StepWords("" if only_calls else text)
