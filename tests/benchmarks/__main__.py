"""Speed beside BFCL's, in one run: ``python -m tests.benchmarks --bfcl-python PATH``.

Both sides work on the same entries, worlds and replies; start-up and the reading of files count
only where the whole command is measured. That needs a fully installed BFCL and a recorded run.
Verdicts are what ``make conformance`` compares.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks import measuring, workload
from tests.benchmarks.measuring import HERE, IN_PROCESS, Side
from tests.whole_runs import BFCL_MODEL

ROOT = HERE.parent.parent
TARGETS = {
    "judge": 5,
    "reset": 5,
    "step_structured": 10,
    "step_text": 3,
    "fork": 20,
    "compare_equal": 1,
    "compare_different": 1,
    "memory": 1,
    "score": 20,
}
"""How many times better than BFCL we mean to be."""
NAMES = [*(measure.name for measure in IN_PROCESS), "score"]


def main() -> int:
    """Take the measures, print the table and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bfcl-python", required=True, help="interpreter that has bfcl-eval")
    parser.add_argument("--bfcl", help="the command bfcl of a full environment")
    parser.add_argument("--recorded", type=Path, help="folder of recorded runs, to judge")
    parser.add_argument("--run", type=Path, help="folder of one recorded run, to score as a whole")
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, metavar="MEASURE")
    parser.add_argument("--pairs", type=int, default=5, help="how often both sides are measured")
    parser.add_argument("--output", type=Path, default=Path("runs/bench.json"))
    options = parser.parse_args()
    data = workload.find_data()
    ours = measuring.turnwise(ROOT, options.run if options.bfcl else None, data)
    with TemporaryDirectory() as folder:
        path = Path(folder, "workload.json")
        workload.write(path, data, options.recorded)
        theirs = _bfcl(options.bfcl_python, options.bfcl, options.run, Path(folder))
        found = measuring.taken(theirs, ours, path, options.only, options.pairs)
    measuring.write(options.output, "bfcl", "turnwise", found)
    print(measuring.shown("bfcl", "turnwise", found, TARGETS))
    print(f"medians of {options.pairs} pairs; {measuring.machine()}; all in {options.output}")
    if not ours.score:
        print("the whole command was not measured: that takes --bfcl and --run")
    return 0


def _bfcl(python: str, command: str | None, run: Path | None, folder: Path) -> Side:
    """Return BFCL's side; for its whole command a project folder is laid out."""
    # The key is never used, but a handler is made that wants one.
    environment = {"BFCL_PROJECT_ROOT": str(folder), "OPENAI_API_KEY": "sk-none"}
    script = [python, "-P", str(HERE / "bfcl_side.py")]
    if command is None or run is None:
        return Side("bfcl", script, environment)
    results = folder / "result" / BFCL_MODEL.replace("/", "_") / "multi_turn"
    results.mkdir(parents=True)
    files = sorted(run.glob("*multi_turn_*_result.json"))
    for file in files:
        shutil.copy(file, results)
    categories = [file.stem.removesuffix("_result").partition("BFCL_v4_")[2] for file in files]
    score = [command, "evaluate", "--model", BFCL_MODEL, "--partial-eval"]
    return Side("bfcl", script, environment, [*score, "--test-category", ",".join(categories)])


if __name__ == "__main__":
    sys.exit(main())
