from __future__ import annotations

from pathlib import Path

import pytest

from envs.errors import DataError
from runner.analysis import replayed_runs
from runner.cli import main
from runner.commands import episode_options
from runner.episodes import judging
from runner.episodes.judging import limited_memory
from runner.episodes.offline import examine_recorded
from tests.fuzz.forms import FORMAT_1


def test_more_memory_than_allowed_is_an_error_and_then_there_is_memory_again():
    with limited_memory(40):
        with pytest.raises(MemoryError):
            bytearray(2**26)
        assert bytearray(2**24)
    assert bytearray(2**26)


def test_without_a_limit_there_is_none():
    with limited_memory(None):
        assert bytearray(2**26)


def test_a_system_without_limits_says_so(monkeypatch, capsys):
    monkeypatch.setattr(judging, "_SIZES", Path("/there/is/none"))
    with pytest.raises(DataError, match="--memory: this system cannot limit"), limited_memory(9):
        pass
    assert main(["eval", "--model", "null", "--limit", "1", "--memory", "100"]) == 2
    assert capsys.readouterr().err.startswith("turnwise: --memory: this system cannot limit")


def test_the_command_judges_within_a_limit(capsys):
    assert main(["eval", "--model", "oracle", "--limit", "3", "--memory", "500"]) == 0
    assert "of 3 episodes" in capsys.readouterr().out


def test_a_process_cannot_end_itself(capsys):
    assert main(["eval", "--model", "oracle", "--entry-timeout", "5"]) == 2
    assert "--entry-timeout: needs --workers N" in capsys.readouterr().err


RUN = str(FORMAT_1 / "run")
DATA = ["--dataset", str(FORMAT_1 / "data.jsonl")]
EXECUTING = [
    ["verify", RUN],
    ["table", RUN, "--allow-errors"],
    ["compare", RUN, RUN],
    ["episodes", RUN],
    ["replay", "help_desk_0", "--run", RUN],
    ["align", "help_desk_0", "--run", RUN, "--run", RUN],
    ["judge", RUN, "--judge", "scripted:0.8", "--dry-run"],
    ["search", "--model", "scripted:0.2", "--limit", "1", "--max-nodes", "3"],
]


@pytest.mark.parametrize("words", EXECUTING, ids=lambda words: words[0])
def test_every_command_that_executes_episodes_has_a_limit(monkeypatch, capsys, words):
    assert main([*words, *DATA, "--memory", "500"]) == main([*words, *DATA])
    monkeypatch.setattr(judging, "_SIZES", Path("/there/is/none"))
    assert main([*words, *DATA, "--memory", "500"]) == 2
    assert "--memory: this system cannot limit" in capsys.readouterr().err


@pytest.mark.parametrize("words", EXECUTING[:4], ids=lambda words: words[0])
def test_want_of_memory_is_an_error_of_the_entry(monkeypatch, capsys, words):
    def greedy(prepared, *rest, **options):
        if prepared.trajectory.id == "help_desk_0":
            return bytearray(2**32)
        return examine_recorded(prepared, *rest, **options)

    monkeypatch.setattr(replayed_runs, "examine_recorded", greedy)
    assert main([*words, *DATA, "--memory", "300"]) in (0, 1, 3)
    said = capsys.readouterr()
    assert "Traceback" not in said.err + said.out


def test_without_memory_for_it_one_episode_is_not_shown(monkeypatch, capsys):
    def greedy(*_, **__):
        return bytearray(2**32)

    monkeypatch.setattr(episode_options, "examine_recorded", greedy)
    assert main(["replay", "help_desk_0", "--run", RUN, *DATA, "--memory", "300"]) == 2
    assert "not enough memory to judge the entry" in capsys.readouterr().err


def test_want_of_memory_elsewhere_is_one_line(monkeypatch, capsys):
    monkeypatch.setattr(
        "extensions.verify.commands.verify.open_run", lambda *_, **__: bytearray(2**32)
    )
    assert main(["verify", RUN, *DATA, "--memory", "300"]) == 3
    assert capsys.readouterr().err == "turnwise: out of memory; use fewer --workers or entries\n"
