"""Damaged and malicious files end no command otherwise than in one line; see ``make fuzz``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

from tests.fuzz.changes import changed
from tests.fuzz.forms import Form
from tests.fuzz.making import made
from tests.fuzz.trying import Bench

NAMES = (
    *("trajectories", "single turns", "run folder", "result file", "verdicts", "errata"),
    *("readings", "scenarios", "settings", "initial config", "scripts", "exceptions", "bfcl"),
    *("votes", "judges", "debugger", "held back", "packs", "sittings", "functions", "mcp server"),
    *("queries", "other words", "experiment", "tokenizer", "options", "kept answers", "runs"),
    *("replies", "calls in texts", "drafts", "actions", "control bodies", "answers of services"),
    *("price table", "traces", "checks", "annotations", "generation", "extension data"),
    *("tau2 checkout", "tau2 results"),
)
CHANGES = 300


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Form]:
    """The forms by name."""
    return made(tmp_path_factory.mktemp("forms"))


@pytest.fixture(scope="module")
def work(forms: Mapping[str, Form], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder that the forms were made in."""
    return tmp_path_factory.getbasetemp() / "forms0"


def test_all_forms_are_tried(forms: Mapping[str, Form]) -> None:
    assert {*forms} == {*NAMES}


def test_a_seed_gives_the_same_changes() -> None:
    text = b'{"id": "a", "turns": [{"n": 1}, "text", [2, 3]]}\n' * 3
    once, again = ([changed(text, Random(7)) for _ in range(50)] for _ in range(2))
    assert once == again
    assert [changed(text, Random(seed)) == text for seed in range(50)].count(True) < 10


@pytest.mark.parametrize("name", NAMES)
def test_commands_do_what_they_are_for_where_nothing_is_changed(
    forms: Mapping[str, Form], work: Path, name: str
) -> None:
    found = [*Bench(work / "bench", forms[name]).unchanged()]
    assert [tried for tried in found if tried.problem or tried.status == 2] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_change_ends_in_a_traceback_or_half_a_file(
    forms: Mapping[str, Form], work: Path, name: str
) -> None:
    found = Bench(work / "bench", forms[name]).tries(CHANGES, f"1 {name}")
    assert [tried for tried in found if tried.problem] == []
