"""Experiments on the list of functions: axes, their levels, and what a run at some level is like.

What a level does to the data is an entry made from an entry (``widened.py``), what it does to the
presentation is an arrangement (``arranging.py``); the loop knows neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, cast, get_args

from envs.lazy import lazily
from extensions.experiments.arranging import Arrangement, Naming, Order, Place, Words
from extensions.experiments.paraphrases import Rewording, read_paraphrases, read_rewordings
from extensions.experiments.widened import MOST, Distractors, Document, Widening, widened
from extensions.retrieval.corpus import Described
from trajectories.dataset import Dataset
from trajectories.errors import DataError, did_you_mean, needing
from trajectories.jsonl import read_text
from trajectories.scene import own_functions
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from extensions.authoring.rules import answers, entry
    from extensions.authoring.rules import problem as problems
    from extensions.retrieval import lexical, texts
else:
    # Only other words of users are looked through.
    answers = lazily("extensions.authoring.rules.answers")
    entry = lazily("extensions.authoring.rules.entry")
    problems = lazily("extensions.authoring.rules.problem")
    # They bring libraries of the extra "retrieval".
    lexical = lazily("extensions.retrieval.lexical")
    texts = lazily("extensions.retrieval.texts")

FLAG = "--vary"
AXES: Mapping[str, tuple[str, ...]] = {
    "tools": ("need", "all"),
    "distractors": get_args(Distractors),
    "place": get_args(Place),
    "order": get_args(Order),
    "names": get_args(Naming),
    "descriptions": get_args(Words),
    "words": ("as-is",),
}
"""Axis to its levels; tools take numbers, descriptions and words files, too."""
Design = Literal["full", "latin"]

_TAKES_FILES = ("descriptions", "words")
_OF_DATA = ("tools", "distractors", "words")
_TOOLS_BESIDE = "20"
"""How many functions there are where distractors vary and nobody says how many."""
_NEEDS_OTHERS = ("place", "distractors")
"""Axes that vary nothing where there is nothing beside what is needed."""


class Axis(NamedTuple):
    """What varies, and how."""

    name: str
    levels: tuple[str, ...]


class Levels(NamedTuple):
    """At which level of each axis a run is: what defines it, as its folder says."""

    axes: Mapping[str, str]
    """Axis to level."""
    seed: int = 0
    latin: str | None = None
    """The axis among whose levels the entries are dealt out; None where each has them all."""
    dealt: tuple[str, ...] = ()
    """These levels."""

    @property
    def name(self) -> str:
        """What the run is called, and its folder."""
        return ",".join(f"{axis}={_label(level)}" for axis, level in self.axes.items())

    @property
    def arrangement(self) -> Arrangement | None:
        """How functions are presented; None for as they are."""
        words = self.axes.get("descriptions", "full")
        file = words not in get_args(Words)
        found = Arrangement(
            cast(Order, self.axes.get("order", "as-is")),
            cast("Place | None", self.axes.get("place")),
            cast(Naming, self.axes.get("names", "plain")),
            "full" if file else cast(Words, words),
            read_paraphrases(Path(words)) if file else None,
            self.seed,
        )
        return None if found == Arrangement(seed=self.seed) else found

    @property
    def varies_data(self) -> bool:
        """Whether entries are others than in the data set."""
        as_is = self.axes.get("words", "as-is") == "as-is"
        return self.latin is not None or "tools" in self.axes or not as_is

    def to_json(self) -> dict[str, Any]:
        """Return the levels as a run's definition has them."""
        found: dict[str, Any] = {**self.axes, "seed": self.seed}
        if self.latin is not None:
            found |= {"latin": self.latin, "dealt": [*self.dealt]}
        for axis in _TAKES_FILES:
            if _is_file(axis, self.axes.get(axis)):
                found[f"{axis}_sha256"] = _sha256(Path(self.axes[axis]))
        return found

    @classmethod
    def from_json(cls, value: Mapping[str, Any], where: str) -> Self:
        """Return the levels of a run's definition.

        Raises:
            DataError: They are none.
        """
        try:
            axes = {name: str(value[name]) for name in AXES if name in value}
            dealt = tuple(map(str, value.get("dealt", ())))
            levels = cls(axes, int(value["seed"]), value.get("latin"), dealt)
        except (KeyError, TypeError, ValueError):
            raise DataError(where, "$.definition.vary: names no levels") from None
        for axis, level in axes.items():
            _checked(axis, level)
        return levels


class Varied(NamedTuple):
    """The data of a run at some level."""

    dataset: Dataset
    sizes: Mapping[str, int]
    """How many functions each entry offers, by its id."""
    raised: int
    """How many entries need more functions than were wanted."""
    left_out: Sequence[str]
    """Ids of entries that cannot be widened."""


class Block(NamedTuple):
    """One axis: the runs at its levels, all else being equal."""

    axis: str
    runs: Mapping[str, Levels]
    """By level; the first is what the others are compared with."""


def axes_of(given: Sequence[str]) -> list[Axis]:
    """Return the axes that the user named, as ``tools=need,5,10``.

    Raises:
        DataError: An axis or level is unknown, given twice, or two axes exclude each other.
    """
    found: dict[str, Axis] = {}
    for text in given:
        name, equals, listed = text.partition("=")
        if name not in AXES:
            hint = did_you_mean(name, AXES) or f"; there are {', '.join(AXES)}"
            raise DataError(FLAG, f"{name!r} is no axis{hint}")
        if name in found:
            raise DataError(FLAG, f"{name} is given twice; put its levels into one list")
        levels = [level.strip() for level in listed.split(",")] if equals and listed else []
        if not levels:
            raise DataError(FLAG, f"{name} needs levels, such as {name}={','.join(AXES[name])}")
        for level in levels:
            _checked(name, level)
        labels = [_label(level) for level in levels]
        for label in labels:
            if labels.count(label) > 1:
                raise DataError(FLAG, f"{name} has the level {label} twice")
        found[name] = Axis(name, tuple(levels))
    if {"place", "order"} <= found.keys():
        raise DataError(FLAG, "place and order exclude each other: a list has one order")
    if "distractors" in found and "tools" not in found:
        found = {"tools": Axis("tools", (_TOOLS_BESIDE,)), **found}
    return [*found.values()]


def blocks_of(axes: Sequence[Axis], design: Design | None, seed: int) -> list[Block]:
    """Return the runs of an experiment, by what they say something of.

    By default each axis is varied alone, the others at their first level; but where that leaves
    nothing beside what is needed, as many tools are there as there are in any run.
    """
    if design == "full":
        return [*_crossed(axes, seed)]
    first = {axis.name: axis.levels[0] for axis in axes}
    blocks = []
    for axis in axes:
        if len(axis.levels) == 1 and len(axes) > 1:
            continue
        base = first
        if axis.name in _NEEDS_OTHERS and first.get("tools") == "need":
            base = {**first, "tools": _most(next(a for a in axes if a.name == "tools"))}
        dealt = (axis.name, axis.levels) if design == "latin" else (None, ())
        runs = {
            _label(level): Levels({**base, axis.name: level}, seed, *dealt) for level in axis.levels
        }
        blocks.append(Block(axis.name, runs))
    return blocks or [Block(axes[0].name, {_label(axes[0].levels[0]): Levels(first, seed)})]


def _crossed(axes: Sequence[Axis], seed: int) -> Iterator[Block]:
    """Yield a block of each axis for every combination of the others."""
    for axis in axes:
        others = [each for each in axes if each is not axis]
        for chosen in product(*(each.levels for each in others)):
            rest = {each.name: level for each, level in zip(others, chosen, strict=True)}
            runs = {}
            for level in axis.levels:
                at = {**rest, axis.name: level}
                runs[_label(level)] = Levels({each.name: at[each.name] for each in axes}, seed)
            if len(runs) > 1 or len(axes) == 1:
                yield Block(axis.name, runs)


def varied(dataset: Dataset, levels: Levels, ids: Sequence[str] | None = None) -> Varied:
    """Return the data of a run at some levels, made from a data set.

    Args:
        dataset: As it is.
        levels: Those of the run.
        ids: Which entries; None for all.

    Raises:
        DataError: A file cannot be used, or more functions would be offered than anybody takes.
    """
    chosen = [*dataset.trajectories] if ids is None else [*ids]
    if levels.latin is not None:
        chosen = _dealt(dataset, chosen, levels)
    known: dict[str, Trajectory] = dict(dataset.trajectories)
    raised = 0
    left_out: list[str] = []
    if "tools" in levels.axes:
        made, left_out = widened(dataset, _widening(levels), _similar, chosen)
        known |= {id: each.trajectory for id, each in made.items()}
        raised = sum(each.raised for each in made.values())
        chosen = [*made]
    words = levels.axes.get("words", "as-is")
    if words != "as-is":
        rewordings = _rewordings(Path(words))
        kept = [
            id
            for id in chosen
            if id in rewordings and (ids is None or _holds(dataset, id, rewordings[id]))
        ]
        left_out += [id for id in chosen if id not in kept]
        known |= {id: rewordings[id].of(known[id]) for id in kept}
        chosen = kept
    made_of = {id: known[id] for id in chosen}
    sizes = {id: len(own_functions(entry)) for id, entry in made_of.items()}
    # What is not part of it stays, so that a run of a part knows its entries.
    whole = replace(dataset, trajectories=known if ids is None else made_of)
    return Varied(whole, sizes, raised, left_out)


def varied_for(dataset: Dataset, levels: Levels) -> Dataset:
    """Return the data that a run at some levels is of, made from the data set that it names."""
    if not levels.varies_data:
        return dataset
    return varied(dataset, levels._replace(latin=None)).dataset


def _widening(levels: Levels) -> Widening:
    tools = levels.axes["tools"]
    count = int(tools) if tools.isdecimal() else cast(Literal["need", "all"], tools)
    distractors = cast(Distractors, levels.axes.get("distractors", "far"))
    return Widening(count, distractors, levels.seed)


def _dealt(dataset: Dataset, ids: Sequence[str], levels: Levels) -> list[str]:
    """Return the entries whose turn a level has: as many as any other, of each scenario too."""
    ordered = sorted(ids, key=lambda id: (dataset.trajectories[id].base, id))
    start = Random(f"latin/{levels.seed}/{levels.latin}").randrange(len(levels.dealt))
    place = levels.dealt.index(levels.axes[cast(str, levels.latin)])
    mine = {id for at, id in enumerate(ordered) if (at + start) % len(levels.dealt) == place}
    return [id for id in ids if id in mine]


def _similar(documents: Sequence[Document]) -> Sequence[Sequence[float]]:
    """Rank documents by the retriever: each asks, as it is searched, for what is like it."""
    with needing("lexical", f"{FLAG} distractors=near"):
        found = [Described("", document) for document in documents]
        asked = texts.texts_of(found)
        scores: Sequence[Sequence[float]] = lexical.default(found).scores(asked).tolist()
    return scores


def _holds(dataset: Dataset, id: str, rewording: Rewording) -> bool:
    """Tell whether other words tell all values of the ground truth that an entry's own tell."""
    plain = dataset.trajectories[id]
    if plain.expects is not None:
        return True
    doubts, before = (
        sum(
            problem.severity is problems.Severity.WARNING
            for problem in answers.check_provenance(entry.Entry(dataset, each))
        )
        for each in (rewording.of(plain), plain)
    )
    return doubts <= before


@cache
def _rewordings(path: Path) -> Mapping[str, Rewording]:
    return read_rewordings(path)


def _checked(axis: str, level: str) -> None:
    """Make sure that an axis has a level.

    Raises:
        DataError: It has not.
    """
    if axis == "tools" and level.isdecimal():
        if not 1 <= int(level[:9]) <= MOST:
            raise DataError(
                FLAG,
                f"tools={level:.20}: from 1 to {MOST}; more are taken by no provider, and some "
                "take only 128",
            )
        if level.lstrip("0") != level or not level.isascii():
            raise DataError(FLAG, f"{level!r:.80} is no level of tools; write {int(level[:9])}")
        return
    if level in AXES[axis] or _is_file(axis, level):
        return
    hint = did_you_mean(level, AXES[axis])
    more = " or a number" if axis == "tools" else " or a file" if axis in _TAKES_FILES else ""
    there_are = f"; there are {', '.join(AXES[axis])}{more}"
    raise DataError(FLAG, f"{level!r:.80} is no level of {axis}{hint or there_are}")


def _is_file(axis: str, level: str | None) -> bool:
    if level is None or axis not in _TAKES_FILES or level in AXES[axis]:
        return False
    return level.endswith((".json", ".jsonl")) or Path(level).exists()


def _label(level: str) -> str:
    """Return a level as it is called: a file by its name without folders."""
    return Path(level).stem if level.endswith((".json", ".jsonl")) or "/" in level else level


def _most(tools: Axis) -> str:
    def size(level: str) -> int:
        return MOST + 1 if level == "all" else int(level) if level.isdecimal() else 0

    return max(tools.levels, key=size)


def _sha256(path: Path) -> str:
    return sha256(read_text(path).encode()).hexdigest()
