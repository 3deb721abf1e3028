"""What is kept of a run: what defines it, and of each episode what was said, done and judged.

These records are the format of a run folder: each is one JSON object with its members under the
same names. ``runner.records.store`` writes them and ``runner.records.run`` reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self

from checkers.profile import Mode
from checkers.replies.decoding import Step
from checkers.verdict import Verdict
from envs.calls import Call
from envs.errors import MalformedCall
from envs.lazy import lazily
from envs.state import ABSENT, Difference, to_json
from runner import extension
from runner.models.base import ToolCall, Usage
from runner.records.codec import members_of, read, written
from trajectories.errors import DataError
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from checkers.replies.formats import ReplyFormat
    from envs import notebook
else:
    notebook = lazily("envs.notebook")

FORMAT = 1
"""Version of the files; a run of another one is refused."""

TIMING_FIELDS = frozenset({"attempts", "latency"})
"""Members of a step in which runs differ that are otherwise the same."""

Key = tuple[str, int]
"""An episode's trajectory and trial."""

Outcome = Literal["passed", "failed", "error"]
"""What became of an episode; an error is the harness's or the provider's, not the model's."""

Why = Literal["answer", "cut_off", "unreadable", "empty", "step_limit", "give_up", "exhausted"]

JsonObject = Mapping[str, Any]


def call_text(call: Call | MalformedCall) -> str:
    """Return a call as it is recorded, or why none could be read."""
    return f"(unreadable: {call.message})" if isinstance(call, MalformedCall) else str(call)


class Change(NamedTuple):
    """One place of the state that a step changed."""

    path: str
    """Where, such as ``TicketAPI.ticket_queue[1].status``."""
    before: Any = ABSENT
    """The value as JSON; no member where there was none."""
    after: Any = ABSENT
    """The value as JSON; no member where there is none any more."""

    @classmethod
    def of(cls, difference: Difference) -> Self:
        """Return the change that leads from the expected value to the actual one."""
        path, before, after = difference
        return cls(
            path,
            before if before is ABSENT else to_json(before),
            after if after is ABSENT else to_json(after),
        )


class ReplyRecord(NamedTuple):
    """What a model answered."""

    text: str | None
    """What it said."""
    tool_calls: Sequence[ToolCall]
    """Its calls as the server sent them; empty of a prompting model."""
    reasoning: str | None
    """What it thought, where the server tells."""
    finish_reason: str | None
    """Why it stopped, in the server's words."""


class StepRecord(NamedTuple):
    """One request to the model, and what its answer led to."""

    turn: int
    """Index of the turn."""
    request_messages: int
    """How many of the episode's messages were sent, from the first."""
    tools: str | None
    """Digest of the tool list that was sent; null of a prompting model."""
    reply: ReplyRecord
    """The answer."""
    calls: Sequence[str]
    """The calls that were executed, as text."""
    results: Sequence[str]
    """What each call gave, as the model read it."""
    changes: Sequence[Change]
    """What the calls changed in the state."""
    usage: Usage
    """Tokens; null where the server did not say."""
    latency: float
    """Seconds from sending the request to having read the answer."""
    cost: float | None
    """US dollars; null where no price is known."""
    attempts: int
    """How often the request was made until it was answered; 0 where the answer was kept."""
    asked: Any = ABSENT
    """Its number among the requests, from 0, where some were undone; else no member."""


class AnsweredStep(NamedTuple):
    """One answered request of an episode that is under way: a line of ``underway.jsonl``.

    Such a line also has, as ``spent``, what the run had used by then.
    """

    id: str
    """The trajectory's id."""
    trial: int
    """Which trial of it, from 0."""
    step: StepRecord
    """The request, its answer, and what that led to."""
    message: JsonObject
    """The answer as it stands among the messages, with what its server wants to see again."""

    @property
    def key(self) -> Key:
        """Trajectory and trial."""
        return self.id, self.trial

    @property
    def place(self) -> int:
        """What grows from answer to answer; where it falls, the episode began anew."""
        step = self.step
        return step.asked if isinstance(step.asked, int) else step.request_messages


class Spent(NamedTuple):
    """What a run has used so far, in all its lives."""

    requests: int = 0
    """Requests made, those without an answer too."""
    tokens: int = 0
    """Tokens in and out."""
    cost: float | None = None
    """US dollars; None while no price is known."""


class Life(NamedTuple):
    """One sitting of a run, from its first request to its end: a line of ``lives.jsonl``."""

    seconds: float
    """By the clock."""
    concurrency: int
    """Episodes at once."""
    gpu_price: float | None = None
    """US dollars that the machine of the model costs per hour; null where nobody said."""


class TurnEnd(NamedTuple):
    """Why a turn ended."""

    turn: int
    """Index of the turn."""
    why: Why
    """``answer`` in words, ``cut_off`` by the server, ``unreadable`` calls, ``empty``, or the
    ``step_limit``. In a search also ``give_up``, or ``exhausted`` where it might ask no more."""
    detail: str | None
    """What was wrong with the last answer."""


class Untold(NamedTuple):
    """A fact that the user asked to hear and was not told."""

    turn: int
    """Index of the turn."""
    fact: str
    """The fact, as people read it."""


class Telling(NamedTuple):
    """What the words that ended the turns of an episode told the user."""

    facts: int
    """How many the user asked to hear."""
    turns: int
    """How many turns have such facts."""
    untold: Sequence[Untold]
    """Those that were not told, in order."""
    waiting: int
    """How many turns lack something that comes one turn later."""
    asked: int
    """In how many of these it was asked for."""


class Fault(NamedTuple):
    """What a model did so that its server gave no answer, which ended the episode."""

    kind: str
    """Such as ``context_overflow``: a ``FaultKind``, or what ``--errors-as`` makes a failure."""
    said: str
    """The server's words, in one line."""


class EpisodeMember(Protocol):
    """What an extension keeps of an episode: a named tuple, or a class with ``to_json``."""

    @property
    def own_functions(self) -> Sequence[str]:
        """Names of functions that only the extension offers: no kept step calls them."""
        return ()

    def all_steps(self, kept: Sequence[StepRecord]) -> Sequence[StepRecord]:
        """Return all answered requests in their order, given the steps of the record."""
        return kept

    def message_of(self, step: StepRecord) -> JsonObject | None:
        """Return the answer of a step as it stood among the messages; None of a kept step."""
        return None

    def problems(self, record: EpisodeRecord) -> Iterator[tuple[str, str]]:
        """Yield JSON path and what is wrong of members that do not fit the record."""
        yield from ()


class EpisodeRecord(NamedTuple):
    """One finished episode: a line of ``episodes.jsonl``.

    One that ended in an error has its course so far: the request after its last step got no usable
    answer. It has no result; of one that never began, what has a default here is left out.
    """

    id: str
    """The trajectory's id."""
    trial: int
    """Which trial of it, from 0."""
    category: str
    """The trajectory's category."""
    outcome: Outcome | None
    """What became of it; null in memory only, of a recorded answer that is yet to be judged."""
    verdict: Verdict | None
    """The verdict as ``--output`` has it; null of an error."""
    error: str | None
    """What ended it, in one line, where that was not the model's fault."""
    messages: Sequence[JsonObject] = ()
    """The whole conversation, once: every request was a beginning of it."""
    steps: Sequence[StepRecord] = ()
    """One per request."""
    turn_ends: Sequence[TurnEnd] = ()
    """One per turn that ended."""
    result: Sequence[Sequence[Step]] | None = None
    """Turns of steps, as in BFCL's result files."""
    traceback: str | None = None
    """Of what the user's own agent raised."""
    telling: Telling | None = None
    """What was told; left out where nothing was asked to be told, or no words were recorded."""
    fault: Fault | None = None
    """What ended it in its last turn that was the model's doing; left out where nothing did."""
    extensions: Mapping[str, Any] = {}
    """What extensions keep of it, by their names, each an ``EpisodeMember``; left out if empty."""

    @classmethod
    def of(
        cls,
        trajectory: Trajectory,
        verdict: Verdict | None,
        error: str | None = None,
        *,
        trial: int = 0,
    ) -> Self:
        """Return what became of a trajectory: its verdict, or the error that there is instead."""
        outcome: Outcome = "error" if verdict is None else "passed" if verdict.valid else "failed"
        return cls(trajectory.id, trial, trajectory.category.value, outcome, verdict, error)

    def __repr__(self) -> str:
        """Return what became of it; the whole conversation is no matter of one line."""
        became = f"error: {self.error!r}" if self.verdict is None else repr(self.verdict)
        return f"EpisodeRecord({self.id}, trial {self.trial}, {became})"

    def _repr_html_(self) -> str:
        rows = [
            (f"turn {step.turn}", call, result)
            for step in self.steps
            for call, result in zip(step.calls, step.results, strict=False)
        ]
        return notebook.table(("", "call", "result"), rows, repr(self))

    @property
    def key(self) -> Key:
        """Trajectory and trial."""
        return self.id, self.trial

    @property
    def answered(self) -> list[AnsweredStep]:
        """The steps, each with its answer as it stands among the messages."""
        found = []
        for step in self.requests:
            message = next((m for each in self._extended if (m := each.message_of(step))), None)
            if message is None and step.request_messages < len(self.messages):
                message = self.messages[step.request_messages]
            if message is not None:
                found.append(AnsweredStep(self.id, self.trial, step, message))
        return found

    @property
    def requests(self) -> Sequence[StepRecord]:
        """All answered requests in their order, also those whose answers were undone."""
        return next((each.all_steps(self.steps) for each in self._extended), self.steps)

    @property
    def _extended(self) -> Sequence[EpisodeMember]:
        return [*self.extensions.values()]

    @property
    def turns(self) -> int:
        """Number of turns of the trajectory, where there is a verdict that says so."""
        return self.verdict.turns if self.verdict else 0

    @property
    def turns_passed(self) -> int:
        """Number of turns before the first failing one, where there is a verdict that says so."""
        return self.verdict.turns_passed if self.verdict else 0

    def verdict_line(self) -> dict[str, Any]:
        """Return what became of the episode as one flat JSON object, for ``--output``."""
        judged = self.verdict.to_json() if self.verdict else {"valid": None, "error": self.error}
        told = {} if self.telling is None else {"telling": members_of(self.telling)}
        return {"id": self.id, "category": self.category, **judged, **told}

    def to_json(self) -> dict[str, Any]:
        """Return the episode as a JSON object."""
        return {name: written(value) for name, value in self.present().items()}

    def present(self) -> dict[str, Any]:
        """Return the members that are written, as they are."""
        members = self._asdict()
        members["extensions"] = {name: written(each) for name, each in self.extensions.items()}
        absent = [
            name
            for name in ("traceback", "telling", "fault", "extensions")
            if members[name] in (None, {})
        ]
        if self.result is None:
            course = ("messages", "steps", "turn_ends", "result")
            absent += [name for name in course if not members[name]]
        return {name: value for name, value in members.items() if name not in absent}

    @classmethod
    def from_json(cls, value: object, where: str) -> EpisodeRecord:
        """Return the episode of a JSON object at some place in a file.

        Raises:
            DataError: A member is missing, or not what it must be.
        """
        record = read(cls, with_extensions(value), where)
        if record.extensions:
            record = record._replace(extensions=_extensions_of(record, where))
        for path, problem in _misfits(record):
            raise DataError(where, f"${path}: {problem}")
        return record


def with_extensions(value: Any) -> Any:
    """Return a line of ``episodes.jsonl`` with the search that earlier revisions wrote in place."""
    if not isinstance(value, dict) or "search" not in value:
        return value
    members = dict(value)
    return {**members, "extensions": {"search": members.pop("search")}}


def _extensions_of(record: EpisodeRecord, where: str) -> dict[str, EpisodeMember]:
    """Return the members of extensions as they know them, given as JSON.

    Raises:
        DataError: An extension is not installed, or its member is not what it wrote.
    """
    members = record.extensions.items()
    return {name: extension.named(name).episode(each, where) for name, each in members}


def _misfits(record: EpisodeRecord) -> Iterator[tuple[str, str]]:
    """Yield JSON path and what is wrong of members that do not fit each other, or are no chat."""
    if record.trial < 0:
        yield ".trial", f"must be a number from 0, is {record.trial}"
    for index, message in enumerate(record.messages):
        for member, problem in _in_message(message):
            yield f".messages[{index}]{member}", problem
    for index, step in enumerate(record.steps):
        if step.turn < 0 or step.request_messages < 0:
            yield f".steps[{index}]", "turn and request_messages must be numbers from 0"
        if len(step.results) not in (0, len(step.calls)):
            # Calls that are only compared have none.
            yield f".steps[{index}].results", f"must be as many as the {len(step.calls)} calls"
    for name, extended in record.extensions.items():
        for path, problem in extended.problems(record):
            yield f".extensions.{name}{path}", problem


def _in_message(message: JsonObject) -> Iterator[tuple[str, str]]:
    if not isinstance(message, Mapping):
        yield "", "must be an object"
        return
    if not isinstance(message.get("role", ""), str):
        yield ".role", f"must be text, is {message['role']!r:.60}"
    elif message.get("role") == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield ".tool_call_id", "must be text"
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        yield ".tool_calls", "must be a list"
    for index, call in enumerate(calls or ()):
        match call:
            case {"id": str(), "type": str(), "function": {"name": str(), "arguments": str()}}:
                continue
        yield f".tool_calls[{index}]", "is no call of a function"


class Recorded(NamedTuple):
    """An episode of a run that has been opened, and how its steps are read."""

    record: EpisodeRecord
    """What was recorded of it."""
    mode: Mode
    """How the model called functions."""
    where: str = ""
    """File and line, or the run's folder."""
    reader: ReplyFormat | None = None
    """How text is read, where it was asked for in another format than the usual one."""

    @property
    def id(self) -> str:
        """The trajectory's id."""
        return self.record.id

    @property
    def trial(self) -> int:
        """Which trial of it, from 0."""
        return self.record.trial

    @property
    def turns(self) -> Sequence[Sequence[Step]] | None:
        """Turns of steps; None where there is an error instead."""
        return self.record.result

    @property
    def error(self) -> str | None:
        """Why there are no steps."""
        if self.turns is not None:
            return None
        return self.record.error or "there is no record of steps"
