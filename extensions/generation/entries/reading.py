"""What a writer answers: a JSON object, read strictly and never run."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from extensions.authoring.making.scenarios import MissingParameter

_LONGEST_ANSWER = 100_000
"""Characters of an answer that are looked at."""
_LONGEST_TEXT = 5_000
"""Characters of what is said in a turn."""


class OutOfForm(Exception):
    """An answer that is not of the form; the message says why, for the writer to mend it."""


class WrittenTurn(NamedTuple):
    """One turn as it was written."""

    words: str
    functions: tuple[str, ...]
    """Those that the writer says do it."""


class Instruction(NamedTuple):
    """An instruction as it was written."""

    turns: tuple[WrittenTurn, ...]
    left_out: MissingParameter | None = None
    """How one turn would leave a value out, where the writer says so."""

    @property
    def words(self) -> list[str]:
        """What the user says, turn by turn."""
        return [turn.words for turn in self.turns]


def read_written(text: str, turns: int) -> Instruction:
    """Return what an answer holds.

    Words and fences around the object do not count.

    Raises:
        OutOfForm: It is not of the form.
    """
    value = _object(text[:_LONGEST_ANSWER])
    stated = value.get("turns")
    if not isinstance(stated, list):
        raise OutOfForm('there is no list "turns"')
    if len(stated) != turns:
        raise OutOfForm(f'"turns" has {len(stated)} members, and must have {turns}')
    found = tuple([_turn(each, index) for index, each in enumerate(stated)])
    return Instruction(found, _left_out(value.get("left_out"), turns))


def _object(text: str) -> dict[str, Any]:
    decoder, start = json.JSONDecoder(), text.find("{")
    try:
        value = decoder.raw_decode(text, start)[0] if start >= 0 else None
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise OutOfForm("there is no JSON object in the answer")
    return value


def _turn(value: object, index: int) -> WrittenTurn:
    match value:
        case {"words": str(words), "functions": list(names)} if all(
            isinstance(name, str) for name in names
        ):
            _check(words, f"turns[{index}]")
            return WrittenTurn(words.strip(), tuple(names))
    raise OutOfForm(f'turns[{index}] must have a text "words" and a list of texts "functions"')


def _left_out(value: object, turns: int) -> MissingParameter | None:
    match value:
        case None:
            return None
        case {"turn": int(turn), "without": str(without), "answer": str(answer)} if (
            not isinstance(turn, bool) and 0 <= turn < turns
        ):
            for text in (without, answer):
                _check(text, "left_out")
            return MissingParameter(turn, without.strip(), answer.strip())
    raise OutOfForm(
        f'"left_out" must be null or have a "turn" below {turns}, "without" and "answer"'
    )


def _check(text: str, where: str) -> None:
    if len(text) > _LONGEST_TEXT:
        raise OutOfForm(f"{where}: has more than {_LONGEST_TEXT} characters")
    if not text.strip():
        raise OutOfForm(f"{where}: says nothing")
    if any("\ud800" <= sign <= "\udfff" for sign in text):
        raise OutOfForm(f"{where}: has half a character")
