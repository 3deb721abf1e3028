"""The reader of answers against answers that another hand wrote and judged.

``python -m tests.checkers.answer_text.test_corpus`` prints the tables in the data's README, and
the answers that are read otherwise than they were judged.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from pydantic import TypeAdapter

from checkers.answer_text.reader import list_unreported
from checkers.required_info import Fact
from checkers.statistics import wilson

CORPUS = Path(__file__).parents[1] / "answers_corpus.jsonl"
FREE_WORDING = CORPUS.with_name("answers_free_wording.jsonl")
NEW = CORPUS.with_name("answers_new.jsonl")
README = Path(__file__).parents[3] / "trajectories" / "README.md"
KINDS = {
    "Number": "number",
    "Text": "text",
    "Items": "list",
    "YesNo": "yes or no",
    "Date": "date",
}
MISREAD = {
    CORPUS: [15, 29, 36, 38, 66, 138, 143, 207, 227, 284, 288, 300],
    FREE_WORDING: [24, 70, 176, 181],
    NEW: [
        *(19, 27, 31, 34, 46, 57, 66, 67, 84, 86, 94, 103, 107, 110, 136, 152, 163, 166, 170),
        *(183, 197),
    ],
}
"""Numbers of the answers that are read otherwise than they were judged."""
_FACT: TypeAdapter[Fact] = TypeAdapter(Fact)


class Read(NamedTuple):
    """One answer of the corpus and how it is read."""

    kind: str
    told: bool
    found: bool
    line: str


def read(path: Path = CORPUS) -> list[Read]:
    """Read every answer of a corpus."""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        if "header" in case:
            continue
        fact = _FACT.validate_python(case["fact"])
        kind = KINDS[type(fact).__name__]
        found.append(Read(kind, case["told"], not list_unreported([fact], case["answer"]), line))
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
    head = ["| kind | reported, but not found | not reported, but found |", "|---|---|---|"]
    return "\n".join([*head, *rows])


def _share(part: int, whole: int) -> str:
    low, high = wilson(part, whole)
    return f"{part} of {whole} ({part / whole:.1%}, {low:.1%} to {high:.1%})"


def test_the_corpus_is_large_and_has_both_sides_of_every_kind() -> None:
    answers = read()
    assert len(answers) >= 300
    sides = {(kind, told) for kind in KINDS.values() for told in (True, False)}
    assert {(case.kind, case.told) for case in answers} == sides


def test_the_error_rates_are_those_that_the_readme_shows() -> None:
    shown = README.read_text(encoding="utf-8")
    assert table(read()) in shown
    assert table(read(FREE_WORDING)) in shown
    assert table(read(NEW)) in shown


@pytest.mark.parametrize("corpus", MISREAD, ids=lambda path: path.stem)
def test_all_answers_but_the_listed_ones_are_read_as_they_were_judged(corpus: Path) -> None:
    answers = enumerate(read(corpus), 1)
    assert [n for n, case in answers if case.told is not case.found] == MISREAD[corpus]


def test_the_answers_in_free_wording_have_both_sides_equally_often() -> None:
    assert [case.told for case in read(FREE_WORDING)].count(True) == 100
    assert [case.told for case in read(FREE_WORDING)].count(False) == 100


if __name__ == "__main__":
    for corpus in (CORPUS, FREE_WORDING, NEW):
        every = read(corpus)
        print(f"{corpus.name}\n{table(every)}")
        for case in every:
            if case.told is not case.found:
                print(case.line)
