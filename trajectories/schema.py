"""One trajectory as a record: what a model is given, asked and expected to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from checkers.calls.documents import Kind, Language
from envs.lazy import lazily

if TYPE_CHECKING:
    from checkers import answers
else:
    # BFCL's data says nothing of what an answer tells.
    answers = lazily("checkers.answers")


class Category(StrEnum):
    """What a trajectory asks for, under the names that BFCL uses."""

    BASE = "base"
    MISSING_PARAMETER = "miss_param"
    MISSING_FUNCTION = "miss_func"
    LONG_CONTEXT = "long_context"
    COMPOSITE = "composite"

    SIMPLE_PYTHON = "simple_python"
    SIMPLE_JAVA = "simple_java"
    SIMPLE_JAVASCRIPT = "simple_javascript"
    MULTIPLE = "multiple"
    PARALLEL = "parallel"
    PARALLEL_MULTIPLE = "parallel_multiple"
    IRRELEVANCE = "irrelevance"
    LIVE_SIMPLE = "live_simple"
    LIVE_MULTIPLE = "live_multiple"
    LIVE_PARALLEL = "live_parallel"
    LIVE_PARALLEL_MULTIPLE = "live_parallel_multiple"
    LIVE_IRRELEVANCE = "live_irrelevance"
    LIVE_RELEVANCE = "live_relevance"
    CHAT = "chat"
    CHATABLE = "chatable"
    SQL = "sql"

    EXEC_SIMPLE = "exec_simple"
    EXEC_MULTIPLE = "exec_multiple"
    EXEC_PARALLEL = "exec_parallel"
    EXEC_PARALLEL_MULTIPLE = "exec_parallel_multiple"
    NESTED = "nested"
    REST = "rest"


class JudgedBy(StrEnum):
    """What of an entry is compared, which is of which kind it is."""

    STATE = "state"
    """Several turns in one session, which keeps its state."""
    CALLS = "calls"
    """One turn; the calls themselves are compared, and nothing is executed."""
    RESULTS = "results"
    """One turn; the calls are executed."""
    STATEMENTS = "statements"
    """One turn; SQL statements, which are compared as calls or by executing them."""


class CategoryFacts(NamedTuple):
    """What a category is."""

    judged_by: JudgedBy
    file: str
    """What BFCL's files call it, or would."""
    folder: str
    """Where BFCL keeps its result files, or would."""
    calls: Kind | None = None
    """How calls are compared, where they are."""
    language: Language = Language.PYTHON
    """What the arguments of calls are written in."""
    status: Literal["published", "retired", "ours"] = "published"
    """Whether BFCL publishes it, has it but scores it no more, or has it not."""
    group: str | None = None
    """The innermost group of BFCL's table that it counts in, or ours; None where in none."""
    in_text: bool = False
    """Whether only a model that writes calls as text can do it."""
    weight: int = 1
    """How much it counts in a group whose members weigh as many entries as they have."""


def _state(name: str, group: str | None = "multi-turn") -> CategoryFacts:
    return CategoryFacts(JudgedBy.STATE, f"multi_turn_{name}", "multi_turn", group=group)


def _calls(name: str, kind: Kind, group: str = "non-live") -> CategoryFacts:
    return CategoryFacts(JudgedBy.CALLS, name, "non_live", kind, group=group)


def _simple(language: Language) -> CategoryFacts:
    facts = _calls(f"simple_{language}", Kind.SIMPLE, "simple")
    return facts._replace(language=language)


def _live(name: str, kind: Kind, group: str | None = "live", weight: int = 1) -> CategoryFacts:
    file = f"live_{name}"
    return CategoryFacts(JudgedBy.CALLS, file, "live", kind, group=group, weight=weight)


def _no_call(name: str) -> CategoryFacts:
    return CategoryFacts(JudgedBy.CALLS, name, "other", Kind.IRRELEVANCE, status="retired")


def _results(name: str) -> CategoryFacts:
    return CategoryFacts(JudgedBy.RESULTS, name, "other", status="retired", group="executable")


FACTS: Mapping[Category, CategoryFacts] = {
    Category.BASE: _state("base"),
    Category.MISSING_PARAMETER: _state("miss_param"),
    Category.MISSING_FUNCTION: _state("miss_func"),
    Category.LONG_CONTEXT: _state("long_context"),
    Category.COMPOSITE: _state("composite", None)._replace(status="retired"),
    Category.SIMPLE_PYTHON: _simple(Language.PYTHON),
    Category.SIMPLE_JAVA: _simple(Language.JAVA),
    Category.SIMPLE_JAVASCRIPT: _simple(Language.JAVASCRIPT),
    Category.MULTIPLE: _calls("multiple", Kind.MULTIPLE),
    Category.PARALLEL: _calls("parallel", Kind.PARALLEL),
    Category.PARALLEL_MULTIPLE: _calls("parallel_multiple", Kind.PARALLEL),
    Category.IRRELEVANCE: _calls("irrelevance", Kind.IRRELEVANCE, "irrelevance"),
    Category.LIVE_SIMPLE: _live("simple", Kind.SIMPLE, weight=258),
    Category.LIVE_MULTIPLE: _live("multiple", Kind.MULTIPLE, weight=1053),
    Category.LIVE_PARALLEL: _live("parallel", Kind.PARALLEL, weight=16),
    Category.LIVE_PARALLEL_MULTIPLE: _live("parallel_multiple", Kind.PARALLEL, weight=24),
    Category.LIVE_IRRELEVANCE: _live("irrelevance", Kind.IRRELEVANCE, "irrelevance"),
    Category.LIVE_RELEVANCE: _live("relevance", Kind.RELEVANCE, None),
    Category.CHAT: _no_call("chat")._replace(status="ours"),
    Category.CHATABLE: _no_call("chatable"),
    Category.SQL: CategoryFacts(JudgedBy.STATEMENTS, "sql", "other", Kind.SIMPLE, status="retired"),
    Category.EXEC_SIMPLE: _results("exec_simple"),
    Category.EXEC_MULTIPLE: _results("exec_multiple"),
    Category.EXEC_PARALLEL: _results("exec_parallel"),
    Category.EXEC_PARALLEL_MULTIPLE: _results("exec_parallel_multiple"),
    Category.NESTED: _results("nested")._replace(status="ours", group=None, in_text=True),
    Category.REST: _results("rest"),
}
"""All that is known of categories, in the order in which they are shown."""


def _judged_by(what: JudgedBy) -> tuple[Category, ...]:
    return tuple([category for category, facts in FACTS.items() if facts.judged_by is what])


MULTI_TURN = _judged_by(JudgedBy.STATE)
"""Several turns in one session, which keeps its state; the state is compared."""
SINGLE_TURN = (*_judged_by(JudgedBy.CALLS), *_judged_by(JudgedBy.STATEMENTS))
"""One turn; the calls themselves are compared, and nothing is executed but SQL statements."""
EXECUTABLE = _judged_by(JudgedBy.RESULTS)
"""One turn; the results of the calls are compared."""
RETIRED = tuple(
    [c for c, facts in FACTS.items() if facts.status == "retired" and c not in MULTI_TURN]
)
"""One turn; BFCL's first sets, which it has and scores no more."""


class Label(StrEnum):
    """What of a scenario needs thought; a scenario may have several."""

    PRECONDITION = "precondition"
    """A state has to be brought about before the wish can be done, and nobody says so."""
    LOOK_UP = "look_up"
    """Arguments come only from a chain of three or more results."""
    RECOVERY = "recovery"
    """The straightforward call fails for a reason that its result states; another way is right."""
    LASTING = "lasting"
    """What is said once binds several turns later."""
    REVISION = "revision"
    """A wish is changed or withdrawn after it was done; what must be is undone, and no more."""
    CONDITION = "condition"
    """One thing is to be done if something is so, else another or nothing."""
    RELATIVE = "relative"
    """Dates, amounts or units are in words that have to be worked out."""
    DISTRACTOR = "distractor"
    """Near-namesakes and things that are over stand beside what is meant."""
    THREE_WORLDS = "three_worlds"
    """Values are carried across three or more backends."""
    IRREVERSIBLE = "irreversible"
    """Something that cannot be undone is asked for on a condition that does not hold."""


class Split(StrEnum):
    """A part of a data set."""

    PLAIN = "plain"
    """What says almost all in the right order."""
    HARD = "hard"
    """What has to be thought about."""
    MINI = "mini"
    """Sixty trajectories of the data that comes along, which rank models as all of them do."""


class Tier(StrEnum):
    """How much thought a scenario needs."""

    PLAIN = "plain"
    """What is asked is said in the right order, with nearly all that it needs."""
    HARD = "hard"
    """It has a label."""


class Strict:
    """A record that has no other members when pydantic reads it from a file in our format."""

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}


@dataclass(frozen=True)
class Message(Strict):
    """One chat message that is put to the model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class LongContext(Strict):
    """Where the bulky material of a long-context trajectory comes from.

    Attributes:
        source: Made by us from a seed, or read out of BFCL's data.
        seed: The same seed and size give the same material.
        items: How many items each kind of generated material has.
        without: Words that generated material does without, because the requests mean something
            by them; and days before which all of it has happened.
    """

    source: Literal["generated", "bfcl"]
    seed: int = 0
    items: int = 0
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class Alternative(Strict):
    """Other calls that answer what a ground-truth call answers.

    Attributes:
        call: The ground-truth call, one that changes nothing, as its turn has it.
        instead: The calls, at least one; they are made where the ground-truth call is, and what
            they give does in the place of its result.
    """

    call: str
    instead: tuple[str, ...]


@dataclass(frozen=True)
class Turn(Strict):
    """One turn: the user speaks, the model acts until it stops calling.

    Attributes:
        messages: What the user says; empty in a turn that only hands functions over.
        ground_truth: The calls that do what is asked, as call texts such as ``cd(folder='x')``;
            empty where nothing should be done.
        offers: Held-out functions that are handed over at the start of this turn.
        accepts: What does as well as a ground-truth call that only reads.
        tells: What the user asked to hear, to be found in the answer at the end of the turn.
    """

    messages: tuple[Message, ...]
    ground_truth: tuple[str, ...]
    offers: tuple[str, ...] = ()
    accepts: tuple[Alternative, ...] = ()
    tells: tuple[answers.Fact, ...] = ()

    @property
    def words(self) -> str:
        """What the user says in it."""
        return "\n".join(each.content for each in self.messages if each.role == "user")

    @property
    def only_asks(self) -> bool:
        """Whether it is a question that can be answered from what was seen, without a call."""
        return bool(self.tells) and not self.ground_truth


@dataclass(frozen=True)
class ExpectedCalls(Strict):
    """What a single turn is checked against where nothing is executed.

    Attributes:
        functions: The function documents that the model is given: ``name``, ``description`` and
            ``parameters``, the latter in BFCL's dialect of JSON Schema.
        answers: The calls that are right, each ``{function: {parameter: [allowed values]}}``, where
            the empty text among the values means that the parameter may be left out. Without any,
            the category says whether a call or no call is right.
        language: What the values of arguments are written in.
    """

    judged_by: ClassVar[JudgedBy] = JudgedBy.CALLS

    functions: tuple[Mapping[str, Any], ...]
    answers: tuple[Mapping[str, Mapping[str, Sequence[Any]]], ...] = ()
    language: Literal["python", "java", "javascript"] = "python"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the functions that the model is given, in order."""
        return tuple([document["name"] for document in self.functions])

    @property
    def documents(self) -> tuple[Mapping[str, Any], ...]:
        """The function documents."""
        return self.functions


@dataclass(frozen=True)
class ResultCheck(Strict):
    """How the result of one ground-truth call is compared with that of the model's.

    Attributes:
        by: The same value; numbers within a tolerance; or the same types, lengths and keys.
        tolerance: Largest relative difference of a number, for ``tolerance``.
    """

    by: Literal["exact", "tolerance", "structure"] = "exact"
    tolerance: float = 0.2


@dataclass(frozen=True)
class ExpectedResults(Strict):
    """What a single turn is checked against where calls are executed.

    Attributes:
        functions: Names of the functions of the environments that the model is given, in order.
        checks: One per ground-truth call, in order.
        documents: Those of the functions, where the entry brings them; else the backends do.
    """

    judged_by: ClassVar[JudgedBy] = JudgedBy.RESULTS
    answers: ClassVar[tuple[()]] = ()
    language: ClassVar[str] = "python"

    functions: tuple[str, ...]
    checks: tuple[ResultCheck, ...]
    documents: tuple[Mapping[str, Any], ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the functions that the model is given, in order."""
        return self.functions


@dataclass(frozen=True)
class Trajectory(Strict):
    """A scenario: an initial config and turns with their ground truth.

    Attributes:
        id: Unique in its data set.
        category: What makes it hard.
        environments: Names of the backends, in the order in which their states are compared.
        config: Backend name to its initial config.
        turns: At least one.
        excluded: Functions of these backends that are never offered.
        long_context: The bulky material that is mixed in, or None.
        expects: What a single turn is checked against; None where the state is compared.
        provenance: Where the trajectory comes from, as short texts by keyword.
        labels: What of its scenario needs thought.
    """

    id: str
    category: Category
    environments: tuple[str, ...]
    config: Mapping[str, Mapping[str, Any]]
    turns: tuple[Turn, ...]
    excluded: tuple[str, ...] = ()
    long_context: LongContext | None = None
    expects: ExpectedCalls | ExpectedResults | None = None
    provenance: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[Label, ...] = ()

    def __repr__(self) -> str:
        """Return what it is; config and turns are no matter of one line."""
        turns, worlds = len(self.turns), ", ".join(self.environments)
        return f"Trajectory({self.id!r}, {self.category}: turns {turns}, {worlds or 'no backend'})"

    @property
    def tier(self) -> Tier:
        """Whether its scenario needs thought."""
        return Tier.HARD if self.labels else Tier.PLAIN

    @property
    def judged_by(self) -> JudgedBy:
        """What of it is compared."""
        if isinstance(self.expects, ExpectedCalls) and self.category is Category.SQL:
            return JudgedBy.STATEMENTS
        return self.expects.judged_by if self.expects else JudgedBy.STATE

    @property
    def calls(self) -> Kind | None:
        """How its calls are compared, where they are; several SQL statements as parallel calls."""
        several = self.category is Category.SQL and self.known_calls > 1
        return Kind.PARALLEL if several else FACTS[self.category].calls

    @property
    def is_executed(self) -> bool:
        """Whether calls are executed as they are made; SQL statements are by their judge alone."""
        return self.judged_by not in (JudgedBy.CALLS, JudgedBy.STATEMENTS)

    @property
    def language(self) -> str:
        """What the arguments of calls are written in."""
        return self.expects.language if self.expects else "python"

    @property
    def functions(self) -> tuple[str, ...] | None:
        """Names of the functions that its model is given, in order; None for those of backends."""
        return self.expects.names if self.expects else None

    @property
    def documents(self) -> tuple[Mapping[str, Any], ...] | None:
        """Documents of these functions, where the entry brings them; None where backends do."""
        return self.expects.documents if self.expects else None

    @property
    def opening(self) -> str:
        """What is said first, on one line."""
        said = (message.content for turn in self.turns for message in turn.messages)
        return " ".join(next(filter(None, said), "").split())

    @property
    def known_calls(self) -> int:
        """How many calls its ground truth has, or are expected."""
        answers = len(self.expects.answers) if self.expects else 0
        return answers or sum(len(turn.ground_truth) for turn in self.turns)

    @cached_property
    def held_out(self) -> tuple[str, ...]:
        """Functions that are not offered from the start but in some later turn."""
        return tuple([name for turn in self.turns for name in turn.offers])

    @property
    def base(self) -> str:
        """What this trajectory and others were made from; they are no independent samples."""
        return self.provenance.get("base", self.id)

    def offered(self, functions: Sequence[str], turn: int) -> frozenset[str]:
        """Return which functions of all those of its backends may be called in a turn."""
        if self.functions is not None:
            # No provider takes a dot in a name, so that records of calls may have underscores.
            return frozenset([*self.functions, *[n.replace(".", "_") for n in self.functions]])
        return frozenset(functions) - self.withheld(turn)

    def withheld(self, turn: int) -> frozenset[str]:
        """Return which functions are left out or not handed over yet in a turn."""
        handed_over = [earlier.offers for earlier in self.turns[: turn + 1]]
        return frozenset([*self.excluded, *self.held_out]).difference(*handed_over)
