"""What is written about: a walk over the function graph, a persona, and examples.

A walk is executable as it is drawn. It is taken where an entry made of it would be sound whatever
its words are: no call is superfluous, what is asked for twice is not, and a change is noticed.
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

from checkers.told import literals
from envs.calls import parse_call
from extensions.authoring.graph.graph import TOOLS, Graph, blanked
from extensions.authoring.graph.sampling import Binding, Origin, PathStep, sample
from extensions.authoring.graph.sampling import Path as Walk
from extensions.authoring.rules.answers import PROVENANCE, check_provenance
from extensions.authoring.rules.entry import Entry
from extensions.authoring.rules.problem import Severity
from extensions.authoring.validate import rules_named, validate
from extensions.generation.entries.kinds import Focus, Groups, InstructionKind, focuses
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.jsonl import read_text
from trajectories.schema import Category, Message, Trajectory, Turn

PERSONAS = Path(__file__).parents[3] / "configs" / "generation" / "personas.txt"
Shown = Literal["paths", "functions"]
"""What a writer is shown: a path of calls with results, or functions and the config."""

BLANK = "…"
"""What stands for a value that a result gives."""
EXAMPLES = 3
"""Entries of our own that a writer is shown."""
_DRAWS = 300
"""Walks that are drawn for one task at most."""
_WISHES = 4
"""Of one walk, at most."""
_RULES = ("EXEC", "CONFIG", "UNIQUE", "OFFER", "BREVITY", "DETERMINISM", "NULL", "DETECT")
"""What can be said of an entry before it has words."""
_FUNCTIONS, _PER_BACKEND = (2, 5), 3
"""How many functions a writer is shown who is shown no calls, and of each backend at most."""


@dataclass(frozen=True)
class WritingTask:
    """What a writer is asked to put into words."""

    kind: InstructionKind
    number: int
    """Which one of its kind, from 0."""
    focus: Focus
    walk: Walk
    persona: str
    examples: tuple[Trajectory, ...]
    origin: Shown
    bare: Trajectory
    """The entry without words; its calls are hidden from a writer who is shown functions."""

    @property
    def key(self) -> str:
        """Its name within a run."""
        return f"{self.kind}/{self.number}"

    @cached_property
    def functions(self) -> tuple[str, ...]:
        """The functions of the walk, in order, each once."""
        return tuple(dict.fromkeys(parse_call(step.text).name for step in self.walk.steps))

    @cached_property
    def steps(self) -> tuple[tuple[int, PathStep], ...]:
        """The steps of all turns, each with its turn."""
        return tuple([(n, step) for n, turn in enumerate(self.walk.turns) for step in turn])

    @cached_property
    def played(self) -> Entry:
        """The entry with its calls made."""
        return Entry(dataset_of(self.bare), self.bare)

    @cached_property
    def told(self) -> tuple[tuple[int, str, Any], ...]:
        """The values that the user has to tell, each with its turn and argument."""
        return tuple(
            [
                (turn, binding.argument, value)
                for step, (turn, path_step) in zip(self.played.steps, self.steps, strict=True)
                for binding in path_step.bindings
                if binding.origin is not Origin.RESULT
                for value in literals(self.played.arguments(step.call)[binding.argument])
            ]
        )

    @property
    def told_values(self) -> frozenset[Any]:
        """The values that the user has to tell."""
        return frozenset([value for _, _, value in self.told])

    def left_of(self, wishes: Sequence[str]) -> list[str]:
        """Return the functions and edges that the walk does not go through."""
        reached = {*self.walk.edges, *self.functions}
        return [wish for wish in wishes if wish not in reached]

    def said(self, words: Sequence[str]) -> Trajectory:
        """Return the entry with these words for its turns."""
        turns = [
            replace(turn, messages=(Message("user", text),))
            for turn, text in zip(self.bare.turns, words, strict=True)
        ]
        return replace(self.bare, turns=tuple(turns))


def dataset_of(*trajectories: Trajectory) -> Dataset:
    """Return generated entries as a data set of their own."""
    return Dataset("generated", "", "", {each.id: each for each in trajectories})


class Voices(NamedTuple):
    """The personas of a file."""

    texts: tuple[str, ...]
    sha256: str
    """Hash of the file, in hex."""


def read_personas(path: Path) -> Voices:
    """Read a file of personas: a line each, but for those that begin with ``#``.

    Raises:
        DataError: It cannot be read, or has none.
    """
    text = read_text(path)
    lines = [line.strip() for line in text.splitlines()]
    personas = tuple([line for line in lines if line and not line.startswith("#")])
    if not personas:
        raise DataError(str(path), "has no line with a persona")
    return Voices(personas, sha256(text.encode()).hexdigest())


@dataclass(frozen=True)
class Sampling:
    """How tasks are drawn; the same gives the same."""

    graph: Graph
    groups: Groups
    voices: Voices
    examples: Sequence[Trajectory]
    origin: Shown
    seed: int
    turns: int
    """Of a walk."""
    calls: int
    """Of a turn, at most."""


class Tasks:
    """Draws tasks, never the same calls twice.

    ``drawn`` counts why walks were passed over, by kind and reason, and how many were drawn.

    Raises:
        DataError: There can be none of a kind.
    """

    def __init__(self, how: Sampling, kinds: Iterable[InstructionKind]) -> None:
        self.how = how
        self.drawn: Counter[tuple[InstructionKind, str]] = Counter()
        self._focuses = {kind: focuses(kind, how.groups, how.graph) for kind in kinds}
        self._examples = {
            kind: [t for t in how.examples if how.groups.hold(kind, t.environments)]
            for kind in self._focuses
        }
        self._seen: set[tuple[str, tuple[tuple[str, ...], ...]]] = set()
        self._rules = rules_named(_RULES)

    def draw(self, kind: InstructionKind, number: int, wishes: Sequence[str] = ()) -> WritingTask:
        """Draw the task of a number.

        The walk goes through as many of the wishes, functions and edges, as there is room for.

        Raises:
            DataError: No walk of its kind is sound.
        """
        source = Random(f"{self.how.seed}/{kind}/{number}")
        worlds = [*self.how.graph.worlds]
        reason = ""
        for attempt in range(_DRAWS):
            # What cannot be met soon is not waited for.
            open_wishes = wishes if attempt < _DRAWS // 2 else ()
            focus = self._focus(kind, source, open_wishes)
            wanted = [wish for wish in open_wishes if self._within(wish, focus)]
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
            bare = self._bare(kind, number, walk)
            reason = self._unfit(kind, walk, bare)
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
        raise DataError(
            "--kind", f"{kind}: of {_DRAWS} walks none will do any more, the last for {reason}"
        )

    def _focus(self, kind: InstructionKind, source: Random, wishes: Sequence[str]) -> Focus:
        """Draw where a walk goes: where it can meet a wish, if that can be."""
        found = self._focuses[kind]
        if wishes:
            wish = source.choice(wishes)
            near = [focus for focus in found if self._within(wish, focus)]
            found = near or found
        return source.choice(found)

    def _within(self, wish: str, focus: Focus) -> bool:
        edge = self.how.graph.by_name.get(wish)
        ends = edge.backends if edge else (TOOLS[wish].backend,)
        return set(ends) <= set(focus.backends)

    def _bare(self, kind: InstructionKind, number: int, walk: Walk) -> Trajectory:
        world = self.how.graph.worlds[walk.world]
        id = f"base_{kind.lower()}_s{self.how.seed}_{number:04d}"
        config: Mapping[str, Mapping[str, object]] = {n: world[n] for n in walk.environments}
        turns = tuple([Turn((), calls) for calls in walk.calls])
        return Trajectory(id, Category.BASE, walk.environments, config, turns)

    def _unfit(self, kind: InstructionKind, walk: Walk, bare: Trajectory) -> str:
        """Return why a walk is passed over; empty where it is not."""
        if len(walk.turns) < self.how.turns:
            return "SHORT"
        if not self._is_of(kind, walk):
            return "EDGE"
        if self.how.origin == "functions" and not _few(walk):
            return "FUNCTIONS"
        if (walk.world, walk.calls) in self._seen:
            return "SEEN"
        for problem in validate(dataset_of(bare), [bare], self._rules):
            if problem.severity is not Severity.INFO:
                return problem.rule
        return PROVENANCE if self._is_untellable(walk, bare) else ""

    def _is_untellable(self, walk: Walk, bare: Trajectory) -> bool:
        """Tell whether some value would be in doubt whatever the words are.

        A text of which a result gives a part is in doubt where that part runs on into the rest.
        """
        turns = []
        for turn, steps in zip(bare.turns, walk.turns, strict=True):
            told = [str(value) for step in steps for value in self._told(step)]
            turns.append(replace(turn, messages=(Message("user", "; ".join(told)),)))
        said = replace(bare, turns=tuple(turns))
        found = check_provenance(Entry(dataset_of(said), said))
        return any(problem.severity is not Severity.INFO for problem in found)

    def _told(self, step: PathStep) -> Iterator[Any]:
        """Yield what the user has to tell of a call's arguments."""
        arguments = parse_call(step.text).kwargs
        for binding in step.bindings:
            if binding.origin is Origin.RESULT:
                around = around_value(self.how.graph, binding)
                yield from () if around == BLANK else literals(around)
            else:
                yield from literals(arguments[binding.argument])

    def _is_of(self, kind: InstructionKind, walk: Walk) -> bool:
        """Tell whether a walk goes along an edge, over several backends from one to another."""
        edges = [self.how.graph.by_name[name].backends for name in walk.edges]
        if kind is InstructionKind.I1:
            return bool(edges) and len(walk.environments) == 1
        return self.how.groups.hold(kind, walk.environments) and any(a != b for a, b in edges)


def around_value(graph: Graph, binding: Binding) -> Any:
    """Return an argument that a result gives with a blank for what it gives."""
    template = graph.by_name[binding.place].template
    return blanked(template.kwargs[binding.argument], BLANK)


def _few(walk: Walk) -> bool:
    names = dict.fromkeys(parse_call(step.text).name for step in walk.steps)
    by_backend = Counter(TOOLS[name].backend for name in names)
    least, most = _FUNCTIONS
    return least <= len(names) <= most and max(by_backend.values()) <= _PER_BACKEND
