"""Execution of a draft: results and state changes of its calls, and the findings of the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from checkers.causes.trace import TracedCall, TracedTurn
from checkers.profile import STRICT
from envs.calls import Call
from envs.errors import BackendFault, DataError
from envs.notices import list_notices
from envs.state import Snapshot
from envs.tool import Document, Tool
from extensions.authoring.rule_sets import RULES, validate
from extensions.authoring.rules.finding import Finding, Severity
from extensions.viewer.entry_search import check_has_state
from runner.analysis.episode_output import Json, describe_change
from runner.episodes.judging import evaluate
from runner.episodes.offline import run_oracle
from runner.episodes.script_traces import trace_truth
from runner.models.toolbox import own_documents
from trajectories.dataset import Dataset, read_trajectory
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Trajectory

_MAX_CHANGES = 200


def read_draft(entry: dict[str, Any]) -> Trajectory:
    """Return the entry of a draft. Raises DataError if the draft is not a multi-turn entry."""
    trajectory = read_trajectory(entry, "draft")
    check_has_state(trajectory)
    return trajectory


def play_draft(entry: dict[str, Any]) -> Json:
    """Execute the calls of a draft; return each turn's results and changes, or the error."""
    try:
        trajectory = read_draft(entry)
        prepared = prepare(_dataset(trajectory), trajectory, STRICT)
        truth = trace_truth(prepared, STRICT)
    except (DataError, BackendFault) as error:
        return {"problem": str(error), "turns": [], "functions": []}
    tools = prepared.template.tools
    before = prepared.template.snapshot()
    turns = []
    for turn in truth.turns:
        turns.append(_turn_json(before, turn, tools))
        before = turn.after
    functions = [_function_json(each, tools) for each in own_documents(trajectory.environments)]
    return {"problem": None, "turns": turns, "functions": functions}


def draft_state(entry: dict[str, Any], turn: int) -> Json:
    """Return the state at the end of a turn; turn 0 stands for the initial state.

    Raises DataError if the draft is invalid, or the turn does not exist.
    """
    trajectory = read_draft(entry)
    truth = trace_truth(prepare(_dataset(trajectory), trajectory, STRICT), STRICT).turns
    if turn > len(truth):
        raise DataError("turn", f"{turn} must be a number from 0 to {len(truth)}")
    return (truth[turn - 1].after if turn else truth[0].before).to_json()


def check_draft(trajectory: Trajectory, others: Iterable[Trajectory]) -> list[Finding]:
    """Check a draft together with the other entries; return the findings about the draft.

    If the oracle fails on the draft, the failure is also a finding.
    """
    dataset = _dataset(trajectory)
    rules = [rule._replace(documents=None, compares=None) for rule in RULES]
    found = validate(dataset, [trajectory], rules)
    several = [rule for rule in RULES if rule.compares]
    all_entries = [*(each for each in others if each.id != trajectory.id), trajectory]
    alone = [r._replace(reads=None, replays=None, documents=None, answers=None) for r in several]
    found += [f for f in validate(dataset, all_entries, alone) if f.id == trajectory.id]
    return [*found, *_oracle_findings(dataset, trajectory)]


def finding_json(finding: Finding) -> Json:
    """Return a finding for the page."""
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "turn": finding.turn,
        "field": finding.field,
        "message": finding.message,
    }


def _oracle_findings(dataset: Dataset, trajectory: Trajectory) -> Iterator[Finding]:
    for judged in evaluate(dataset, [trajectory], STRICT, partial(run_oracle, profile=STRICT)):
        if judged.outcome != "passed":
            why = f"the oracle does not pass: {judged.error or judged.outcome}"
            place = dataset.name, trajectory.id, None, "turns"
            yield Finding("ORACLE", Severity.ERROR, *place, why)


def _dataset(trajectory: Trajectory) -> Dataset:
    return Dataset("draft", "draft", "", {trajectory.id: trajectory})


def _turn_json(before: Snapshot, turn: TracedTurn, tools: Mapping[str, Tool]) -> Json:
    calls, state = [], turn.before
    for traced in turn.calls:
        calls.append(_call_json(state, traced, tools))
        state = traced.after
    return {"notices": _new_notices(before, turn.before), "calls": calls}


def _call_json(before: Snapshot, traced: TracedCall, tools: Mapping[str, Tool]) -> Json:
    tool = tools.get(traced.call.name) if isinstance(traced.call, Call) else None
    changes = before.differences(traced.after)
    return {
        "result": traced.result.observation,
        "failed": traced.result.error is not None,
        "reads": tool is not None and not tool.writes,
        "changes": [describe_change(change) for change in changes[:_MAX_CHANGES]],
        "more": max(0, len(changes) - _MAX_CHANGES),
        "notices": _new_notices(before, traced.after),
    }


def _new_notices(before: Snapshot, after: Snapshot) -> list[str]:
    return [str(notice) for notice in list_notices(after)[len(list_notices(before)) :]]


def _function_json(document: Document, tools: Mapping[str, Tool]) -> Json:
    parameters = document["parameters"]
    required = parameters.get("required", ())
    return {
        "name": document["name"],
        "about": document["description"],
        "parameters": [
            {"name": name, "required": name in required, "about": schema.get("description", "")}
            for name, schema in parameters["properties"].items()
        ],
        "writes": document["name"] in tools and tools[document["name"]].writes,
    }
