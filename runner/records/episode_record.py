"""Records of episodes in a run folder: messages, steps, turn ends and verdicts.

Each record is one JSON object with the record's field names. ``runner.records.run_store`` writes
the records and ``runner.records.recorded_run`` reads them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, Self, cast

from checkers.profile import Mode
from checkers.replies.decoding import Step
from checkers.verdict import Verdict
from envs.calls import Call
from envs.errors import DataError, MalformedCall, require_type
from envs.lazy_modules import lazy_module
from envs.state import ABSENT, Difference, to_json
from runner import extension
from trajectories.schema import Trajectory, derive_base

if TYPE_CHECKING:
    from checkers.replies.formats import ReplyFormat
    from envs import notebook_html
    from runner.extension import RunFeature
    from runner.models import model_types
    from runner.records import json_codec
else:
    # Result files of other tools hold no records.
    json_codec = lazy_module(".json_codec", __package__)
    model_types = lazy_module("runner.models.model_types")
    notebook_html = lazy_module("envs.notebook_html")

FORMAT = 1
"""Version of the files; runs of other versions are refused."""

TIMING_FIELDS = frozenset({"attempts", "latency"})
"""Fields of a step that depend on time and retries; they can differ for equal answers."""

Key = tuple[str, int]

Outcome = Literal["passed", "failed", "error"]
"""Outcome of an episode; ``error`` is a failure of Turnwise or the provider, not of the model."""

Why = Literal[
    "answer",
    "cut_off",
    "refusal",
    "content_filter",
    "unreadable",
    "empty",
    "step_limit",
    "give_up",
    "exhausted",
]

STOPS: Mapping[str, Why] = {
    "length": "cut_off",
    "refusal": "refusal",
    "content_filter": "content_filter",
}
"""Maps the server's stop reasons for incomplete answers to our reasons."""

JsonObject = Mapping[str, Any]


def call_text(call: Call | MalformedCall) -> str:
    """Return a call as a string; for a malformed call, return the parse error."""
    return f"(unreadable: {call.message})" if isinstance(call, MalformedCall) else str(call)


class StateChange(NamedTuple):
    """Change of one value in the state, made by a step."""

    path: str
    """Path such as ``TicketAPI.ticket_queue[1].status``."""
    before: Any = ABSENT
    """The old value as JSON; omitted if the path did not exist before."""
    after: Any = ABSENT
    """The new value as JSON; omitted if the value was removed."""

    @classmethod
    def of(cls, difference: Difference) -> Self:
        """Convert a difference to a change: the expected value becomes ``before``."""
        path, *values = difference
        return cls(path, *(v if v is ABSENT else to_json(v) for v in values))


class ReplyRecord(NamedTuple):
    """Answer of a model."""

    text: str | None
    tool_calls: Sequence[model_types.ToolCall]
    """Calls as the server sent them; empty if the model writes calls as text."""
    reasoning: str | None
    finish_reason: str | None
    """The server's stop reason, such as ``refusal``."""


class UserReply(NamedTuple):
    """Answer of the model that plays the user."""

    reply: ReplyRecord
    usage: model_types.Usage
    latency: float
    cost: float | None
    attempts: int


class StepRecord(NamedTuple):
    """One request to the model, the answer, and the results and effects of the calls."""

    turn: int
    request_messages: int
    """Number of messages in the request."""
    tools: str | None
    """Digest of the tool list in the request; null if the prompt lists the functions as text."""
    reply: ReplyRecord
    calls: Sequence[str]
    results: Sequence[str]
    changes: Sequence[StateChange]
    usage: model_types.Usage
    """Tokens; null if the server did not report them."""
    latency: float
    """Seconds from sending the request to the end of the answer."""
    cost: float | None
    """US dollars; null if the price is unknown."""
    attempts: int
    """Number of requests for this answer, with retries; 0 for an answer from a cache."""
    asked: Any = ABSENT
    """Number of the request, starting at 0; present only if a search undid a request."""
    user: Sequence[UserReply] = cast(Any, ABSENT)
    """Replies of the model that plays the user; absent if the user is not a model."""


class ResumableStep(NamedTuple):
    """One answered request of an unfinished episode: a line of ``underway.jsonl``.

    The line also has the field ``spent``: the requests, tokens and cost of the run so far.
    """

    id: str
    trial: int
    step: StepRecord
    message: JsonObject
    """The answer as a message, with all fields that the next request must repeat."""

    @property
    def key(self) -> Key:
        """Trajectory id and trial."""
        return self.id, self.trial

    @property
    def place(self) -> int:
        """Position of the answer in the episode: later answers have greater numbers."""
        step = self.step
        return step.asked if isinstance(step.asked, int) else step.request_messages


class RunSpending(NamedTuple):
    """Budget that a run has spent so far, in all segments."""

    requests: int = 0
    """Number of requests, including unanswered ones."""
    tokens: int = 0
    cost: float | None = None
    """US dollars; ``None`` if the price is unknown."""


class RunSegment(NamedTuple):
    """Segment of a run between two resumes: a line of ``lives.jsonl``."""

    seconds: float
    concurrency: int
    gpu_price: float | None = None
    """Hourly price of the model's server in US dollars, if given."""


class TurnEnd(NamedTuple):
    """Why a turn ended."""

    turn: int
    why: Why
    """Reason. ``answer``: the model wrote a text. ``cut_off``: the answer has the maximum length.
    ``unreadable``: the calls cannot be parsed. ``exhausted``: a search reached its request limit.
    """
    detail: str | None


class UnreportedFact(NamedTuple):
    """Required information that no answer reported."""

    turn: int
    fact: str


class InfoReport(NamedTuple):
    """Required information that an episode's answers reported."""

    facts: int
    turns: int
    untold: Sequence[UnreportedFact]
    waiting: int
    """Number of turns in which a needed value or function is still missing."""
    asked: int
    """Number of turns in which the model asked for the missing value or function."""


class ServerRejection(NamedTuple):
    """Rejected request that ended the episode; the model, not the server, is to blame."""

    kind: str
    """Kind of rejection, such as ``context_overflow``: a ``FaultKind``, or a kind in
    ``--errors-as``.
    """
    said: str
    """The server's message in one line."""


class ExtensionData(Protocol):
    """Base class for the data of an extension in an episode."""

    @property
    def own_functions(self) -> Sequence[str]:
        """Names of the functions that the extension adds."""
        return ()

    def all_steps(self, kept: Sequence[StepRecord]) -> Sequence[StepRecord]:
        """Return all steps in order: the steps of the record (``kept``) and of the extension."""
        return kept

    def message_of(self, step: StepRecord) -> JsonObject | None:
        """Return the model message of a step; None if this extension does not store the step."""
        return None

    def problems(self, record: EpisodeRecord) -> Iterator[tuple[str, str]]:
        """Yield the path and error of each contradiction between fields."""
        yield from ()

    def verdict_members(self, verdict: Verdict | None) -> JsonObject:
        """Return additional fields for the line of a verdict or error."""
        return {}


class EpisodeRecord(NamedTuple):
    """One finished episode: a line of ``episodes.jsonl``.

    An episode that ended in an error has no result; it has only the steps before the error. If the
    episode ended before its first step, the line omits the fields that have a default.
    """

    id: str
    trial: int
    category: str
    outcome: Outcome | None
    """Verdict or error. In memory, None means that a recorded answer is not judged yet."""
    verdict: Verdict | None
    """The verdict as in ``--output``; null after an error."""
    error: str | None
    """Error that ended the episode, in one line."""
    messages: Sequence[JsonObject] = ()
    """The whole conversation; each request contained the messages up to that request."""
    steps: Sequence[StepRecord] = ()
    """One per request."""
    turn_ends: Sequence[TurnEnd] = ()
    result: Sequence[Sequence[Step]] | None = None
    """List of turns, each a list of steps, in the format of BFCL's result files."""
    traceback: str | None = None
    """Traceback of an exception in the user's own agent, or of a bug in a backend."""
    telling: InfoReport | None = None
    """Reported facts; None if the entry requires no facts, or if the run has no recorded text."""
    fault: ServerRejection | None = None
    """Rejected request that ended the last turn, or None if no request was rejected."""
    extensions: Mapping[str, Any] = {}
    """Data of each extension as ``ExtensionData``; the key is the extension's name."""
    base: str | None = None
    """Base entry of the trajectory; omitted if the id determines the base entry."""
    tags: Sequence[str] = ()
    """Tags of the trajectory; omitted if it has no tags."""

    @classmethod
    def of(
        cls,
        trajectory: Trajectory,
        verdict: Verdict | None,
        error: str | None = None,
        *,
        trial: int = 0,
    ) -> Self:
        """Return the record of a trajectory's verdict or error."""
        require_type("trajectory", trajectory, Trajectory, described="a Trajectory")
        require_type("verdict", verdict, Verdict, None, described="a Verdict or None")
        outcome: Outcome = "error" if verdict is None else "passed" if verdict.valid else "failed"
        id, category, base = trajectory.id, trajectory.category.value, trajectory.base
        made = cls(id, trial, category, outcome, verdict, error, tags=trajectory.tags)
        return made if base == derive_base(id, category) else made._replace(base=base)

    def __repr__(self) -> str:
        """Return id, trial and verdict or error, without the conversation."""
        end = f"error: {self.error!r}" if self.verdict is None else repr(self.verdict)
        return f"EpisodeRecord({self.id}, trial {self.trial}, {end})"

    def _repr_html_(self) -> str:
        rows = [
            (f"turn {step.turn + 1}", call, result)
            for step in self.steps
            for call, result in zip(step.calls, step.results, strict=False)
        ]
        return notebook_html.table(("", "call", "result"), rows, repr(self))

    @property
    def key(self) -> Key:
        """Trajectory id and trial."""
        return self.id, self.trial

    @property
    def outline(self) -> EpisodeRecord:
        """Copy of the record without the conversation; the copy needs little memory."""
        return self._replace(messages=(), steps=(), turn_ends=(), result=None)

    @property
    def scenario(self) -> str:
        """Id of the base entry; statistics treat episodes of the same base entry as dependent."""
        return derive_base(self.id, self.category) if self.base is None else self.base

    @property
    def answered(self) -> list[ResumableStep]:
        """Pairs of a step and its answer message, for all steps with a stored answer."""
        found = []
        for step in self.requests:
            following = self.messages[step.request_messages : step.request_messages + 1]
            known = (*(each.message_of(step) for each in self._extended), *following)
            if message := next(filter(None, known), None):
                found.append(ResumableStep(self.id, self.trial, step, message))
        return found

    @property
    def requests(self) -> Sequence[StepRecord]:
        """All answered requests in order, including requests that a search undid."""
        return next((each.all_steps(self.steps) for each in self._extended), self.steps)

    @property
    def _extended(self) -> Sequence[ExtensionData]:
        return [*self.extensions.values()]

    def find_stop(self, turn: int | None, step: int | None) -> str | None:
        """Return why an answer is incomplete. If ``step`` is None, return why the turn ended."""
        if step is None:
            return next((end.why for end in self.turn_ends if end.turn == turn), None)
        made = [each for each in self.steps if each.turn == turn and each.calls]
        return STOPS.get(made[step].reply.finish_reason or "") if 0 <= step < len(made) else None

    @property
    def turns(self) -> int:
        """Number of the trajectory's turns; 0 without a verdict."""
        return self.verdict.turns if self.verdict else 0

    @property
    def turns_passed(self) -> int:
        """Number of turns before the first failed turn; 0 without a verdict."""
        return self.verdict.turns_passed if self.verdict else 0

    def verdict_line(self) -> dict[str, Any]:
        """Return the verdict or error as a line of ``--output``, a JSON object without nesting."""
        error = {"valid": None, "error": self.error}
        judged: dict[str, Any] = self.verdict.to_json() if self.verdict else error
        judged |= judged.pop("measures", {})
        for member in self._extended:
            judged |= member.verdict_members(self.verdict)
        told = {} if self.telling is None else {"telling": json_codec.members_of(self.telling)}
        base = {} if self.base is None else {"base": self.base}
        tags = {"tags": [*self.tags]} if self.tags else {}
        return {"id": self.id, "category": self.category, **base, **tags, **judged, **told}

    def to_json(self) -> dict[str, Any]:
        """Return the episode as a JSON object."""
        return {name: json_codec.to_json_value(value) for name, value in self.present().items()}

    def present(self) -> dict[str, Any]:
        """Return the fields to write."""
        members = self._asdict()
        members["extensions"] = {
            name: json_codec.to_json_value(each) for name, each in self.extensions.items()
        }
        absent = [
            name
            for name in ("traceback", "telling", "fault", "extensions", "base", "tags")
            if not members[name]
        ]
        if self.result is None:
            course = ("messages", "steps", "turn_ends", "result")
            absent += [name for name in course if not members[name]]
        # The catalog of runs reads only the first members.
        first = [*self._fields[: self._fields.index("verdict")], "base"]
        return {name: members[name] for name in (*first, *members) if name not in absent}

    @classmethod
    def from_json(cls, value: object, where: str) -> EpisodeRecord:
        """Read an episode from a JSON object; ``where`` is the location in error messages.

        Raises DataError if a field is missing or invalid.
        """
        record = json_codec.read(cls, upgrade_record(value), where)
        if record.extensions:
            record = record._replace(extensions=_extensions_of(record, where))
        for path, problem in _misfits(record):
            raise DataError(where, f"${path}: {problem}")
        return record


def upgrade_record(value: Any) -> Any:
    """Convert a record of an earlier revision to the current format."""
    if not isinstance(value, dict) or "search" not in value:
        return value
    members = dict(value)
    return {"extensions": {"search": members.pop("search")}, **members}


def _extensions_of(record: EpisodeRecord, where: str) -> dict[str, ExtensionData]:
    members = record.extensions.items()
    return {name: extension.load_extension(name).episode(each, where) for name, each in members}


def _misfits(record: EpisodeRecord) -> Iterator[tuple[str, str]]:
    if record.trial < 0:
        yield ".trial", f"the trial must be at least 0, but is {record.trial}"
    for index, message in enumerate(record.messages):
        for member, problem in _in_message(message):
            yield f".messages[{index}]{member}", problem
    for index, step in enumerate(record.steps):
        if step.turn < 0 or step.request_messages < 0:
            yield f".steps[{index}]", "turn and request_messages must be at least 0"
        if len(step.results) not in (0, len(step.calls)):
            # Calls that are only compared have no results.
            yield (
                f".steps[{index}].results",
                f"must have one item for each of the {len(step.calls)} calls",
            )
    for name, extended in record.extensions.items():
        for path, problem in extended.problems(record):
            yield f".extensions.{name}{path}", problem


def _in_message(message: JsonObject) -> Iterator[tuple[str, str]]:
    if not isinstance(message, Mapping):
        yield "", "must be an object"
        return
    if not isinstance(message.get("role", ""), str):
        yield ".role", f"must be a string, but is {message['role']!r:.60}"
    elif message.get("role") == "tool" and not isinstance(message.get("tool_call_id"), str):
        yield ".tool_call_id", "must be a string"
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        yield ".tool_calls", "must be a list"
    for index, call in enumerate(calls or ()):
        match call:
            case {"id": str(), "type": str(), "function": {"name": str(), "arguments": str()}}:
                continue
        yield f".tool_calls[{index}]", "is not a function call"


class RunProgress(NamedTuple):
    """Numbers of finished and planned episodes of a run."""

    done: int
    """Finished episodes; repeated episodes of an entry count once."""
    planned: int | None
    """Planned episodes; None if unknown."""
    until_passed: bool = False
    """Whether an entry is repeated until an episode passes."""

    @classmethod
    def of(cls, keys: Collection[Key], planned: object, features: Iterable[RunFeature]) -> Self:
        """Return the progress of a run; ``planned`` is the planned number, if known."""
        until_passed = any(feature.repeats_entries for feature in features)
        done = len({id for id, _ in keys}) if until_passed else len(keys)
        return cls(done, planned if isinstance(planned, int) else None, until_passed)

    @property
    def is_unfinished(self) -> bool:
        """Whether planned episodes are missing."""
        return self.planned is not None and self.done < self.planned

    def to_json(self) -> dict[str, Any]:
        """Return the progress as JSON."""
        return {"done": self.done, "planned": self.planned, "unfinished": self.is_unfinished}


class SampleProgress(RunProgress):
    """Progress of a run in random order: the finished episodes are a random sample."""


def progress_type(note: JsonObject) -> type[RunProgress]:
    """Return the type of a run's progress; ``note`` is the note in ``run.json``."""
    return SampleProgress if note.get("order") == "random" else RunProgress


class RecordedEpisode(NamedTuple):
    """An episode of an opened run; ``mode`` and ``reader`` tell how to parse the steps."""

    record: EpisodeRecord
    mode: Mode
    """How the model called functions."""
    where: str = ""
    """Origin: file and line, or the run folder."""
    reader: ReplyFormat | None = None
    """Parser for the run's prompt format; None without a prompt format."""

    @property
    def id(self) -> str:
        """Id of the trajectory."""
        return self.record.id

    @property
    def trial(self) -> int:
        """Number of the trial, starting at 0."""
        return self.record.trial

    @property
    def turns(self) -> Sequence[Sequence[Step]] | None:
        """Steps of each turn; None after an error."""
        return self.record.result

    @property
    def error(self) -> str | None:
        """Reason why the episode has no steps; None for an episode with steps."""
        if self.turns is not None:
            return None
        return self.record.error or "no steps were recorded"
