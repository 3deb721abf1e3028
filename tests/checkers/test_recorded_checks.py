"""Results of the checkers' pure functions, compared with recorded ones.

``python -m tests.checkers.test_recorded_checks`` calls the functions anew with the recorded
arguments and writes their results.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from checkers import statistics
from checkers.answer_text.reader import list_unreported
from checkers.call_mistakes import count_hallucinations
from checkers.calls.call_entry import UnjudgeableEntry
from checkers.causes.answer_patterns import (
    asks_for,
    classify_answer,
    classify_plain_calls,
    classify_unparsed_calls,
    declines,
    is_question,
)
from checkers.causes.divergence import describe_argument, join_descriptions
from checkers.causes.missing_calls import forbids, is_telling, split_name
from checkers.causes.wrong_amounts import classify_wrong_amount
from checkers.known_values import KnownValues, contains_value, list_spoken_numbers
from checkers.required_info import Items, Text, YesNo
from checkers.results import ResultComparisonRule, check_results
from checkers.seen_facts import _collect_facts, _covers, _is_rounded, _is_telling, _list_objects
from checkers.statistics import EntryPair, TrialCounts
from checkers.strict_rules import _includes
from checkers.unordered_comparison import arrange, is_alike, list_missing_results
from envs.calls import parse_call
from envs.results import Result
from tests.recorded_tables import read_rows, write_rows

RECORDED = Path(__file__).parents[1] / "golden" / "checks.jsonl"
"""One call a line: the function's name, its arguments, and its result."""
Trials = Sequence[tuple[str, int, int]]
FUNCTIONS = ("mv", "send_message", "functions.ls")


def find_doubt(heard: list[str], seen: list[str], literal: Any, document: str) -> object:
    """Return the note on a literal after messages and results."""
    known = KnownValues(seen[0] if seen else "")
    for words in heard:
        known.hear(words)
    for text in seen[1:]:
        known.see(text)
    return known.doubt(literal, document)


def compare_results(truth: list[Any], given: list[Any], *rule: Any) -> object:
    """Return the evidence against results."""
    rules = [ResultComparisonRule(*rule)] * len(truth)
    try:
        found = check_results([*map(Result, truth)], [*map(Result, given)], rules)
    except UnjudgeableEntry as error:
        return str(error)
    return found and [found.reason, *found.lines(), found.expected, found.actual]


def read_answer(answer: str) -> list[object]:
    """Return each classification of an answer."""
    return [
        classify_answer(answer),
        is_question(answer),
        declines(answer),
        asks_for(answer, ("file_name", "the folder")),
        classify_plain_calls(answer, FUNCTIONS),
        classify_unparsed_calls(answer, FUNCTIONS, ("mv",), ("mv(source='a')",)),
    ]


def count_trials(*entries: tuple[str, int, int]) -> list[object]:
    """Return the scores of entries with their intervals."""
    counts = [TrialCounts(*each) for each in entries]
    least = min(each.trials for each in counts)
    return [
        statistics.pass_at_1(counts),
        statistics.pass_at_k(counts, least),
        statistics.pass_hat_k(counts, least),
        statistics.cluster_interval(counts),
        statistics.strata_interval([(0.75, counts[::2]), (0.25, counts[1::2]), (0.0, counts)]),
        statistics.strata_interval([(2.0, counts), (1.0, [])]),
    ]


def compare_trials(*pairs: tuple[str, int, int, int, int]) -> list[object]:
    """Return the comparison of two runs."""
    both = [EntryPair(TrialCounts(c, n, p), TrialCounts(c, m, q)) for c, n, p, m, q in pairs]
    found = statistics.compare(both)
    return [*found, found.difference, found.is_noise, statistics.cluster_test(both)]


def read_polarity(answer: str, subject: str, *about: str) -> list[bool]:
    """Tell whether an answer confirms a statement, and whether it confirms the opposite."""
    facts = [YesNo(yes, about, ("ajar",), subject) for yes in (True, False)]
    return [not list_unreported([fact], answer) for fact in facts]


def read_list(answer: str, *items: str | int) -> list[bool]:
    """Tell whether an answer reports items in any order, in order, and as one string."""
    facts = (Items(items), Items(items, ordered=True), Text(" ".join(map(str, items))))
    return [not list_unreported([fact], answer) for fact in facts]


def count_inventions(texts: list[str], offered: dict[str, list[str]], fits: bool) -> object:
    """Return the hallucinations in calls."""
    return count_hallucinations([*map(parse_call, texts)], offered, fits=fits)


def describe_facts(value: object) -> list[object]:
    """Return the facts of a result by path, and the number of its objects."""
    facts = _collect_facts(value)
    return [{".".join(path): each for path, each in facts.items()}, len([*_list_objects(value)])]


CHECKS: Mapping[str, Callable[..., object]] = {
    "doubt": find_doubt,
    "spoken": lambda words: sorted(list_spoken_numbers(words)),
    "contains": contains_value,
    "results": compare_results,
    "missing": lambda truth, seen: list_missing_results(
        [*map(Result, truth)], [*map(Result, seen)]
    ),
    "alike": lambda *given: [is_alike(*given), arrange(*given)],
    "amount": classify_wrong_amount,
    "answer": read_answer,
    "forbids": forbids,
    "words": lambda name: sorted(split_name(name)),
    "polarity": read_polarity,
    "list": read_list,
    "inventions": count_inventions,
    "facts": describe_facts,
    "telling": lambda value: [_is_telling(value), is_telling(value)],
    "rounded": _is_rounded,
    "covers": _covers,
    "includes": _includes,
    "argument": describe_argument,
    "joined": join_descriptions,
    "trials": count_trials,
    "pairs": compare_trials,
    "sample": statistics.sampling_error,
    "wilson": statistics.wilson,
    "flips": statistics.sign_flip,
    "entries": statistics.count_connor_pairs,
}


def check(name: str, arguments: Sequence[Any]) -> Any:
    """Return a function's result as JSON, with 12 decimals."""
    shown = json.dumps(CHECKS[name](*arguments), default=str)
    return json.loads(shown, parse_float=lambda text: round(float(text), 12))


@pytest.mark.parametrize("name", CHECKS)
def test_every_result_is_the_recorded_one(name: str) -> None:
    rows = read_rows(RECORDED)
    calls = [(arguments, found) for recorded, arguments, found in rows if recorded == name]
    assert calls
    for arguments, found in calls:
        assert check(name, arguments) == found, arguments


if __name__ == "__main__":
    rows = [[name, arguments, check(name, arguments)] for name, arguments, _ in read_rows(RECORDED)]
    write_rows(RECORDED, rows)
