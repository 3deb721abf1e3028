from __future__ import annotations

import pytest

from tests.conformance.table import CELLS, compare, random_runs

RUN = {"base": (1, 2), "miss_func": (1, 4)}


@pytest.fixture
def theirs() -> dict[str, dict[str, str]]:
    """Return BFCL's table of a run, as far as it has figures."""
    tables: dict[str, dict[str, str]] = {}
    for file, column in CELLS.values():
        tables.setdefault(file, {})[column] = "N/A"
    tables["data_overall.csv"]["Overall Acc"] = "5.63%"
    tables["data_live.csv"]["Live Overall Acc"] = "0.00%"
    tables["data_multi_turn.csv"] |= {
        "Multi Turn Overall Acc": "18.75%",
        "Base": "50.00%",
        "Miss Func": "25.00%",
    }
    return tables


def test_a_seed_gives_the_same_runs() -> None:
    assert list(random_runs(3, 20)) == list(random_runs(3, 20))
    assert list(random_runs(3, 20)) != list(random_runs(4, 20))


def test_tables_that_agree(theirs: dict[str, dict[str, str]]) -> None:
    assert list(compare(RUN, theirs)) == []


@pytest.mark.parametrize("cell", ["50.02%", "N/A"])
def test_a_figure_that_differs(theirs: dict[str, dict[str, str]], cell: str) -> None:
    theirs["data_multi_turn.csv"]["Base"] = cell
    (finding,) = compare(RUN, theirs)
    assert finding.startswith("overall/multi-turn/base is 0.5, BFCL has")
