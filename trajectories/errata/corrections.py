"""Correction of a data set by errata."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from envs.errors import DataError
from trajectories.dataset import Dataset
from trajectories.errata.erratum import NAMED_CALL, Answers, Assessment, Erratum, Turns
from trajectories.fingerprint import fingerprint
from trajectories.schema import ExpectedCalls, Message, Trajectory

Found = TypeVar("Found")

_MAX_PATHS = 64


@dataclass(frozen=True)
class CorrectedEntries:
    """Corrected entries of a data set."""

    name: str
    """Name of the errata, as given by the user."""
    right: Mapping[str, Sequence[Trajectory]] = field(default_factory=dict)
    """Trajectories by id. An answer is right if it passes for at least one trajectory of the entry.
    An entry without trajectories is not judged.
    """
    judged: Mapping[str, Assessment] = field(default_factory=dict)
    """Maps ids to valid assessments."""
    stale: Sequence[str] = ()
    """Ids of entries that changed after their assessment; the errata skip these entries."""
    needless: Sequence[str] = ()
    """Ids of entries whose published version already contains the correction."""

    def of(self, trajectory: Trajectory) -> Sequence[Trajectory]:
        """Return the corrected versions of an entry."""
        return self.right.get(trajectory.id, (trajectory,))


AS_PUBLISHED = CorrectedEntries("none")
"""No errata: every entry is judged as published."""


def select_first_right(tries: Iterable[Found], passes: Callable[[Found], bool]) -> Found | None:
    """Return the first passing outcome. If no outcome passes, return the first one, or None."""
    first: Found | None = None
    for found in tries:
        if passes(found):
            return found
        first = found if first is None else first
    return first


def correct_dataset(dataset: Dataset, errata: Iterable[Erratum], name: str) -> CorrectedEntries:
    """Return the corrected entries of a loaded data set.

    Raises DataError if an erratum does not fit its entry, for example because a turn is missing.
    """
    right: dict[str, Sequence[Trajectory]] = {}
    judged: dict[str, Assessment] = {}
    stale, needless = [], []
    for erratum in errata:
        trajectory = dataset.trajectories.get(erratum.id)
        if trajectory is None:
            continue
        entries = correct_entry(trajectory, erratum)
        readings = [] if erratum.asks_otherwise else entries
        if erratum.judgement is not Assessment.SOUND and entries == [trajectory]:
            needless.append(erratum.id)
        elif fingerprint(trajectory) != erratum.published:
            stale.append(erratum.id)
        else:
            judged[erratum.id] = erratum.judgement
            if readings != [trajectory]:
                right[erratum.id] = readings
    return CorrectedEntries(name, right, judged, stale, needless)


def correct_entry(trajectory: Trajectory, erratum: Erratum) -> list[Trajectory]:
    """Return the corrected entry and its alternatives, or an empty list for a withdrawn entry.

    Raises DataError if the erratum does not fit the entry, for example because a turn is missing.
    """
    if erratum.judgement is Assessment.WITHDRAWN:
        return []
    for index in [*erratum.wording, *(turn for path in erratum.paths for turn in path)]:
        if not 0 <= index < len(trajectory.turns):
            count = len(trajectory.turns)
            raise DataError(
                erratum.id, f"has no turn {index}: it has {count} turns, counted from 0"
            )
    for backend in erratum.config.keys() - trajectory.config.keys():
        raise DataError(erratum.id, f"has no backend {backend} with a config to correct")
    corrected = _correct_truth(
        _correct_request(trajectory, erratum), trajectory, erratum.ground_truth
    )
    if erratum.answers:
        return [_correct_answers(corrected, answers) for answers in erratum.answers]
    return [_correct_truth(corrected, trajectory, path) for path in _combine_alternatives(erratum)]


def _combine_alternatives(erratum: Erratum) -> list[Turns]:
    paths: list[Turns] = [{}]
    for alternative in erratum.alternatives:
        free = [path for path in paths if path.keys().isdisjoint(alternative)]
        paths += [{**path, **alternative} for path in free]
    if len(paths) > _MAX_PATHS:
        raise DataError(
            erratum.id, f"has {len(paths)} combinations of alternatives; specify fewer alternatives"
        )
    return paths


def _correct_request(trajectory: Trajectory, erratum: Erratum) -> Trajectory:
    turns = list(trajectory.turns)
    for index, words in erratum.wording.items():
        turns[index] = replace(turns[index], messages=(Message("user", words),))
    config = {
        name: {**own, **erratum.config.get(name, {})} for name, own in trajectory.config.items()
    }
    return replace(trajectory, turns=tuple(turns), config=config)


def _correct_truth(corrected: Trajectory, published: Trajectory, truth: Turns) -> Trajectory:
    turns = list(corrected.turns)
    for index, calls in truth.items():
        written = tuple([_resolve_call(call, published) for call in calls])
        accepts = tuple([each for each in turns[index].accepts if each.call in written])
        turns[index] = replace(turns[index], ground_truth=written, accepts=accepts)
    return replace(corrected, turns=tuple(turns))


def _resolve_call(text: str, published: Trajectory) -> str:
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
            raise DataError(published.id, f"{text}: {old!r} must occur once in the published call")
        call = call.replace(old, new)
    return call


def _correct_answers(trajectory: Trajectory, answers: Answers) -> Trajectory:
    expects = trajectory.expects
    if not isinstance(expects, ExpectedCalls) or len(answers) != len(expects.answers):
        raise DataError(trajectory.id, f"does not have {len(answers)} published answers")
    pairs = zip(expects.answers, answers, strict=True)
    written = tuple([_correct_answer(published, changes) for published, changes in pairs])
    return replace(trajectory, expects=replace(expects, answers=written))


def _resolve_values(
    values: Sequence[Any] | str, before: Mapping[str, Sequence[Any]], name: str
) -> Sequence[Any]:
    if not isinstance(values, str):
        return values
    if not values.startswith("#") or values[1:] not in before:
        raise DataError(f"$.answers: {name}", f"{values!r:.100} is not a published parameter")
    return before[values[1:]]


def _correct_answer(
    published: Mapping[str, Mapping[str, Sequence[Any]]],
    changes: Mapping[str, Mapping[str, Sequence[Any] | str | None]],
) -> Mapping[str, Mapping[str, Sequence[Any]]]:
    found = {}
    for function, parameters in changes.items():
        before = published.get(function, {})
        allowed = dict(before)
        for name, values in parameters.items():
            if values is None:
                allowed.pop(name, None)
            else:
                allowed[name] = _resolve_values(values, before, name)
        found[function] = allowed
    return found
