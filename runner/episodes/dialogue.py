"""Episode with its chat. A ``Dialogue`` builds the next request and executes the answer.

The module does no I/O: its callers send the requests and pass the answers to the ``Dialogue``.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from copy import copy
from typing import Any, NamedTuple, Self

from checkers.calls.call_entry import Language, UnreadableOutput
from checkers.profile import Mode, Profile
from checkers.replies.decoding import Step
from checkers.replies.single_turn import read_calls
from checkers.verdict import Verdict
from envs.calls import Call
from envs.errors import DataError, MalformedCall
from envs.results import Result
from runner.episodes.entry_kinds import RecordedAnswers
from runner.episodes.judging import kind_of
from runner.episodes.turn_loop import ExecutedStep, TurnLoop
from runner.models.calling_formats.format_types import NOTED
from runner.models.conversation import ConversationSettings, conversation_of
from runner.models.dialogue_user import EXCHANGE_LIMIT, UserRequest, exchange
from runner.models.model_types import Reply, Request
from runner.models.toolbox import write_object
from runner.records.episode_record import ServerRejection
from trajectories.prepared_trajectory import PreparedTrajectory
from trajectories.schema import ExpectedCalls


class ExecutedAnswer(NamedTuple):
    """Calls of one answer, with their results."""

    turn: int
    calls: Sequence[Call | MalformedCall]
    """Calls of the answer. An answer without calls ends the turn."""
    problem: str | None
    results: Sequence[Result] = ()
    meant: bool = False


class Dialogue:
    """One trajectory in progress with a model.

    Args:
        step_limit: Maximum steps with calls per turn, or None.
    """

    def __init__(
        self,
        prepared: PreparedTrajectory,
        style: ConversationSettings,
        mode: Mode,
        profile: Profile,
        step_limit: int | None,
    ) -> None:
        session = prepared.template.fork()
        if style.session:
            session = style.session(session, prepared.trajectory.id)
        self.episode = TurnLoop(
            prepared.trajectory, session, profile, step_limit, style.observe, prepared.offering
        )
        """The turn loop."""
        self._kind = kind_of(prepared.trajectory)
        toolbox = self._kind.document(prepared.trajectory, style.toolbox)
        self.conversation = conversation_of(style._replace(toolbox=toolbox), mode)
        """The chat so far."""
        self.result: list[list[Step]] = []
        """List of turns, each a list of steps, in the format of BFCL's result files."""
        self.mode = mode
        self._prepared = prepared
        self._executed = prepared.trajectory.is_executed
        self._compared = isinstance(prepared.trajectory.expects, ExpectedCalls)
        self._format = style.format
        self._asks_on = style.asks_on
        user = style.user or self._kind.user(prepared.trajectory)
        self._user = user and user.fork()
        self._exchanges = 0
        self._shown: frozenset[str] | None = None
        self._noticed = 0

    def request(self, notes: Sequence[str] = (), extra: Sequence[dict[str, Any]] = ()) -> Request:
        """Return the next request. Only this request contains ``notes`` and ``extra``."""
        episode = self.episode
        self._deliver_notices()
        if episode.turn == len(self.result):
            self.result.append([])
            self.conversation.start_turn(episode.messages, episode.offered, self._new_functions())
        elif episode.offering and (new := self._new_functions()):
            self.conversation.hand_over(episode.offered, new)
        return self.conversation.request(notes, extra)

    def _deliver_notices(self) -> None:
        notices = self.episode.session.notices
        new, self._noticed = notices[self._noticed :], len(notices)
        self.conversation.notify([str(notice) for notice in new if notice.to == "agent"])

    def _new_functions(self) -> Sequence[str]:
        episode = self.episode
        if not episode.offering:
            return episode.offers
        offered, before = episode.offered, self._shown
        self._shown = offered | (before or frozenset())
        if before is None:
            return episode.offers
        return [name for name in episode.session.tools if name in offered - before]

    def take(self, reply: Reply) -> ExecutedAnswer:
        """Process an answer in an episode whose user is not a model.

        Raises DataError if a model plays the user.
        """
        try:
            next(self.hear(reply))
        except StopIteration as end:
            taken: ExecutedAnswer = end.value
            return taken
        raise DataError("user", "a model plays the user, so this episode needs a live run")

    def hear(self, reply: Reply) -> Generator[UserRequest, Reply, ExecutedAnswer]:
        """Process the answer to the last request: execute its calls, or end the turn.

        A single-turn trajectory ends after one answer. If the calling format needs several
        requests, the trajectory ends after the first answer without calls. If the model writes text
        and makes no calls, a simulated user replies. Yields the requests to the user's model.
        """
        episode = self.episode
        taken = self._read(reply)
        if self._user is not None and not taken.calls and not taken.meant and reply.text:
            return (yield from self._exchange(taken, reply.text))
        goes_on = self._goes_on(taken.calls)
        results: Sequence[Result] = ()
        if taken.calls and self._executed:
            results = episode.act(taken.calls)
        elif goes_on:
            results = [Result(NOTED) for _ in taken.calls]
        if results:
            self.conversation.observe(taken.calls, results)
        else:
            self.conversation.refuse(taken.problem or "The turn is over.")
        if not episode.finished and not goes_on:
            episode.end_turn()
        return taken._replace(results=results)

    def _exchange(
        self, taken: ExecutedAnswer, text: str
    ) -> Generator[UserRequest, Reply, ExecutedAnswer]:
        assert self._user is not None
        episode = self.episode
        made = yield from exchange(self._user, text, episode.session)
        self._exchanges += 1
        self.result[taken.turn][-1] = (
            [{call.name: dict(call.kwargs)} for call in made.calls]
            if self.mode == "fc"
            else f"[{', '.join(map(str, made.calls))}]"
        )
        self.conversation.notify([made.answer.text])
        episode.converse(ExecutedStep(taken.turn, made.calls, made.results))
        if made.answer.stops or self._exchanges == EXCHANGE_LIMIT:
            episode.end_turn()
        return taken._replace(calls=made.calls, results=made.results, problem=None)

    def _goes_on(self, calls: Sequence[Call | MalformedCall]) -> bool:
        if not calls or not self._kind.is_single_turn:
            return bool(calls)
        if not self._asks_on or not all(isinstance(call, Call) for call in calls):
            return False
        limit = self.episode.step_limit
        return self._executed or limit is None or len(self.result[0][0] or ()) < limit

    def verdict(self, fault: ServerRejection | None = None) -> Verdict:
        """Judge the finished trajectory.

        If the last request was rejected because of the model, ``fault`` is this rejection.
        Raises UnjudgeableEntry if the entry or its user prevents a verdict.
        """
        if fault is not None:
            return self._kind.judge_unanswered(self._prepared, fault, self.episode.profile)
        return self._kind.judge_played(self._prepared, self.episode, self._answers)

    @property
    def members(self) -> dict[str, Any]:
        """Fields that the simulated user adds to the record."""
        return {self._user.extension: self._user.kept()} if self._user else {}

    @property
    def passes_so_far(self) -> bool:
        """Whether at least one turn is finished, and all finished turns passed."""
        return self._kind.passes_so_far(self._prepared, self.episode, self._answers)

    @property
    def _answers(self) -> RecordedAnswers:
        reader = self._format and self._format.reader
        return RecordedAnswers(self.result, self.mode, reader, self.members)

    def fork(self) -> Self:
        """Return an independent copy."""
        forked = copy(self)
        forked.episode = self.episode.fork()
        forked.conversation = self.conversation.fork()
        forked._user = self._user and self._user.fork()
        forked.result = [steps.copy() for steps in self.result]
        return forked

    def _read(self, reply: Reply) -> ExecutedAnswer:
        step = self.conversation.read(reply)
        steps = self.result[self.episode.turn]
        if self._compared:
            step = _as_recorded(step)
        if self._compared and steps:
            # Several answers still form a single step for comparison.
            assert isinstance(steps[0], list)
            steps[0] = steps[0] + (step if isinstance(step, list) else [])
        else:
            steps.append(step)
        calls, problem = self._decoded(step)
        meant = not isinstance(step, str) and bool(step)
        return ExecutedAnswer(self.episode.turn, calls, problem, meant=meant)

    def _decoded(self, step: Step) -> tuple[list[Call | MalformedCall], str | None]:
        profile = self.episode.profile
        try:
            if self._format is not None:
                reader = self._format.reader
                return [*read_calls(step, Language.PYTHON, "prompt", profile.calls, reader)], None
            return profile.replies.decoder(self.mode)(step), None
        except UnreadableOutput as error:
            return self._unread(MalformedCall(str(error)))
        except MalformedCall as error:
            return self._unread(error)

    def _unread(self, error: MalformedCall) -> tuple[list[Call | MalformedCall], str | None]:
        answered = self.episode.profile.replies.answers_unreadable_steps
        return ([error] if answered else []), error.message


def _as_recorded(step: Step) -> Step:
    """Convert a step to BFCL's result format: names without dots, arguments as JSON text."""
    if step is None or isinstance(step, str):
        return step
    return [
        {name.replace(".", "_"): write_object(value) for name, value in call.items()}
        for call in step
    ]
