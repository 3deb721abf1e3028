"""Rule TELLS: ground-truth results or user messages must contain required information."""

from __future__ import annotations

from collections.abc import Iterator

from extensions.authoring.fact_sources import FactSources
from extensions.authoring.rules.finding import Finding, Severity
from extensions.authoring.rules.replayed_entry import Entry

TELLS = "TELLS"


def check_tells(entry: Entry) -> Iterator[Finding]:
    """Yield a finding for each required fact that the model cannot know."""
    if not any(turn.tells for turn in entry.trajectory.turns):
        return
    sources = FactSources()
    for index, (turn, steps) in enumerate(zip(entry.trajectory.turns, entry.turns, strict=True)):
        for message in turn.messages:
            sources.hear(message.content)
        for step in steps:
            sources.see(step.result)
        for position, fact in enumerate(turn.tells):
            if doubt := sources.doubt(fact):
                severity = Severity.ERROR if doubt.serious else Severity.INFO
                yield entry.finding(TELLS, severity, index, f"tells[{position}]", doubt.why)
