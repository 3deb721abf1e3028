"""Details of an episode that was judged again: trace, ground truth and diagnosis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from checkers.causes.diagnosis import Diagnosis, diagnose, replace_by_stop
from checkers.causes.episode_place import EpisodePlace
from checkers.causes.trace import Trace, TracedCall
from checkers.profile import Profile
from checkers.verdict import Verdict
from envs.lazy_modules import lazy_module
from runner import extension
from runner.data import errata
from runner.episodes.script_traces import trace_truth
from runner.records.episode_record import RecordedEpisode
from trajectories.prepared_trajectory import PreparedTrajectory
from trajectories.schema import Trajectory

# This import is slow.
if TYPE_CHECKING:
    from checkers.causes.single_turn_diagnosis import PairedAnswer
    from runner.models import toolbox
else:
    toolbox = lazy_module("..models.toolbox", __package__)

Shown = TypeVar("Shown", covariant=True)
Remark = tuple[str, str]
"""Label (one word) and text."""


class EpisodeRenderer(Protocol[Shown]):
    """Renderer of an episode, for example as lines, JSON or page data."""

    def turns(self, examined: RejudgedMultiTurn) -> Shown:
        """Render the turns of an episode beside the turns of the ground truth."""

    def pairs(self, examined: RejudgedSingleTurn) -> Shown:
        """Render the calls of one answer beside the expected calls."""


@dataclass(frozen=True, eq=False, kw_only=True)
class RejudgedEpisode(ABC):
    """Episode that was judged again, with its ground truth."""

    prepared: PreparedTrajectory
    profile: Profile
    verdict: Verdict
    model: Trace | None
    """Executed calls; ``None`` if no step was recorded or no call was executed."""
    recorded: RecordedEpisode | None = None
    """The recorded episode; None if the ground truth was judged."""

    @property
    def trajectory(self) -> Trajectory:
        """The trajectory of the episode."""
        return self.prepared.trajectory

    @property
    def functions(self) -> Sequence[Any]:
        """Function documents of the entry; empty if the entry has several turns."""
        return ()

    @property
    def place(self) -> EpisodePlace | None:
        """Place of the cause: a call, or the end of a turn; None if the place is unknown."""
        return self.diagnosis and self.diagnosis.place

    @property
    def unjudged(self) -> bool:
        """Whether the episode ended in an error that the model did not cause."""
        return self.recorded is not None and self.recorded.record.outcome == "error"

    @cached_property
    def diagnosis(self) -> Diagnosis | None:
        """Diagnosis of the failure; None if the episode passed or has the outcome ``error``."""
        if self.unjudged:
            return None
        found = self._diagnosis()
        stop = found and self.recorded and self.recorded.record.find_stop(found.turn, found.step)
        return replace_by_stop(found, stop) if found and stop else found

    @cached_property
    def data_error(self) -> str | None:
        """Known error in the published entry, if any."""
        return errata.describe_data_error(self.trajectory)

    @abstractmethod
    def show(self, surface: EpisodeRenderer[Shown]) -> Shown:
        """Render the episode with the renderer ``surface``."""

    def _diagnosis(self) -> Diagnosis | None:
        return diagnose(Trace(()), None, self.verdict)


@dataclass(frozen=True, eq=False, kw_only=True)
class RejudgedMultiTurn(RejudgedEpisode):
    """Episode of several turns, judged by state."""

    @cached_property
    def truth(self) -> Trace:
        """Trace of the ground truth."""
        return trace_truth(self.prepared, self.profile)

    def remarks(self, traced: TracedCall) -> Sequence[Remark]:
        """Return remarks on a call and its result; all views show the remarks below the call."""
        return ()

    def show(self, surface: EpisodeRenderer[Shown]) -> Shown:
        """Render the turns with the renderer ``surface``."""
        return surface.turns(self)

    def _diagnosis(self) -> Diagnosis | None:
        said = [
            "\n".join(message.content for message in turn.messages)
            for turn in self.trajectory.turns
        ]
        model = self.model
        if model and self.recorded and self.recorded.record.extensions:
            session = extension.replay_session(self.prepared.template, self.recorded.record)
            model = model.restated(session.restated)
        return diagnose(self.truth, model, self.verdict, said)


@dataclass(frozen=True, eq=False, kw_only=True)
class RejudgedSingleTurn(RejudgedEpisode):
    """Single turn, judged by its calls or their results."""

    pair: Callable[[], PairedAnswer]
    """Function that pairs each call with an expected call."""

    @cached_property
    def paired(self) -> PairedAnswer:
        """Pairs of the model's calls and the expected calls."""
        return self.pair()

    @property
    def functions(self) -> Sequence[Any]:
        """Function documents that the model was given."""
        return toolbox.documents_for(self.trajectory)

    def show(self, surface: EpisodeRenderer[Shown]) -> Shown:
        """Render the calls with the renderer ``surface``."""
        return surface.pairs(self)

    def _diagnosis(self) -> Diagnosis | None:
        evidence = self.verdict.failure and self.verdict.failure.calls
        return self.paired.diagnosis(evidence) if evidence else super()._diagnosis()
