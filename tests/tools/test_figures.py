from __future__ import annotations

import pytest

from tools import figures
from trajectories.dataset import load_embedded
from trajectories.schema import Category


def test_the_data_card_is_up_to_date():
    assert figures.main(["--check"]) is None


@pytest.mark.slow
def test_figures_are_written_between_the_marks(tmp_path):
    path = tmp_path / "README.md"
    path.write_text(f"before\n{figures.OPENING}\nold\n{figures.CLOSING}\nafter\n", encoding="utf-8")
    assert figures.main(["--check"], path) == "README.md: run python -m tools.figures"
    assert figures.main([], path) is None
    assert figures.main(["--check"], path) is None
    text = path.read_text(encoding="utf-8")
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "old" not in text


@pytest.mark.slow
def test_a_file_without_marks_is_left_as_it_is(tmp_path):
    path = tmp_path / "README.md"
    path.write_text("text\n", encoding="utf-8")
    assert "must each be on a separate line" in figures.main([], path)
    assert path.read_text(encoding="utf-8") == "text\n"
    assert figures.main(["--all"], path).startswith("usage:")


@pytest.mark.parametrize(
    ("name", "times"), [("close_ticket", 1), ("create_ticket", 1), ("logout", 0)]
)
def test_a_function_counts_once_a_trajectory(help_desk, name, times):
    assert figures.functions_used([help_desk])[name] == times


def test_counts_are_those_of_the_data():
    data = list(load_embedded([Category.BASE]).trajectories.values())
    row = figures.figures(data, [])[2]
    calls = sum(len(turn.ground_truth) for t in data for turn in t.turns)
    assert row.startswith(f"| base | {len(data)} | {sum(len(t.turns) for t in data)} | {calls} |")
