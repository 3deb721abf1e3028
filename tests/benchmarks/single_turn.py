"""Speed of scoring single turns beside BFCL's: ``python -m tests.benchmarks.single_turn``.

The whole command is measured on both sides, on the same recorded run of a function-calling model.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks import measuring, workload
from tests.benchmarks.__main__ import ROOT
from tests.benchmarks.measuring import Measure, Pairs, Side
from tests.whole_runs import BFCL_MODEL

MEASURES = (
    Measure("score_single_turn", "whole command: score single turns", "ms"),
    Measure("score_single_turn_memory", "whole command: peak memory", "MB"),
)
TARGETS = {"score_single_turn": 10}
"""How many times better than BFCL we mean to be."""


def main() -> int:
    """Take the measures, print the table and write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bfcl", required=True, help="the command bfcl of a full environment")
    parser.add_argument(
        "--run", type=Path, required=True, help="folder of a recorded run of single turns"
    )
    parser.add_argument("--pairs", type=int, default=5, help="how often both sides are measured")
    parser.add_argument("--output", type=Path, default=Path("runs/bench-single-turn.json"))
    options = parser.parse_args()
    files = sorted(options.run.glob("*_result.json"))
    with TemporaryDirectory() as folder:
        theirs, ours = _bfcl(options.bfcl, files, Path(folder)), _turnwise(files)
        # The first run reads files and compiles modules that the others find ready.
        pairs = [(theirs.scored(), ours.scored()) for _ in range(options.pairs + 1)][1:]
    found = [
        Pairs(measure, [one[index] for one, _ in pairs], [other[index] for _, other in pairs])
        for index, measure in enumerate(MEASURES)
    ]
    measuring.write(options.output, "bfcl", "turnwise", found)
    print(measuring.shown("bfcl", "turnwise", found, TARGETS))
    print(f"medians of {options.pairs} pairs; {measuring.machine()}; all in {options.output}")
    return 0


def _turnwise(files: Iterable[Path]) -> Side:
    command = [sys.executable, "-m", "runner.cli", "score", *(str(f.resolve()) for f in files)]
    data = f"bfcl:{workload.find_data()}"
    return Side("turnwise", [], {}, [*command, "--dataset", data], ROOT)


def _bfcl(command: str, files: Iterable[Path], folder: Path) -> Side:
    """Return BFCL's side, with a project folder laid out for it."""
    categories = []
    for file in files:
        category = file.stem.removesuffix("_result").partition("BFCL_v4_")[2]
        group = "live" if category.startswith("live_") else "non_live"
        results = folder / "result" / BFCL_MODEL.replace("/", "_") / group
        results.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, results)
        categories.append(category)
    # The key is never used, but a handler is made that wants one.
    environment = {"BFCL_PROJECT_ROOT": str(folder), "OPENAI_API_KEY": "sk-none"}
    score = [command, "evaluate", "--model", BFCL_MODEL, "--partial-eval"]
    return Side("bfcl", [], environment, [*score, "--test-category", ",".join(categories)])


if __name__ == "__main__":
    sys.exit(main())
