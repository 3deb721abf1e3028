"""BFCL's retired sets: what is judged by executing both sides, beside what the AST rules say.

Every ground truth and alterations of it are judged twice: by their results, as these sets are, and
by comparing calls with the ground truth's by BFCL's rules for calls, under which each argument may
have one value. What those rules take for right has to be right; where other calls are taken as
well, it is since they give what the right ones give, and the number of these is told.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from checkers.calls.call_entry import UnjudgeableEntry
from checkers.calls.single_turn_verdict import judge
from checkers.profile import BFCL
from checkers.replies.decoding import Step
from envs.calls import Call, parse_call
from envs.registry import list_tools
from envs.tool import bind
from extensions.retired.retired_sets import ENVIRONMENTS
from runner.data.web_services import FIXTURE_ONLY, connect
from runner.extension import bfcl_readers
from tests.judging import run_recorded
from trajectories.call_checker_tasks import make_call_entry
from trajectories.dataset import Dataset, load_bfcl
from trajectories.jsonl import read_objects
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category, ExpectedCalls, Trajectory

_AS = {
    Category.EXEC_SIMPLE: Category.SIMPLE_PYTHON,
    Category.EXEC_MULTIPLE: Category.MULTIPLE,
    Category.EXEC_PARALLEL: Category.PARALLEL,
    Category.EXEC_PARALLEL_MULTIPLE: Category.PARALLEL_MULTIPLE,
    Category.REST: Category.SIMPLE_PYTHON,
}
"""Whose rules an entry is judged by where its calls are compared."""


def run(data: Path) -> int:
    """Judge the retired sets both ways; return the number of differences."""
    differences = 0
    loaded = load_bfcl(data, [*_AS], readers=bfcl_readers())
    dataset = replace(loaded, connect=lambda session: connect(session, FIXTURE_ONLY))
    for category in _AS:
        entries = [t for t in dataset.trajectories.values() if t.category is category]
        differences += _compared(dataset, category, entries)
    return differences + _shapes(data, dataset)


def _compared(dataset: Dataset, category: Category, entries: Sequence[Trajectory]) -> int:
    found: Counter[str] = Counter()
    differences = 0
    for entry in entries:
        prepared = prepare(dataset, entry, BFCL)
        task = make_call_entry(_by_calls(entry))
        for kind, calls in altered(entry):
            step = as_step(calls)
            by_calls = judge(task, step, "fc", BFCL).valid
            try:
                by_results = run_recorded(prepared, [[step]], "fc", BFCL).valid
            except UnjudgeableEntry as error:
                found["not judged"] += 1
                if kind == "truth":
                    print(f"not judged {entry.id}: {error}")
                continue
            found[f"{_said(by_calls)} by calls, {_said(by_results)} by results"] += 1
            if kind == "truth":
                found[f"truth {_said(by_calls)} by calls"] += 1
                if not by_calls:
                    print(f"truth is wrong by calls {entry.id}: {_why(task, step)}")
            if by_calls and not by_results and kind in _FORGIVEN:
                found[f"{kind}, which only calls forgive"] += 1
            elif (by_calls or kind == "truth") and not by_results:
                differences += 1
                print(f"DIFFERENT {entry.id} {kind}: {', '.join(map(str, calls))}")
    told = "; ".join(f"{number} {what}" for what, number in sorted(found.items()))
    print(f"retired {category}: {len(entries)} entries; {told}")
    return differences


def _said(valid: bool) -> str:
    return "right" if valid else "wrong"


def _why(task: Any, step: Step) -> str:
    failure = judge(task, step, "fc", BFCL).failure
    return failure.evidence.message if failure else "?"


def _by_calls(entry: Trajectory) -> Trajectory:
    """Return an entry as one whose calls are compared with those of the ground truth."""
    answers = tuple(
        [
            {call.name: {name: [_allowed(value)] for name, value in call.kwargs.items()}}
            for call in calls_of(entry)
        ]
    )
    expects = ExpectedCalls(tuple(entry.documents or ()), answers)
    return replace(entry, category=_AS[entry.category], expects=expects)


def calls_of(entry: Trajectory) -> list[Call]:
    """Return the calls of the ground truth of an entry, all arguments by name."""
    calls = [parse_call(text) for text in entry.turns[0].ground_truth]
    tools = list_tools(ENVIRONMENTS)
    return [Call(call.name, (), bind(tools[call.name], call.args, call.kwargs)) for call in calls]


def as_step(calls: Sequence[Call]) -> Step:
    """Return calls as a function-calling model makes them, without dots in names."""
    return [{call.name.replace(".", "_"): json.dumps(dict(call.kwargs))} for call in calls]


def _allowed(value: Any) -> Any:
    """Return what stands for a value among those that are right: members of objects have lists."""
    if isinstance(value, dict):
        return {name: [member] for name, member in value.items()}
    return [*value] if isinstance(value, tuple) else value


def altered(entry: Trajectory) -> Iterator[tuple[str, Sequence[Call]]]:
    """Yield the right calls of an entry, and calls that differ from them in one thing."""
    calls = calls_of(entry)
    yield "truth", calls
    yield "other order", calls[::-1]
    yield "one less", calls[1:]
    yield "one more", [*calls, calls[0]]
    for index, call in enumerate(calls):
        before, after = calls[:index], calls[index + 1 :]
        yield "other function", [*before, call._replace(name="no_such_function"), *after]
        unknown = {**call.kwargs, "no_such_parameter": 1}
        yield "unknown parameter", [*before, call._replace(kwargs=unknown), *after]
        for name, value in call.kwargs.items():
            left = {key: member for key, member in call.kwargs.items() if key != name}
            yield "argument left out", [*before, call._replace(kwargs=left), *after]
            for said, other in _others(value):
                given = {**call.kwargs, name: other}
                yield said, [*before, call._replace(kwargs=given), *after]


_TEXT, _FRACTION, _OTHER = "a blank or other case", "a whole number as a fraction", "other value"
_FORGIVEN = (_TEXT, _FRACTION)
"""What BFCL's rules for calls do not look at, and a service may."""


def _others(value: Any) -> list[tuple[str, Any]]:
    """Return values that differ from one in one thing, and in which."""
    if isinstance(value, bool):
        return [(_OTHER, not value), (_OTHER, str(value))]
    if isinstance(value, (int, float)):
        fraction = [(_FRACTION, float(value))] if isinstance(value, int) else []
        return [*fraction, *((_OTHER, each) for each in (value + 1, -value, value * 2, str(value)))]
    if isinstance(value, str):
        same = [(_TEXT, value.lower()), (_TEXT, value.upper()), (_TEXT, f" {value}")]
        return [*same, (_OTHER, f"{value}x"), (_OTHER, 5)]
    if isinstance(value, dict):
        left = [(_OTHER, {k: m for k, m in value.items() if k != name}) for name in value]
        changed = [
            (said, {**value, name: other})
            for name, member in value.items()
            for said, other in _others(member)
        ]
        return [*changed, (_OTHER, {}), *left]
    members = [*value]
    longer = [members[1:], members[::-1], [*members, *members[:1]]]
    first = _others(members[0]) if members else []
    return [
        *((_OTHER, each) for each in longer),
        *((said, [other, *members[1:]]) for said, other in first),
    ]


def _shapes(data: Path, dataset: Dataset) -> int:
    """Compare the form of what the fixture answers with what BFCL recorded; return differences."""
    recorded = data / "unused_datasets" / "possible_answer" / "BFCL_v4_rest.json"
    kinds = keys = longs = 0
    lines = [line for _, line in read_objects(recorded)]
    for line in lines:
        [outcome] = prepare(dataset, dataset.trajectories[line["id"]], BFCL).truth
        ours = outcome.results[0].value["body"]
        theirs = json.loads(line["ground_truth"])
        same = type(ours) is type(theirs)
        kinds += not same
        if same and isinstance(theirs, dict) and ours.keys() != theirs.keys():
            keys += 1
            print(f"other keys {line['id']}: {sorted(ours.keys() ^ theirs.keys())}")
        if same and isinstance(theirs, list) and len(ours) != len(theirs):
            longs += 1
            print(f"other length {line['id']}: {len(ours)} where {len(theirs)} were recorded")
    total = len(lines)
    print(
        f"retired rest: of {total} answers of the fixture {total - kinds} are of the type that was"
        f" recorded; {keys} objects have other keys, {longs} lists another length"
    )
    return kinds + keys
