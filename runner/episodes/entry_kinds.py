"""Interface for kinds of entries, and the kind of multi-turn entries.

Entries of several turns are judged by their state. Single-turn entries are judged by their calls or
results. Each kind has one class, which contains all code that depends on the kind.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from checkers.call_mistakes import count_extra_calls, count_selection
from checkers.multi_turn_verdict import judge
from checkers.profile import Mode, Profile
from checkers.replies.decoding import Step
from checkers.verdict import ExecutedTurn, Verdict
from envs.lazy_modules import lazy_module
from runner.episodes.script_playback import Script, make_truth_script, play, start_episode
from runner.episodes.script_playback import make_recorded_script as script_of
from runner.episodes.turn_loop import STEP_LIMIT, TurnLoop
from runner.records.episode_record import ExtensionData, RecordedEpisode, ServerRejection
from trajectories.prepared_trajectory import PreparedTrajectory
from trajectories.schema import Trajectory

# Plain judging needs no diagnosis.
if TYPE_CHECKING:
    from checkers.causes.trace import Trace
    from checkers.replies.single_turn import FormatReader
    from runner.episodes import rejudged_episode, script_traces
    from runner.episodes.rejudged_episode import RejudgedEpisode
    from runner.models.conversation import Observe
    from runner.models.dialogue_user import User
    from runner.models.toolbox import Toolbox
    from trajectories.dataset import Dataset
    from trajectories.schema import Trajectory
else:
    rejudged_episode = lazy_module(".rejudged_episode", __package__)
    script_traces = lazy_module(".script_traces", __package__)


Outcomes = Sequence[ExecutedTurn]


class JudgingResult(NamedTuple):
    """Verdict on an episode, and its evidence: outcomes of the turns, and executed calls."""

    verdict: Verdict
    outcomes: Outcomes = ()
    """Outcomes of the turns; empty for a single-turn entry."""
    trace: Trace | None = None
    """Executed calls; None if no trace was requested."""


class RecordedAnswers(NamedTuple):
    """Recorded answers of a model."""

    turns: Sequence[Sequence[Step]]
    mode: Mode
    reader: FormatReader | None = None
    """Parser of the prompt format; None for the default format."""
    extensions: Mapping[str, ExtensionData] = {}
    """Extension data of the record, such as the dialogue with a simulated user."""


class JudgingTerms(NamedTuple):
    """Settings for judging answers."""

    profile: Profile
    limit: int | None = STEP_LIMIT
    traced: bool = False
    observe: Observe | None = None
    """Function that returns a result as text for the model."""


class EntryKind(ABC):
    """Base class for the judging of one kind of entry."""

    is_single_turn: ClassVar[bool]

    def user(self, trajectory: Trajectory, trial: int = 0) -> User | None:
        """Return the simulated user of an episode, if the entry has one."""
        return None

    def find_problems(self, dataset: Dataset, trajectory: Trajectory) -> Iterator[str]:
        """Yield the errors in the extension fields of an entry."""
        yield from ()

    def document(self, trajectory: Trajectory, toolbox: Toolbox) -> Toolbox:
        """Return the function documents of an entry, as the model reads them."""
        return toolbox

    @abstractmethod
    def judge(
        self, prepared: PreparedTrajectory, answers: RecordedAnswers | None, terms: JudgingTerms
    ) -> JudgingResult:
        """Judge answers to all turns of an entry; if ``answers`` is None, judge the ground truth.

        Raises UnjudgeableEntry if no verdict is possible.
        """

    @abstractmethod
    def judge_played(
        self, prepared: PreparedTrajectory, episode: TurnLoop, answers: RecordedAnswers
    ) -> Verdict:
        """Judge a finished episode; its calls are not executed again.

        Raises UnjudgeableEntry if no verdict is possible.
        """

    def judge_unanswered(
        self, prepared: PreparedTrajectory, fault: ServerRejection, profile: Profile
    ) -> Verdict:
        """Judge an episode that ended because the server rejected a request.

        Raises UnjudgeableEntry if no verdict is possible on the entry.
        """
        return Verdict.unanswered(len(prepared.trajectory.turns), fault.kind, fault.said)

    def passes_so_far(
        self, prepared: PreparedTrajectory, episode: TurnLoop, answers: RecordedAnswers
    ) -> bool:
        """Tell whether the finished turns of an episode passed.

        Raises the same exceptions as ``judge_played``.
        """
        return self.judge_played(prepared, episode, answers).valid

    def examine(
        self,
        prepared: PreparedTrajectory,
        found: JudgingResult,
        profile: Profile,
        recorded: RecordedEpisode | None,
    ) -> RejudgedEpisode:
        """Return details of a judged episode; for the ground truth, ``recorded`` is None."""
        verdict, _, model = found
        return rejudged_episode.RejudgedMultiTurn(
            prepared=prepared, profile=profile, verdict=verdict, model=model, recorded=recorded
        )


class ExecutedKind(EntryKind):
    """Base class of all kinds of entries whose calls are executed."""

    def judge(
        self, prepared: PreparedTrajectory, answers: RecordedAnswers | None, terms: JudgingTerms
    ) -> JudgingResult:
        """Execute the answers or the ground truth, and judge the outcomes."""
        profile, limit, traced, observe = terms
        if answers is None:
            script = make_truth_script(prepared.trajectory, prepared.offering)
            if not traced:
                return self.judge_script(prepared, script, profile, limit)
            played = script_traces.trace(prepared, script, profile, limit)
        elif traced:
            recorded = answers.turns, answers.mode
            played = script_traces.trace_recorded(prepared, *recorded, profile, limit, observe)
        else:
            script = script_of(answers.turns, profile.replies.decoder(answers.mode), profile)
            limited = limit if profile.execution.limits_recorded_runs else None
            return self.judge_script(prepared, script, profile, limited)
        judged = played.restated(prepared.template.restated)
        outcomes = [turn.outcome for turn in judged.turns]
        found = self.judge_outcomes(prepared, outcomes, profile, played.terminated)
        return found._replace(trace=played)

    def judge_script(
        self,
        prepared: PreparedTrajectory,
        script: Script,
        profile: Profile,
        limit: int | None = STEP_LIMIT,
    ) -> JudgingResult:
        """Run a script on one trajectory and judge the outcomes."""
        episode = start_episode(prepared, profile, limit)
        play(script, episode)
        return self.judge_outcomes(prepared, episode.outcomes, profile, episode.terminated)

    def judge_played(
        self, prepared: PreparedTrajectory, episode: TurnLoop, answers: RecordedAnswers
    ) -> Verdict:
        """Judge an episode by the outcomes of its turns."""
        found = self.judge_outcomes(prepared, episode.outcomes, episode.profile, episode.terminated)
        return found.verdict

    @abstractmethod
    def judge_outcomes(
        self, prepared: PreparedTrajectory, outcomes: Outcomes, profile: Profile, terminated: bool
    ) -> JudgingResult:
        """Judge all reached turns; ``terminated`` is true if the step limit ended the episode."""


class MultiTurnKind(ExecutedKind):
    """Kind of multi-turn entries. Turnwise judges the states and the results of the calls."""

    is_single_turn = False

    def judge_outcomes(
        self, prepared: PreparedTrajectory, outcomes: Outcomes, profile: Profile, terminated: bool
    ) -> JudgingResult:
        """Compare each turn with the same turn of the ground truth."""
        truth, scene = prepared.truth, prepared.scene
        verdict = judge(truth, outcomes, profile, scene, terminated=terminated)
        verdict = verdict._replace(selected=count_selection(truth, outcomes, scene))
        return JudgingResult(count_extra_calls(verdict, truth, outcomes, scene), outcomes)

    def passes_so_far(
        self, prepared: PreparedTrajectory, episode: TurnLoop, answers: RecordedAnswers
    ) -> bool:
        """Compare the finished turns with the turns of the ground truth."""
        so_far = prepared._replace(truth=prepared.truth[: len(episode.outcomes)])
        return self.judge_played(so_far, episode, answers).valid
