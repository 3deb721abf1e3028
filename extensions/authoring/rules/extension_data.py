"""Rule: the data that extensions store in an entry, such as an attack, must be valid."""

from __future__ import annotations

from collections.abc import Iterator

from extensions.authoring.rules.finding import Finding, Severity
from extensions.authoring.rules.replayed_entry import Entry
from runner.extension import entry_kind

EXTENSION = "EXTENSION"


def check_extension_data(entry: Entry) -> Iterator[Finding]:
    """Yield a finding for each error in an entry's extension data."""
    if entry.trajectory.extensions:
        for problem in entry_kind(entry.trajectory).find_problems(entry.dataset, entry.trajectory):
            yield entry.finding(EXTENSION, Severity.ERROR, None, "extensions", problem)
