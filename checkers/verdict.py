"""The records of judging: what a turn led to, why it failed, and what became of an episode."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property, partial
from typing import Any, NamedTuple, Self

from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result
from envs.state import ABSENT, Difference, Snapshot, brief, table, to_json


class Explained(StrEnum):
    """Names that come with what they mean."""

    meaning: str
    """What it means, without a full stop."""

    def __new__(cls, value: str, meaning: str = "") -> Self:
        """Make a member of its value and its meaning."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member


class Reason(Explained):
    """Why an episode failed; all but those that say so are BFCL's error types."""

    INFERENCE_ERROR = (
        "multi_turn:inference_error",
        "there is no record of the model's steps, only an error",
    )
    FORCE_TERMINATED = (
        "multi_turn:force_terminated",
        "the record does not have the trajectory's number of turns: the step limit ended it",
    )
    EMPTY_TURN = (
        "multi_turn:empty_turn_model_response",
        "something was to be done, and the model made no call",
    )
    STATE_MISMATCH = (
        "multi_turn:instance_state_mismatch",
        "the state differs from what the ground truth leads to",
    )
    RESPONSE_MISMATCH = (
        "multi_turn:execution_response_mismatch",
        "a result that the ground truth needed is not among the model's results so far",
    )
    # Ours.
    CHANGE_IN_EMPTY_TURN = (
        "multi_turn:state_change_in_empty_turn",
        "nothing was to be done, and the model changed the state (strict profile only)",
    )
    GUESSED_ARGUMENT = (
        "multi_turn:guessed_argument",
        "the model gave a function a value that nobody had told it (strict profile only)",
    )
    ABSENT_FUNCTION = (
        "multi_turn:absent_function",
        "nothing was to be done, and the model called a function that is not there (strict "
        "profile only)",
    )
    NOT_TOLD = (
        "multi_turn:not_told",
        "the user asked to hear something that no answer told (only with --require-told)",
    )
    # Ours, of entries of any kind; to BFCL each is an inference error.
    CONTEXT_OVERFLOW = (
        "inference_error:context_overflow",
        "the conversation grew longer than the model's context",
    )
    UNPARSED_CALL = (
        "inference_error:unparsed_call",
        "the model wrote a call that its server could not parse",
    )
    CONTENT_POLICY = (
        "inference_error:content_policy",
        "the provider's content policy refused the conversation or the answer",
    )
    REQUEST_TOO_LARGE = (
        "inference_error:request_too_large",
        "the conversation grew larger than the server takes",
    )
    NO_ANSWER = (
        "inference_error:no_answer",
        "a request got no answer, and --errors-as counts that as a failure",
    )

    DECODER_FAILED = "ast_decoder:decoder_failed", "no call can be read in the answer"
    WRONG_FORMAT = "ast_decoder:decoder_wrong_output_format", "what was read is not a list of calls"
    SIMPLE_COUNT = "simple_function_checker:wrong_count", "one call was expected"
    MULTIPLE_COUNT = "multiple_function_checker:wrong_count", "one call was expected"
    PARALLEL_COUNT = (
        "parallel_function_checker_no_order:wrong_count",
        "another number of calls was expected",
    )
    NO_MATCH = (
        "parallel_function_checker_no_order:cannot_find_match",
        "one of the expected calls was not made",
    )
    FUNCTION = "simple_function_checker:wrong_func_name", "another function was to be called"
    MISSING_REQUIRED = "simple_function_checker:missing_required", "a required argument is left out"
    UNEXPECTED = (
        "simple_function_checker:unexpected_param",
        "an argument is given that the function does not take, or that was not to be given",
    )
    MISSING_OPTIONAL = (
        "simple_function_checker:missing_optional",
        "an argument is left out that was needed here",
    )
    TYPE = "type_error:simple", "an argument is not of its type"
    ITEM_TYPE = "type_error:nested", "an element of an argument is not of its type"
    JAVA_TEXT = "type_error:java", "an argument is not the text of a Java expression"
    JAVASCRIPT_TEXT = "type_error:js", "an argument is not the text of a JavaScript expression"
    STRING = "value_error:string", "the text is none of those allowed"
    LIST = "value_error:list/tuple", "the list is none of those allowed"
    DICT_KEY = "value_error:dict_key", "the keys are not those expected"
    DICT_VALUE = "value_error:dict_value", "a member is none of those allowed"
    DICT_COUNT = "value_error:list_dict_count", "the list has not the expected number of objects"
    OTHER_VALUE = "value_error:others", "the value is none of those allowed"
    DICT_UNCLEAR = "dict_checker:unclear", "there is no object to compare with"
    DICTS_UNCLEAR = "list_dict_checker:unclear", "there is no list to compare with"
    CALL_MADE = "irrelevance_error:decoder_success", "no function fits, and one was called"
    NO_CALL_MADE = "relevance_error:decoder_failed", "a function fits, and none was called"

    # Ours, of entries whose results are compared.
    RESULT_COUNT = "executable_checker:wrong_count", "another number of calls was expected"
    REFUSED = "executable_checker:execution_error", "the call is refused"
    RESULT_TYPE = "executable_checker:wrong_result_type", "a result has a value of another type"
    RESULT_STRUCTURE = (
        "executable_checker:wrong_result_structure",
        "a result has another length, or other keys",
    )
    RESULT_VALUE = "executable_checker:wrong_result_value", "a result has another value"
    RESULT_NO_MATCH = (
        "executable_checker:cannot_find_match",
        "one of the expected results was not seen",
    )
    DATABASE = (
        "executable_checker:wrong_database",
        "the database is not what the right statements leave (strict profile only)",
    )


class TurnOutcome(NamedTuple):
    """What the calls of one turn led to."""

    results: tuple[Result, ...]
    """One per call, in order."""
    snapshot: Snapshot
    """The state at the end of the turn."""
    acted: bool
    """Whether there was at least one step with calls."""
    calls: Sequence[Call | MalformedCall]
    """One per result."""


@dataclass(frozen=True, eq=False)
class StateEvidence:
    """The state is not the one that the ground truth leads to.

    Attributes:
        find: Gives the differences; asked once, by who looks first. To find them takes as long as
            to judge, and most are never looked at.
    """

    find: Callable[[], Iterable[Difference]]

    @cached_property
    def differences(self) -> tuple[Difference, ...]:
        """Where the state departs from what the ground truth leads to."""
        return tuple(self.find())

    def __eq__(self, other: object) -> bool:
        """Tell whether the differences are the same."""
        return isinstance(other, StateEvidence) and self.differences == other.differences

    def __hash__(self) -> int:
        """Return a hash that agrees with equality."""
        return hash(tuple([difference.path for difference in self.differences]))


class MissingFact(NamedTuple):
    """Something that the model should know and does not."""

    name: str
    """The member of the result, such as ``fuelLevel``; inner ones after a point."""
    value: Any
    """Its value, in JSON's types."""
    call: str
    """The ground-truth call that gives it."""

    def __str__(self) -> str:
        """Return the fact and where it could have been had, in one line."""
        fact = f"{self.name} {brief(self.value)}" if self.name else "what was asked"
        return f"{fact}; {self.call} gives it"


class ResultEvidence(NamedTuple):
    """The model has not seen all that it should have."""

    missing: tuple[str, ...]
    """Ground-truth results, as text."""
    facts: tuple[MissingFact, ...] = ()
    """Which of their facts it does not know; none where whole results are compared."""

    def lines(self) -> Iterator[str]:
        """Yield what was not seen, a line each."""
        yield from map(str, self.facts) if self.facts else self.missing


class ToldEvidence(NamedTuple):
    """The model did all that it should, and did not say all that was asked."""

    untold: tuple[str, ...]
    """The facts of the turn that were not told, as people read them."""


class FaultEvidence(NamedTuple):
    """The model did something for which its server gave no answer."""

    said: str
    """The server's words, in one line."""


class CallEvidence(NamedTuple):
    """What is wrong with the calls of a turn, with one of them or with its result."""

    reason: Reason
    message: str
    """One sentence."""
    function: str | None = None
    """The function of the call that is wrong."""
    parameter: str | None = None
    """The parameter that is wrong."""
    expected: Any = ABSENT
    """What would have been right: a number of calls, a type, a list of allowed values."""
    actual: str | None = None
    """What was given, as Python writes it; None where nothing was."""
    causes: tuple[CallEvidence, ...] = ()
    """Why each of the calls that could have matched did not."""

    def lines(self) -> Iterator[str]:
        """Yield what is wrong and its causes, a line each."""
        place = ".".join(name for name in (self.function, self.parameter) if name)
        yield f"{place}: {self.message}" if place else self.message
        for cause in self.causes:
            yield from (f"  {line}" for line in cause.lines())

    def to_json(self) -> dict[str, Any]:
        """Return the evidence as one JSON object."""
        shown: dict[str, Any] = {"error_type": self.reason.value, "message": self.message}
        if self.function is not None:
            shown["function"] = self.function
        if self.parameter is not None:
            shown["parameter"] = self.parameter
            if self.expected is not ABSENT:
                shown["expected"] = to_json(self.expected)
            if self.actual is not None:
                shown["actual"] = self.actual
        if self.causes:
            shown["causes"] = [cause.to_json() for cause in self.causes]
        return shown

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` writes."""
        return cls(
            Reason(document["error_type"]),
            document["message"],
            document.get("function"),
            document.get("parameter"),
            document.get("expected", ABSENT),
            document.get("actual"),
            tuple([cls.from_json(cause) for cause in document.get("causes", ())]),
        )


Evidence = StateEvidence | ResultEvidence | ToldEvidence | FaultEvidence | CallEvidence


class Failure(NamedTuple):
    """Why one turn failed."""

    reason: Reason
    evidence: Evidence | None = None
    """None where the reason says it all."""

    @property
    def differences(self) -> tuple[Difference, ...]:
        """Where the state departs from what the ground truth leads to."""
        return self.evidence.differences if isinstance(self.evidence, StateEvidence) else ()

    @property
    def missing(self) -> tuple[str, ...]:
        """Ground-truth results that the model has not seen."""
        return self.evidence.missing if isinstance(self.evidence, ResultEvidence) else ()

    @property
    def unseen(self) -> tuple[str, ...]:
        """What the model has not seen, a line each: facts, or whole results."""
        return tuple(self.evidence.lines()) if isinstance(self.evidence, ResultEvidence) else ()

    @property
    def calls(self) -> CallEvidence | None:
        """What is wrong with the calls of a single turn, or with one call of several turns."""
        return self.evidence if isinstance(self.evidence, CallEvidence) else None


class Hallucinated(NamedTuple):
    """What a model made up, each as often as it did; right or not."""

    functions: tuple[str, ...] = ()
    """Functions that it called and that it had not been offered."""
    parameters: tuple[str, ...] = ()
    """Parameters that it gave and that the function does not have: ``function.parameter``."""
    needless: tuple[str, ...] = ()
    """Functions that it called where none fits."""


NOTHING_MADE_UP = Hallucinated()


class Selected(NamedTuple):
    """How well a model chose among the functions; right or not."""

    needed: int = 0
    """Calls of the ground truth, or expected."""
    functions: int = 0
    """Of these, whose function was called in their turn."""
    arguments: int = 0
    """Of those, with all arguments right."""
    strangers: int = 0
    """Calls of functions that were offered and that the ground truth never calls: distractors."""


class Verdict(NamedTuple):
    """What became of one episode."""

    valid: bool
    failure: Failure | None
    failed_turn: int | None
    """Index of the first failing turn; None when valid or when no turn was checked."""
    turns: int
    """Number of turns of the trajectory."""
    turns_passed: int
    """Number of turns before the first failing one."""
    irreversible: tuple[str, ...] = ()
    """Calls that cannot be taken back and that the ground truth does not make; right or not."""
    hallucinated: Hallucinated = NOTHING_MADE_UP
    selected: Selected | None = None
    """None where nobody counted."""

    @classmethod
    def of_single_turn(cls, evidence: CallEvidence | None) -> Self:
        """Return the verdict on an entry of one turn, from what is wrong with it."""
        if evidence is None:
            return cls(True, None, None, 1, 1)
        return cls(False, Failure(evidence.reason, evidence), 0, 1, 0)

    @classmethod
    def unanswered(cls, turns: int, kind: str, said: str) -> Self:
        """Return the verdict on an episode that ended since the model's server gave no answer.

        As to BFCL, for which there is no record of it at all, no turn of it has passed.

        Args:
            turns: How many the trajectory has.
            kind: What the model did, as the reasons have it; another only counts as its failure.
            said: The server's words.
        """
        try:
            reason = Reason(f"inference_error:{kind}")
        except ValueError:
            reason = Reason.NO_ANSWER
        return cls(False, Failure(reason, FaultEvidence(said)), None, turns, 0)

    def __repr__(self) -> str:
        """Return what became of it, and where it failed and why."""
        if self.failure is None:
            return f"Verdict(passed: {self.turns} turns)"
        turn = "" if self.failed_turn is None else f" in turn {self.failed_turn + 1}"
        return f"Verdict(failed{turn} of {self.turns}: {self.failure.reason.value})"

    def _repr_html_(self) -> str:
        rows = [
            ("passed" if self.valid else "failed", f"{self.turns_passed} of {self.turns} turns")
        ]
        if self.failure is not None:
            where = "" if self.failed_turn is None else f"turn {self.failed_turn}"
            rows.append((where, f"{self.failure.reason.value}: {self.failure.reason.meaning}"))
            rows += [
                (path, f"expected {brief(one)}, got {brief(other)}")
                for path, one, other in self.failure.differences
            ]
            rows += [("not seen", text) for text in self.failure.unseen]
        return table(("verdict", repr(self)), rows)

    @property
    def said(self) -> str | None:
        """The server's words, where it gave no answer for what the model did."""
        evidence = self.failure and self.failure.evidence
        return evidence.said if isinstance(evidence, FaultEvidence) else None

    @property
    def error_type(self) -> str | None:
        """What is wrong, as BFCL names it; None when the episode passes."""
        return self.failure.reason.value if self.failure else None

    def to_json(self) -> dict[str, Any]:
        """Return the verdict as one flat JSON object."""
        shown: dict[str, Any] = {
            "valid": self.valid,
            "error_type": self.error_type,
            "failed_turn": self.failed_turn,
            "turns": self.turns,
            "turns_passed": self.turns_passed,
        }
        if self.irreversible:
            shown["irreversible"] = [*self.irreversible]
        if any(self.hallucinated):
            shown["hallucinated"] = {
                name: [*found] for name, found in self.hallucinated._asdict().items() if found
            }
        if self.selected:
            shown["selected"] = self.selected._asdict()
        match self.failure and self.failure.evidence:
            case StateEvidence(differences=[_, *_] as differences):
                shown["differences"] = [difference.to_json() for difference in differences]
            case ResultEvidence(missing, facts):
                shown["missing_results"] = [*missing]
                if facts:
                    shown["missing_facts"] = [fact._asdict() for fact in facts]
            case ToldEvidence(untold):
                shown["untold"] = [*untold]
            case FaultEvidence(said):
                shown["said"] = said
            case CallEvidence() as calls:
                shown["calls"] = calls.to_json()
        return shown

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` writes.

        Raises:
            ValueError: It is no verdict, or its reason is unknown.
        """
        try:
            error = document["error_type"]
            return cls(
                document["valid"],
                None if error is None else Failure(Reason(error), _evidence(document)),
                document["failed_turn"],
                document["turns"],
                document["turns_passed"],
                tuple(document.get("irreversible", ())),
                _hallucinated(document.get("hallucinated", {})),
                Selected(**document["selected"]) if document.get("selected") else None,
            )
        except (AttributeError, KeyError, TypeError) as fault:
            raise ValueError(f"this is no verdict: {fault}") from None


def _hallucinated(found: Mapping[str, Sequence[str]]) -> Hallucinated:
    return Hallucinated(**{name: tuple(names) for name, names in found.items()})


def _evidence(document: Mapping[str, Any]) -> Evidence | None:
    match document:
        case {"differences": differences}:
            return StateEvidence(partial(tuple, [*map(Difference.from_json, differences)]))
        case {"missing_results": missing}:
            facts = [MissingFact(**fact) for fact in document.get("missing_facts", ())]
            return ResultEvidence(tuple(missing), tuple(facts))
        case {"untold": untold}:
            return ToldEvidence(tuple(untold))
        case {"said": said}:
            return FaultEvidence(said)
        case {"calls": calls}:
            return CallEvidence.from_json(calls)
    return None
