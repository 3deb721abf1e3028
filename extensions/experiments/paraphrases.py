"""Other words for functions and for what users say, read from files that people have reviewed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from envs.tool import Document
from extensions.experiments.arranging import Paraphrase
from trajectories.errors import DataError
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


class Rewording(NamedTuple):
    """What users say in other words, turn by turn."""

    turns: Sequence[Sequence[str]]
    where: str

    def of(self, trajectory: Trajectory) -> Trajectory:
        """Return an entry whose users say it in these words.

        Raises:
            DataError: They are not for as many messages as it has.
        """
        said = [len([m for m in turn.messages if m.role == "user"]) for turn in trajectory.turns]
        if said != [len(texts) for texts in self.turns]:
            raise DataError(self.where, f"{trajectory.id} has {said} user messages in its turns")
        turns = []
        for turn, texts in zip(trajectory.turns, self.turns, strict=True):
            left = iter(texts)
            messages = tuple(
                Message("user", next(left)) if m.role == "user" else m for m in turn.messages
            )
            turns.append(replace(turn, messages=messages))
        return replace(trajectory, turns=tuple(turns))


@cache
def read_paraphrases(path: Path) -> Mapping[str, Paraphrase]:
    """Return paraphrases by function: of a JSON object with ``description`` and ``parameters``.

    Raises:
        DataError: The file cannot be read, or is not of that form.
    """
    found = {}
    for name, value in parse_object(read_text(path), str(path)).items():
        match value:
            case {"description": str(text), "parameters": dict(members)} if all(
                isinstance(each, str) for each in members.values()
            ):
                found[name] = Paraphrase(text, members)
            case _:
                raise DataError(
                    str(path), f"$.{name}: must have a description and parameters, all of them text"
                )
    return found


def read_rewordings(path: Path) -> Mapping[str, Rewording]:
    """Return what users say in other words, by entry: lines of ``id`` and ``turns`` of texts.

    Raises:
        DataError: The file cannot be read, or is not of that form.
    """
    found: dict[str, Rewording] = {}
    for where, value in read_objects(path):
        match value:
            case {"id": str(id), "turns": list(turns)} if all(
                isinstance(texts, list) and all(isinstance(text, str) for text in texts)
                for texts in turns
            ):
                if id in found:
                    raise DataError(where, f"the id {id!r} is there twice")
                found[id] = Rewording(turns, where)
            case _:
                raise DataError(where, "must have an id, and turns that are lists of texts")
    return found


def defects(document: Document, paraphrase: Paraphrase, names: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with other words for a function.

    They must name no function that the document does not, describe no parameter that there is not,
    and keep choices, numbers and units.
    """
    members = document["parameters"].get("properties", {})
    said = str(document.get("description", ""))
    yield from _named(paraphrase.description, said, names)
    for name, text in paraphrase.parameters.items():
        if name not in members:
            yield f"has no parameter {name!r:.80}"
            continue
        before = str(members[name].get("description", ""))
        yield from _named(text, before, names)
        yield from _changed(name, before, text, members[name])
    for name, member in members.items():
        if name not in paraphrase.parameters and member.get("description"):
            yield f"leaves out the parameter {name!r:.80}"
    if not paraphrase.description.strip():
        yield "says nothing"


def _changed(name: str, before: str, after: str, schema: Mapping[str, Any]) -> Iterator[str]:
    for choice in schema.get("enum", ()):
        if isinstance(choice, str) and choice in before and choice not in after:
            yield f"{name}: no longer says the choice {choice!r:.80}"
    lost = {unit.lower() for unit in _UNITS.findall(before)}
    lost -= {unit.lower() for unit in _UNITS.findall(after)}
    if lost:
        yield f"{name}: no longer says {', '.join(sorted(lost))}"
    numbers = {*_NUMBER.findall(before)} ^ {*_NUMBER.findall(after)}
    if numbers:
        yield f"{name}: has other numbers: {', '.join(sorted(numbers)):.80}"


def _named(text: str, before: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the functions that a text names and the one before does not.

    Those whose names may be words of the language count only where they are written as code.
    """
    words, code = _words(text), {"".join(found) for found in _CODE.findall(text)}
    before_words = _words(before)
    for name in names:
        found = words if _is_no_word(name) else code
        if name in found and name not in before_words:
            yield f"names the function {name}"


def _words(text: str) -> set[str]:
    return {word.strip(".") for word in _WORD.findall(text)}


def _is_no_word(name: str) -> bool:
    """Tell whether a name can be no word of the language: ``get_user``, ``getUser``, ``ls``."""
    signs = {*name}
    return bool(signs & {"_", "."}) or name != name.lower() or not signs & {*"aeiouy"}
