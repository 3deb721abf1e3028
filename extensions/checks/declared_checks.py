"""Checks declared in JSON: conditions on an episode's calls, states and answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

from checkers.user_checks import EpisodeCheck
from checkers.verdict import ExecutedTurn
from envs.calls import Call
from envs.errors import (
    ConfigError,
    DataError,
    SimulatorError,
    describe_exception,
    suggest_name,
)
from envs.registry import import_local
from envs.state import ABSENT, cut_repr

_MAX_CHECKS = 1_000
_COMMON = {"name", "weight", "turn"}
_EXTRA: Mapping[str, frozenset[str]] = {
    "must_call": frozenset({"with"}),
    "must_not_call": frozenset({"with"}),
    "at_most": frozenset({"of"}),
    "argument": frozenset({"min", "max", "one_of"}),
    "state": frozenset({"equals"}),
    "says": frozenset(),
    "never_says": frozenset(),
    "python": frozenset(),
}
"""Additional fields of each kind of check."""


class CheckFailure(NamedTuple):
    """A failed check: the turn and a message."""

    turn: int
    message: str


class ParsedCall(NamedTuple):
    """Well-formed call of an episode."""

    turn: int
    call: Call
    ok: bool


@dataclass(frozen=True, eq=False)
class CheckedEpisode:
    """View of an episode for checks."""

    entry: str
    outcomes: Sequence[ExecutedTurn]
    """Outcome of each executed turn."""
    words: Sequence[str] | None
    """Answer of each turn; None if the answers are unknown. A ground truth, for example, has no
    answers."""

    @cached_property
    def calls(self) -> Sequence[ParsedCall]:
        """All calls in order."""
        return [
            ParsedCall(turn, result.call or call, result.ok)
            for turn, outcome in enumerate(self.outcomes)
            for call, result in zip(outcome.calls, outcome.results, strict=True)
            if isinstance(call, Call)
        ]

    def state(self, turn: int | None) -> Mapping[str, Any]:
        """Return the state at the end of ``turn``; None selects the end of the episode."""
        last = len(self.outcomes) - 1 if turn is None else min(turn, len(self.outcomes) - 1)
        return self.outcomes[last].snapshot.to_json() if last >= 0 else {}


@dataclass(frozen=True)
class DeclaredCheck:
    """One declared check."""

    name: str
    kind: str
    """Kind of check; also the name of its main field, such as ``must_call``."""
    subject: Any
    """Value of the main field, such as the name of a function."""
    details: Mapping[str, Any]
    """Values of the other fields, such as ``with`` or ``min``."""
    weight: float
    """Weight of the check in the partial credit."""
    turn: int | None
    """Index of the checked turn; None means the whole episode."""
    python: EpisodeCheck | None = None

    @property
    def function(self) -> str | None:
        """Name of the checked function, or None."""
        if self.kind in ("must_call", "must_not_call"):
            return str(self.subject)
        return (
            str(self.subject).partition(".")[0]
            if self.kind == "argument"
            else self.details.get("of")
        )

    @property
    def arguments(self) -> Sequence[str]:
        """Names of the checked arguments."""
        named = [str(self.subject).partition(".")[2]] if self.kind == "argument" else []
        return [*named, *self.details.get("with", {})]

    def judge(self, episode: CheckedEpisode) -> CheckFailure | bool | None:
        """Return a failure, True (passed), or None (the check needs answers that are unknown).

        Raises SimulatorError if a Python check raises an error.
        """
        if self.kind in ("says", "never_says") and episode.words is None:
            return None
        if self.python:
            if episode.words is None and "words" in self.python.inputs:
                return None
            calls = [made.call for made in episode.calls if self.turn in (None, made.turn)]
            state, words = episode.state(self.turn), [*(episode.words or ())]
            message = find_failure(self.python, state, calls, words, episode.entry)
            return True if message is None else self._failed(episode, message)
        return next(self._failures(episode), True)

    def _failures(self, episode: CheckedEpisode) -> Iterator[CheckFailure]:
        calls = [made for made in episode.calls if self.turn in (None, made.turn)]
        match self.kind:
            case "must_call":
                fitting = [made for made in calls if made.ok and self._fits(made.call)]
                if not fitting:
                    yield self._failed(episode, f"{self._wanted} was not called successfully")
            case "must_not_call":
                for made in calls:
                    if self._fits(made.call):
                        yield CheckFailure(made.turn, f"{made.call} was called")
            case "at_most":
                name = self.details.get("of")
                fitting = [made for made in calls if name in (None, made.call.name)]
                if len(fitting) > self.subject:
                    turn, what = fitting[self.subject].turn, name or "functions"
                    message = (
                        f"{len(fitting)} calls of {what}, but at most {self.subject} are allowed"
                    )
                    yield CheckFailure(turn, message)
            case "argument":
                yield from self._outside(calls)
            case "state":
                found = _member(episode.state(self.turn), self.subject)
                if found is ABSENT or found != self.details["equals"]:
                    shown = "missing" if found is ABSENT else cut_repr(found)
                    message = (
                        f"{self.subject} is {shown}, expected {cut_repr(self.details['equals'])}"
                    )
                    yield self._failed(episode, message)
            case _:
                yield from self._misworded(episode)

    def _outside(self, calls: Sequence[ParsedCall]) -> Iterator[CheckFailure]:
        name, _, parameter = self.subject.partition(".")
        for made in calls:
            if made.call.name != name or parameter not in made.call.kwargs:
                continue
            value = made.call.kwargs[parameter]
            if (limit := self._limit(value)) is not None:
                yield CheckFailure(made.turn, f"{made.call}: {parameter} must be {limit}")

    def _limit(self, value: object) -> str | None:
        allowed = self.details.get("one_of")
        if allowed is not None and value not in allowed:
            return f"one of {cut_repr(allowed)}"
        least, most = self.details.get("min"), self.details.get("max")
        if least is None and most is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int | float):
            return "a number"
        if least is not None and not value >= least:
            return f"at least {least}"
        return f"at most {most}" if most is not None and not value <= most else None

    def _misworded(self, episode: CheckedEpisode) -> Iterator[CheckFailure]:
        wanted = " ".join(self.subject.casefold().split())
        said = [" ".join(text.casefold().split()) for text in episode.words or ()]
        places = [
            turn for turn, text in enumerate(said) if wanted in text and self.turn in (None, turn)
        ]
        if self.kind == "says" and not places:
            yield self._failed(episode, f"no answer says {self.subject!r}")
        elif self.kind == "never_says" and places:
            yield CheckFailure(places[0], f"the answer says {self.subject!r}")

    def _failed(self, episode: CheckedEpisode, message: str) -> CheckFailure:
        last = max(len(episode.outcomes) - 1, 0)
        return CheckFailure(last if self.turn is None else self.turn, message)

    @property
    def _wanted(self) -> str:
        return str(Call(self.subject, (), self.details.get("with", {})))

    def _fits(self, call: Call) -> bool:
        wanted = self.details.get("with", {})
        return call.name == self.subject and all(
            name in call.kwargs and call.kwargs[name] == value for name, value in wanted.items()
        )


_STEP = re.compile(r"\[(\d{1,9})\]|\[(['\"])(.*?)\2\]|\.?([^.\[\]]+)")
"""A step of a path: an index, a quoted name or a plain name."""


def _member(state: Mapping[str, Any], path: str) -> Any:
    # A backend module:Class may have dots in its name.
    name = max((each for each in state if path.startswith(f"{each}.")), key=len, default="")
    value: Any = state[name] if name else state
    end = len(name)
    while end < len(path):
        step = _STEP.match(path, end)
        if step is None:
            return ABSENT
        end, (index, _, quoted, plain) = step.end(), step.groups()
        key = quoted if plain is None else plain
        if index is not None and isinstance(value, Sequence) and int(index) < len(value):
            value = value[int(index)]
        elif index is None and isinstance(value, Mapping) and key in value:
            value = value[key]
        else:
            return ABSENT
    return value


def read_checks(members: object, where: str, turns: int | None = None) -> tuple[DeclaredCheck, ...]:
    """Return the checks of a JSON list.

    Raises DataError if a check cannot be used.

    Args:
        members: JSON objects, one for each check.
        where: File, entry or option, and JSON path of the list.
        turns: Number of turns of the entry, if known.
    """
    if not isinstance(members, list | tuple) or len(members) > _MAX_CHECKS:
        raise DataError(where, f"must be a list of at most {_MAX_CHECKS} checks")
    found: dict[str, DeclaredCheck] = {}
    for place, member in enumerate(members):
        one = _CheckReader(f"{where}[{place}]").read(member, turns)
        if one.name in found:
            raise DataError(f"{where}[{place}]", f"duplicate name {one.name!r}; add a unique name")
        found[one.name] = one
    return tuple(found.values())


_KNOWN: dict[str, EpisodeCheck] = {}
"""Registered check functions by path, for example functions from a notebook."""


def remember(path: str, check: EpisodeCheck) -> None:
    """Register a check function for this process."""
    _KNOWN[path] = check


class _CheckReader:
    def __init__(self, where: str) -> None:
        self._where = where

    def read(self, member: object, turns: int | None) -> DeclaredCheck:
        if not isinstance(member, Mapping):
            self._refuse("must be an object")
        kinds = [name for name in _EXTRA if name in member]
        if len(kinds) != 1:
            known = ", ".join(_EXTRA)
            hint = "".join(suggest_name(str(name), _EXTRA) for name in member if not kinds)
            self._refuse(f"must have one of {known}{hint}")
        kind = kinds[0]
        for name in member:
            if name not in {kind, *_COMMON, *_EXTRA[kind]}:
                known = ", ".join(sorted({*_COMMON, *_EXTRA[kind]}))
                self._refuse(f"unknown field {name!r:.80} of {kind}; the fields are {known}")
        subject = member[kind]
        self._check_subject(kind, subject, member)
        python = self._load(subject) if kind == "python" else None
        weight = member.get("weight", python.weight if python else 1)
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < 1e9:
            self._refuse("`weight` must be a number above 0")
        turn = member.get("turn")
        if turn is not None and (type(turn) is not int or not 0 <= turn < (turns or 1_000)):
            self._refuse(f"`turn` must be a number from 0 to {(turns or 1_000) - 1}")
        name = member.get("name", f"{kind} {subject}"[:80])
        if not isinstance(name, str) or not name.isprintable() or not name:
            self._refuse("`name` must be a string without line breaks")
        details = {each: member[each] for each in _EXTRA[kind] if each in member}
        return DeclaredCheck(name, kind, subject, details, float(weight), turn, python)

    def _check_subject(self, kind: str, subject: object, member: Mapping[str, Any]) -> None:
        if kind == "at_most":
            if type(subject) is not int or subject < 0:
                self._refuse("`at_most` must be a number of at least 0")
            if not isinstance(member.get("of", ""), str):
                self._refuse("`of` must be the name of a function")
            return
        if not isinstance(subject, str) or not subject.strip():
            self._refuse(f"{kind} must be a string")
        if not isinstance(member.get("with", {}), Mapping):
            self._refuse("`with` must map argument names to values")
        if kind == "argument":
            if not all(subject.partition(".")):
                self._refuse("argument must be function.parameter")
            if not member.keys() & _EXTRA["argument"]:
                self._refuse("`argument` needs `min`, `max` or `one_of`")
            for name in ("min", "max"):
                value = member.get(name, 0)
                if isinstance(value, bool) or not isinstance(value, int | float):
                    self._refuse(f"{name} must be a number")
            if not isinstance(member.get("one_of", []), list):
                self._refuse("`one_of` must be a list")
        if kind == "state" and "equals" not in member:
            self._refuse("`state` needs `equals`, the expected value")

    def _load(self, path: str) -> EpisodeCheck:
        if path in _KNOWN:
            return _KNOWN[path]
        try:
            found = import_local(path)
        except ConfigError as error:
            self._refuse(str(error))
        if not isinstance(found, EpisodeCheck):
            self._refuse(f"{path} is not a function marked with turnwise.check")
        return found

    def _refuse(self, message: str) -> NoReturn:
        raise DataError(self._where, message)


def find_failure(
    check: EpisodeCheck,
    state: Mapping[str, Any],
    calls: Sequence[Call],
    words: Sequence[str],
    entry: str,
) -> str | None:
    """Return the error message if the episode fails the check, else ``None``.

    Raises SimulatorError if the function fails, or returns neither a truth value nor a string.
    """
    given = {"state": state, "calls": calls, "words": words, "entry": entry}
    function = check.function
    about = " ".join((function.__doc__ or function.__name__).split("\n")[0].split())
    try:
        found = function(**{name: given[name] for name in check.inputs})
    except AssertionError as error:
        return str(error) or about
    except Exception as error:
        said = describe_exception(error)
        raise SimulatorError(f"check {check.path} raised {said:.500}") from error
    if found is None or found is True:
        return None
    if found is False:
        return about
    if isinstance(found, str):
        return found
    kind = type(found).__name__
    raise SimulatorError(f"check {check.path} returned {kind}; return True, False or a string")
