"""Record of a search with all answers of the model, including undone answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from checkers.verdict import Verdict
from runner.records.episode_record import EpisodeRecord, JsonObject, StepRecord

GIVE_UP = "give_up_branch"
"""Function that a model calls to give up a branch of a search."""
FINISH = "finish"
"""With ``--finish``: function that a model calls to end a turn or to give up."""
OF_SEARCHES = (GIVE_UP, FINISH)
"""Functions that only a search offers."""


class TriedStep(NamedTuple):
    """Record of one answer in a search, inside or outside the kept branch."""

    parent: int | None
    """Index of the previous answer in the branch; null for the first answer."""
    became: Literal["stands", "undone", "given_up"]
    """State of the answer: ``stands`` (in the kept branch), ``undone`` or ``given_up``."""
    step: StepRecord | None = None
    """Request and answer; null in the kept branch."""
    message: JsonObject | None = None
    """Message with the answer; null in the kept branch."""


class SearchRecord(NamedTuple):
    """Answers and usage of a search. The episode's steps are those of the kept branch."""

    requests: int
    """Number of answered requests in all branches."""
    steps: int
    """Number of executed steps in all branches."""
    undone: int
    """Number of abandoned branches."""
    exhausted: bool
    """Whether the search used up its budget."""
    most_requests: int
    most_steps: int
    tree: Sequence[TriedStep]
    """All answers of the model, in the order of their arrival."""

    @property
    def own_functions(self) -> Sequence[str]:
        """Functions that a model calls to give up a branch or to end a turn."""
        return OF_SEARCHES

    def all_steps(self, kept: Sequence[StepRecord]) -> Sequence[StepRecord]:
        """Return all steps in the order of the tree; ``kept`` is the list of the kept steps."""
        left = iter(kept)
        found = [tried.step or next(left, None) for tried in self.tree]
        return [step for step in found if step is not None]

    def message_of(self, step: StepRecord) -> JsonObject | None:
        """Return the message of an undone answer; None for an answer in the kept branch."""
        messages = {tried.step.asked: tried.message for tried in self.tree if tried.step}
        return messages.get(step.asked)

    def verdict_members(self, verdict: Verdict | None) -> JsonObject:
        """Return an empty object, because a search adds no fields to the verdict."""
        return {}

    def problems(self, record: EpisodeRecord) -> Iterator[tuple[str, str]]:
        """Yield the errors in the tree, such as an answer that comes before its parent."""
        for number, tried in enumerate(self.tree):
            if tried.parent is not None and not 0 <= tried.parent < number:
                yield f".tree[{number}].parent", "must be the number of an earlier answer"
            if (tried.step is None) is not (tried.became == "stands"):
                yield f".tree[{number}].step", "is required unless the answer is in the kept branch"
        if sum(tried.step is None for tried in self.tree) != len(record.steps):
            count = len(record.steps)
            yield ".tree", f"must have {count} answers in the kept branch, one per step"
        for number, step in enumerate(self.all_steps(record.steps)):
            if step.asked != number:
                yield f".tree[{number}]", f"the request number must be {number}"


def search_of(record: EpisodeRecord) -> SearchRecord | None:
    """Return the record of an episode's search, or None if the episode had no search."""
    found = record.extensions.get("search")
    return found if isinstance(found, SearchRecord) else None
