"""Comparison with tau2: results, state changes and judgements of its recorded material.

The folder has a folder per domain, ``conformance/`` with call scripts, and ``runs/``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

from checkers.profile import TAU2
from extensions.tau import entries, fetching
from extensions.tau.desk import Desk
from extensions.tau.documents import read_lines
from extensions.tau.judging import SimulationJudge
from extensions.tau.simulations import Simulation, read_recording
from extensions.tau.tasks import DOMAINS, ServiceTask
from extensions.tau.tool_calls import call
from extensions.tau.worlds import Checkout, make_desk, set_up
from extensions.users.commands.evaluate import list_dialogues
from extensions.users.fidelity import FidelityCounts
from extensions.users.scenario import Persona
from runner.episodes.offline import run_oracle
from runner.records.recorded_run import open_run
from trajectories.prepared_trajectory import prepare

_VERSION = re.compile(r"(errors\.pydantic\.dev/)[\d.]+")
_PARTS = {
    "assertions": "env assertions",
    "actions": "action checks",
    "information": "communicate checks",
}
_LOWERED: Mapping[Persona, str] = {
    "unhelpful": "facts_recall",
    "forgetful": "facts_recall",
    "contradictory": "facts_precision",
    "premature": "same_stops",
}
"""Figure that each persona lowers."""
_PHONE = ("device", "surroundings")


def run(folder: Path) -> int:
    """Compare scripts and simulations; return the number of differences."""
    files = Checkout(folder)
    differences = sum(_compare_scripts(folder, files, domain) for domain in DOMAINS)
    counts: Counter[str] = Counter()
    for path in sorted((folder / "runs").glob("*.jsonl*")):
        recording = read_recording(path)
        judge = SimulationJudge.of_domain(
            recording.domain, files.state(recording.domain), solo=recording.solo
        )
        for simulation in recording.simulations:
            counts += _judged(judge, recording.tasks[simulation.task_id], simulation)
    for name in ("tool results", "db verdicts", *_PARTS.values(), "rewards", "unjudged"):
        equal, of = counts[f"{name} equal"], counts[name]
        print(f"tau2 {name}: {equal} of {of} equal")
        differences += of - equal
    print(f"tau2: {counts['version']} results differ in the version of a link only")
    os.environ[fetching.VARIABLE] = str(folder)
    differences += sum(_play_gold(domain) for domain in DOMAINS)
    differences += _print_fidelity(folder)
    return differences - counts["version"]


def _play_gold(domain: str) -> int:
    """Let the gold agent talk to the rule-based user; return how many tasks fail."""
    data = entries.load(f"tau2:{domain}")
    passed = 0
    for entry in data.trajectories.values():
        passed += run_oracle(prepare(data, entry, TAU2), TAU2).valid
    print(f"tau2 {domain}: the gold agent passes {passed} of {len(data.trajectories)} tasks")
    return len(data.trajectories) - passed


def _print_fidelity(folder: Path) -> int:
    """Print the fidelity of the rule-based user on the tasks that its rules were not made from.

    Return the number of personas that do not lower their figure on all tasks.
    """
    runs = [open_run(path) for path in sorted((folder / "runs").glob("*.jsonl*"))]
    held = FidelityCounts()
    totals: dict[Persona, FidelityCounts] = {}
    for persona in get_args(Persona):
        for dialogue in [each for run in runs for each in list_dialogues(run, persona)]:
            counts = dialogue.compare()
            totals[persona] = totals.get(persona, FidelityCounts()) + counts
            name = dialogue.group + dialogue.id.split("_", 2)[2]
            even = int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 == 0
            if persona == "helpful" and even:
                held += counts
    figures = {persona: total.to_json() for persona, total in totals.items()}
    for name, found in {"held-out tasks": held.to_json(), "all tasks": figures["helpful"]}.items():
        shown = ", ".join(f"{key} {value}" for key, value in found.items() if key != "messages")
        print(f"tau2 simulated user on {name}: {shown}")
    differences = 0
    for persona, name in _LOWERED.items():
        ours, usual = figures[persona][name], figures["helpful"][name]
        print(f"tau2 simulated user, persona {persona}: {name} {ours} instead of {usual}")
        differences += ours is None or usual is None or ours > usual - 0.1
    return differences


def _compare_scripts(folder: Path, files: Checkout, domain: str) -> int:
    counts: Counter[str] = Counter()
    tasks: Mapping[str, ServiceTask] = {}
    if files.find(domain, "tasks_full.json"):
        tasks = files.tasks(domain, full=True)
    for path in sorted((folder / "conformance").glob(f"{domain}_*.jsonl*")):
        for node in read_lines(path):
            script = node.object()
            desk = make_desk(domain, files.state(domain))
            if script.get("task_id") in tasks:
                set_up(desk, tasks[script["task_id"]])
            elif domain == "telecom":
                desk.sync()  # type: ignore[attr-defined]
            before = _state(desk)
            for made in script["calls"]:
                counts["calls"] += 1
                side, solo = made["requestor"], bool(script.get("solo"))
                ours = call(desk, made["name"], made["arguments"], side, solo=solo)
                if (_plain(ours.text), ours.failed) != (_plain(made["result"]), made["error"]):
                    counts["different calls"] += 1
                    print(f"DIFFERENT {script['label']} {made['name']}: {ours.text[:200]}")
            counts["scripts"] += 1
            if not _same_changes(domain, before, _state(desk), script["state_changes"]):
                counts["different states"] += 1
                print(f"DIFFERENT {domain} {script['label']}: other state changes")
    different = counts["different calls"] + counts["different states"]
    print(
        f"tau2 {domain}: {counts['calls'] - counts['different calls']} of {counts['calls']} calls "
        f"and the states of {counts['scripts'] - counts['different states']} of "
        f"{counts['scripts']} scripts equal"
    )
    return different


def _state(desk: Desk) -> dict[str, Any]:
    return {name: value for name, value in desk.__dict__.items() if name[0] != "_"}


def _plain(text: str) -> str:
    return _VERSION.sub(r"\1", text)


def _same_changes(domain: str, before: Any, after: Any, expected: Mapping[str, Any]) -> bool:
    if domain == "telecom":
        ours = dict(_changed_paths(_sides(before), _sides(after), ""))
    else:
        ours = {}
        for table, records in after.items():
            found = {
                key: record
                for key, record in records.items()
                if record is not before[table].get(key) and record != before[table].get(key)
            }
            ours |= {table: found} if found else {}
        expected = {table: found for table, found in expected.items() if found}
    return json.dumps(ours, sort_keys=True) == json.dumps(expected, sort_keys=True)


def _sides(state: Mapping[str, Any]) -> dict[str, Any]:
    carrier = {name: value for name, value in state.items() if name not in _PHONE}
    return {"agent": carrier, "user": {name: state[name] for name in _PHONE}}


def _changed_paths(one: Any, other: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(one, dict) and isinstance(other, dict):
        for key in [*one, *(key for key in other if key not in one)]:
            if key not in other:
                yield f"{path}/{key}", "<absent>"
            elif key not in one:
                yield f"{path}/{key}", other[key]
            else:
                yield from _changed_paths(one[key], other[key], f"{path}/{key}")
    elif isinstance(one, list) and isinstance(other, list):
        yield from _changed_paths(dict(enumerate(one)), dict(enumerate(other)), path)
    elif type(one) is not type(other) or one != other:
        yield path, other


def _judged(judge: SimulationJudge, task: ServiceTask, simulation: Simulation) -> Counter[str]:
    """Count what is compared and what is equal in one simulation."""
    counts: Counter[str] = Counter()
    desk, different = judge.replay(task, simulation)
    results = sum(1 for _ in simulation.exchanges())
    counts["tool results"] += results
    counts["tool results equal"] += results - len(different)
    counts["version"] += sum(each.is_version for each in different)
    ours, theirs = judge.judge(task, simulation, desk), simulation.recorded
    assert theirs is not None
    if theirs.db is None:
        counts["unjudged"] += 1
        counts["unjudged equal"] += ours.reward == theirs.reward
        return counts
    counts["db verdicts"] += 1
    counts["db verdicts equal"] += ours.db == theirs.db
    for member, name in _PARTS.items():
        pairs = list(zip(getattr(ours, member), getattr(theirs, member) or (), strict=False))
        counts[name] += len(pairs)
        counts[f"{name} equal"] += sum(one == other for one, other in pairs)
    counts["rewards"] += 1
    counts["rewards equal"] += ours.reward == theirs.reward
    return counts


if __name__ == "__main__":
    import sys

    sys.exit(1 if run(Path(sys.argv[1])) else 0)
