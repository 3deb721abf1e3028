"""Sources of required information: earlier ground-truth results and user messages."""

from __future__ import annotations

from collections.abc import Mapping

from checkers.answer_text.dates import is_day, list_days
from checkers.known_values import KnownValues, UnclearOrigin
from checkers.required_info import Date, Fact, Items, Number, Text, YesNo
from envs.results import Result
from extensions.authoring.rules.nested_values import list_values


class FactSources:
    """Texts that could contain a fact: results and user messages before a given call."""

    def __init__(self) -> None:
        self._told = KnownValues()
        self._texts: list[str] = []
        self._counts: set[int] = set()
        self._flags: dict[str, set[bool]] = {}
        self._shown = False

    def hear(self, words: str) -> None:
        """Add a message of the user."""
        self._told.hear(words)
        self._texts.append(words)

    def see(self, result: Result) -> None:
        """Add a result; results of failed calls are ignored."""
        if result.ok:
            self._told.see(result.text)
            self._texts.append(result.text)
            for name, value in list_values(result.held):
                if isinstance(value, bool):
                    flag = name.casefold().replace("_", "")
                    self._flags.setdefault(flag, set()).add(value)
                elif isinstance(value, (Mapping, list, tuple)):
                    self._counts.add(len(value))
            self._shown = True

    def doubt(self, fact: Fact) -> UnclearOrigin | None:
        """Return the reason why the origin of a fact is unclear, or None."""
        match fact:
            case Number(number=number):
                return self._doubt(number)
            case Text(text=text):
                return self._doubt(text)
            case Items(items=items):
                return next((doubt for item in items if (doubt := self._doubt(item))), None)
            case Date(date=date):
                if any(is_day(day, date) for text in self._texts for day in list_days(text)):
                    return None
                return UnclearOrigin(True, f"no message or result contains {date}")
            case YesNo():
                return self._answer_doubt(fact)

    def _doubt(self, value: str | float) -> UnclearOrigin | None:
        return None if value in self._counts else self._told.doubt(value)

    def _answer_doubt(self, fact: YesNo) -> UnclearOrigin | None:
        if not self._shown:
            return UnclearOrigin(True, f"{str(fact)!r}: no earlier call has returned a result")
        for about in fact.about:
            name = "".join(about.casefold().split())
            if self._flags.get(name) == {not fact.yes}:
                reason = f"{str(fact)!r}: a result shows the opposite ({about}: {not fact.yes})"
                return UnclearOrigin(True, reason)
        return None
