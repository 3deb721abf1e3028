"""Rule ACCEPTS: an accepted alternative returns at least one word of the original result.

Alternatives that return a number are not checked, because the number can be a count. For example, a
function can return the number of lines instead of the lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from checkers.known_values import list_literals
from envs.calls import parse_call
from envs.results import Result
from extensions.authoring.rules.finding import Finding, Severity
from extensions.authoring.rules.replayed_entry import Entry

ACCEPTS = "ACCEPTS"

_WORD = re.compile(r"\w+")


def check_alternatives(entry: Entry) -> Iterator[Finding]:
    """Report alternatives whose results share no word with the ground-truth result."""
    for index, turn in enumerate(entry.trajectory.turns):
        for position, alternative in enumerate(turn.accepts):
            step = entry.turns[index][turn.ground_truth.index(alternative.call)]
            results = step.before.fork().play([parse_call(text) for text in alternative.instead])
            if any(not isinstance(v, str) for r in results for v in list_literals(r.held)):
                continue
            shown, wanted = _list_words(results), _list_words([step.result])
            if step.function != "cd" and wanted and shown.isdisjoint(wanted):
                message = (
                    f"the results of {', '.join(alternative.instead)} and of {step.function} "
                    "have no word in common"
                )
                field = f"accepts[{position}]"
                yield entry.finding(ACCEPTS, Severity.WARNING, index, field, message)


def _list_words(results: Iterable[Result]) -> set[str]:
    values = list_literals([result.held for result in results if result.ok])
    found = {word.casefold() for value in values for word in _WORD.findall(str(value))}
    return set() if found and all(word.isdigit() for word in found) else found
