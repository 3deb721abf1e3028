"""An episode judged once more, with all there is to know of it: what happened, what should, why.

What there is to show depends on what is compared: turns beside the ground truth's, or the calls of
one answer beside those expected. A surface lays out both, and an episode tells it which it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from checkers.profile import Profile
from checkers.verdict import Verdict
from checkers.why.diagnosis import Diagnosis, cut_off, diagnose
from checkers.why.divergence import Divergence, first_divergence
from checkers.why.trace import Trace
from envs.lazy import lazily
from runner.episodes.scripts import trace_truth
from runner.records.record import Recorded
from trajectories.prepare import Prepared
from trajectories.schema import Trajectory

# It takes longer to load than all else that a look at an episode needs.
if TYPE_CHECKING:
    from checkers.why.calls import PairedAnswer
    from runner.models import tools
else:
    tools = lazily("..models.tools", __package__)

Shown = TypeVar("Shown", covariant=True)


class Surface(Protocol[Shown]):
    """What lays an episode out: as lines, as JSON, on a page."""

    def turns(self, examined: ExaminedTurns) -> Shown:
        """Lay out turns, each beside the ground truth's."""

    def pairs(self, examined: ExaminedCalls) -> Shown:
        """Lay out the calls of one answer, each beside the one expected."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Examined(ABC):
    """An episode that was judged once more, beside its ground truth."""

    prepared: Prepared
    profile: Profile
    verdict: Verdict
    model: Trace | None
    """What happened; None where no steps were recorded, or nothing is executed."""
    recorded: Recorded | None = None
    """Where the model's calls are from; None for what is right."""

    @property
    def trajectory(self) -> Trajectory:
        """What was asked."""
        return self.prepared.trajectory

    @property
    def functions(self) -> Sequence[Any]:
        """The documents of functions that come with the entry, as those of a single turn do."""
        return ()

    @property
    def divergence(self) -> Divergence | None:
        """Where the episode left the ground truth first; None of a single turn."""
        return None

    @property
    def unjudged(self) -> bool:
        """Whether an error ended it that is not the model's: what it did is no failure."""
        return self.recorded is not None and self.recorded.record.outcome == "error"

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """Why the model failed; None where it passed, or an error was not the model's."""
        ends = self.recorded.record.turn_ends if self.recorded else ()
        if self.unjudged:
            return None
        found = self._diagnosis()
        if found and any(end.why == "cut_off" and end.turn == found.turn for end in ends):
            return cut_off(found)
        return found

    @abstractmethod
    def show(self, surface: Surface[Shown]) -> Shown:
        """Return what a surface makes of the episode."""

    def _diagnosis(self) -> Diagnosis | None:
        return diagnose(Trace(()), None, self.verdict)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExaminedTurns(Examined):
    """An episode of which the state is compared, turn by turn."""

    @cached_property
    def truth(self) -> Trace:
        """What should have happened."""
        return trace_truth(self.prepared, self.profile)

    @cached_property
    def divergence(self) -> Divergence | None:
        """Where the episode left the ground truth first."""
        return self.model and first_divergence(self.truth, self.model)

    def show(self, surface: Surface[Shown]) -> Shown:
        """Return what a surface makes of the turns."""
        return surface.turns(self)

    def _diagnosis(self) -> Diagnosis | None:
        said = [
            "\n".join(message.content for message in turn.messages)
            for turn in self.trajectory.turns
        ]
        return diagnose(self.truth, self.model, self.verdict, said)


@dataclass(frozen=True, eq=False, kw_only=True)
class ExaminedCalls(Examined):
    """A single turn of which the calls are compared, or their results."""

    pair: Callable[[], PairedAnswer]
    """Puts what was called beside what was expected; asked once, by who looks first."""

    @cached_property
    def paired(self) -> PairedAnswer:
        """What the model answered, and what was expected."""
        return self.pair()

    @property
    def functions(self) -> Sequence[Any]:
        """The documents of the functions that the model was given."""
        return tools.documents_for(self.trajectory)

    def show(self, surface: Surface[Shown]) -> Shown:
        """Return what a surface makes of the calls."""
        return surface.pairs(self)

    def _diagnosis(self) -> Diagnosis | None:
        evidence = self.verdict.failure and self.verdict.failure.calls
        return self.paired.diagnosis(evidence) if evidence else super()._diagnosis()
