"""The kinds of entry: what one is asked for, and that of several turns.

Of a trajectory of several turns the state is compared; of a single turn the calls, or their
results. What a kind does differently stands in its class, and nothing else asks which it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from checkers.excess import selected_in_turns, with_excess
from checkers.profile import Mode, Profile
from checkers.replies.decoding import Step
from checkers.turn import judge
from checkers.verdict import TurnOutcome, Verdict
from checkers.why.trace import Trace
from envs.lazy import lazily
from runner.episodes.episode import STEP_LIMIT, Episode
from runner.episodes.scripts import Script, begun, oracle, play, trace, trace_recorded
from runner.episodes.scripts import recorded as script_of
from runner.records.record import Fault, Recorded
from trajectories.prepare import Prepared

# Who only judges need not load what says why.
if TYPE_CHECKING:
    from checkers.replies.single_turn import FormatReader
    from runner.episodes import examined
    from runner.episodes.examined import Examined
    from runner.models.conversation import Observe
else:
    examined = lazily(".examined", __package__)


Outcomes = Sequence[TurnOutcome]
"""What the turns led to that were reached, in order."""


class Judgement(NamedTuple):
    """What came of judging a run."""

    verdict: Verdict
    outcomes: Outcomes = ()
    """What each turn led to, where it is the state that is compared."""
    trace: Trace | None = None
    """What happened, where that was asked for and something is executed."""


class Answers(NamedTuple):
    """What a model answered, as it was recorded."""

    turns: Sequence[Sequence[Step]]
    """Turns of steps."""
    mode: Mode
    """How the model called functions."""
    reader: FormatReader | None = None
    """How text is read, where it was asked for in another format than the usual one."""


class Terms(NamedTuple):
    """On what terms answers are judged."""

    profile: Profile
    """How they are read, executed and judged."""
    limit: int | None = STEP_LIMIT
    """Steps that a turn may take, where the profile limits recorded runs at all."""
    traced: bool = False
    """Whether to keep what happened."""
    observe: Observe | None = None
    """Says what the model read of a call, for that."""


class EntryKind(ABC):
    """How the entries of one kind are judged."""

    is_single_turn: ClassVar[bool]
    """Whether an entry is over after one answer of the model."""

    @abstractmethod
    def judge(self, prepared: Prepared, answers: Answers | None, terms: Terms) -> Judgement:
        """Judge answers to as many turns as the trajectory has; None stands for the ground truth.

        Raises:
            CannotJudge: There is no verdict, through no fault of the model.
        """

    @abstractmethod
    def judge_played(self, prepared: Prepared, episode: Episode, answers: Answers) -> Verdict:
        """Judge an episode that is over, without executing anything once more.

        Raises:
            CannotJudge: There is no verdict, through no fault of the model.
        """

    def judge_unanswered(self, prepared: Prepared, fault: Fault, profile: Profile) -> Verdict:
        """Judge an episode that ended since the model's server gave no answer.

        Raises:
            CannotJudge: There is no verdict on the entry.
        """
        return Verdict.unanswered(len(prepared.trajectory.turns), fault.kind, fault.said)

    def passes_so_far(self, prepared: Prepared, episode: Episode, answers: Answers) -> bool:
        """Tell whether the turns of an episode passed that have ended, as for ``judge_played``."""
        return self.judge_played(prepared, episode, answers).valid

    @abstractmethod
    def examine(
        self, prepared: Prepared, found: Judgement, profile: Profile, recorded: Recorded | None
    ) -> Examined:
        """Return all there is to know of a judged episode; None stands for the ground truth."""


class ExecutedKind(EntryKind):
    """What the kinds have in common whose calls are executed."""

    def judge(self, prepared: Prepared, answers: Answers | None, terms: Terms) -> Judgement:
        """Execute the answers once more, or play the ground truth, and judge what they lead to."""
        profile, limit, traced, observe = terms
        if answers is None:
            script = oracle(prepared.trajectory, prepared.offering)
            if not traced:
                return self.judge_script(prepared, script, profile, limit)
            played = trace(prepared, script, profile, limit)
        elif traced:
            played = trace_recorded(prepared, answers.turns, answers.mode, profile, limit, observe)
        else:
            script = script_of(answers.turns, profile.replies.decoders[answers.mode], profile)
            limited = limit if profile.execution.limits_recorded_runs else None
            return self.judge_script(prepared, script, profile, limited)
        outcomes = [turn.outcome for turn in played.turns]
        found = self.judge_outcomes(prepared, outcomes, profile, played.terminated)
        return found._replace(trace=played)

    def judge_script(
        self, prepared: Prepared, script: Script, profile: Profile, limit: int | None = STEP_LIMIT
    ) -> Judgement:
        """Drive one trajectory by a script and judge it."""
        episode = begun(prepared, profile, limit)
        play(script, episode)
        return self.judge_outcomes(prepared, episode.outcomes, profile, episode.terminated)

    def judge_played(self, prepared: Prepared, episode: Episode, answers: Answers) -> Verdict:
        """Judge an episode by what its calls led to."""
        found = self.judge_outcomes(prepared, episode.outcomes, episode.profile, episode.terminated)
        return found.verdict

    @abstractmethod
    def judge_outcomes(
        self, prepared: Prepared, outcomes: Outcomes, profile: Profile, terminated: bool
    ) -> Judgement:
        """Judge what the turns led to that were reached; a step limit may have ended them."""


class ComparedState(ExecutedKind):
    """Several turns, of which the state is compared, and what results were seen."""

    is_single_turn = False

    def judge_outcomes(
        self, prepared: Prepared, outcomes: Outcomes, profile: Profile, terminated: bool
    ) -> Judgement:
        """Compare the turns with those of the ground truth."""
        truth, scene = prepared.truth, prepared.scene
        verdict = judge(truth, outcomes, profile, scene, terminated=terminated)
        verdict = verdict._replace(selected=selected_in_turns(truth, outcomes, scene))
        return Judgement(with_excess(verdict, truth, outcomes, scene), outcomes)

    def passes_so_far(self, prepared: Prepared, episode: Episode, answers: Answers) -> bool:
        """Compare the turns that have ended with as many of the ground truth."""
        so_far = prepared._replace(truth=prepared.truth[: len(episode.outcomes)])
        return self.judge_played(so_far, episode, answers).valid

    def examine(
        self, prepared: Prepared, found: Judgement, profile: Profile, recorded: Recorded | None
    ) -> Examined:
        """Return the turns, beside those of the ground truth."""
        verdict, _, model = found
        return examined.ExaminedTurns(
            prepared=prepared, profile=profile, verdict=verdict, model=model, recorded=recorded
        )
