"""Entries that offer another number of functions: those that are needed, and distractors.

A distractor is a live function: its backend is added with its example config, so that a call of it
works, and what it changes is a mismatch of the state. What the entry asks for and what is right
stay as they are.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from random import Random
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from envs.calls import Call
from envs.lazy import lazily
from envs.registry import BACKENDS, backend_class, example_file, library, tools_of
from envs.session import Session
from envs.tool import Document as Document
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.prepare import load_session
from trajectories.scene import needed, truth_calls
from trajectories.schema import ExpectedCalls, ExpectedResults, JudgedBy, Trajectory

if TYPE_CHECKING:
    from envs import schema
else:
    # It brings pydantic, which takes longer to load than most runs take to begin.
    schema = lazily("envs.schema")

Distractors = Literal["far", "near"]
Similar = Callable[[Sequence[Document]], Sequence[Sequence[float]]]
"""Says of each document, in a row, how near every one is to it: more is nearer."""

MOST = 512
"""Functions that an entry may offer: no provider takes more, and some only 128."""


class Widening(NamedTuple):
    """How many functions entries offer, and which."""

    tools: int | Literal["need", "all"]
    """How many, as far as there are as many; ``need`` are those of the ground truth."""
    distractors: Distractors = "far"
    """From other backends first; or those first that are most like what is needed."""
    seed: int = 0
    """Draws the distractors; what is drawn for a number is among what is drawn for a larger one."""


class Widened(NamedTuple):
    """An entry with as many functions as were wanted."""

    trajectory: Trajectory
    offered: int
    """How many functions it offers, those that come late included."""
    raised: bool
    """Whether it needs more than were wanted."""


def widened(
    dataset: Dataset, widening: Widening, similar: Similar, ids: Iterable[str]
) -> tuple[dict[str, Widened], list[str]]:
    """Return entries of a data set by id, with another number of functions, and what is left out.

    Left out are entries in which no function fits, or any does: one more might fit, or be right.

    Raises:
        DataError: More functions would be offered than any provider takes.
    """
    pool = _Pool(dataset, similar)
    found: dict[str, Widened] = {}
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
    """Return the example config of a backend; one without has its defaults."""
    path = example_file(backend_class(environment))
    if not path.is_file():
        return {}
    config: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8")).get(environment, {})
    return config


_Near = Callable[[str], float]


class _Pool:
    """What a data set has of functions to be distracted by."""

    def __init__(self, dataset: Dataset, similar: Similar) -> None:
        self.dataset = dataset
        self._similar = similar
        self._documents: dict[str, list[Document]] = {}
        self._near: dict[str, tuple[dict[str, int], Sequence[Sequence[float]]]] = {}

    def nearness(self, kind: str, documents: Sequence[Document], need: Iterable[str]) -> _Near:
        """Return what says how near a function is to the nearest of those that are needed.

        Args:
            kind: What the documents are called; the same for the same ones.
            documents: All that there are.
            need: Names of functions.
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
        """Return the documents of all its entries in a language, each signature once."""
        if language not in self._documents:
            known: dict[str, Document] = {}
            for each in self.dataset.trajectories.values():
                if isinstance(each.expects, ExpectedCalls) and each.language == language:
                    for document in each.expects.functions:
                        known.setdefault(_signature(document), document)
            self._documents[language] = [*known.values()]
        return self._documents[language]


def _widen(trajectory: Trajectory, widening: Widening, pool: _Pool) -> Widened:
    need = needed(trajectory)
    if widening.tools == "need":
        wanted = len(need)
    else:
        wanted = MOST + 1 if widening.tools == "all" else widening.tools
    if isinstance(trajectory.expects, ExpectedCalls):
        return _with_documents(trajectory, trajectory.expects, wanted, widening, pool)
    names = [*need]
    if wanted > len(need):
        others, room = [*_candidates(trajectory, need, pool)], wanted - len(need)
        if len(others) <= room and trajectory.expects is None:
            # Backends have an order of their own, so there is nothing to draw.
            names += [each.name for each in others]
        else:
            names += _drawn(trajectory, need, others, widening, pool)[:room]
    chosen = _with_backends(trajectory, names)
    return Widened(chosen, len(names), _raised(widening, len(need)))


def _raised(widening: Widening, need: int) -> bool:
    return isinstance(widening.tools, int) and widening.tools < need


class _Candidate(NamedTuple):
    """A function that may distract."""

    name: str
    environment: str
    far: bool
    """Whether the entry's own backends do not have it."""


def _candidates(trajectory: Trajectory, need: Sequence[str], pool: _Pool) -> Iterator[_Candidate]:
    """Yield the functions that an entry may be distracted by, its own first.

    Never those that it keeps from the model, nor a plain function that gives what is right.
    """
    plain = trajectory.judged_by is JudgedBy.RESULTS
    others = _plain_backends() if plain else tuple(BACKENDS)
    refused = {*need, *trajectory.excluded}
    session = _session(trajectory, others, pool.dataset) if plain else None
    right = _right_results(trajectory, session) if session else ()
    for environment in dict.fromkeys([*trajectory.environments, *others]):
        for name in backend_class(environment).TOOLS:
            if name in refused or (session and _does_as_well(name, right, session)):
                continue
            yield _Candidate(name, environment, environment not in trajectory.environments)


@cache
def _plain_backends() -> tuple[str, ...]:
    """Return the environments of plain functions, but for what asks the web."""
    return tuple([name for name in library() if name != "RestClient"])


def _session(trajectory: Trajectory, others: Sequence[str], dataset: Dataset) -> Session | None:
    """Return a session with all that may distract; None where the truth asks the web."""
    if "RestClient" in trajectory.environments:
        return None
    added = tuple([name for name in others if name not in trajectory.environments])
    return load_session(dataset, beside(trajectory, added))


def _right_results(trajectory: Trajectory, session: Session) -> list[tuple[Call, str]]:
    """Return the calls of the ground truth that succeed, with what each gives."""
    found = []
    for turn in trajectory.turns:
        for call in truth_calls(turn):
            result = session.fork().call(call)
            if isinstance(call, Call) and result.ok:
                found.append((call, result.text))
    return found


def _does_as_well(name: str, right: Sequence[tuple[Call, str]], session: Session) -> bool:
    """Tell whether a function gives what a call of the ground truth gives, for its arguments."""
    for call, text in right:
        # In a copy, as trying is no episode and has not its bounds.
        other = session.fork().call(call._replace(name=name))
        if other.ok and other.text == text:
            return True
    return False


def _drawn(
    trajectory: Trajectory,
    need: Sequence[str],
    candidates: Sequence[_Candidate],
    widening: Widening,
    pool: _Pool,
) -> list[str]:
    """Return the names of candidates in the order in which they are taken."""
    order = [*candidates]
    Random(f"{widening.seed}/{trajectory.id}").shuffle(order)
    if widening.distractors == "far":
        return [each.name for each in sorted(order, key=lambda each: not each.far)]
    plain = trajectory.judged_by is JudgedBy.RESULTS
    near = pool.nearness(trajectory.judged_by, _backend_documents(plain), need)
    return [each.name for each in sorted(order, key=lambda each: -near(each.name))]


@cache
def _backend_documents(plain: bool) -> Sequence[Document]:
    """Return the documents of the functions of all backends, or all that are plain functions."""
    names = [*library()] if plain else [*BACKENDS]
    return [schema.spec(tool).document() for tool in tools_of(tuple(names)).values()]


def _with_backends(trajectory: Trajectory, names: Sequence[str]) -> Trajectory:
    """Return an entry that offers functions of these names and no others."""
    own = tools_of(trajectory.environments)
    strangers = {name for name in names if name not in own}
    others = [*BACKENDS, *_plain_backends()]
    added = tuple(
        name
        for name in others
        if name not in trajectory.environments
        and not strangers.isdisjoint(backend_class(name).TOOLS)
    )
    wide = beside(trajectory, added)
    if isinstance(trajectory.expects, ExpectedResults):
        # Its own stand where they stood.
        kept = [name for name in trajectory.expects.functions if name in names]
        shown = tuple(dict.fromkeys([*kept, *names]))
        return replace(wide, expects=replace(trajectory.expects, functions=shown))
    offered = {*names}
    left = [name for name in tools_of(wide.environments) if name not in offered]
    return replace(wide, excluded=tuple(dict.fromkeys([*trajectory.excluded, *left])))


def beside(trajectory: Trajectory, environments: Iterable[str]) -> Trajectory:
    """Return an entry with those backends behind its own that it has not, in example configs."""
    added = [name for name in environments if name not in trajectory.environments]
    if not added:
        return trajectory
    config = {**trajectory.config, **{name: example_config(name) for name in added}}
    environments = (*trajectory.environments, *added)
    return replace(trajectory, environments=environments, config=config)


def _with_documents(
    trajectory: Trajectory,
    expects: ExpectedCalls,
    wanted: int,
    widening: Widening,
    pool: _Pool,
) -> Widened:
    """Return an entry whose calls are compared, with further documents behind its own."""
    need = needed(trajectory)
    own = [document for document in expects.functions if document["name"] in need]
    everything = pool.documents(trajectory.language)
    if widening.tools == "all" and len(everything) > MOST:
        raise DataError(
            "--vary",
            f"tools=all: the data set has {len(everything)} {trajectory.language} functions, and "
            f"more than {MOST} are taken by no provider (128 by some); give a number",
        )
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
    return Widened(replace(trajectory, expects=wide), len(chosen), _raised(widening, len(own)))


def _fits(document: Document, expects: ExpectedCalls, own: Sequence[Document]) -> bool:
    """Tell whether a document would make a second right answer, by its name or its signature."""
    names = {_plain(each["name"]) for each in expects.functions}
    if _plain(document["name"]) in names:
        return not any(document is each for each in expects.functions)
    documents = {each["name"]: each for each in own}
    for answer in expects.answers:
        for function, allowed in answer.items():
            given = [name for name, values in allowed.items() if [*values] != [""]]
            if function in documents and _takes(document, given, documents[function]):
                return True
    return False


def _takes(document: Document, given: Sequence[str], right: Document) -> bool:
    """Tell whether a function takes the arguments that another one is right to be called with."""
    theirs, ours = _properties(document), _properties(right)
    if not {*_required(document)} <= {*given} or not {*given} <= theirs.keys():
        return False
    return all(theirs[name].get("type") == ours.get(name, {}).get("type") for name in given)


def _properties(document: Document) -> Mapping[str, Any]:
    found: Mapping[str, Any] = document["parameters"].get("properties", {})
    return found


def _required(document: Document) -> Sequence[str]:
    found: Sequence[str] = document["parameters"].get("required", ())
    return found


def _plain(name: str) -> str:
    """Return a name as all ways of asking have it: without dots and capitals."""
    return name.replace(".", "_").lower()


def _signature(document: Document) -> str:
    shape = {name: each.get("type") for name, each in _properties(document).items()}
    return json.dumps([document["name"], shape, sorted(_required(document))], sort_keys=True)
