"""What is kept of a search: all of its answers, and what became of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from runner.records.record import EpisodeRecord, JsonObject, StepRecord

GIVE_UP = "give_up_branch"
"""The function by which a model gives up a branch of a search."""
FINISH = "finish"
"""The function by which it ends a turn of a search or gives up, where there is such a function."""
OF_SEARCHES = (GIVE_UP, FINISH)
"""Functions that only a search offers: none of them is called in the branch that stands."""


class TriedStep(NamedTuple):
    """One answer in a search, and what became of it."""

    parent: int | None
    """Number of the answer after which it was given, from 0; null at the beginning."""
    became: Literal["stands", "undone", "given_up"]
    """Whether it is of the branch that stands, was undone, or gave its branch up."""
    step: StepRecord | None = None
    """The request and the answer; null of one that stands: the next of the episode's steps."""
    message: JsonObject | None = None
    """The answer as it stood among the messages; likewise."""


class SearchRecord(NamedTuple):
    """How a search came to the branch that stands."""

    requests: int
    """Requests that were answered, in all branches."""
    steps: int
    """Steps that were executed, in all branches."""
    undone: int
    """Branches that were given up or came to nothing."""
    exhausted: bool
    """Whether it had used up what it might use."""
    most_requests: int
    most_steps: int
    tree: Sequence[TriedStep]
    """All answers, in their order."""

    @property
    def own_functions(self) -> Sequence[str]:
        """The functions by which a model gives up a branch, or ends a turn."""
        return OF_SEARCHES

    def all_steps(self, kept: Sequence[StepRecord]) -> Sequence[StepRecord]:
        """Return the steps of all branches in their order, given those of the kept one."""
        left = iter(kept)
        found = [tried.step or next(left, None) for tried in self.tree]
        return [step for step in found if step is not None]

    def message_of(self, step: StepRecord) -> JsonObject | None:
        """Return the answer of a step that was undone; None of one that was kept."""
        messages = {tried.step.asked: tried.message for tried in self.tree if tried.step}
        return messages.get(step.asked)

    def problems(self, record: EpisodeRecord) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the tree: answers come after those that they follow."""
        for number, tried in enumerate(self.tree):
            if tried.parent is not None and not 0 <= tried.parent < number:
                yield f".tree[{number}].parent", "must be the number of an earlier answer"
            if (tried.step is None) is not (tried.became == "stands"):
                yield f".tree[{number}].step", "must be there unless the answer stands"
        if sum(tried.step is None for tried in self.tree) != len(record.steps):
            count = len(record.steps)
            yield ".tree", f"must have as many that stand as there are steps, {count}"
        for number, step in enumerate(self.all_steps(record.steps)):
            if step.asked != number:
                yield f".tree[{number}]", f"must be of the request {number}"


def search_of(record: EpisodeRecord) -> SearchRecord | None:
    """Return what is kept of the search in an episode; None where there was none."""
    found = record.extensions.get("search")
    return found if isinstance(found, SearchRecord) else None
