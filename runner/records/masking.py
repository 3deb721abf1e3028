"""Run files in which secrets do not stand: keys and the like are masked, ordinary words never.

A secret is taken for an ordinary word where the data say it too, or the record's own names do:
masking it would guard nothing, and alter what was asked, done and judged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from runner.records.codec import text_of, text_of_members, written
from runner.records.secret import MASK

_SHORTEST_SECRET = 8
# Inside a text with calls such a secret can only be part of a word; others may be its syntax.
_WORD = re.compile(r"[\w.+/=~ -]*")
_CONTENT = ("result", "arguments", "before", "after", "evidence")
"""Members below which models name members."""


class Secrets:
    """Writes the lines of a run, masking some texts however they are escaped.

    Args:
        secrets: The texts; those of fewer than eight characters are ordinary text.
        said: Returns what the data say in a trajectory, by its id.

    Attributes:
        masked: How many occurrences in episodes were masked.
        altered: The episodes in whose calls some were, so that they may end otherwise when they are
            executed again.
        kept: The lines that keep such a text, since it is an ordinary word there.
    """

    def __init__(self, secrets: Sequence[str], said: Callable[[str], str] = lambda _: "") -> None:
        known = sorted({text for text in secrets if len(text) >= _SHORTEST_SECRET})
        self._forms = [_forms(text) for text in sorted(known, key=len, reverse=True)]
        self._said = said
        self.masked = 0
        self.altered: list[str] = []
        self.kept: list[str] = []

    def of_run(self, run: Mapping[str, Any]) -> bytes:
        """Return the file of a run; its settings and its note are masked, names are not."""
        definition = run["definition"]
        settings = definition["settings"]
        if settings:
            shown, _ = _masked({**settings, "extra_headers": None}, self._forms)
            settings = {**shown, "extra_headers": settings["extra_headers"]}
        note, _ = _masked(run["note"], self._forms)
        public = {**run, "definition": {**definition, "settings": settings}, "note": note}
        return f"{json.dumps(public, indent=2, allow_nan=False)}\n".encode()

    def of_tools(self, line: Mapping[str, Any]) -> bytes:
        """Return the line of a tool list, which is the data's own: it is written as it is."""
        text = text_of(line)
        self.spare(text, "a tool list")
        return f"{text}\n".encode()

    def spare(self, text: str, where: str) -> None:
        """Take what the data say for ordinary text, from now on.

        Args:
            text: The data's text as JSON.
            where: What it is, for ``kept``.
        """
        common = [forms for forms in self._forms if _in(text, forms)]
        if common:
            self.kept.append(where)
            self._forms = [forms for forms in self._forms if forms not in common]

    def of_episode(
        self, episode: Mapping[str, Any], known: Mapping[str, Sequence[object]] | None = None
    ) -> bytes:
        """Return the line of an episode.

        Args:
            episode: Its members.
            known: Some of them with WrittenText in place of what was written before.
        """
        text = text_of_members({**episode, **(known or {})})
        if any(_in(text, forms) for forms in self._forms):
            plain = {name: written(member) for name, member in episode.items()}
            text = text_of(self._public(plain, text))
        return f"{text}\n".encode()

    def of_step(self, line: object) -> bytes | None:
        """Return the line of a step; None where there is a secret in it.

        Masked it would not be what was said, and could not be gone on with.
        """
        text = text_of(line)
        return None if any(_in(text, forms) for forms in self._forms) else f"{text}\n".encode()

    def _public(self, episode: Mapping[str, Any], text: str) -> Any:
        where = f"{episode['id']}, trial {episode['trial']}"
        words = "\n".join((*_words(episode), self._said(episode["id"])))
        calls = "\n".join(_calls(episode))
        secret = []
        for forms in self._forms:
            made = _in(calls, forms)
            if _in(words, forms) or (made and not _WORD.fullmatch(forms[-1])):
                self.kept += [where] if _in(text, forms) else []
            else:
                secret.append(forms)
                self.altered += [where] if made else []
        public, number = _masked(episode, secret)
        self.masked += number
        return public


def _in(text: str, forms: Sequence[str]) -> bool:
    return any(form in text for form in forms)


def _masked(value: Any, secrets: Sequence[Sequence[str]]) -> tuple[Any, int]:
    """Return a JSON value with texts masked, and how many were."""
    number = 0

    def mask(value: Any) -> Any:
        nonlocal number
        if isinstance(value, str):
            for form in (form for forms in secrets for form in forms):
                number += value.count(form)
                value = value.replace(form, MASK)
            return value
        if isinstance(value, Mapping):
            return {mask(name): mask(member) for name, member in value.items()}
        if isinstance(value, (list, tuple)):
            return [*map(mask, value)]
        return value

    return mask(value), number


def _forms(secret: str) -> list[str]:
    """Return a text as it is escaped, the longest first, and last as it is."""
    forms = {secret}
    # Texts in a record may themselves be JSON with JSON in it, or have Python's texts in them.
    for _ in range(3):
        forms |= {json.dumps(form, ensure_ascii=a)[1:-1] for form in forms for a in (False, True)}
        forms |= {repr(form)[1:-1] for form in forms} | {ascii(form)[1:-1] for form in forms}
        forms |= {repr(f'{form}"')[1:-2] for form in forms}
    return [*sorted(forms - {secret}, key=len, reverse=True), secret]


def _words(episode: Mapping[str, Any]) -> Iterator[str]:
    """Yield the texts of an episode that are the data's or ours: names, ids and kinds."""
    yield from (
        episode["id"],
        episode["category"],
        str((episode["verdict"] or {}).get("error_type")),
    )
    yield from _names(episode)
    for message in episode.get("messages", ()):
        yield str(message.get("role"))
        if message.get("role") == "system":
            yield from _texts(message)
    for step in episode.get("steps", ()):
        yield str(step["tools"])
    for end in episode.get("turn_ends", ()):
        yield end["why"]


def _names(value: Any) -> Iterator[str]:
    """Yield the names of members, but for those that a model gave."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield str(name)
            if name not in _CONTENT:
                yield from _names(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _names(member)


def _calls(episode: Mapping[str, Any]) -> Iterator[str]:
    """Yield the calls that an episode made, and the texts in which it made some."""
    for step in episode.get("steps", ()):
        yield from step["calls"]
        if step["calls"]:
            yield step["reply"]["text"] or ""
    for turn in episode.get("result") or ():
        yield from _texts([step for step in turn if not isinstance(step, str)])


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
