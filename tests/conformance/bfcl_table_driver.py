"""Adds categories up with BFCL itself; run by the interpreter that has it.

Reads one line on standard input, a list of runs, each ``{category: [passed, entries]}`` with BFCL's
names of categories, and writes one: for each run BFCL's table, ``{file: {column: cell}}``.
"""

from __future__ import annotations

import contextlib
import csv
import json
import sys
from collections import defaultdict
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from unittest.mock import MagicMock

NOT_NEEDED = ("filelock", "numpy", "pandas", "tabulate", "tenacity", "tqdm")
MODEL = "made-up"
FILES = ("data_overall.csv", "data_non_live.csv", "data_live.csv", "data_multi_turn.csv")


def main() -> None:
    """Answer one line."""
    for name in NOT_NEEDED:
        if find_spec(name) is None:
            sys.modules[name] = MagicMock()
    words = dict.fromkeys(("display_name", "url", "org", "license"), MODEL)
    config = SimpleNamespace(**words, input_price=None, output_price=None)
    models = defaultdict(lambda: config, {MODEL: config})
    sys.modules["bfcl_eval.constants.model_config"] = SimpleNamespace(MODEL_CONFIG_MAPPING=models)
    with contextlib.redirect_stdout(sys.stderr):
        tables = [added_up(run) for run in json.load(sys.stdin)]
    print(json.dumps(tables))


def added_up(run: dict[str, list[int]]) -> dict[str, dict[str, str]]:
    """Return the table that BFCL writes about score files that say so."""
    from bfcl_eval.eval_checker import eval_runner_helper

    with TemporaryDirectory() as name:
        folder = Path(name)
        for category, (passed, entries) in run.items():
            path = folder / MODEL / group_of(category) / f"BFCL_v4_{category}_score.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            header = {
                "accuracy": passed / entries,
                "correct_count": passed,
                "total_count": entries,
            }
            path.write_text(json.dumps(header) + "\n", encoding="utf-8")
        table: dict = {}
        eval_runner_helper.update_leaderboard_table_with_local_score_file(table, folder)
        eval_runner_helper.generate_leaderboard_csv(table, folder)
        return {name: only_row(folder / name) for name in FILES}


def group_of(category: str) -> str:
    """Return the folder in which score files of a category are."""
    for group in ("multi_turn", "live"):
        if category.startswith(group):
            return group
    return "non_live"


def only_row(path: Path) -> dict[str, str]:
    """Return the row of a table of one model."""
    with path.open(encoding="utf-8") as file:
        (row,) = csv.DictReader(file)
    return row


if __name__ == "__main__":
    main()
