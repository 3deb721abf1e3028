"""Verdicts, pairs and diagnoses of single-turn calls, compared with recorded ones.

``python -m tests.checkers.calls.test_recorded_comparisons`` compares the recorded calls anew and
writes the outcomes.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from checkers.calls.call_comparison import EntryRules
from checkers.calls.call_entry import (
    CallEntry,
    ComparisonKind,
    ExpectedCall,
    FunctionDocument,
    Language,
    UnjudgeableEntry,
    UnreadableOutput,
)
from checkers.calls.call_pairs import pair_answers
from checkers.calls.single_turn_verdict import judge
from checkers.causes.single_turn_diagnosis import PairedAnswer, ReplyStatus
from checkers.profile import BFCL, STRICT, Profile
from checkers.replies.single_turn import read_calls
from tests.recorded_tables import read_rows, write_rows

RECORDED = Path(__file__).parents[2] / "golden" / "comparisons.jsonl"
"""One comparison a line: kind, answers, step, and outcomes."""
_OF_PYTHON = re.compile(r"(?<=not valid JSON): Expecting[^.]*?\(char \d+\)")
TYPED = {
    "text": {"type": "string"},
    "count": {"type": "integer"},
    "share": {"type": "float"},
    "flag": {"type": "boolean"},
    "names": {"type": "array", "items": {"type": "string"}},
    "shares": {"type": "array", "items": {"type": "float"}},
    "pair": {"type": "tuple", "items": {"type": "integer"}},
    "box": {"type": "dict"},
    "boxes": {"type": "array", "items": {"type": "dict"}},
    "rest": {"type": "any"},
    "free": {},
    "grid": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
    "sizes": {"type": "dict", "properties": {"n": {"type": "integer"}, "m": {"type": "array"}}},
}
DOCUMENTS = (
    FunctionDocument("shop.order", TYPED, ()),
    FunctionDocument("wait", {"n": {"type": "integer"}, "unit": {"type": "string"}}, ("n",)),
    FunctionDocument("ring", {"n": {"type": "integer"}}, ("n",)),
)


def compare(kind: str, answers: list[dict[str, Any]], step: Any) -> list[Any]:
    """Return the outcome by the right rules, and the one by BFCL's if it differs."""
    expected = tuple([ExpectedCall.from_json(answer) for answer in answers])
    task = CallEntry(ComparisonKind(kind), Language.PYTHON, DOCUMENTS, expected)
    # Messages of the JSON parser differ between versions of Python.
    right, other = (
        json.loads(_OF_PYTHON.sub("", json.dumps(_compare(task, step, profile), default=str)))
        for profile in (STRICT, BFCL)
    )
    return [right] if right == other else [right, other]


def _compare(task: CallEntry, step: Any, profile: Profile) -> Any:
    try:
        verdict = judge(task, step, "fc", profile)
    except UnjudgeableEntry as error:
        return str(error)
    shown = [verdict.error_type, *(verdict.selected or ()), *verdict.hallucinated]
    if verdict.failure is None or verdict.failure.calls is None:
        return shown
    words = step if isinstance(step, str) else None
    try:
        calls, said = read_calls(step, task.language, "fc", profile.calls), ReplyStatus(words)
    except UnreadableOutput as error:
        calls, said = [], ReplyStatus(words, str(error))
    pairs = pair_answers(calls, task, EntryRules(task.language, profile.calls, underscores=True))
    offered = tuple([document.name.replace(".", "_") for document in task.documents])
    found = PairedAnswer(pairs, said, offered).diagnosis(verdict.failure.calls)
    paired = [
        [pair.expected, str(pair.call), pair.problem, *map(list, pair.arguments)] for pair in pairs
    ]
    lines = [*verdict.failure.calls.lines()]
    return [*shown, lines, paired, found.sentence]


def test_every_comparison_is_the_recorded_one() -> None:
    for kind, answers, step, found in read_rows(RECORDED):
        assert compare(kind, answers, step) == found, (kind, answers, step)


if __name__ == "__main__":
    rows = [[*row, compare(*row)] for *row, _ in read_rows(RECORDED)]
    write_rows(RECORDED, rows)
