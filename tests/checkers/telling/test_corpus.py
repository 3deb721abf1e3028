"""The reader of answers against answers that another hand wrote and judged.

``python -m tests.checkers.telling.test_corpus`` prints the table that README of the data shows, and
after it every answer that is read otherwise than it was judged.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from checkers.answers import Fact
from checkers.telling.reader import untold

CORPUS = Path(__file__).parents[1] / "answers_corpus.jsonl"
README = Path(__file__).parents[3] / "trajectories" / "README.md"
KINDS = {"Number": "number", "Text": "text", "Items": "list", "YesNo": "yes or no", "Date": "date"}
_FACT: TypeAdapter[Fact] = TypeAdapter(Fact)


class Read(NamedTuple):
    """One answer of the corpus and how it is read."""

    kind: str
    told: bool
    found: bool
    line: str


def read() -> list[Read]:
    """Read every answer of the corpus."""
    found = []
    for line in CORPUS.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        fact = _FACT.validate_python(case["fact"])
        kind = KINDS[type(fact).__name__]
        found.append(Read(kind, case["told"], not untold([fact], case["answer"]), line))
    return found


def table(answers: list[Read]) -> str:
    """Return the error rates by kind of fact."""
    count = Counter(
        (kind, case.told, case.found) for case in answers for kind in (case.kind, "all")
    )
    rows = []
    for kind in (*KINDS.values(), "all"):
        told = count[kind, True, True] + count[kind, True, False]
        silent = count[kind, False, True] + count[kind, False, False]
        missed, invented = count[kind, True, False], count[kind, False, True]
        rows.append(f"| {kind} | {_share(missed, told)} | {_share(invented, silent)} |")
    head = ["| kind | told, but not found | not told, but found |", "|---|---|---|"]
    return "\n".join([*head, *rows])


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole} ({part / whole:.1%})"


def test_the_corpus_is_large_and_has_both_sides_of_every_kind() -> None:
    answers = read()
    assert len(answers) >= 300
    sides = {(kind, told) for kind in KINDS.values() for told in (True, False)}
    assert {(case.kind, case.told) for case in answers} == sides


def test_the_error_rates_are_those_that_the_readme_shows() -> None:
    assert table(read()) in README.read_text(encoding="utf-8")


if __name__ == "__main__":
    every = read()
    print(table(every))
    for case in every:
        if case.told is not case.found:
            print(case.line)
