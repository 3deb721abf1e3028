"""Rule LANGUAGE: report user messages that are not in English."""

from __future__ import annotations

from collections.abc import Iterator

from extensions.authoring.rules.finding import Finding, Severity
from extensions.authoring.rules.replayed_entry import Entry
from trajectories.message_language import is_english

LANGUAGE = "LANGUAGE"
_WHY = (
    "the user messages are not in English. The rule ASKED, required information and the metric "
    "`asked` need English messages. The diagnosis recognises only questions and common refusals"
)


def check_language(entry: Entry) -> Iterator[Finding]:
    """Yield a finding if the user messages are not in English."""
    if not is_english(entry.trajectory):
        yield entry.finding(LANGUAGE, Severity.INFO, None, "turns", _WHY)
