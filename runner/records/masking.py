"""Run files in which secrets do not stand: keys and the like are masked where models speak.

What a verdict comes of is never altered. A text that also occurs in calls, in results, in names or
in what the data say is no less readable there for being masked elsewhere: the episode keeps it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runner.records.secret import MASK

_SHORTEST_SECRET = 8
_OF_THE_MODEL = "assistant"
_NOT_READ = ("unreadable", "cut_off")
"""Ends of turns whose last answer might be read otherwise if it were altered."""


class Secrets:
    """Writes the lines of a run, masking some texts however they are escaped.

    Args:
        secrets: The texts; those of fewer than eight characters are ordinary text.

    Attributes:
        masked: How many occurrences in episodes were masked.
        kept: The lines that hold such a text where masking would alter what was done.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        known = sorted({text for text in secrets if len(text) >= _SHORTEST_SECRET})
        self._forms = [_forms(text) for text in sorted(known, key=len, reverse=True)]
        self.masked = 0
        self.kept: list[str] = []

    def of_run(self, run: Mapping[str, Any]) -> bytes:
        """Return the file of a run; its settings and its note are masked, names are not."""
        definition = run["definition"]
        settings = definition["settings"]
        public = self._masked(settings, self._forms)[0] | {
            "extra_headers": settings["extra_headers"]
        }
        note = self._masked(run["note"], self._forms)[0]
        written = {**run, "definition": {**definition, "settings": public}, "note": note}
        return f"{json.dumps(written, indent=2)}\n".encode()

    def of_tools(self, line: Mapping[str, Any]) -> bytes:
        """Return the line of a tool list, which is the data's own: it is written as it is."""
        text = _encoded(line)
        self.spare(text, "a tool list")
        return f"{text}\n".encode()

    def spare(self, text: str, where: str) -> None:
        """Take what the data say for ordinary text, from now on.

        Args:
            text: The data's text as JSON.
            where: What it is, for ``kept``.
        """
        common = [forms for forms in self._forms if any(form in text for form in forms)]
        if common:
            self.kept.append(where)
            self._forms = [forms for forms in self._forms if forms not in common]

    def of_episode(self, episode: Mapping[str, Any]) -> bytes:
        """Return the line of an episode."""
        text = _encoded(episode)
        if any(form in text for forms in self._forms for form in forms):
            text = _encoded(self._public(episode))
        return f"{text}\n".encode()

    def _public(self, episode: Mapping[str, Any]) -> dict[str, Any]:
        decisive = "\n".join(_decisive(episode))
        found = [any(form in decisive for form in forms) for forms in self._forms]
        if any(found):
            self.kept.append(f"{episode['id']}, trial {episode['trial']}")
        free = [forms for forms, kept in zip(self._forms, found, strict=True) if not kept]
        public, number = self._masked(episode, free)
        for name in ("error", "traceback"):
            if name in episode:
                # They are nothing but words, so no key need stand there in any case.
                public[name], more = self._masked(public[name], self._forms)
                number += more
        self.masked += number
        return dict(public)

    def _masked(self, value: Any, forms: Sequence[Sequence[str]]) -> tuple[Any, int]:
        """Return a JSON value with texts masked, but for names of members, and how many were."""
        number = 0

        def mask(value: Any) -> Any:
            nonlocal number
            if isinstance(value, str):
                for form in (form for each in forms for form in each):
                    number += value.count(form)
                    value = value.replace(form, MASK)
                return value
            if isinstance(value, Mapping):
                return {name: mask(member) for name, member in value.items()}
            if isinstance(value, (list, tuple)):
                return [*map(mask, value)]
            return value

        return mask(value), number


def _forms(secret: str) -> list[str]:
    """Return a text as it is and as it is escaped, the longest first."""
    forms = {secret}
    # Texts in a record may themselves be JSON with JSON in it.
    for _ in range(3):
        forms |= {json.dumps(form, ensure_ascii=a)[1:-1] for form in forms for a in (False, True)}
    return sorted(forms, key=len, reverse=True)


def _decisive(episode: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of an episode on which its verdict, its parts and its lookup depend."""
    for name, member in episode.items():
        if name == "messages":
            yield from _handed_over(member)
        elif name == "steps":
            yield from _executed(member, episode.get("turn_ends", ()))
        elif name == "turn_ends":
            yield from (end["why"] for end in member)
        elif name == "result":
            steps = [step for turn in member or () for step in turn]
            yield from _texts([step for step in steps if not isinstance(step, str)])
        elif name not in ("error", "traceback"):
            yield from _texts(member)


def _handed_over(messages: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield what the model was given: the data's words and results; and its calls."""
    for message in messages:
        if message.get("role", _OF_THE_MODEL) == _OF_THE_MODEL:
            yield from _texts({name: message.get(name) for name in ("role", "tool_calls")})
        else:
            yield from _texts(message)


def _executed(steps: Sequence[Mapping[str, Any]], ends: Sequence[Any]) -> Iterator[str]:
    """Yield all of the steps but the words of answers in which no calls were meant."""
    unread = {end["turn"] for end in ends if end["why"] in _NOT_READ}
    for step in steps:
        reply = step["reply"]
        yield from _texts({**step, "reply": {**reply, "text": None, "reasoning": None}})
        if step["calls"] or step["turn"] in unread:
            yield reply["text"] or ""


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in a JSON value, names of members too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield str(name)
            yield from _texts(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _texts(member)


def _encoded(value: object) -> str:
    # ASCII, since a model's text may hold half of a surrogate pair, which UTF-8 has no bytes for.
    return json.dumps(value, separators=(",", ":"))
