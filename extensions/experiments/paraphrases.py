"""Paraphrases of functions and user messages, read from files that people have reviewed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from envs.errors import DataError
from envs.tool import Document
from extensions.experiments.arrangement import Paraphrase
from trajectories.jsonl import parse_object, read_objects, read_text
from trajectories.schema import Message, Trajectory

_WORD = re.compile(r"[\w.]+")
_CODE = re.compile(r"`([\w.]+)(?:\(\))?`|\b([\w.]+)\(")
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_UNITS = re.compile(
    r"\b(?:km|kilometers?|kilometres?|miles?|meters?|metres?|feet|psi|gallons?|liters?|litres?|"
    r"percent|degrees?|celsius|fahrenheit|usd|dollars?|euros?|seconds?|minutes?|hours?|days?|"
    r"iata|iso|utc|yyyy-mm-dd|hh:mm)\b",
    re.IGNORECASE,
)


class RewordedMessages(NamedTuple):
    """Reworded user messages of an entry, by turn."""

    turns: Sequence[Sequence[str]]
    where: str

    def of(self, trajectory: Trajectory) -> Trajectory:
        """Return an entry with the reworded user messages.

        Raises DataError if a turn has more or fewer user messages than its paraphrase.
        """
        counts = [len([m for m in turn.messages if m.role == "user"]) for turn in trajectory.turns]
        if counts != [len(texts) for texts in self.turns]:
            message = f"must have as many user messages per turn as {trajectory.id}: {counts}"
            raise DataError(self.where, message)
        turns = []
        for turn, texts in zip(trajectory.turns, self.turns, strict=True):
            left = iter(texts)
            messages = tuple(
                Message("user", next(left)) if m.role == "user" else m for m in turn.messages
            )
            turns.append(replace(turn, messages=messages))
        return replace(trajectory, turns=tuple(turns))


def parse_paraphrase(value: object) -> Paraphrase | None:
    """Convert a JSON value to a paraphrase; return None if the value is malformed."""
    match value:
        case {"description": str(text), "parameters": dict(members)} if all(
            isinstance(each, str) for each in members.values()
        ):
            return Paraphrase(text, members)
    return None


@cache
def read_paraphrases(path: Path) -> Mapping[str, Paraphrase]:
    """Read paraphrases by function, each an object with ``description`` and ``parameters``.

    Raises DataError if the file cannot be read or is malformed.
    """
    found = {}
    for name, value in parse_object(read_text(path), str(path)).items():
        paraphrase = parse_paraphrase(value)
        if paraphrase is None:
            problem = f"$.{name}: must have a string `description` and strings in `parameters`"
            raise DataError(str(path), problem)
        found[name] = paraphrase
    return found


def read_rewordings(path: Path) -> Mapping[str, RewordedMessages]:
    """Read the reworded user messages of each entry, from lines with ``id`` and ``turns``.

    Raises DataError if the file cannot be read or is malformed.
    """
    found: dict[str, RewordedMessages] = {}
    for where, value in read_objects(path):
        match value:
            case {"id": str(id), "turns": list(turns)} if all(
                isinstance(texts, list) and all(isinstance(text, str) for text in texts)
                for texts in turns
            ):
                if id in found:
                    raise DataError(where, f"the id {id!r} occurs twice")
                found[id] = RewordedMessages(turns, where)
            case _:
                raise DataError(where, 'must have "id" and "turns", a list of lists of strings')
    return found


def find_defects(document: Document, paraphrase: Paraphrase, names: Sequence[str]) -> Iterator[str]:
    """Yield the defects of a paraphrase.

    A paraphrase must not add the name of a function or the description of an unknown parameter. It
    must keep enum values, numbers and units.
    """
    members = document["parameters"].get("properties", {})
    own = str(document.get("description", ""))
    yield from _find_named(paraphrase.description, own, names)
    for name, text in paraphrase.parameters.items():
        if name not in members:
            yield f"has no parameter {name!r:.80}"
            continue
        before = str(members[name].get("description", ""))
        yield from _find_named(text, before, names)
        yield from _find_changes(name, before, text, members[name])
    for name, member in members.items():
        if name not in paraphrase.parameters and member.get("description"):
            yield f"lacks the parameter {name!r:.80}"
    if not paraphrase.description.strip():
        yield "is empty"


def _find_changes(name: str, before: str, after: str, schema: Mapping[str, Any]) -> Iterator[str]:
    for choice in schema.get("enum", ()):
        if isinstance(choice, str) and choice in before and choice not in after:
            yield f"{name}: the choice {choice!r:.80} is missing"
    lost = {unit.lower() for unit in _UNITS.findall(before)}
    lost -= {unit.lower() for unit in _UNITS.findall(after)}
    if lost:
        yield f"{name}: lacks {', '.join(sorted(lost))}"
    numbers = {*_NUMBER.findall(before)} ^ {*_NUMBER.findall(after)}
    if numbers:
        yield f"{name}: the numbers have changed: {', '.join(sorted(numbers)):.80}"


def _find_named(text: str, before: str, names: Sequence[str]) -> Iterator[str]:
    words, code = _words(text), {"".join(found) for found in _CODE.findall(text)}
    before_words = _words(before)
    for name in names:
        found = code if _may_be_word(name) else words
        if name in found and name not in before_words:
            yield f"names the function {name}"


def _words(text: str) -> set[str]:
    return {word.strip(".") for word in _WORD.findall(text)}


def _may_be_word(name: str) -> bool:
    letters = {*name}
    return not letters & {"_", "."} and name == name.lower() and bool(letters & {*"aeiouy"})
