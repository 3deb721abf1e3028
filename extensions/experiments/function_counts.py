"""Entries that offer a given number of functions: the needed functions, and distractors.

The backends of distractors are added with their example configs, so the model can call distractors.
If the model calls a distractor, the state may change and no longer match the ground truth. User
messages and ground truth do not change.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from envs.calls import Call, list_inner_calls
from envs.errors import DataError
from envs.lazy_modules import lazy_module
from envs.registry import BACKENDS, backend_class, get_example_file, list_tools, load_library
from envs.session import Session
from envs.tool import Document as Document
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import load_session
from trajectories.replay_queries import read_truth_calls
from trajectories.schema import ExpectedCalls, ExpectedResults, JudgingMethod, Trajectory

if TYPE_CHECKING:
    from envs import schema
else:
    # It loads pydantic, which takes longer than most runs take to start.
    schema = lazy_module("envs.schema")

Distractors = Literal["far", "near"]
Similar = Callable[[Sequence[Document]], Sequence[Sequence[float]]]
"""Function that returns a similarity matrix of function documents."""

MAX_FUNCTIONS = 512
"""Maximum number of functions of an entry; no provider accepts more, and some accept only 128."""


class WideningSettings(NamedTuple):
    """Number and kind of the functions that an entry offers."""

    tools: int | Literal["need", "all"]
    """A number, ``all``, or ``need`` (only the functions of the ground truth)."""
    distractors: Distractors = "far"
    """``far`` prefers functions of other backends. ``near`` prefers the most similar functions."""
    seed: int = 0
    """Seed of the distractors. With the same seed, a longer list contains each shorter list."""


class WidenedEntry(NamedTuple):
    """Copy of an entry that offers the requested number of functions."""

    trajectory: Trajectory
    raised: bool
    """Whether the entry needs more functions than requested."""


def list_needed_functions(trajectory: Trajectory) -> tuple[str, ...]:
    """Return an entry's held-out functions, and the functions of its ground-truth calls."""
    if isinstance(trajectory.expects, ExpectedCalls):
        return tuple(dict.fromkeys(name for each in trajectory.expects.answers for name in each))
    calls = [call for turn in trajectory.turns for call in read_truth_calls(turn)]
    found = [c.name for c in calls if isinstance(c, Call)]
    found += [inner.name for call in calls for inner in list_inner_calls(call)]
    return tuple(dict.fromkeys([*found, *trajectory.held_out]))


def widened(
    dataset: Dataset, widening: WideningSettings, similar: Similar, ids: Iterable[str]
) -> tuple[dict[str, WidenedEntry], list[str]]:
    """Return entries that offer the requested number of functions, and the ids of omitted entries.

    Irrelevance and relevance entries are omitted, because a distractor might fit the request.

    Raises DataError if more functions would be offered than any provider accepts.
    """
    pool = _DistractorPool(dataset, similar)
    found: dict[str, WidenedEntry] = {}
    left_out = []
    for id in ids:
        trajectory = dataset.trajectories[id]
        if isinstance(trajectory.expects, ExpectedCalls) and not trajectory.expects.answers:
            left_out.append(id)
        else:
            found[id] = _widen(trajectory, widening, pool)
    return found, left_out


@cache
def example_config(environment: str) -> Mapping[str, Any]:
    """Return the example config of a backend; without an example, return an empty config."""
    path = get_example_file(backend_class(environment))
    if not path.is_file():
        return {}
    config: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")).get(environment, {})
    return config


class _DistractorPool:
    def __init__(self, dataset: Dataset, similar: Similar) -> None:
        self.dataset = dataset
        self._similar = similar
        self._documents: dict[str, list[Document]] = {}
        self._near: dict[str, tuple[dict[str, int], Sequence[Sequence[float]]]] = {}

    def nearness(
        self, kind: str, documents: Sequence[Document], need: Iterable[str]
    ) -> Callable[[str], float]:
        """Return a function that rates a name by its highest similarity to a needed function.

        The similarities of all documents are computed once for each ``kind``.
        """
        if kind not in self._near:
            places = {_plain(each["name"]): place for place, each in enumerate(documents)}
            self._near[kind] = places, self._similar(documents)
        places, scores = self._near[kind]
        rows = [scores[places[_plain(name)]] for name in need if _plain(name) in places]

        def near(name: str) -> float:
            place = places.get(_plain(name))
            return max((row[place] for row in rows), default=0.0) if place is not None else 0.0

        return near

    def documents(self, language: str) -> list[Document]:
        if language not in self._documents:
            known: dict[str, Document] = {}
            for each in self.dataset.trajectories.values():
                if isinstance(each.expects, ExpectedCalls) and each.language == language:
                    for document in each.expects.functions:
                        known.setdefault(_signature(document), document)
            self._documents[language] = [*known.values()]
        return self._documents[language]


def _widen(
    trajectory: Trajectory, widening: WideningSettings, pool: _DistractorPool
) -> WidenedEntry:
    need = list_needed_functions(trajectory)
    if widening.tools == "need":
        wanted = len(need)
    else:
        wanted = MAX_FUNCTIONS + 1 if widening.tools == "all" else widening.tools
    if isinstance(trajectory.expects, ExpectedCalls):
        return _add_documents(trajectory, trajectory.expects, wanted, widening, pool)
    names = [*need]
    if wanted > len(need):
        others, room = [*_find_candidates(trajectory, need, pool)], wanted - len(need)
        if len(others) <= room and trajectory.expects is None:
            # Backends have an order of their own, so no draw is needed.
            names += [each.name for each in others]
        else:
            names += _draw(trajectory, others, widening, pool)[:room]
    return WidenedEntry(_offer(trajectory, names), _is_raised(widening, len(need)))


def _is_raised(widening: WideningSettings, need: int) -> bool:
    return isinstance(widening.tools, int) and widening.tools < need


class _DistractorCandidate(NamedTuple):
    name: str
    far: bool
    """Whether the function belongs to a backend that the entry does not have."""


def _find_candidates(
    trajectory: Trajectory, need: Sequence[str], pool: _DistractorPool
) -> Iterator[_DistractorCandidate]:
    """Yield the possible distractors of an entry, first the functions of its own backends.

    Omit functions that the entry excludes. If the verdict depends on results, also omit functions
    that can return a right result.
    """
    plain = trajectory.judged_by is JudgingMethod.RESULTS
    others = _plain_backends() if plain else tuple(BACKENDS)
    refused = {*need, *trajectory.excluded}
    session = _load_session(trajectory, others, pool.dataset) if plain else None
    right = _right_results(trajectory, session) if session else ()
    for environment in dict.fromkeys([*trajectory.environments, *others]):
        for name in backend_class(environment).TOOLS:
            if name not in refused and not (session and _is_equivalent(name, right, session)):
                yield _DistractorCandidate(name, environment not in trajectory.environments)


@cache
def _plain_backends() -> tuple[str, ...]:
    functions = Counter(tool for each in load_library().values() for tool in each.TOOLS)
    return tuple(
        [
            name
            for name, each in load_library().items()
            # One session has no two functions of the same name.
            if name != "RestClient" and all(functions[tool] == 1 for tool in each.TOOLS)
        ]
    )


def _load_session(
    trajectory: Trajectory, others: Sequence[str], dataset: Dataset
) -> Session | None:
    if "RestClient" in trajectory.environments:
        return None
    added = tuple([name for name in others if name not in trajectory.environments])
    return load_session(dataset, add_backends(trajectory, added))


def _right_results(trajectory: Trajectory, session: Session) -> list[tuple[Call, str]]:
    found = []
    for turn in trajectory.turns:
        for call in read_truth_calls(turn):
            result = session.fork().call(call)
            if isinstance(call, Call) and result.ok:
                found.append((call, result.text))
    return found


def _is_equivalent(name: str, right: Sequence[tuple[Call, str]], session: Session) -> bool:
    # A forked session keeps the call out of the episode and its limits.
    others = ((session.fork().call(call._replace(name=name)), text) for call, text in right)
    return any(other.ok and other.text == text for other, text in others)


def _draw(
    trajectory: Trajectory,
    others: Sequence[_DistractorCandidate],
    widening: WideningSettings,
    pool: _DistractorPool,
) -> list[str]:
    order = [*others]
    Random(f"{widening.seed}/{trajectory.id}").shuffle(order)
    if widening.distractors == "far":
        return [each.name for each in sorted(order, key=lambda each: not each.far)]
    plain = trajectory.judged_by is JudgingMethod.RESULTS
    near = pool.nearness(
        trajectory.judged_by, _backend_documents(plain), list_needed_functions(trajectory)
    )
    return [each.name for each in sorted(order, key=lambda each: -near(each.name))]


@cache
def _backend_documents(plain: bool) -> Sequence[Document]:
    names = [*load_library()] if plain else [*BACKENDS]
    return [schema.make_spec(tool).document() for tool in list_tools(tuple(names)).values()]


def _offer(trajectory: Trajectory, names: Sequence[str]) -> Trajectory:
    own = list_tools(trajectory.environments)
    distractors = {name for name in names if name not in own}
    others = [
        name
        for name in (*BACKENDS, *_plain_backends())
        if name in trajectory.environments or own.keys().isdisjoint(backend_class(name).TOOLS)
    ]
    wide = add_backends(
        trajectory, [e for e in others if not distractors.isdisjoint(backend_class(e).TOOLS)]
    )
    names = [name for name in names if name in list_tools(wide.environments)]
    if isinstance(trajectory.expects, ExpectedResults):
        # Its own functions keep their order.
        kept = [name for name in trajectory.expects.functions if name in names]
        shown = tuple(dict.fromkeys([*kept, *names]))
        return replace(wide, expects=replace(trajectory.expects, functions=shown))
    offered = {*names}
    left = [name for name in list_tools(wide.environments) if name not in offered]
    return replace(wide, excluded=tuple(dict.fromkeys([*trajectory.excluded, *left])))


def add_backends(trajectory: Trajectory, environments: Iterable[str]) -> Trajectory:
    """Add backends to an entry; each added backend gets its example config."""
    added = [name for name in environments if name not in trajectory.environments]
    if not added:
        return trajectory
    config = {**trajectory.config, **{name: example_config(name) for name in added}}
    environments = (*trajectory.environments, *added)
    return replace(trajectory, environments=environments, config=config)


def _add_documents(
    trajectory: Trajectory,
    expects: ExpectedCalls,
    wanted: int,
    widening: WideningSettings,
    pool: _DistractorPool,
) -> WidenedEntry:
    need = list_needed_functions(trajectory)
    own = [document for document in expects.functions if document["name"] in need]
    everything = pool.documents(trajectory.language)
    if widening.tools == "all" and len(everything) > MAX_FUNCTIONS:
        size = f"the data set has {len(everything)} {trajectory.language} functions"
        limit = (
            f"no provider accepts more than {MAX_FUNCTIONS}, "
            "and some accept only 128; replace `all` by a number"
        )
        raise DataError("--vary", f"tools=all: {size}; {limit}")
    others = [*everything] if wanted > len(own) else []
    Random(f"{widening.seed}/{trajectory.id}").shuffle(others)
    if widening.distractors == "near" and others:
        near = pool.nearness(trajectory.language, everything, need)
        others.sort(key=lambda document: -near(document["name"]))
    chosen: dict[str, Document] = {_plain(document["name"]): document for document in own}
    for document in others:
        if len(chosen) >= wanted:
            break
        if _plain(document["name"]) not in chosen and not _fits(document, expects, own):
            chosen[_plain(document["name"])] = document
    taken = {*map(id, chosen.values())}
    kept = [document for document in expects.functions if id(document) in taken]
    behind = [d for d in chosen.values() if not any(d is each for each in kept)]
    wide = replace(expects, functions=(*kept, *behind))
    return WidenedEntry(replace(trajectory, expects=wide), _is_raised(widening, len(own)))


def _fits(document: Document, expects: ExpectedCalls, own: Sequence[Document]) -> bool:
    """Tell whether this function could also fulfil the request."""
    names = {_plain(each["name"]) for each in expects.functions}
    if _plain(document["name"]) in names:
        return not any(document is each for each in expects.functions)
    documents = {each["name"]: each for each in own}
    for answer in expects.answers:
        for function, allowed in answer.items():
            given = [name for name, values in allowed.items() if [*values] != [""]]
            if function in documents and _accepts(document, given, documents[function]):
                return True
    return False


def _accepts(document: Document, given: Sequence[str], right: Document) -> bool:
    accepted, expected = _properties(document), _properties(right)
    if not {*_required(document)} <= {*given} or not {*given} <= accepted.keys():
        return False
    return all(accepted[name].get("type") == expected.get(name, {}).get("type") for name in given)


def _properties(document: Document) -> Mapping[str, Any]:
    found: Mapping[str, Any] = document["parameters"].get("properties", {})
    return found


def _required(document: Document) -> Sequence[str]:
    found: Sequence[str] = document["parameters"].get("required", ())
    return found


def _plain(name: str) -> str:
    return name.replace(".", "_").lower()


def _signature(document: Document) -> str:
    shape = {name: each.get("type") for name, each in _properties(document).items()}
    return json.dumps([document["name"], shape, sorted(_required(document))], sort_keys=True)
