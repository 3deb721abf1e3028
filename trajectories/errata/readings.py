"""What errata make of a data set: by which trajectories an answer to an entry is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from trajectories.dataset import Dataset
from trajectories.errata.record import NAMED_CALL, Answers, Assessment, Erratum, Turns
from trajectories.errors import DataError
from trajectories.fingerprint import fingerprint
from trajectories.schema import ExpectedCalls, Message, Trajectory

Found = TypeVar("Found")

_MOST_PATHS = 64
"""By how many readings an entry may be judged."""


@dataclass(frozen=True)
class Readings:
    """The entries of a data set that are judged otherwise than published.

    Attributes:
        name: What the user called the errata.
        right: By id the trajectories by any of which an answer may be right, the first of which
            is the one to report; none where an answer to the published entry does not count.
        judged: By id what entries were found to be, as far as that still holds.
        stale: Ids of entries that are not, or no longer, what was judged; they stay as published.
        needless: Ids of entries that already read as their erratum wants them.
    """

    name: str
    right: Mapping[str, Sequence[Trajectory]] = field(default_factory=dict)
    judged: Mapping[str, Assessment] = field(default_factory=dict)
    stale: Sequence[str] = ()
    needless: Sequence[str] = ()

    def of(self, trajectory: Trajectory) -> Sequence[Trajectory]:
        """Return the trajectories by any of which an answer to an entry may be right."""
        return self.right.get(trajectory.id, (trajectory,))


AS_PUBLISHED = Readings("none")
"""No errata: every entry is judged by itself."""


def first_right(tries: Iterable[Found], passes: Callable[[Found], bool]) -> Found | None:
    """Return what an answer comes to by the first reading that it passes, else by the first.

    Args:
        tries: What it comes to by each reading, worked out when it is asked for.
        passes: Whether that is a pass.

    Returns:
        One of the tries, or None where there are none.
    """
    first: Found | None = None
    for found in tries:
        if passes(found):
            return found
        first = found if first is None else first
    return first


def read(dataset: Dataset, errata: Iterable[Erratum], name: str) -> Readings:
    """Return what errata make of the entries that are loaded.

    Raises:
        DataError: An erratum names a turn or a backend that its entry does not have.
    """
    right: dict[str, Sequence[Trajectory]] = {}
    judged: dict[str, Assessment] = {}
    stale, needless = [], []
    for erratum in errata:
        trajectory = dataset.trajectories.get(erratum.id)
        if trajectory is None:
            continue
        entries = read_entry(trajectory, erratum)
        readings = [] if erratum.asks_otherwise else entries
        if erratum.judgement is not Assessment.SOUND and entries == [trajectory]:
            needless.append(erratum.id)
        elif fingerprint(trajectory) != erratum.published:
            stale.append(erratum.id)
        else:
            judged[erratum.id] = erratum.judgement
            if readings != [trajectory]:
                right[erratum.id] = readings
    return Readings(name, right, judged, stale, needless)


def read_entry(trajectory: Trajectory, erratum: Erratum) -> list[Trajectory]:
    """Return an entry as an erratum reads it: mended, then each alternative; none if withdrawn.

    Raises:
        DataError: The erratum names a turn or a backend that the entry does not have.
    """
    if erratum.judgement is Assessment.WITHDRAWN:
        return []
    for index in [*erratum.wording, *(turn for path in erratum.paths for turn in path)]:
        if not 0 <= index < len(trajectory.turns):
            count = len(trajectory.turns)
            raise DataError(erratum.id, f"has {count} turns, counted from 0: there is no {index}")
    for backend in erratum.config.keys() - trajectory.config.keys():
        raise DataError(erratum.id, f"has no {backend} whose config could be another one")
    mended = _with_truth(_asked(trajectory, erratum), trajectory, erratum.ground_truth)
    if erratum.answers:
        return [_with_answers(mended, answers) for answers in erratum.answers]
    return [_with_truth(mended, trajectory, path) for path in _paths(erratum)]


def _paths(erratum: Erratum) -> list[Turns]:
    """Return the alternatives, and their combinations of which no two name the same turn."""
    paths: list[Turns] = [{}]
    for alternative in erratum.alternatives:
        free = [path for path in paths if path.keys().isdisjoint(alternative)]
        paths += [{**path, **alternative} for path in free]
    if len(paths) > _MOST_PATHS:
        raise DataError(erratum.id, f"has {len(paths)} combinations of alternatives; name fewer")
    return paths


def _asked(trajectory: Trajectory, erratum: Erratum) -> Trajectory:
    """Return a trajectory with the words and the config that an erratum gives it."""
    turns = list(trajectory.turns)
    for index, words in erratum.wording.items():
        turns[index] = replace(turns[index], messages=(Message("user", words),))
    config = {
        name: {**own, **erratum.config.get(name, {})} for name, own in trajectory.config.items()
    }
    return replace(trajectory, turns=tuple(turns), config=config)


def _with_truth(mended: Trajectory, published: Trajectory, truth: Turns) -> Trajectory:
    turns = list(mended.turns)
    for index, calls in truth.items():
        written = tuple([_call(call, published) for call in calls])
        accepts = tuple([each for each in turns[index].accepts if each.call in written])
        turns[index] = replace(turns[index], ground_truth=written, accepts=accepts)
    return replace(mended, turns=tuple(turns))


def _call(text: str, published: Trajectory) -> str:
    """Return a call text: as it stands there, or the published one that it names, changed."""
    named = NAMED_CALL.fullmatch(text)
    if named is None:
        return text
    turn, index = int(named["turn"]), int(named["call"])
    try:
        call = published.turns[turn].ground_truth[index]
    except IndexError:
        raise DataError(published.id, f"has no published call {text.split()[0]}") from None
    changes = named["changes"].split(" ~ ")[1:]
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        if call.count(old) != 1:
            raise DataError(published.id, f"{text}: {old!r} is not once in the published call")
        call = call.replace(old, new)
    return call


def _with_answers(trajectory: Trajectory, answers: Answers) -> Trajectory:
    expects = trajectory.expects
    if not isinstance(expects, ExpectedCalls) or len(answers) != len(expects.answers):
        raise DataError(trajectory.id, f"has not {len(answers)} published answers")
    pairs = zip(expects.answers, answers, strict=True)
    written = tuple([_answer(published, mended) for published, mended in pairs])
    return replace(trajectory, expects=replace(expects, answers=written))


def _allowed(
    values: Sequence[Any] | str, before: Mapping[str, Sequence[Any]], name: str
) -> Sequence[Any]:
    """Return what is allowed for a parameter: as it stands there, or as published for another.

    Raises:
        DataError: There is no such other one.
    """
    if not isinstance(values, str):
        return values
    if not values.startswith("#") or values[1:] not in before:
        raise DataError(f"$.answers: {name}", f"{values!r:.100} is no parameter that was published")
    return before[values[1:]]


def _answer(
    published: Mapping[str, Mapping[str, Sequence[Any]]],
    mended: Mapping[str, Mapping[str, Sequence[Any] | str | None]],
) -> Mapping[str, Mapping[str, Sequence[Any]]]:
    """Return an answer with the parameters that are other ones; another function starts anew."""
    found = {}
    for function, parameters in mended.items():
        before = published.get(function, {})
        allowed = dict(before)
        for name, values in parameters.items():
            if values is None:
                allowed.pop(name, None)
            else:
                allowed[name] = _allowed(values, before, name)
        found[function] = allowed
    return found
