"""A brief on an episode for judge models: turns, calls, results and answers.

The brief never contains the ground truth, the verdict, the diagnosis or the name of the judged
model. All text by users, models and functions is quoted, between marks that contain a token. The
token is a hash of the whole text, so the author of a quoted text cannot know the token.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from itertools import count
from typing import Any, Literal, NamedTuple

from checkers.causes.trace import TracedTurn
from envs.state import Difference, cut_repr
from runner.analysis.episode_view import view
from runner.episodes.rejudged_episode import RejudgedMultiTurn, RejudgedSingleTurn
from runner.models.model_types import CHARACTERS_PER_TOKEN
from runner.models.toolbox import own_documents
from runner.records.episode_record import EpisodeRecord, call_text
from trajectories.schema import Turn

Show = Literal["answer", "steps", "changes"]
"""Content of a brief.

``answer`` shows the final words of each turn. ``steps`` adds calls and results. ``changes`` adds
calls, results and state changes.
"""

MAX_RESULT_CHARS = 1_024 * CHARACTERS_PER_TOKEN
"""Maximum characters of a result or call; a longer text keeps its first and last characters."""
_MAX_WORDS_CHARS = 4_096 * CHARACTERS_PER_TOKEN
_MAX_CHANGE_CHARS = 200
_MAX_CHANGES = 20
_MAX_CALLS = 200
"""Maximum number of calls shown per turn: half from the start of the turn, half from its end."""
_DIGITS = 16
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


class Quotation(NamedTuple):
    """A quoted text of the episode."""

    kind: str
    """Source: ``user``, ``call``, ``result``, ``answer`` and so on."""
    text: str


Part = str | Quotation
"""A line that Turnwise wrote, or a quotation from the episode."""


@dataclass(frozen=True)
class EpisodeBrief:
    """Text for a judge model, with marks around quotations. Each request has different marks."""

    parts: tuple[Part, ...]

    @cached_property
    def sha256(self) -> str:
        """Hex hash of the whole text; votes refer to the text by this hash."""
        return sha256(json.dumps(self.parts).encode()).hexdigest()[:_DIGITS]

    def token(self, draw: str) -> str:
        """Return a reproducible token for the marks around quotations; no quotation contains it."""
        quotations = [part.text for part in self.parts if isinstance(part, Quotation)]
        for number in count():
            token = sha256(f"{self.sha256} {draw} {number}".encode()).hexdigest()[:_DIGITS]
            if not any(token in text for text in quotations):
                break
        return token

    def text(self, token: str) -> str:
        """Return the text, with a mark before and after each quotation."""
        return "\n".join(
            part
            if isinstance(part, str)
            else f"<<<{part.kind} {token}\n{part.text}\n{token} {part.kind}>>>"
            for part in self.parts
        )


def ends(text: str, most: int) -> str:
    """Shorten a text to ``most`` characters: half from the start, half from the end."""
    if len(text) <= most:
        return text
    mark = f"\n[... {len(text) - most:,} characters or more are left out here ...]\n"
    half = (most - len(mark)) // 2
    return f"{text[:half]}{mark}{text[-half:]}"


def escape_unprintable(text: str) -> str:
    """Escape characters that servers refuse: control characters and lone surrogates."""
    return _UNPRINTABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def quote(kind: str, text: str, most: int = _MAX_WORDS_CHARS) -> Quotation:
    """Return a quotation, shortened to ``most`` characters."""
    return Quotation(kind, escape_unprintable(ends(text, most)))


class TurnEnding(NamedTuple):
    """The end of a turn."""

    words: str | None
    """Final words; None if no final words are recorded."""
    note: str
    """Sentence that says how the turn ended, for turns without final words."""


class BriefWriter:
    """Writer of briefs for multi-turn and single-turn entries."""

    def __init__(self, show: Show, closings: Sequence[TurnEnding]) -> None:
        self._show = show
        self._closings = closings

    def turns(self, examined: RejudgedMultiTurn) -> EpisodeBrief:
        """Return the brief of a multi-turn episode."""
        done = examined.model.turns if examined.model else ()
        changes: dict[int, list[Sequence[Difference]]] = {}
        if self._show == "changes":
            changes = {
                turn.number: [call.changes for call in turn.calls] for turn in view(examined)
            }
        docs = _summarize_functions(tuple(examined.trajectory.environments))
        parts: list[Part] = []
        offered: frozenset[str] = frozenset()
        for number, turn in enumerate(examined.trajectory.turns):
            parts += _write_heading(number, turn)
            if number >= len(self._closings):
                parts.append("This turn was not reached.")
                continue
            if number < len(done):
                parts += _write_functions(docs, done[number].offered - offered, first=number == 0)
                offered |= done[number].offered
                if self._show != "answer":
                    parts += _write_calls(done[number], changes.get(number, ()))
            parts += self._write_ending(number)
        return EpisodeBrief(tuple(parts))

    def pairs(self, examined: RejudgedSingleTurn) -> EpisodeBrief:
        """Return the brief of a single-turn episode."""
        parts = [*_write_heading(0, examined.trajectory.turns[0])]
        docs = {document["name"]: _summarize(document) for document in examined.functions}
        parts += _write_functions(docs, frozenset(docs), first=True)
        made = [(p.call, p.result) for p in examined.paired.pairs if p.call is not None]
        if self._show != "answer":
            for call, result in made[:_MAX_CALLS]:
                parts.append(quote("call", call_text(call), MAX_RESULT_CHARS))
                if result is not None:
                    parts.append(quote("result", result.text, MAX_RESULT_CHARS))
                else:
                    parts.append("(Calls of this entry are not executed.)")
            if not made:
                parts.append("The model made no call.")
        ending = self._write_ending(0) if self._closings else ("The model gave no answer at all.",)
        return EpisodeBrief((*parts, *ending))

    def _write_ending(self, number: int) -> Iterator[Part]:
        words, note = self._closings[number]
        if note:
            yield note
        if words is not None:
            yield "The turn ended with these words of the model:"
            yield quote("answer", words)


def join_briefs(one: EpisodeBrief, other: EpisodeBrief) -> EpisodeBrief:
    """Join the briefs of two episodes of an entry into one brief that compares the episodes."""
    return EpisodeBrief(("# Episode first", *one.parts, "", "# Episode second", *other.parts))


def find_endings(
    record: EpisodeRecord, traced: Sequence[TracedTurn], turns: int
) -> tuple[TurnEnding, ...]:
    """Return the last answer of each turn that began, and the reason why the turn ended."""
    causes = {end.turn: end.why for end in record.turn_ends}
    reached = max([len(traced), *(number + 1 for number in causes)])
    found = []
    for number in range(min(reached, turns)):
        turn = traced[number] if number < len(traced) else None
        words = turn.answer if turn else None
        if words is None:
            words = _find_last_words(record, number)
        if words is None and turn and turn.unreadable and record.result:
            last = record.result[number][-1]
            words = last if isinstance(last, str) else None
        found.append(TurnEnding(words or None, _NOTES.get(causes.get(number, ""), "")))
    return tuple(found)


_NOTES: Mapping[str, str] = {
    "content_filter": "The provider's content filter stopped the model's last answer.",
    "cut_off": "The model's last answer was cut off.",
    "unreadable": "The model's last answer holds calls that could not be read.",
    "empty": "The model ended the turn without a word.",
    "exhausted": "The turn was ended since the model made too many requests.",
    "give_up": "The model gave up and ended the turn.",
    "step_limit": "The turn was ended since the model made too many calls.",
}


def _find_last_words(record: EpisodeRecord, number: int) -> str | None:
    steps = [step for step in record.steps if step.turn == number]
    return steps[-1].reply.text if steps and not steps[-1].calls else None


def _write_heading(number: int, turn: Turn) -> Iterator[Part]:
    yield f"## Turn {number}"
    if not turn.messages:
        yield "The user says nothing; functions are handed over."
    for message in turn.messages:
        yield quote(message.role, message.content)


def _write_functions(
    docs: Mapping[str, str], names: frozenset[str], *, first: bool
) -> Iterator[Part]:
    known = [f"{name}: {text}" for name, text in docs.items() if name in names]
    if known or first:
        yield "Functions that the model may call:" if first else "Functions handed over now:"
        yield quote("functions", "\n".join(known) or "(none)", 4 * _MAX_WORDS_CHARS)


def _write_calls(turn: TracedTurn, changes: Sequence[Sequence[Difference]]) -> Iterator[Part]:
    calls = turn.calls
    if not calls:
        yield "The model made no call."
    left_out = len(calls) - _MAX_CALLS
    for number, (call, result, _) in enumerate(calls):
        if left_out > 0 and _MAX_CALLS // 2 <= number < _MAX_CALLS // 2 + left_out:
            if number == _MAX_CALLS // 2:
                yield f"({left_out} calls are left out here.)"
            continue
        yield quote("call", call_text(call), MAX_RESULT_CHARS)
        yield quote("result", result.text, MAX_RESULT_CHARS)
        if changes and changes[number]:
            shown = [
                f"{path}: {cut_repr(before, _MAX_CHANGE_CHARS)} -> "
                f"{cut_repr(after, _MAX_CHANGE_CHARS)}"
                for path, before, after in changes[number][:_MAX_CHANGES]
            ]
            shown += ["..."] if len(changes[number]) > _MAX_CHANGES else []
            yield quote("changes", "\n".join(shown))


@cache
def _summarize_functions(environments: tuple[str, ...]) -> Mapping[str, str]:
    return {document["name"]: _summarize(document) for document in own_documents(environments)}


def _summarize(document: Mapping[str, Any]) -> str:
    """Return the first sentence of a function's description."""
    text = " ".join(str(document.get("description", "")).split())
    sentence, stop, _ = text.partition(". ")
    return f"{sentence}{stop}".strip()
