"""``turnwise dataset show --statistics``: one set or two, as a table and as a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from envs.errors import DataError
from tests.runner.commands.running import run
from trajectories.dataset import DATA

BASE = DATA / "base.jsonl"


def test_two_sets_stand_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # However long the paths are.
    monkeypatch.setenv("COLUMNS", "400")
    few, page = tmp_path / "few.jsonl", tmp_path / "page.html"
    few.write_text("".join(BASE.read_text(encoding="utf-8").splitlines(True)[:3]), encoding="utf-8")
    assert run("dataset show", BASE, "--statistics", "--against", few, "--html", page) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == [str(BASE), str(few)]
    entries = len(BASE.read_text(encoding="utf-8").splitlines())
    assert ["entries", str(entries), "3"] in rows
    assert page.read_text(encoding="utf-8").count("<svg") == 9


@pytest.mark.parametrize("flag", ["--against", "--html"])
def test_what_is_for_statistics_is_refused_without(flag: str) -> None:
    with pytest.raises(DataError, match=f"{flag}: needs --statistics"):
        run("dataset show", flag, "x")
