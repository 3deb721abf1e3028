"""Sampler of paths in the function graph. A path is an executable sequence of calls.

Each call is executed before it is added to a path, so all calls of a path succeed. The path records
the origin of every argument. The same arguments give the same path in every process.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from random import Random
from typing import Any, NamedTuple

from envs.calls import Call, parse_call
from envs.errors import MalformedCall, ToolError
from envs.registry import BACKENDS
from envs.results import Result
from envs.session import Session
from envs.tool import bind
from extensions.authoring.graph.graph import TOOLS, Edge, Graph, fill, find_carried_values, flows

_TRIES = 40
"""A path ends after this number of failed random moves in a row."""


class ValueOrigin(StrEnum):
    """Origin of an argument's value."""

    CONFIG = "config"
    LITERAL = "literal"
    RESULT = "result"


class ArgumentBinding(NamedTuple):
    """Argument with the origin of its value."""

    argument: str
    origin: ValueOrigin
    place: str = ""
    """JSON path in the config, or name of an edge. Empty for a literal."""
    step: int | None = None
    """Index of the step that returned the value, counted across all turns; None if no step
    returned it."""


class PathStep(NamedTuple):
    """One call of a path through the function graph, with the origins of its arguments."""

    text: str
    bindings: tuple[ArgumentBinding, ...]


@dataclass(frozen=True)
class Path:
    """Path in the function graph, divided into turns."""

    world: str
    seed: int
    turns: tuple[tuple[PathStep, ...], ...]

    @cached_property
    def calls(self) -> tuple[tuple[str, ...], ...]:
        """Texts of the calls, turn by turn."""
        return tuple([tuple([step.text for step in turn]) for turn in self.turns])

    @cached_property
    def steps(self) -> tuple[PathStep, ...]:
        """Steps of all turns."""
        return tuple([step for turn in self.turns for step in turn])

    @cached_property
    def environments(self) -> tuple[str, ...]:
        """Backends of the called functions, in the order of ``BACKENDS``."""
        used = {TOOLS[parse_call(step.text).name].backend for step in self.steps}
        return tuple([name for name in BACKENDS if name in used])

    @cached_property
    def edges(self) -> tuple[str, ...]:
        """Names of the used edges, without duplicates."""
        walked = (b.place for step in self.steps for b in step.bindings if b.step is not None)
        return tuple(dict.fromkeys(walked))


Trace = Sequence[tuple[Call, Result]]
"""Calls and their results in one path or trajectory, in order."""


def sample(
    graph: Graph,
    world: str,
    seed: int,
    turns: int,
    calls_per_turn: int,
    want: Sequence[str] | None = None,
    focus: Sequence[str] | None = None,
) -> Path:
    """Sample a path of limited length that first visits the wanted functions and edges.

    Random moves call only functions of the backends in ``focus``. If ``want`` names functions or
    edges, ``focus`` defaults to all backends. If ``want`` is empty, ``focus`` defaults to one to
    three randomly chosen backends.
    """
    random = Random(seed)
    wishes = list(want or ())
    sizes = [calls_per_turn if wishes else random.randint(1, calls_per_turn) for _ in range(turns)]
    backends = list(graph.worlds[world])
    if focus is None:
        focus = backends if wishes else random.sample(backends, random.choice((1, 2, 2, 3)))
    walk = _Walk(graph, world, random, sum(sizes), focus)
    for wish in wishes:
        walk.visit(wish)
    failed = 0
    while walk.room and failed < _TRIES:
        failed = 0 if walk.move() else failed + 1
    return Path(world, seed, tuple(_split(walk.steps, sizes)))


def cover(
    graph: Graph,
    world: str,
    seed: int,
    turns: int,
    calls_per_turn: int,
    missing: Iterable[str],
    limit: int | None = None,
) -> list[Path]:
    """Sample paths that cover the functions and edges in ``missing``.

    The first path uses the seed ``seed``, the next path uses ``seed + 1``, and so on. Sampling
    stops when a path covers no new name.
    """
    paths: list[Path] = []
    left = list(missing)
    while left and (limit is None or len(paths) < limit):
        path = sample(graph, world, seed + len(paths), turns, calls_per_turn, left)
        reached = {*path.edges, *(parse_call(step.text).name for step in path.steps)}
        still = [name for name in left if name not in reached]
        if len(still) == len(left):
            break
        paths.append(path)
        left = still
    return paths


def _split(steps: Sequence[PathStep], sizes: Sequence[int]) -> Iterator[tuple[PathStep, ...]]:
    start = 0
    for size in sizes:
        if start < len(steps):
            yield tuple(steps[start : start + size])
        start += size


class _Walk:
    def __init__(
        self, graph: Graph, world: str, random: Random, length: int, focus: Sequence[str]
    ) -> None:
        self.graph = graph
        self.world = world
        self.random = random
        self.length = length
        self.focus = focus
        self.session = graph.session(world)
        self.config = list(_scalars(graph.worlds[world]))
        self.made: list[tuple[Call, Result]] = []
        self.steps: list[PathStep] = []

    @property
    def room(self) -> int:
        return self.length - len(self.steps)

    def move(self) -> bool:
        """Add a random call; its arguments come from an earlier result or from the graph."""
        edges = [e for e in self._open_edges() if TOOLS[e.target].backend in self.focus]
        if edges and self.random.random() < 0.75:
            target = self.random.choice(list(dict.fromkeys(edge.target for edge in edges)))
            return self._follow(self.random.choice([e for e in edges if e.target == target]))
        names = [n for n in self.graph.starts if TOOLS[n].backend in self.focus]
        return self._start(self.random.choice(names))

    def visit(self, wish: str) -> None:
        """Add calls until the path contains ``wish``; add none if the path would be too long."""
        walked = {binding.place for step in self.steps for binding in step.bindings}
        if wish in walked or any(call.name == wish for call, _ in self.made):
            return
        if wish in self.graph.by_name:
            self._lead(self.graph.by_name[wish])
            return
        if wish in self.graph.starts and self._start(wish):
            return
        into = self.graph.into.get(wish, ())
        for edge in self.random.sample(into, len(into)):
            if self._lead(edge):
                return

    def _lead(self, edge: Edge) -> bool:
        if self._follow(edge):
            return True
        before = self.session, self.made, self.steps
        self.session, self.made, self.steps = self.session.fork(), [*self.made], [*self.steps]
        if self._make(edge.call, {}) and self._follow(edge):
            return True
        self.session, self.made, self.steps = before
        return False

    def _open_edges(self) -> list[Edge]:
        called = {call.name for call, _ in self.made}
        return [edge for edge in self.graph.edges if edge.source in called]

    def _start(self, name: str) -> bool:
        alone = self.graph.alone.get(name)
        if alone is not None and alone.world not in (None, self.world):
            return False
        return self._make(self.random.choice(self.graph.starts[name]), {})

    def _follow(self, edge: Edge) -> bool:
        """Call the target of an edge; the argument comes from the latest result that fits."""
        for index, value in self._values(edge):
            call = fill(edge.template, value)
            if call is not None and self._make(call, {_argument(edge): (edge, index)}):
                return True
        return False

    def _values(self, edge: Edge) -> Iterator[tuple[int, Any]]:
        for index in reversed(range(len(self.made))):
            call, result = self.made[index]
            if call.name == edge.source:
                values = find_carried_values(edge, result.held)
                for value in self.random.sample(values, min(len(values), 8)):
                    yield index, value

    def _make(self, call: Call, bound: Mapping[str, tuple[Edge, int]]) -> bool:
        return self._try(*self._enrich(call, bound)) or self._try(call, bound)

    def _try(self, call: Call, bound: Mapping[str, tuple[Edge, int]]) -> bool:
        if not self.room or any(str(call) == step.text for step in self.steps):
            return False
        session = self.session.fork()
        done = self.graph.prepared(session, call)
        if done is None or len(done[0]) > self.room:
            return False
        # Replayed one by one, because each of them may feed a later call.
        for step in done[0]:
            self.made.append((step, self.session.call(step)))
            own = bound if step is call else {}
            self.steps.append(PathStep(str(step), tuple(self._bindings(step, own))))
        return True

    def _enrich(
        self, call: Call, bound: Mapping[str, tuple[Edge, int]]
    ) -> tuple[Call, Mapping[str, tuple[Edge, int]]]:
        arguments, more = dict(call.kwargs), dict(bound)
        for edge in self.graph.into.get(call.name, ()):
            name = _argument(edge)
            if name in more or name not in arguments:
                continue
            for index, value in self._values(edge):
                filled = fill(edge.template, value)
                if filled is not None:
                    arguments[name], more[name] = filled.kwargs[name], (edge, index)
                    break
        return Call(call.name, (), arguments), more

    def _bindings(
        self, call: Call, bound: Mapping[str, tuple[Edge, int]]
    ) -> Iterator[ArgumentBinding]:
        backend = TOOLS[call.name].backend
        for name, value in call.kwargs.items():
            if name in bound:
                edge, index = bound[name]
                yield ArgumentBinding(name, ValueOrigin.RESULT, edge.name, index)
            elif place := self._place(backend, value):
                yield ArgumentBinding(name, ValueOrigin.CONFIG, place)
            else:
                yield ArgumentBinding(name, ValueOrigin.LITERAL)

    def _place(self, backend: str, value: Any) -> str | None:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return None
        for path, known in self.config:
            same = type(known) is type(value) and known == value
            # Ids are numbers in calls, and text keys in the config.
            same = same or (isinstance(value, int) and known == str(value))
            if same and path.startswith(f"$.{backend}."):
                return path
        return None


def _argument(edge: Edge) -> str:
    return re.split(r"[.\[]", edge.parameter)[0]


def _scalars(value: Any, path: str = "$") -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield f"{path}.{key}", key
            yield from _scalars(member, f"{path}.{key}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _scalars(member, f"{path}[{index}]")
    else:
        yield path, value


@dataclass(frozen=True)
class Coverage:
    """For each function, edge, backend and pair of backends: the number of paths that cover it."""

    paths: int
    functions: Mapping[str, int]
    edges: Mapping[str, int]
    backends: Mapping[str, int]
    pairs: Mapping[tuple[str, str], int]
    missing_functions: tuple[str, ...]
    """Functions that no path calls, although their example call in the graph succeeds."""
    missing_edges: tuple[str, ...]


def trace(session: Session, texts: Iterable[str]) -> Trace:
    """Parse and execute calls; return the well-formed calls with their results."""
    made = []
    for text in texts:
        try:
            call = parse_call(text)
        except MalformedCall:
            continue
        made.append((call, session.call(call)))
    return made


def coverage(graph: Graph, traces: Iterable[Trace]) -> Coverage:
    """Compute the coverage of paths or trajectories.

    An edge leads from a result field to a parameter. Two calls cover the edge if the first call
    returns a value in this field and the second call passes an equal value to this parameter.
    Equality by coincidence counts, too. Both calls must succeed.
    """
    paths = 0
    functions: Counter[str] = Counter()
    edges: Counter[str] = Counter()
    backends: Counter[str] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for calls in traces:
        paths += 1
        made = _bind_successful(graph, calls)
        called = {call.name for call, _ in made}
        used = [b for b in BACKENDS if any(TOOLS[name].backend == b for name in called)]
        functions.update(name for name in TOOLS if name in called)
        edges.update(_find_edges(graph, made))
        backends.update(used)
        pairs.update(combinations(used, 2))
    return Coverage(
        paths,
        functions,
        edges=edges,
        backends=backends,
        pairs=pairs,
        missing_functions=tuple([name for name in graph.functions if name not in functions]),
        missing_edges=tuple([edge.name for edge in graph.edges if edge.name not in edges]),
    )


def _bind_successful(graph: Graph, calls: Trace) -> Trace:
    made = []
    for call, result in calls:
        if call.name in TOOLS and graph.fruitful(call, result):
            with suppress(ToolError):
                arguments = bind(TOOLS[call.name], call.args, call.kwargs)
                made.append((Call(call.name, (), arguments), result))
    return made


def _find_edges(graph: Graph, made: Trace) -> list[str]:
    walked: dict[str, None] = {}
    for index, (call, _) in enumerate(made):
        for edge in graph.into.get(call.name, ()):
            if edge.name not in walked and any(
                earlier.name == edge.source and flows(edge, result.held, call.kwargs)
                for earlier, result in made[:index]
            ):
                walked[edge.name] = None
    return list(walked)
