"""The comparison of the table of groups with BFCL's own: random scores of random categories."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random

from runner.analysis.bfcl_table import table
from tests.group_scores import judged_once

DRIVER = Path(__file__).with_name("bfcl_table_driver.py")
RUNS = 60
ENTRIES = 300
"""Most entries of a category."""

_MULTI_TURN = ("base", "miss_func", "miss_param", "long_context")
CELLS = {
    "overall": ("data_overall.csv", "Overall Acc"),
    "overall/non-live": ("data_non_live.csv", "Non-Live Overall Acc"),
    "overall/non-live/simple": ("data_non_live.csv", "Simple AST"),
    "overall/non-live/simple/simple_python": ("data_non_live.csv", "Python Simple AST"),
    "overall/non-live/simple/simple_java": ("data_non_live.csv", "Java Simple AST"),
    "overall/non-live/simple/simple_javascript": ("data_non_live.csv", "JavaScript Simple AST"),
    "overall/non-live/multiple": ("data_non_live.csv", "Multiple AST"),
    "overall/non-live/parallel": ("data_non_live.csv", "Parallel AST"),
    "overall/non-live/parallel_multiple": ("data_non_live.csv", "Parallel Multiple AST"),
    "overall/live": ("data_live.csv", "Live Overall Acc"),
    "overall/live/live_simple": ("data_live.csv", "Python Simple AST"),
    "overall/live/live_multiple": ("data_live.csv", "Python Multiple AST"),
    "overall/live/live_parallel": ("data_live.csv", "Python Parallel AST"),
    "overall/live/live_parallel_multiple": ("data_live.csv", "Python Parallel Multiple AST"),
    "overall/irrelevance": ("data_overall.csv", "Irrelevance Detection"),
    "overall/irrelevance/irrelevance": ("data_non_live.csv", "Irrelevance Detection"),
    "overall/irrelevance/live_irrelevance": ("data_live.csv", "Irrelevance Detection"),
    "overall/multi-turn": ("data_multi_turn.csv", "Multi Turn Overall Acc"),
    "overall/multi-turn/base": ("data_multi_turn.csv", "Base"),
    "overall/multi-turn/miss_func": ("data_multi_turn.csv", "Miss Func"),
    "overall/multi-turn/miss_param": ("data_multi_turn.csv", "Miss Param"),
    "overall/multi-turn/long_context": ("data_multi_turn.csv", "Long Context"),
    "live_relevance": ("data_live.csv", "Relevance Detection"),
}
"""Where BFCL has the figure of a line of ours."""

Run = Mapping[str, tuple[int, int]]
"""By category, how many passed of how many entries."""


def run(python: Path, seed: int) -> int:
    """Compare tables; print what differs and return how much does.

    Args:
        python: An interpreter that has BFCL.
        seed: Of the random scores.
    """
    runs = list(random_runs(seed, RUNS))
    differences = figures = 0
    for ours, theirs in zip(runs, _added_up(python, runs), strict=True):
        figures += len(CELLS)
        for finding in compare(ours, theirs):
            differences += 1
            print(f"DIFFERENT table {dict(ours)}: {finding}")
    print(f"table: {figures - differences} of {figures} figures of {RUNS} runs equal")
    return differences


def random_runs(seed: int, number: int) -> Iterator[Run]:
    """Yield random scores of most categories, the same for a seed."""
    random = Random(f"tables {seed}")
    categories = [path.rpartition("/")[2] for path in CELLS if _is_category(path)]
    for _ in range(number):
        some = [category for category in categories if random.random() < 0.85]
        totals = {category: random.randint(1, ENTRIES) for category in some or categories}
        yield {category: (random.randint(0, most), most) for category, most in totals.items()}


def compare(ours: Run, theirs: Mapping[str, Mapping[str, str]]) -> Iterator[str]:
    """Yield what differs between our table of a run and BFCL's."""
    rates = {category: judged_once(*counts) for category, counts in ours.items()}
    rows = {"/".join(row.path): row for row in table(rates)}
    for path, (file, column) in CELLS.items():
        row, cell = rows[path], theirs[file][column]
        if cell == "N/A":
            # BFCL says so of a group too, even where the group counts in the sum above it.
            if not row.missing:
                yield f"{path} is {row.field}, BFCL has nothing"
        elif row.field is None or abs(100 * row.field - float(cell.rstrip("%"))) > 0.005 + 1e-9:
            yield f"{path} is {row.field}, BFCL has {cell}"


def _is_category(path: str) -> bool:
    return not any(other.startswith(f"{path}/") for other in CELLS)


def _added_up(python: Path, runs: list[Run]) -> list[dict[str, dict[str, str]]]:
    """Return BFCL's tables.

    Raises:
        RuntimeError: BFCL cannot be imported there.
    """
    prefix = {category: f"multi_turn_{category}" for category in _MULTI_TURN}
    named = [{prefix.get(c, c): counts for c, counts in run.items()} for run in runs]
    done = subprocess.run(
        [python, DRIVER], input=json.dumps(named), capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise RuntimeError(f"BFCL's table does not come about: {done.stderr.strip()[-300:]}")
    found: list[dict[str, dict[str, str]]] = json.loads(done.stdout)
    return found
