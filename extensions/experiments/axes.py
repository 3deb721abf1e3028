"""Axes of experiments on the function list: their levels, designs and changed data sets.

The module ``function_counts`` changes the number of functions in the entries. The module
``arrangement`` changes the presentation of functions.
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

from envs.errors import DataError, require_extra, suggest_name
from envs.lazy_modules import lazy_module
from extensions.experiments.arrangement import Arrangement, Naming, Order, Place, Words
from extensions.experiments.context_lengths import LEVEL, ContextEntries
from extensions.experiments.function_counts import (
    MAX_FUNCTIONS,
    Distractors,
    Document,
    WideningSettings,
    widened,
)
from extensions.experiments.paraphrases import RewordedMessages, read_paraphrases, read_rewordings
from extensions.retrieval.corpus import DescribedFunction
from trajectories.dataset import Dataset
from trajectories.jsonl import read_text
from trajectories.replay_queries import list_own_functions
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from extensions.authoring.rules import finding as problems
    from extensions.authoring.rules import known_values, replayed_entry
    from extensions.retrieval import function_texts, lexical
else:
    # Needed for reworded user messages only.
    known_values = lazy_module("extensions.authoring.rules.known_values")
    replayed_entry = lazy_module("extensions.authoring.rules.replayed_entry")
    problems = lazy_module("extensions.authoring.rules.finding")
    # Their libraries belong to the extra "retrieval".
    lexical = lazy_module("extensions.retrieval.lexical")
    function_texts = lazy_module("extensions.retrieval.function_texts")

FLAG = "--vary"
AXES: Mapping[str, tuple[str, ...]] = {
    "tools": ("need", "all"),
    "distractors": get_args(Distractors),
    "place": get_args(Place),
    "order": get_args(Order),
    "names": get_args(Naming),
    "descriptions": get_args(Words),
    "words": ("as-is",),
    "context": ("4k", "16k", "64k", "128k"),
}
"""Named levels of each axis. ``tools`` and ``context`` also accept numbers; ``descriptions`` and
``words`` also accept files."""
Design = Literal["full", "latin"]

_TAKES_FILES = ("descriptions", "words")
_DEFAULT_TOOLS = "20"
"""Default level of ``tools`` if the axis ``distractors`` is given."""
_NEEDS_OTHERS = ("place", "distractors")
"""These axes have no effect if an entry offers only the functions that it needs."""
_read_rewordings = cache(read_rewordings)


class Axis(NamedTuple):
    """Axis of an experiment with the levels to compare."""

    name: str
    levels: tuple[str, ...]


class Levels(NamedTuple):
    """Levels of a run, one for each axis; the run's definition stores them."""

    axes: Mapping[str, str]
    """Level by axis."""
    seed: int = 0
    latin: str | None = None
    """Axis that divides the entries among its levels, if any."""
    dealt: tuple[str, ...] = ()
    """Levels of the axis in ``latin``. Each level gets an equal share of the entries."""

    @property
    def name(self) -> str:
        """Name of the run and of its folder."""
        return ",".join(f"{axis}={_label(level)}" for axis, level in self.axes.items())

    @property
    def arrangement(self) -> Arrangement | None:
        """Presentation of the functions; None means the default presentation."""
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
        """Whether the levels change the entries of the data set."""
        as_is = self.axes.get("words", "as-is") == "as-is"
        return self.latin is not None or not {"tools", "context"}.isdisjoint(self.axes) or not as_is

    def to_json(self) -> dict[str, Any]:
        """Return the levels in the form that the run definition stores."""
        found: dict[str, Any] = {**self.axes, "seed": self.seed}
        if self.latin is not None:
            found |= {"latin": self.latin, "dealt": [*self.dealt]}
        for axis in _TAKES_FILES:
            if _is_file(axis, self.axes.get(axis)):
                text = read_text(Path(self.axes[axis]))
                found[f"{axis}_sha256"] = sha256(text.encode()).hexdigest()
        return found

    @classmethod
    def from_json(cls, value: Mapping[str, Any], where: str) -> Self:
        """Parse the levels of a run's definition. Raises DataError if the levels are malformed."""
        try:
            axes = {name: str(value[name]) for name in AXES if name in value}
            dealt = tuple(map(str, value.get("dealt", ())))
            levels = cls(axes, int(value["seed"]), value.get("latin"), dealt)
        except (KeyError, TypeError, ValueError):
            raise DataError(where, "$.definition.vary: must contain levels and a seed") from None
        for axis, level in axes.items():
            _check_level(axis, level)
        return levels


class VariedData(NamedTuple):
    """Changed data set for one run of an experiment."""

    dataset: Dataset
    sizes: Mapping[str, int]
    """Number of functions that each entry offers, by entry id."""
    raised: int
    """Number of entries that need more functions than the level offers."""
    left_out: Sequence[str]
    """Ids of entries that cannot be varied."""


class AxisRuns(NamedTuple):
    """Runs that differ only in the level of one axis."""

    axis: str
    runs: Mapping[str, Levels]
    """The run for each level of ``axis``. The first run is the baseline."""


def parse_axes(given: Sequence[str]) -> list[Axis]:
    """Parse axes as the user types them, such as ``tools=need,5,10``.

    Raises DataError if an axis or level is unknown or repeated, or two axes exclude each other.
    """
    found: dict[str, Axis] = {}
    for text in given:
        name, equals, listed = text.partition("=")
        if name not in AXES:
            hint = suggest_name(name, AXES) or f"; the axes are {', '.join(AXES)}"
            raise DataError(FLAG, f"{name!r} is not an axis{hint}")
        if name in found:
            raise DataError(FLAG, f"{name} is given twice; put its levels into one list")
        levels = [level.strip() for level in listed.split(",")] if equals and listed else []
        if not levels:
            raise DataError(FLAG, f"{name} needs levels, such as {name}={','.join(AXES[name])}")
        for level in levels:
            _check_level(name, level)
        labels = [_label(level) for level in levels]
        for label in labels:
            if labels.count(label) > 1:
                raise DataError(FLAG, f"{name} has the level {label} twice")
        found[name] = Axis(name, tuple(levels))
    if {"place", "order"} <= found.keys():
        raise DataError(
            FLAG, "`place` and `order` cannot be combined: both set the order of the functions"
        )
    if "distractors" in found and "tools" not in found:
        found = {"tools": Axis("tools", (_DEFAULT_TOOLS,)), **found}
    return [*found.values()]


def plan_blocks(axes: Sequence[Axis], design: Design | None, seed: int) -> list[AxisRuns]:
    """Return the runs in groups. The runs of a group differ in only one axis.

    By default, only one axis varies at a time, and the other axes stay at their first level. The
    axes ``place`` and ``distractors`` have no effect if entries offer only needed functions. The
    runs of these two axes then use the largest level of ``tools``.
    """
    if design == "full":
        return [*_cross_axes(axes, seed)]
    first = {axis.name: axis.levels[0] for axis in axes}
    blocks = []
    for axis in axes:
        if len(axis.levels) == 1 and len(axes) > 1:
            continue
        base = first
        if axis.name in _NEEDS_OTHERS and first.get("tools") == "need":
            base = {**first, "tools": _largest(next(a for a in axes if a.name == "tools"))}
        dealt = (axis.name, axis.levels) if design == "latin" else (None, ())
        runs = {
            _label(level): Levels({**base, axis.name: level}, seed, *dealt) for level in axis.levels
        }
        blocks.append(AxisRuns(axis.name, runs))
    return blocks or [AxisRuns(axes[0].name, {_label(axes[0].levels[0]): Levels(first, seed)})]


def _cross_axes(axes: Sequence[Axis], seed: int) -> Iterator[AxisRuns]:
    """Yield runs for all combinations of levels. The runs of a group differ in one axis."""
    for axis in axes:
        others = [each for each in axes if each is not axis]
        for chosen in product(*(each.levels for each in others)):
            rest = {each.name: level for each, level in zip(others, chosen, strict=True)}
            runs = {}
            for level in axis.levels:
                at = {**rest, axis.name: level}
                runs[_label(level)] = Levels({each.name: at[each.name] for each in axes}, seed)
            if len(runs) > 1 or len(axes) == 1:
                yield AxisRuns(axis.name, runs)


def vary_dataset(dataset: Dataset, levels: Levels, ids: Sequence[str] | None = None) -> VariedData:
    """Return the data set of a run with these levels.

    ``ids`` selects the entries; the default is all entries.

    Raises DataError if a file cannot be used, or an entry would offer more than 512 functions.
    """
    chosen = [*dataset.trajectories] if ids is None else [*ids]
    if levels.latin is not None:
        chosen = _deal_out(dataset, chosen, levels)
    known: dict[str, Trajectory] = dict(dataset.trajectories)
    raised, left_out = 0, list[str]()
    if "context" in levels.axes:
        entries = ContextEntries(dataset, levels.axes["context"])
        resized = {id: longer for id in chosen if (longer := entries.resized(id)) is not None}
        left_out += [id for id in chosen if id not in resized]
        known |= resized
        dataset = replace(dataset, trajectories=known)
        chosen = [*resized]
    if "tools" in levels.axes:
        made, not_widened = widened(dataset, _widening(levels), _score_similarity, chosen)
        left_out += not_widened
        known |= {id: each.trajectory for id, each in made.items()}
        raised = sum(each.raised for each in made.values())
        chosen = [*made]
    words = levels.axes.get("words", "as-is")
    if words != "as-is":
        rewordings = _read_rewordings(Path(words))
        kept = [
            id
            for id in chosen
            if id in rewordings and (ids is None or _keeps_values(dataset, id, rewordings[id]))
        ]
        left_out += [id for id in chosen if id not in kept]
        known |= {id: rewordings[id].of(known[id]) for id in kept}
        chosen = kept
    made_of = {id: known[id] for id in chosen}
    sizes = {id: len(list_own_functions(entry)) for id, entry in made_of.items()}
    # Without ids all entries stay, so that a partial run finds its entries.
    whole = replace(dataset, trajectories=known if ids is None else made_of)
    return VariedData(whole, sizes, raised, left_out)


def vary_recorded_dataset(dataset: Dataset, levels: Levels) -> Dataset:
    """Apply the levels of a recorded run to the data set."""
    if not levels.varies_data:
        return dataset
    if "context" in levels.axes:
        dataset = replace(dataset, trajectories=ContextEntries(dataset, levels.axes["context"]))
        levels = levels._replace(
            axes={name: level for name, level in levels.axes.items() if name != "context"}
        )
        return vary_recorded_dataset(dataset, levels._replace(latin=None))
    return vary_dataset(dataset, levels._replace(latin=None)).dataset


def _widening(levels: Levels) -> WideningSettings:
    tools = levels.axes["tools"]
    count = int(tools) if tools.isdecimal() else cast(Literal["need", "all"], tools)
    distractors = cast(Distractors, levels.axes.get("distractors", "far"))
    return WideningSettings(count, distractors, levels.seed)


def _deal_out(dataset: Dataset, ids: Sequence[str], levels: Levels) -> list[str]:
    """Return the ids of a level; each level gets the same share of every scenario's entries."""
    ordered = sorted(ids, key=lambda id: (dataset.trajectories[id].base, id))
    start = Random(f"latin/{levels.seed}/{levels.latin}").randrange(len(levels.dealt))
    place = levels.dealt.index(levels.axes[cast(str, levels.latin)])
    dealt = {id for at, id in enumerate(ordered) if (at + start) % len(levels.dealt) == place}
    return [id for id in ids if id in dealt]


def _score_similarity(documents: Sequence[Document]) -> Sequence[Sequence[float]]:
    with require_extra("lexical", f"{FLAG} distractors=near"):
        found = [DescribedFunction("", document) for document in documents]
        texts = function_texts.make_texts(found)
        scores: Sequence[Sequence[float]] = lexical.default(found).scores(texts).tolist()
    return scores


def _keeps_values(dataset: Dataset, id: str, rewording: RewordedMessages) -> bool:
    plain = dataset.trajectories[id]
    if plain.expects is not None:
        return True
    after, before = (
        sum(
            problem.severity is problems.Severity.WARNING
            for problem in known_values.check_provenance(replayed_entry.Entry(dataset, each))
        )
        for each in (rewording.of(plain), plain)
    )
    return after <= before


def _check_level(axis: str, level: str) -> None:
    if axis == "tools" and level.isdecimal():
        if not 1 <= int(level[:9]) <= MAX_FUNCTIONS:
            limit = (
                f"must be 1 to {MAX_FUNCTIONS}; no provider accepts more, and some accept only 128"
            )
            raise DataError(FLAG, f"tools={level:.20}: {limit}")
        if level.lstrip("0") != level or not level.isascii():
            raise DataError(FLAG, f"{level!r:.80} is not a level of tools; write {int(level[:9])}")
        return
    if level in AXES[axis] or _is_file(axis, level):
        return
    if axis == "context" and LEVEL.fullmatch(level):
        return
    hint = suggest_name(level, AXES[axis])
    numbers = {
        "tools": " or a number",
        "context": " or a length in tokens, such as 8k",
    }
    more = numbers.get(axis, " or a file" if axis in _TAKES_FILES else "")
    known = f"; the levels are {', '.join(AXES[axis])}{more}"
    raise DataError(FLAG, f"{level!r:.80} is not a level of {axis}{hint or known}")


def _is_file(axis: str, level: str | None) -> bool:
    if level is None or axis not in _TAKES_FILES or level in AXES[axis]:
        return False
    return level.endswith((".json", ".jsonl")) or Path(level).exists()


def _label(level: str) -> str:
    return Path(level).stem if level.endswith((".json", ".jsonl")) or "/" in level else level


def _largest(tools: Axis) -> str:
    sizes = {"need": 0, "all": MAX_FUNCTIONS + 1}
    return max(tools.levels, key=lambda level: sizes[level] if level in sizes else int(level))
