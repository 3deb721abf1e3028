"""A search as an episode of a run: recorded with all its branches, and gone on with where it was.

What the record has of the episode is the branch that stands, so that everything that looks at runs
reads it like any other; the tree beside it has what was undone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from checkers.calls.documents import CannotJudge
from checkers.profile import Mode, Profile
from envs.errors import BackendFault
from envs.state import Snapshot
from extensions.search.record import SearchRecord, TriedStep
from extensions.search.search import Gone, SearchLimits, Trail, Tried, search
from runner.episodes.dialogue import Dialogue
from runner.live.course import answer_of, end_of, led, step_of
from runner.live.loop import (
    Ask,
    LedElsewhere,
    ModelAnswer,
    PutStep,
    PutTools,
    broken_off,
    is_refused,
    judged_of,
)
from runner.models.base import FAULTS, ChatMessage, ErrorKind, ModelError, Reply, Request
from runner.models.conversation import Style
from runner.records.record import AnsweredStep, EpisodeRecord, StepRecord, TurnEnd
from trajectories.prepare import Prepared


async def run_search(
    limits: SearchLimits,
    finish: bool,
    prepared: Prepared,
    style: Style,
    mode: Mode,
    profile: Profile,
    step_limit: int,
    ask: Ask,
    put_tools: PutTools,
    put_step: PutStep | None = None,
    course: Sequence[AnsweredStep] = (),
    failures: Collection[ErrorKind] = FAULTS,
) -> EpisodeRecord:
    """Let a model search its way through a trajectory and judge the branch that stands.

    Args:
        limits: What may be used.
        finish: Whether there is a function by which the model ends a turn or gives up.
        prepared: The trajectory; this and all below are as ``run_live`` has them.
        style: How the model is talked to.
        mode: How it calls functions.
        profile: How its steps are decoded, executed and judged.
        step_limit: Steps with calls on one branch of a turn.
        ask: Puts a request to the model.
        put_tools: Keeps the tool lists that the record names.
        put_step: Keeps every answer as it comes.
        course: Answers of all branches that it got before.
        failures: What counts as the model's doing.
    """
    while True:
        log = _Log(prepared, ask, put_tools, put_step, course)
        try:
            dialogue, _ = await search(
                *(prepared, style, mode, profile, log.propose, limits, step_limit),
                finish=finish,
                follows=log,
            )
            ended = judged_of(prepared.trajectory, dialogue)
        except LedElsewhere as place:
            course = course[: place.step]
            continue
        except (ModelError, BackendFault, CannotJudge) as error:
            if course and is_refused(error) and len(log.steps) == len(course):
                # The provider does not go on with what it said in an earlier life.
                course = ()
                continue
            assert log.dialogue is not None
            dialogue = log.dialogue
            ended = broken_off(prepared.trajectory, dialogue, error, failures)
        return ended._replace(
            messages=dialogue.conversation.messages,
            steps=[log.steps[number] for number in log.trail],
            turn_ends=log.turn_ends,
            extensions={"search": log.record(limits)},
        )


class _Log:
    """What is written down while a search runs, whose requests it puts to the model.

    Attributes:
        steps: All answers.
        turn_ends: How the turns ended, on the branch that stands.
        trail: The answers on the branch that the search is in.
        dialogue: The dialogue there.
    """

    def __init__(
        self,
        prepared: Prepared,
        ask: Ask,
        put_tools: PutTools,
        put_step: PutStep | None,
        course: Sequence[AnsweredStep],
    ) -> None:
        self.steps: list[StepRecord] = []
        self.turn_ends: list[TurnEnd] = []
        self.trail: Trail = ()
        self.dialogue: Dialogue | None = None
        self._ask = ask
        self._put_tools = put_tools
        self._put_step = put_step
        self._course = course
        self._attempts = 0
        self._last: Tried | None = None
        self._parents: list[int | None] = []
        self._messages: list[ChatMessage] = []
        self._given_up: set[int] = set()
        self._undone = 0
        self._states: dict[int | None, Snapshot] = {None: prepared.template.snapshot()}

    async def propose(self, request: Request) -> Reply:
        """Put a request to the model, unless its answer is known."""
        number = len(self.steps)
        if number < len(self._course):
            earlier = self._course[number]
            answer = ModelAnswer(answer_of(earlier), earlier.step.attempts)
        else:
            answer = await self._ask(request)
        self._attempts = answer.attempts
        return answer.reply

    def asks(self, trail: Trail, dialogue: Dialogue) -> None:
        """Take note of where the search is."""
        self.trail, self.dialogue = trail, dialogue

    def tried(self, tried: Tried) -> None:
        """Note an answer and what it led to.

        Raises:
            LedElsewhere: It is an earlier one, and does not lead where it led.
        """
        number = len(self.steps)
        parent = tried.trail[-1] if tried.trail else None
        before = self._states[parent]
        after = before
        if tried.after is not None and tried.taken.results:
            after = tried.after.episode.session.snapshot()
        self._states[number] = after
        asked = len(tried.before.conversation.messages)
        if tried.request.tools:
            self._put_tools(tried.request.tools.digest, tried.request.tools.tools)
        step = step_of(
            *(tried.request, tried.reply, self._attempts, tried.taken, (before, after)),
            messages=asked,
            number=number,
        )
        message: ChatMessage = {"role": "assistant", "content": tried.reply.text or ""}
        if tried.after is not None:
            message = tried.after.conversation.messages[asked]
        self.steps.append(step)
        self._messages.append(message)
        self._parents.append(parent)
        self._last = tried
        if tried.after is None:
            self._given_up.add(number)
        if tried.after is None or tried.after.episode.terminated:
            self._undone += 1
        if number < len(self._course):
            if led(self._course[number].step) != led(step):
                raise LedElsewhere(number)
        elif self._put_step is not None:
            self._put_step(step, message)

    def turn_over(self, trail: Trail, dialogue: Dialogue, gone: Gone | None) -> None:
        """Note why a turn ended."""
        self.trail, self.dialogue = trail, dialogue
        episode = dialogue.episode
        if episode.terminated:
            end = TurnEnd(episode.turn, "step_limit", None)
        elif gone is not None:
            end = TurnEnd(episode.turn - 1, gone, None)
        else:
            assert self._last is not None
            end = end_of(self._last.taken, self._last.heard, episode)
        self.turn_ends.append(end)

    def record(self, limits: SearchLimits) -> SearchRecord:
        """Return the tree, and what it took."""
        executed = sum(bool(step.calls) for step in self.steps)
        requests = len(self.steps)
        standing = frozenset(self.trail)
        return SearchRecord(
            requests,
            executed,
            self._undone,
            requests >= limits.model_calls or executed >= limits.nodes,
            limits.model_calls,
            limits.nodes,
            [self._tried(number, standing) for number in range(requests)],
        )

    def _tried(self, number: int, standing: Collection[int]) -> TriedStep:
        parent, step = self._parents[number], self.steps[number]
        if number in standing:
            return TriedStep(parent, "stands")
        message = self._messages[number]
        return TriedStep(
            parent, "given_up" if number in self._given_up else "undone", step, message
        )
