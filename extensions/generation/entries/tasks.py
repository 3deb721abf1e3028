"""Tasks for writers: a walk over the function graph, a persona, and example entries.

Every walk is executable. A writer gets a walk only if its entry passes all rules that need no user
messages. For example, a rule reports superfluous or repeated calls.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from checkers.known_values import list_literals
from envs.calls import parse_call
from envs.errors import DataError
from extensions.authoring.graph.graph import TOOLS, Graph, blank_argument
from extensions.authoring.graph.sampling import ArgumentBinding, PathStep, ValueOrigin, sample
from extensions.authoring.graph.sampling import Path as Walk
from extensions.authoring.rule_sets import select_rules, validate
from extensions.authoring.rules.finding import Severity
from extensions.authoring.rules.known_values import PROVENANCE, check_provenance
from extensions.authoring.rules.replayed_entry import Entry
from extensions.generation.entries.instruction_kinds import (
    BackendGroups,
    InstructionBackends,
    InstructionKind,
    list_focuses,
)
from trajectories.dataset import Dataset
from trajectories.jsonl import read_text
from trajectories.schema import Category, Message, Trajectory, Turn

PERSONAS = Path(__file__).parents[3] / "configs" / "generation" / "personas.txt"
Shown = Literal["paths", "functions"]
"""Material in the writer's prompt. ``paths``: calls with their results. ``functions``: functions
and the config."""

BLANK = "…"
"""Placeholder for a value from a result."""
EXAMPLES = 3
"""Example entries per task."""
_DRAWS = 300
"""Maximum number of walks that are drawn for a task; the first suitable walk is used."""
_WISHES = 4
"""Maximum number of wishes for a walk. A wish is a function or an edge of ``--want``."""
_RULES = ("EXEC", "CONFIG", "UNIQUE", "OFFER", "BREVITY", "DETERMINISM", "NULL", "DETECT")
"""Rules that an entry must pass before the writer adds the messages."""
_FUNCTIONS, _PER_BACKEND = (2, 5), 3
"""Limits for the method "from functions": functions per task, and functions per backend."""


@dataclass(frozen=True)
class WritingTask:
    """Writing task for a model."""

    kind: InstructionKind
    number: int
    """Number of the task within its kind, starting at 0."""
    focus: InstructionBackends
    walk: Walk
    persona: str
    examples: tuple[Trajectory, ...]
    origin: Shown
    bare: Trajectory
    """Entry without user messages; the writer adds the messages later."""

    @property
    def key(self) -> str:
        """Kind and number of the task."""
        return f"{self.kind}/{self.number}"

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """Distinct functions of the walk, in order."""
        return tuple(dict.fromkeys(parse_call(step.text).name for step in self.walk.steps))

    @cached_property
    def steps(self) -> tuple[tuple[int, PathStep], ...]:
        """Pairs of turn index and step, for all turns."""
        return tuple([(n, step) for n, turn in enumerate(self.walk.turns) for step in turn])

    @cached_property
    def played(self) -> Entry:
        """The entry, after the execution of its calls."""
        return Entry(make_dataset(self.bare), self.bare)

    @cached_property
    def told(self) -> tuple[tuple[int, str, Any], ...]:
        """Values that the user has to state, each with its turn and argument."""
        return tuple(
            [
                (turn, binding.argument, value)
                for step, (turn, path_step) in zip(self.played.steps, self.steps, strict=True)
                for binding in path_step.bindings
                if binding.origin is not ValueOrigin.RESULT
                for value in list_literals(self.played.arguments(step.call)[binding.argument])
            ]
        )

    @property
    def told_values(self) -> frozenset[Any]:
        """Values that the user has to state."""
        return frozenset([value for _, _, value in self.told])

    def left_of(self, wishes: Sequence[str]) -> list[str]:
        """Return the functions and edges that the walk does not cover."""
        reached = {*self.walk.edges, *self.functions}
        return [wish for wish in wishes if wish not in reached]

    def said(self, words: Sequence[str]) -> Trajectory:
        """Return the task's entry with these user messages."""
        turns = [
            replace(turn, messages=(Message("user", text),))
            for turn, text in zip(self.bare.turns, words, strict=True)
        ]
        return replace(self.bare, turns=tuple(turns))


def make_dataset(*trajectories: Trajectory) -> Dataset:
    """Return a data set of generated entries."""
    return Dataset("generated", "", "", {each.id: each for each in trajectories})


class Personas(NamedTuple):
    """The personas of a file."""

    texts: tuple[str, ...]
    sha256: str


def read_personas(path: Path) -> Personas:
    """Read a file of personas, one per line; lines that begin with ``#`` are comments.

    Raises DataError if the file cannot be read, or has no persona.
    """
    text = read_text(path)
    lines = [line.strip() for line in text.splitlines()]
    personas = tuple([line for line in lines if line and not line.startswith("#")])
    if not personas:
        raise DataError(str(path), "has no line with a persona")
    return Personas(personas, sha256(text.encode()).hexdigest())


@dataclass(frozen=True)
class TaskSampling:
    """Settings for random tasks. Equal settings give equal tasks."""

    graph: Graph
    groups: BackendGroups
    voices: Personas
    examples: Sequence[Trajectory]
    origin: Shown
    seed: int
    turns: int
    """Number of turns of a random walk through the function graph."""
    calls: int
    """Maximum calls of a turn."""


class TaskSource:
    """Source of tasks with distinct calls.

    ``drawn`` counts walks. The key (kind, "") counts all walks of a kind; the key (kind, reason)
    counts the walks that a rule refused for this reason.

    Raises DataError if a kind has no backends.
    """

    def __init__(self, how: TaskSampling, kinds: Iterable[InstructionKind]) -> None:
        self.how = how
        self.drawn: Counter[tuple[InstructionKind, str]] = Counter()
        self._focuses = {kind: list_focuses(kind, how.groups, how.graph) for kind in kinds}
        self._examples = {
            kind: [t for t in how.examples if how.groups.hold(kind, t.environments)]
            for kind in self._focuses
        }
        self._seen: set[tuple[str, tuple[tuple[str, ...], ...]]] = set()
        self._rules = select_rules(_RULES)

    def draw(self, kind: InstructionKind, number: int, wishes: Sequence[str] = ()) -> WritingTask:
        """Draw the task with this number. The task's walk contains ``wishes``, if possible.

        Raises DataError if no walk of the kind is suitable.
        """
        source = Random(f"{self.how.seed}/{kind}/{number}")
        worlds = [*self.how.graph.worlds]
        reason = ""
        for attempt in range(_DRAWS):
            # After half of the draws, wishes that do not fit are dropped.
            open_wishes = wishes if attempt < _DRAWS // 2 else ()
            focus = self._draw_focus(kind, source, open_wishes)
            wanted = [wish for wish in open_wishes if self._is_within(wish, focus)]
            wanted = source.sample(wanted, min(len(wanted), source.randint(1, _WISHES)))
            seed, world = source.getrandbits(32), source.choice(worlds)
            walk = sample(
                self.how.graph,
                world,
                seed=seed,
                turns=self.how.turns,
                calls_per_turn=self.how.calls,
                want=wanted,
                focus=focus.backends,
            )
            self.drawn[kind, ""] += 1
            bare = self._make_bare(kind, number, walk)
            reason = self._refuse(kind, walk, bare)
            if not reason:
                self._seen.add((world, walk.calls))
                examples = self._examples[kind]
                return WritingTask(
                    kind,
                    number,
                    focus=focus,
                    walk=walk,
                    persona=source.choice(self.how.voices.texts),
                    examples=tuple(source.sample(examples, min(EXAMPLES, len(examples)))),
                    origin=self.how.origin,
                    bare=bare,
                )
            self.drawn[kind, reason] += 1
        message = (
            f"{kind}: none of {_DRAWS} random walks is suitable; reason of the last one: {reason}"
        )
        raise DataError("--kind", message)

    def _draw_focus(
        self, kind: InstructionKind, source: Random, wishes: Sequence[str]
    ) -> InstructionBackends:
        """Draw backends, if possible the backends of a random wanted function or edge."""
        found = self._focuses[kind]
        if wishes:
            wish = source.choice(wishes)
            found = [focus for focus in found if self._is_within(wish, focus)] or found
        return source.choice(found)

    def _is_within(self, wish: str, focus: InstructionBackends) -> bool:
        edge = self.how.graph.by_name.get(wish)
        ends = edge.backends if edge else (TOOLS[wish].backend,)
        return set(ends) <= set(focus.backends)

    def _make_bare(self, kind: InstructionKind, number: int, walk: Walk) -> Trajectory:
        world = self.how.graph.worlds[walk.world]
        id = f"base_{kind.lower()}_s{self.how.seed}_{number:04d}"
        config: Mapping[str, Mapping[str, object]] = {n: world[n] for n in walk.environments}
        turns = tuple([Turn((), calls) for calls in walk.calls])
        return Trajectory(id, Category.BASE, walk.environments, config, turns)

    def _refuse(self, kind: InstructionKind, walk: Walk, bare: Trajectory) -> str:
        if len(walk.turns) < self.how.turns:
            return "SHORT"
        if not self._is_of(kind, walk):
            return "EDGE"
        if self.how.origin == "functions" and not _has_few_functions(walk):
            return "FUNCTIONS"
        if (walk.world, walk.calls) in self._seen:
            return "SEEN"
        for finding in validate(make_dataset(bare), [bare], self._rules):
            if finding.severity is not Severity.INFO:
                return finding.rule
        return PROVENANCE if self._has_unclear_value(walk, bare) else ""

    def _has_unclear_value(self, walk: Walk, bare: Trajectory) -> bool:
        """Tell whether the rule PROVENANCE would report a value of the task."""
        turns = []
        for turn, steps in zip(bare.turns, walk.turns, strict=True):
            told = [str(value) for step in steps for value in self._list_told(step)]
            turns.append(replace(turn, messages=(Message("user", "; ".join(told)),)))
        said = replace(bare, turns=tuple(turns))
        found = check_provenance(Entry(make_dataset(said), said))
        return any(finding.severity is not Severity.INFO for finding in found)

    def _list_told(self, step: PathStep) -> Iterator[Any]:
        arguments = parse_call(step.text).kwargs
        for binding in step.bindings:
            if binding.origin is ValueOrigin.RESULT:
                around = blank_result_part(self.how.graph, binding)
                yield from () if around == BLANK else list_literals(around)
            else:
                yield from list_literals(arguments[binding.argument])

    def _is_of(self, kind: InstructionKind, walk: Walk) -> bool:
        edges = [self.how.graph.by_name[name].backends for name in walk.edges]
        if kind is InstructionKind.I1:
            return bool(edges) and len(walk.environments) == 1
        return self.how.groups.hold(kind, walk.environments) and any(a != b for a, b in edges)


def blank_result_part(graph: Graph, binding: ArgumentBinding) -> Any:
    """Return an argument in which a placeholder replaces the value from a result."""
    template = graph.by_name[binding.place].template
    return blank_argument(template.kwargs[binding.argument], BLANK)


def _has_few_functions(walk: Walk) -> bool:
    names = dict.fromkeys(parse_call(step.text).name for step in walk.steps)
    by_backend = Counter(TOOLS[name].backend for name in names)
    least, most = _FUNCTIONS
    return least <= len(names) <= most and max(by_backend.values()) <= _PER_BACKEND
