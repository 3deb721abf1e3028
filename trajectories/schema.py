"""Types of a trajectory: environments, turns, ground truth and category."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from checkers.calls.call_entry import ComparisonKind, Language
from envs.errors import require_type
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    from checkers import required_info
else:
    # BFCL's data has no required information.
    required_info = lazy_module("checkers.required_info")


@lru_cache(maxsize=10_000)
def derive_base(id: str, category: str) -> str:
    """Derive the name of the base entry from an id of BFCL's data or the built-in data.

    >>> derive_base("multi_turn_miss_func_7", "miss_func")
    '7'
    >>> derive_base("miss_func_files_album", "miss_func")
    'base_files_album'
    """
    if category not in MULTI_TURN:
        return id
    of_bfcl, own = f"multi_turn_{category}_", f"{category}_"
    if id.startswith(of_bfcl):
        return id.removeprefix(of_bfcl)
    return f"base_{id.removeprefix(own)}" if id.startswith(own) else id


class Category(StrEnum):
    """Categories of trajectories, named as in BFCL."""

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

    AGENTDOJO = "agentdojo"
    DIALOGUE = "dialogue"


class JudgingMethod(StrEnum):
    """Method of judging an entry, named after the data that is compared."""

    STATE = "state"
    """Several turns in one session; the state is compared."""
    CALLS = "calls"
    """One turn; calls are compared, not executed."""
    RESULTS = "results"
    """One turn; calls are executed, and results are compared."""
    STATEMENTS = "statements"
    """One turn; SQL statements are executed, or compared as calls if there is no database."""
    CRITERIA = "criteria"
    """Calls are executed; an extension judges the whole episode."""


class CategoryFacts(NamedTuple):
    """Properties of a category."""

    judged_by: JudgingMethod
    file: str
    folder: str
    """BFCL's folder of result files."""
    calls: ComparisonKind | None = None
    """How calls are compared; None if they are not compared."""
    language: Language = Language.PYTHON
    status: Literal["published", "retired", "ours"] = "published"
    """``retired`` if BFCL no longer scores the category, ``ours`` if BFCL does not have it.
    """
    group: str | None = None
    """Innermost group in the score table, if any."""
    in_text: bool = False
    """Whether the category needs a model that writes calls as text."""
    weight: int = 1
    """Weight of the category in BFCL's group ``live``: its number of entries."""


def _make_state_facts(name: str, group: str | None = "multi-turn") -> CategoryFacts:
    return CategoryFacts(JudgingMethod.STATE, f"multi_turn_{name}", "multi_turn", group=group)


def _make_call_facts(name: str, kind: ComparisonKind, group: str = "non-live") -> CategoryFacts:
    return CategoryFacts(JudgingMethod.CALLS, name, "non_live", kind, group=group)


def _make_simple_facts(language: Language) -> CategoryFacts:
    facts = _make_call_facts(f"simple_{language}", ComparisonKind.SIMPLE, "simple")
    return facts._replace(language=language)


def _make_live_facts(
    name: str, kind: ComparisonKind, group: str | None = "live", weight: int = 1
) -> CategoryFacts:
    file = f"live_{name}"
    return CategoryFacts(JudgingMethod.CALLS, file, "live", kind, group=group, weight=weight)


def _make_no_call_facts(name: str) -> CategoryFacts:
    return CategoryFacts(
        JudgingMethod.CALLS, name, "other", ComparisonKind.IRRELEVANCE, status="retired"
    )


def _make_result_facts(name: str) -> CategoryFacts:
    return CategoryFacts(JudgingMethod.RESULTS, name, "other", status="retired", group="executable")


FACTS: Mapping[Category, CategoryFacts] = {
    Category.BASE: _make_state_facts("base"),
    Category.MISSING_PARAMETER: _make_state_facts("miss_param"),
    Category.MISSING_FUNCTION: _make_state_facts("miss_func"),
    Category.LONG_CONTEXT: _make_state_facts("long_context"),
    Category.COMPOSITE: _make_state_facts("composite", None)._replace(status="retired"),
    Category.SIMPLE_PYTHON: _make_simple_facts(Language.PYTHON),
    Category.SIMPLE_JAVA: _make_simple_facts(Language.JAVA),
    Category.SIMPLE_JAVASCRIPT: _make_simple_facts(Language.JAVASCRIPT),
    Category.MULTIPLE: _make_call_facts("multiple", ComparisonKind.MULTIPLE),
    Category.PARALLEL: _make_call_facts("parallel", ComparisonKind.PARALLEL),
    Category.PARALLEL_MULTIPLE: _make_call_facts("parallel_multiple", ComparisonKind.PARALLEL),
    Category.IRRELEVANCE: _make_call_facts(
        "irrelevance", ComparisonKind.IRRELEVANCE, "irrelevance"
    ),
    Category.LIVE_SIMPLE: _make_live_facts("simple", ComparisonKind.SIMPLE, weight=258),
    Category.LIVE_MULTIPLE: _make_live_facts("multiple", ComparisonKind.MULTIPLE, weight=1053),
    Category.LIVE_PARALLEL: _make_live_facts("parallel", ComparisonKind.PARALLEL, weight=16),
    Category.LIVE_PARALLEL_MULTIPLE: _make_live_facts(
        "parallel_multiple", ComparisonKind.PARALLEL, weight=24
    ),
    Category.LIVE_IRRELEVANCE: _make_live_facts(
        "irrelevance", ComparisonKind.IRRELEVANCE, "irrelevance"
    ),
    Category.LIVE_RELEVANCE: _make_live_facts("relevance", ComparisonKind.RELEVANCE, None),
    Category.CHAT: _make_no_call_facts("chat")._replace(status="ours"),
    Category.CHATABLE: _make_no_call_facts("chatable"),
    Category.SQL: CategoryFacts(
        JudgingMethod.STATEMENTS, "sql", "other", ComparisonKind.SIMPLE, status="retired"
    ),
    Category.EXEC_SIMPLE: _make_result_facts("exec_simple"),
    Category.EXEC_MULTIPLE: _make_result_facts("exec_multiple"),
    Category.EXEC_PARALLEL: _make_result_facts("exec_parallel"),
    Category.EXEC_PARALLEL_MULTIPLE: _make_result_facts("exec_parallel_multiple"),
    Category.NESTED: _make_result_facts("nested")._replace(status="ours", group=None, in_text=True),
    Category.REST: _make_result_facts("rest"),
    Category.AGENTDOJO: CategoryFacts(JudgingMethod.CRITERIA, "agentdojo", "other", status="ours"),
    Category.DIALOGUE: CategoryFacts(JudgingMethod.CRITERIA, "dialogue", "other", status="ours"),
}
"""Properties of categories, in display order."""


def _filter_by_method(what: JudgingMethod) -> tuple[Category, ...]:
    return tuple([category for category, facts in FACTS.items() if facts.judged_by is what])


MULTI_TURN = _filter_by_method(JudgingMethod.STATE)
"""Multi-turn categories, judged by state."""
SINGLE_TURN = (
    *_filter_by_method(JudgingMethod.CALLS),
    *_filter_by_method(JudgingMethod.STATEMENTS),
)
"""Single-turn categories; the checker judges the calls or the SQL statements."""
EXECUTABLE = _filter_by_method(JudgingMethod.RESULTS)
RETIRED = tuple(
    [c for c, facts in FACTS.items() if facts.status == "retired" and c not in MULTI_TURN]
)
"""Single-turn categories that BFCL no longer scores."""


class DifficultyLabel(StrEnum):
    """What makes a scenario difficult."""

    PRECONDITION = "precondition"
    """The request depends on state that the user does not mention."""
    LOOK_UP = "look_up"
    """An argument comes from a chain of three or more calls; each call uses an earlier result."""
    RECOVERY = "recovery"
    """The obvious call fails with an error message, and different calls reach the goal."""
    LASTING = "lasting"
    """An instruction applies several turns later."""
    REVISION = "revision"
    """The user changes or withdraws a request that the agent has already fulfilled."""
    CONDITION = "condition"
    """A condition decides which action is right."""
    RELATIVE = "relative"
    """Dates, amounts or units have to be calculated from words."""
    DISTRACTOR = "distractor"
    """The data contains the right item, items with similar names, and finished items."""
    THREE_WORLDS = "three_worlds"
    """Results of one backend are arguments for another; three or more backends are involved."""
    IRREVERSIBLE = "irreversible"
    """The user allows an irreversible action only under a condition that is not met."""
    TRACKING = "tracking"
    """State must be tracked across ten turns or more; these scenarios form the tier ``expert``."""
    CONSTRAINTS = "constraints"
    """Several constraints interact."""
    OUTAGE = "outage"
    """A function fails for a while, or for a whole turn."""
    DECLINE = "decline"
    """A request is impossible or forbidden; the model should decline it and give the reason."""
    CONFIRMATION = "confirmation"
    """An irreversible action waits for the user's confirmation."""


class Subset(StrEnum):
    """Named subsets of a data set."""

    PLAIN = "plain"
    HARD = "hard"
    EXPERT = "expert"
    MINI = "mini"
    """Sixty built-in entries that rank models in almost the same order as all entries."""


class Tier(StrEnum):
    """Difficulty of a scenario."""

    PLAIN = "plain"
    """Without labels."""
    HARD = "hard"
    """Scenario with at least one label."""
    EXPERT = "expert"
    """Scenario with the label ``tracking``: ten turns or more."""


class StrictRecord:
    """Base of records; pydantic refuses unknown fields in these records.

    The methods replace those that ``dataclass`` would generate for each record, which is slow.
    """

    __pydantic_config__: ClassVar[Mapping[str, str]] = {"extra": "forbid"}
    __match_args__: ClassVar[tuple[str, ...]]

    def __eq__(self, other: object) -> bool:
        """Compare the fields of two records of the same class."""
        if type(other) is not type(self) or not isinstance(other, StrictRecord):
            return NotImplemented
        return self._values() == other._values()

    def __hash__(self) -> int:
        """Return the hash of the fields."""
        return hash(self._values())

    def __repr__(self) -> str:
        """Return the class and the fields."""
        pairs = zip(self.__match_args__, self._values(), strict=True)
        return f"{type(self).__name__}({', '.join([f'{name}={value!r}' for name, value in pairs])})"

    def _values(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self.__match_args__])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Message(StrictRecord):
    """Chat message that the model reads."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LongContextSettings(StrictRecord):
    """Source of a trajectory's long-context material."""

    source: Literal["generated", "bfcl"]
    """Whether the material is generated from a seed or read from BFCL's data."""
    seed: int = 0
    """Seed of the material; equal seeds and sizes give equal material."""
    items: int = 0
    """Number of generated items per kind."""
    without: tuple[str, ...] = ()
    """Words and days that generated material must avoid."""
    kinds: tuple[str, ...] = ()
    """Kinds of items, such as ``tickets``, that get the full number of items. Other kinds get few
    items. By default, all kinds get the full number.
    """


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AlternativeRead(StrictRecord):
    """Accepted alternative to one ground-truth call of a read function."""

    call: str
    """Ground-truth call, as written in its turn."""
    instead: tuple[str, ...]
    """Calls that the checker accepts in place of ``call``."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Turn(StrictRecord):
    """One turn: the user's message and the ground truth."""

    messages: tuple[Message, ...]
    """Messages of the user; empty if the turn only offers new functions."""
    ground_truth: tuple[str, ...]
    """Right calls, as strings such as ``cd(folder='x')``; empty if no call is needed."""
    offers: tuple[str, ...] = ()
    """Held-out functions that are offered from this turn on."""
    accepts: tuple[AlternativeRead, ...] = ()
    """Alternatives to ground-truth calls of read functions."""
    tells: tuple[required_info.Fact, ...] = ()
    """Required information in the answer at the end of the turn."""
    ordered: tuple[tuple[str, ...], ...] = ()
    """Groups of ground-truth calls. The model must make the calls of a group in the listed order.
    A group of one call fixes the order of list items.
    """
    never: tuple[str, ...] = ()
    """Calls that the user prohibits from this turn on; omitted arguments match every value."""
    stays: bool = False
    """Whether the final working directory of the turn is compared."""
    outages: Mapping[str, int] = field(default_factory=dict)
    """Maps a function to N: the first N calls of the function in the turn fail and change nothing.
    0 means all calls.
    """

    @property
    def words(self) -> str:
        """Text of the user's messages."""
        return "\n".join(each.content for each in self.messages if each.role == "user")

    @property
    def only_asks(self) -> bool:
        """Whether the turn needs no call: the answer only reports earlier results."""
        return bool(self.tells) and not self.ground_truth


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedCalls(StrictRecord):
    """Expected calls of a single-turn entry; the model's calls are compared, not executed."""

    judged_by: ClassVar[JudgingMethod] = JudgingMethod.CALLS

    functions: tuple[Mapping[str, Any], ...]
    """Function documents for the model: ``name``, ``description`` and ``parameters`` in BFCL's
    dialect of JSON Schema.
    """
    answers: tuple[Mapping[str, Mapping[str, Sequence[Any]]], ...] = ()
    """Right calls, each in the form ``{function: {parameter: [allowed values]}}``. An empty string
    among the values marks an optional parameter. Without answers, the category determines whether a
    call is right.
    """
    language: Literal["python", "java", "javascript"] = "python"
    """Language of arguments."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the functions for the model, in order."""
        return tuple([document["name"] for document in self.functions])

    @property
    def documents(self) -> tuple[Mapping[str, Any], ...]:
        """Function documents."""
        return self.functions


@dataclass(frozen=True, eq=False, repr=False)
class ResultCheck(StrictRecord):
    """Rule for comparing a result with the ground truth."""

    by: Literal["exact", "tolerance", "structure"] = "exact"
    """``exact``: equal values; ``tolerance``: near numbers; ``structure``: equal types and keys."""
    tolerance: float = 0.2
    """Maximum relative difference of numbers, for ``tolerance``."""


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedResults(StrictRecord):
    """Expected results of a single-turn entry with executed calls."""

    judged_by: ClassVar[JudgingMethod] = JudgingMethod.RESULTS
    answers: ClassVar[tuple[()]] = ()
    language: ClassVar[str] = "python"

    functions: tuple[str, ...]
    """Names of the offered functions of the environments, in order."""
    checks: tuple[ResultCheck, ...]
    """One check per ground-truth call, in order."""
    documents: tuple[Mapping[str, Any], ...] | None = None
    """Function documents of the entry; None means the backends' documents."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the functions for the model, in order."""
        return self.functions


# Traces keep the functions of every turn, so that equal sets should be one object.
@lru_cache(maxsize=1_000)
def _subtract(functions: tuple[str, ...], withheld: frozenset[str]) -> frozenset[str]:
    return frozenset(functions) - withheld


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory(StrictRecord):
    """An entry: initial config, turns, and the ground truth of each turn."""

    id: str
    """Identifier, unique in the data set."""
    category: Category
    """Category of the entry."""
    environments: tuple[str, ...]
    """Names of the backends, in the order of comparison."""
    config: Mapping[str, Mapping[str, Any]]
    """Initial config of each backend."""
    turns: tuple[Turn, ...]
    """One or more turns."""
    excluded: tuple[str, ...] = ()
    """Backend functions that are never offered."""
    long_context: LongContextSettings | None = None
    """Long-context material, if any."""
    expects: ExpectedCalls | ExpectedResults | None = None
    """Expected calls or results of a single turn; None if the checker compares states."""
    provenance: Mapping[str, str] = field(default_factory=dict)
    """Origin of the entry, such as ``base`` with the id of the base entry."""
    labels: tuple[DifficultyLabel, ...] = ()
    """Difficulties of the scenario."""
    extensions: Mapping[str, Any] = field(default_factory=dict)
    """Maps extensions to their data, such as an attack. These extensions take part in judging."""
    tags: tuple[str, ...] = ()
    """Groups chosen by the author, such as ``refunds``, for filters and tables."""
    comment: str = ""
    """Note of the author; no model sees it."""

    def __repr__(self) -> str:
        """Return the trajectory in one line."""
        turns, worlds = len(self.turns), ", ".join(self.environments)
        return f"Trajectory({self.id!r}, {self.category}: turns {turns}, {worlds or 'no backend'})"

    @property
    def tier(self) -> Tier:
        """Difficulty of the scenario."""
        if DifficultyLabel.TRACKING in self.labels:
            return Tier.EXPERT
        return Tier.HARD if self.labels else Tier.PLAIN

    @property
    def judged_by(self) -> JudgingMethod:
        """Judging method."""
        if self.expects:
            sql = isinstance(self.expects, ExpectedCalls) and self.category is Category.SQL
            return JudgingMethod.STATEMENTS if sql else self.expects.judged_by
        by_criteria = FACTS[self.category].judged_by is JudgingMethod.CRITERIA
        return JudgingMethod.CRITERIA if by_criteria else JudgingMethod.STATE

    @property
    def calls(self) -> ComparisonKind | None:
        """Kind of comparison of the calls. Several SQL statements count as parallel calls."""
        several = self.category is Category.SQL and self.known_calls > 1
        return ComparisonKind.PARALLEL if several else FACTS[self.category].calls

    @property
    def is_executed(self) -> bool:
        """Whether the episode executes the calls."""
        return self.judged_by not in (JudgingMethod.CALLS, JudgingMethod.STATEMENTS)

    @property
    def language(self) -> str:
        """Language of arguments."""
        return self.expects.language if self.expects else "python"

    @property
    def functions(self) -> tuple[str, ...] | None:
        """Names of the offered functions; None for all functions."""
        return self.expects.names if self.expects else None

    @property
    def documents(self) -> tuple[Mapping[str, Any], ...] | None:
        """Function documents of the entry; None means the backends' documents."""
        return self.expects.documents if self.expects else None

    @property
    def opening(self) -> str:
        """First message, in one line."""
        said = (message.content for turn in self.turns for message in turn.messages)
        return " ".join(next(filter(None, said), "").split())

    @property
    def known_calls(self) -> int:
        """Number of calls in the ground truth or in the expected calls."""
        answers = len(self.expects.answers) if self.expects else 0
        return answers or sum(len(turn.ground_truth) for turn in self.turns)

    @cached_property
    def held_out(self) -> tuple[str, ...]:
        """Functions that are offered only from a later turn on."""
        return tuple([name for turn in self.turns for name in turn.offers])

    @property
    def base(self) -> str:
        """Id of the base entry of a variant; for every other entry, the id of the entry itself."""
        return self.provenance.get("base", self.id)

    def offered(self, functions: Sequence[str], turn: int) -> frozenset[str]:
        """Return the backends' functions that may be called in a turn."""
        if self.functions is not None:
            # Recorded calls may have underscores, since providers refuse dots in names.
            return frozenset([*self.functions, *[n.replace(".", "_") for n in self.functions]])
        require_type("functions", functions, tuple, Collection, described="names of functions")
        return _subtract(tuple(functions), self.withheld(turn))

    def withheld(self, turn: int) -> frozenset[str]:
        """Return the excluded functions, and the functions that a later turn adds."""
        require_type("turn", turn, int, described="the number of a turn")
        handed_over = [earlier.offers for earlier in self.turns[: turn + 1]]
        return frozenset([*self.excluded, *self.held_out]).difference(*handed_over)
