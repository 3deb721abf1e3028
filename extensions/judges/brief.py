"""What a judge reads of an episode, as one text in which nothing that was said can speak to it.

Never in it: the ground truth, the verdict, our diagnosis, and who is judged. Whatever the user, the
model or a function said stands between marks with a token that follows from all of the text, so
that nobody who writes a part of it can know the token; and none of it contains the token.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from typing import Any, Literal, NamedTuple

from checkers.why.trace import TracedTurn
from envs.state import Difference, brief
from runner.analysis.view import view
from runner.episodes.examined import ExaminedCalls, ExaminedTurns
from runner.models.base import CHARACTERS_PER_TOKEN
from runner.models.tools import own_documents
from runner.records.record import EpisodeRecord, call_text
from trajectories.schema import Turn

Show = Literal["answer", "steps", "changes"]
"""The words that end the turns; calls and results as well; and what each call changed, too."""

LONGEST_RESULT = 1_024 * CHARACTERS_PER_TOKEN
"""Characters of a result, or of a call, that are shown: half from each end."""
_LONGEST_WORDS = 4_096 * CHARACTERS_PER_TOKEN
_LONGEST_CHANGE = 200
_MOST_CHANGES = 20
_MOST_CALLS = 200
"""Calls of a turn that are shown: half from each end."""
_DIGITS = 16


class Quoted(NamedTuple):
    """Something that was said in the episode."""

    kind: str
    """By whom: ``user``, ``call``, ``result``, ``answer`` and so on."""
    text: str


Part = str | Quoted
"""A line of ours, or something that was said."""


@dataclass(frozen=True)
class Brief:
    """A text for a judge, but for the token of its marks."""

    parts: tuple[Part, ...]

    @cached_property
    def sha256(self) -> str:
        """A hash of all of it, in hex, by which votes name it."""
        return sha256(json.dumps(self.parts).encode()).hexdigest()[:_DIGITS]

    def token(self, draw: str) -> str:
        """Return the token of one request: the same for the same text, and nowhere in it."""
        number = 0
        said = [part.text for part in self.parts if isinstance(part, Quoted)]
        while True:
            token = sha256(f"{self.sha256} {draw} {number}".encode()).hexdigest()[:_DIGITS]
            if not any(token in text for text in said):
                return token
            number += 1

    def text(self, token: str) -> str:
        """Return the text, with what was said between marks."""
        return "\n".join(
            part
            if isinstance(part, str)
            else f"<<<{part.kind} {token}\n{part.text}\n{token} {part.kind}>>>"
            for part in self.parts
        )


def ends(text: str, most: int) -> str:
    """Return a text of at most so many characters, half from each end where it is longer."""
    if len(text) <= most:
        return text
    mark = f"\n[... {len(text) - most:,} characters or more are left out here ...]\n"
    half = (most - len(mark)) // 2
    return f"{text[:half]}{mark}{text[-half:]}"


def readable(text: str) -> str:
    """Return a text without what servers refuse: control characters and halves of pairs."""
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in "\n\t" or not _is_odd(c) else f"\\u{ord(c):04x}" for c in text
    )


def _is_odd(character: str) -> bool:
    return character < " " or "\x7f" <= character <= "\x9f" or "\ud800" <= character <= "\udfff"


def quoted(kind: str, text: str, most: int = _LONGEST_WORDS) -> Quoted:
    """Return something that was said, as far as it is shown."""
    return Quoted(kind, readable(ends(text, most)))


class Closing(NamedTuple):
    """How a turn ended, for the reader."""

    words: str | None
    """The words that ended it; None where there are none on record."""
    note: str
    """What there was instead."""


class BriefOf:
    """Lays an episode out for a judge, by its turns or as a single one.

    Args:
        show: What of it.
        closings: How each turn ended that was reached.
    """

    def __init__(self, show: Show, closings: Sequence[Closing]) -> None:
        self._show = show
        self._closings = closings

    def turns(self, examined: ExaminedTurns) -> Brief:
        """Return the text on several turns."""
        asked = examined.trajectory.turns
        done = examined.model.turns if examined.model else ()
        changes = _changes(examined) if self._show == "changes" else {}
        docs = _first_sentences(tuple(examined.trajectory.environments))
        parts: list[Part] = []
        offered: frozenset[str] = frozenset()
        for number, turn in enumerate(asked):
            parts += _heading(number, turn)
            if number >= len(self._closings):
                parts.append("This turn was not reached.")
                continue
            if number < len(done):
                parts += _functions(docs, done[number].offered - offered, first=number == 0)
                offered |= done[number].offered
                if self._show != "answer":
                    parts += _calls(done[number], changes.get(number, ()))
            parts += self._ending(number)
        return Brief(tuple(parts))

    def pairs(self, examined: ExaminedCalls) -> Brief:
        """Return the text on a single turn."""
        parts = [*_heading(0, examined.trajectory.turns[0])]
        docs = {document["name"]: _first(document) for document in examined.functions}
        parts += _functions(docs, frozenset(docs), first=True)
        made = [pair for pair in examined.paired.pairs if pair.call is not None]
        if self._show != "answer":
            for pair in made[:_MOST_CALLS]:
                assert pair.call is not None
                parts.append(quoted("call", call_text(pair.call), LONGEST_RESULT))
                if pair.result is not None:
                    parts.append(quoted("result", pair.result.text, LONGEST_RESULT))
                else:
                    parts.append("(Calls of this entry are not executed.)")
            if not made:
                parts.append("The model made no call.")
        ending = self._ending(0) if self._closings else ("The model gave no answer at all.",)
        return Brief((*parts, *ending))

    def _ending(self, number: int) -> Iterator[Part]:
        words, note = self._closings[number]
        if note:
            yield note
        if words is not None:
            yield "The turn ended with these words of the model:"
            yield quoted("answer", words)


def both(one: Brief, other: Brief) -> Brief:
    """Return the text on two episodes of the same entry, in this order."""
    return Brief(("# Episode first", *one.parts, "", "# Episode second", *other.parts))


def closings_of(
    record: EpisodeRecord, traced: Sequence[TracedTurn], turns: int
) -> tuple[Closing, ...]:
    """Return how the turns ended that were reached.

    Args:
        record: The episode; of a result file it says nothing of endings.
        traced: What happened, as far as it was executed again.
        turns: How many the trajectory has.
    """
    ends_of = {end.turn: end for end in record.turn_ends}
    reached = max([len(traced), *(number + 1 for number in ends_of)], default=0)
    found = []
    for number in range(min(reached, turns)):
        turn = traced[number] if number < len(traced) else None
        words = turn.answer if turn else None
        if words is None:
            words = _last_words(record, number)
        if words is None and turn and turn.unreadable and record.result:
            last = record.result[number][-1]
            words = last if isinstance(last, str) else None
        found.append(Closing(words or None, _NOTES.get(_why(ends_of, number), "")))
    return tuple(found)


_NOTES: Mapping[str, str] = {
    "cut_off": "The model's last answer was cut off.",
    "unreadable": "The model's last answer holds calls that could not be read.",
    "empty": "The model ended the turn without a word.",
    "exhausted": "The turn was ended since the model made too many requests.",
    "give_up": "The model gave the turn up.",
    "step_limit": "The turn was ended since the model made too many calls.",
}


def _why(ends_of: Mapping[int, Any], number: int) -> str:
    return ends_of[number].why if number in ends_of else ""


def _last_words(record: EpisodeRecord, number: int) -> str | None:
    steps = [step for step in record.steps if step.turn == number]
    return steps[-1].reply.text if steps and not steps[-1].calls else None


def _heading(number: int, turn: Turn) -> Iterator[Part]:
    yield f"## Turn {number}"
    if not turn.messages:
        yield "The user says nothing; functions are handed over."
    for message in turn.messages:
        yield quoted(message.role, message.content)


def _functions(docs: Mapping[str, str], names: frozenset[str], *, first: bool) -> Iterator[Part]:
    known = [f"{name}: {text}" for name, text in docs.items() if name in names]
    if known or first:
        yield "Functions that the model may call:" if first else "Functions handed over now:"
        yield quoted("functions", "\n".join(known) or "(none)", 4 * _LONGEST_WORDS)


def _calls(turn: TracedTurn, changes: Sequence[Sequence[Difference]]) -> Iterator[Part]:
    calls = turn.calls
    if not calls:
        yield "The model made no call."
    left_out = len(calls) - _MOST_CALLS
    for number, (call, result, _) in enumerate(calls):
        if left_out > 0 and _MOST_CALLS // 2 <= number < _MOST_CALLS // 2 + left_out:
            if number == _MOST_CALLS // 2:
                yield f"({left_out} calls are left out here.)"
            continue
        yield quoted("call", call_text(call), LONGEST_RESULT)
        yield quoted("result", result.text, LONGEST_RESULT)
        if changes and changes[number]:
            shown = [_change(change) for change in changes[number][:_MOST_CHANGES]]
            shown += ["runner"] if len(changes[number]) > _MOST_CHANGES else []
            yield quoted("changes", "\n".join(shown))


def _change(change: Difference) -> str:
    path, before, after = change
    return f"{path}: {brief(before, _LONGEST_CHANGE)} -> {brief(after, _LONGEST_CHANGE)}"


def _changes(examined: ExaminedTurns) -> dict[int, list[Sequence[Difference]]]:
    return {turn.number: [moment.changes for moment in turn.calls] for turn in view(examined)}


@cache
def _first_sentences(environments: tuple[str, ...]) -> Mapping[str, str]:
    return {document["name"]: _first(document) for document in own_documents(environments)}


def _first(document: Mapping[str, Any]) -> str:
    text = " ".join(str(document.get("description", "")).split())
    sentence, stop, _ = text.partition(". ")
    return f"{sentence}{stop}".strip()
