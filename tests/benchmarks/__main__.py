"""Speed beside BFCL's, in one run: ``python -m tests.benchmarks --bfcl-python PATH``.

Both sides execute and judge the same recorded runs, start-up and reading of files apart. Without
``--recorded`` the runs are the ground truth itself, played as a model's calls.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from envs.calls import parse_call
from runner import choose
from trajectories import bfcl
from trajectories.jsonl import read_objects
from trajectories.schema import MULTI_TURN, Category

HERE = Path(__file__).parent
SCORED = [c for c in MULTI_TURN if c is not Category.COMPOSITE]


def main() -> int:
    """Time both sides in turn and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bfcl-python", required=True, help="interpreter that has bfcl-eval")
    parser.add_argument("--recorded", type=Path, help="folder of recorded runs")
    parser.add_argument("--pairs", type=int, default=5, help="how often both sides are timed")
    options = parser.parse_args()
    folder = choose.bfcl_folder("bfcl", print)
    lines = list(_entries(folder, options.recorded))
    text = "".join(json.dumps(line) + "\n" for line in lines)
    theirs_command = [options.bfcl_python, str(HERE / "bfcl_side.py")]
    ours_command = [sys.executable, "-m", "tests.benchmarks.turnwise_side", str(folder)]
    pairs = [
        (_timed(theirs_command, text), _timed(ours_command, text)) for _ in range(options.pairs)
    ]
    ratios = [theirs["seconds"] / ours["seconds"] for theirs, ours in pairs]
    theirs, ours = pairs[0]
    print(f"execute and judge {len(lines)} recorded entries, {options.pairs} pairs")
    print(f"  bfcl      {median(p[0]['seconds'] for p in pairs):.3f} s, {theirs['valid']} valid")
    print(f"  turnwise  {median(p[1]['seconds'] for p in pairs):.3f} s, {ours['valid']} valid")
    print(f"  ratio     {median(ratios):.1f} (from {min(ratios):.1f} to {max(ratios):.1f})")
    # Verdicts are what `make conformance` compares, in a fresh process for each entry. In a single
    # one an entry of BFCL's can differ: tweets without mentions share one list between entries.
    return 0


def _timed(command: list[str], text: str) -> dict[str, Any]:
    done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _entries(folder: Path, recorded: Path | None) -> Iterator[dict[str, Any]]:
    entries = {}
    for category in SCORED:
        question, answer = (read_objects(folder / name) for name in bfcl.files(category))
        for (_, entry), (_, truth) in zip(question, answer, strict=True):
            entries[entry["id"]] = {
                "category": f"multi_turn_{category}",
                "entry": entry,
                "truth": truth["ground_truth"],
            }
    if recorded is None:
        for entry in entries.values():
            yield {**entry, "run": "truth", "turns": _as_model(entry)}
        return
    # BFCL keeps an entry's objects per model name, so each run needs a name of its own.
    for number, run in enumerate(
        sorted({path.parent for path in recorded.glob("*/*_result.json")})
    ):
        for id, (line, _) in choose.recorded_runs(*run.glob("*multi_turn_*_result.json")).items():
            if line.turns is not None:
                yield {**entries[id], "run": f"run_{number}", "turns": line.turns}


def _as_model(entry: dict[str, Any]) -> list[list[list[dict[str, Any]]]]:
    """Return the ground truth as recorded steps; positional arguments are left as they are not."""
    turns = []
    for texts in entry["truth"]:
        calls = [parse_call(text) for text in texts]
        turns.append([[{call.name: dict(call.kwargs)} for call in calls if not call.args]])
    return turns


if __name__ == "__main__":
    sys.exit(main())
