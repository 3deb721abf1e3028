"""Compares verdicts with AgentDojo's recorded ones: ``python -m tests.conformance.agentdojo RUNS``.

``RUNS`` is a folder of packed runs. Every difference is explained: by an old definition of a task
or tool, or by acts of an attempt that the file does not keep. Episodes without messages, or that
an error ended, have no verdict. The exit status is 1 if a difference has no explanation.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from checkers.profile import STRICT
from runner.episodes.judging import evaluate, run_recorded
from runner.episodes.turn_loop import STEP_LIMIT
from runner.records.recorded_run import Run, open_run

SAMPLE = 20
"""Every so many episodes are judged by ``make conformance``."""

OLD_DEFINITIONS = {
    ("banking", "user_task_13"): "judge of banking user task 13, before 2024-11",
    ("workspace", "injection_task_4"): "judge of workspace injection task 4, before 2024-09",
    ("workspace", "injection_task_5"): "judge of workspace injection task 5, before 2024-09",
    ("workspace", "user_task_7"): "rescheduling of events, before 2025-01-30",
}
"""Definitions that changed without a new version, in runs of v1."""


def explanation(name: str, line: dict[str, Any]) -> str | None:
    """Return the cause of a difference from the recorded verdict, if it is known."""
    own, suite = line["agentdojo"], line["id"].partition("-")[0]
    if line["valid"] is None:
        return "no messages"
    if own["version"] == "v1":
        for (where, task), why in OLD_DEFINITIONS.items():
            if where == suite and task in line["id"].split("-"):
                return why
        if name.startswith("gemini"):
            return "acts of an attempt that the file does not keep"
        if suite == "workspace" and "user_task_38" in line["id"].split("-"):
            return "arguments were not checked in June 2024"
    return None


def lines_of(run: Run) -> Iterator[dict[str, Any]]:
    """Judge the episodes of a run, and yield a line for each."""
    assert run.dataset is not None
    entries = run.entries()
    trajectories = [run.dataset.trajectories[id] for id in run.ids]
    judge = partial(run_recorded, entries=entries, profile=STRICT, step_limit=STEP_LIMIT)
    for record in evaluate(run.dataset, trajectories, STRICT, judge):
        recorded = entries[record.id].record
        yield record._replace(extensions=recorded.extensions).verdict_line()


def compare(path: Path, every: int) -> int:
    """Judge every so many episodes of a run; print counts and differences, return unexplained."""
    run = open_run(path)
    some = dict([*run.episodes.items()][::every])
    causes: Counter[str] = Counter()
    equal = judged = 0
    started = time.process_time()
    for line in lines_of(replace(run, episodes=some)):
        if line["agentdojo"]["recorded_utility"] is None:
            continue
        judged += 1
        if line["agentdojo"]["agrees"]:
            equal += 1
            continue
        cause = explanation(run.name, line)
        causes[cause or "unexplained"] += 1
        if cause is None:
            print(f"  {line['id']}: {line['agentdojo']}")
    print(f"{run.name}: {equal} of {judged} equal, {time.process_time() - started:.0f} s")
    for cause, count in causes.most_common():
        print(f"  {count} differ: {cause}")
    return causes["unexplained"]


def runs_of(folder: Path) -> list[Path]:
    """Return the packed runs of a folder."""
    return sorted(path for path in folder.glob("*.jsonl.gz") if path.name != "parity.jsonl.gz")


def main(folder: Path, every: int) -> int:
    """Compare all runs of a folder; return the exit status."""
    return int(sum([compare(path, every) for path in runs_of(folder)]) > 0)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1))
