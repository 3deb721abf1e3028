"""Masking of secrets in run files.

A secret that also occurs in the data, or in a field name of a record, counts as an ordinary word:
it is not masked. Masks in ordinary words would change the recorded calls and verdicts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from runner.records.json_codec import encode, encode_members, to_json_value
from runner.records.secret_finder import MASK

_MIN_SECRET_CHARS = 8
# In a text with calls, such a secret can only be part of a word; others may be syntax.
_WORD = re.compile(r"[\w.+/=~% -]*")
_CONTENT = ("result", "arguments", "before", "after", "evidence")
"""Fields with JSON objects; a model can choose the keys of these objects."""


class SecretMask:
    """Encoder of run lines that masks secrets, including secrets with escaped characters.

    Args:
        secrets: Secret strings; strings shorter than eight characters are ignored.
        said: Function that returns the text of a trajectory by id.
    """

    def __init__(self, secrets: Sequence[str], said: Callable[[str], str] = lambda _: "") -> None:
        known = sorted({text for text in secrets if len(text) >= _MIN_SECRET_CHARS})
        self._forms = [_forms(text) for text in sorted(known, key=len, reverse=True)]
        self._said = said
        self.masked = 0
        """Number of masked occurrences in episodes."""
        self.altered: list[str] = []
        """Episodes with masked calls; a new execution of these calls may change the verdict."""
        self.kept: list[str] = []
        """Names of data that contain an unmasked secret, such as ``a tool list``."""

    def of_run(self, run: Mapping[str, Any]) -> bytes:
        """Return the run file, with masked settings and note."""
        definition = run["definition"]
        settings = definition["settings"]
        if settings:
            shown, _ = _masked({**settings, "extra_headers": None}, self._forms)
            settings = {**shown, "extra_headers": settings["extra_headers"]}
        note, _ = _masked(run["note"], self._forms)
        public = {**run, "definition": {**definition, "settings": settings}, "note": note}
        return f"{json.dumps(public, indent=2, allow_nan=False)}\n".encode()

    def of_tools(self, line: Mapping[str, Any]) -> bytes:
        """Encode a tool list as a line. Nothing is masked, because a tool list is data."""
        text = encode(line)
        self.spare(text, "a tool list")
        return f"{text}\n".encode()

    def spare(self, text: str, where: str) -> None:
        """Stop masking each secret that occurs in ``text``; ``where`` is the name of the text."""
        common = [forms for forms in self._forms if _in(text, forms)]
        if common:
            self.kept.append(where)
            self._forms = [forms for forms in self._forms if forms not in common]

    def of_episode(
        self, episode: Mapping[str, Any], known: Mapping[str, Sequence[object]] | None = None
    ) -> bytes:
        """Encode an episode as a line; ``known`` contains the fields that are already encoded."""
        text = encode_members({**episode, **(known or {})})
        if any(_in(text, forms) for forms in self._forms):
            plain = {name: to_json_value(member) for name, member in episode.items()}
            text = encode(self._public(plain, text))
        return f"{text}\n".encode()

    def of_step(self, line: object) -> bytes | None:
        """Return the line of a step; None if the step contains a secret.

        A run cannot resume from a masked step.
        """
        text = encode(line)
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
    """Return the escaped forms of a string, longest first, followed by the string itself."""
    forms = {secret}
    # Texts in a record may hold JSON within JSON, or Python literals.
    for _ in range(3):
        forms |= {json.dumps(form, ensure_ascii=a)[1:-1] for form in forms for a in (False, True)}
        forms |= {repr(form)[1:-1] for form in forms} | {ascii(form)[1:-1] for form in forms}
        forms |= {repr(f'{form}"')[1:-2] for form in forms}
    return [*sorted(forms - {secret}, key=len, reverse=True), secret]


def _words(episode: Mapping[str, Any]) -> Iterator[str]:
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
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield str(name)
            if name not in _CONTENT:
                yield from _names(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _names(member)


def _calls(episode: Mapping[str, Any]) -> Iterator[str]:
    for step in episode.get("steps", ()):
        yield from step["calls"]
        if step["calls"]:
            yield step["reply"]["text"] or ""
    for turn in episode.get("result") or ():
        yield from _texts([step for step in turn if not isinstance(step, str)])


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, member in value.items():
            yield str(name)
            yield from _texts(member)
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _texts(member)
