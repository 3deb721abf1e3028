from __future__ import annotations

from pathlib import Path

import pytest

from runner.cli import main
from runner.episodes import allowance
from runner.episodes.allowance import limited_memory
from trajectories.errors import DataError


def test_more_memory_than_allowed_is_an_error_and_then_there_is_memory_again():
    with limited_memory(100):
        with pytest.raises(MemoryError):
            bytearray(2**28)
        assert bytearray(2**20)
    assert bytearray(2**28)


def test_without_a_limit_there_is_none():
    with limited_memory(None):
        assert bytearray(2**28)


def test_a_system_without_limits_says_so(monkeypatch, capsys):
    monkeypatch.setattr(allowance, "_SIZES", Path("/there/is/none"))
    with pytest.raises(DataError, match="--memory: this system does not limit"), limited_memory(9):
        pass
    assert main(["eval", "--model", "null", "--limit", "1", "--memory", "100"]) == 2
    assert capsys.readouterr().err.startswith("turnwise: --memory: this system does not limit")


def test_the_command_judges_within_a_limit(capsys):
    assert main(["eval", "--model", "oracle", "--limit", "3", "--memory", "500"]) == 0
    assert "of 3 episodes" in capsys.readouterr().out


def test_a_process_cannot_end_itself(capsys):
    assert main(["eval", "--model", "oracle", "--entry-timeout", "5"]) == 2
    assert "--entry-timeout: needs --workers N" in capsys.readouterr().err
