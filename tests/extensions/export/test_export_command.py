from __future__ import annotations

import json
from pathlib import Path

import pytest
import turnwise

from envs.errors import DataError
from runner.models.model_types import Usage
from runner.records.episode_record import EpisodeRecord
from runner.records.run_store import RunStore
from tests.runner.commands.running import run as run_command
from tests.runner.records.made import defining, step

LS = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object"}}}


def episode(id, outcome="passed", trial=0):
    """Return the record of an episode of one turn that was an answer."""
    said = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": f"trial {trial}"}]
    request = step(0)._replace(usage=Usage(10, 2), tools="t")
    return EpisodeRecord(
        *(id, trial, "base", outcome, None, None),
        messages=said,
        steps=[request],
        result=[[f"trial {trial}"]],
    )


@pytest.fixture
def run(tmp_path):
    """Write a run of two entries, one of which failed, with two trials of the other."""
    folder = tmp_path / "run"
    with RunStore.create(folder, defining("org/model")) as store:
        store.put_tools("t", [LS])
        for record in (episode("a"), episode("a", trial=1), episode("b", "failed")):
            store.append(record)
    return folder


def export(*arguments) -> int:
    """Run the command as the command line does."""
    return run_command("export", *arguments)


def lines(path: Path) -> list[dict]:
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize(
    ("flags", "result"),
    [
        ((), [("a", "trial 0"), ("b", "trial 0")]),
        (("--trial", "0"), [("a", "trial 0"), ("b", "trial 0")]),
        (("--trial", "1"), [("a", "trial 1")]),
    ],
)
def test_bfcl_writes_the_files_of_one_trial_and_says_where(run, tmp_path, capsys, flags, result):
    assert export(run, "--format", "bfcl", "-o", tmp_path / "out", *flags) == 0
    path = tmp_path / "out" / "org_model" / "multi_turn" / "BFCL_v4_multi_turn_base_result.json"
    assert capsys.readouterr().out == f"{path}\n"
    assert [(line["id"], line["result"][0][0]) for line in lines(path)] == result


@pytest.mark.parametrize("form", ["bfcl", "openai-messages"])
@pytest.mark.parametrize(("planned", "warns"), [(3, False), (4, True), (None, False)])
def test_the_files_of_an_unfinished_run_come_with_a_warning(tmp_path, capsys, form, planned, warns):
    folder = tmp_path / "run"
    with RunStore.create(folder, defining("org/model"), note={"episodes": planned}) as store:
        store.put_tools("t", [LS])
        for record in (episode("a"), episode("a", trial=1), episode("b", "failed")):
            store.append(record)
    assert export(folder, "--format", form, "-o", tmp_path / "out") == 0
    told = "warning: the files hold results of 3 of 4 episodes: the run is unfinished"
    assert (told in capsys.readouterr().err) is warns


def test_bfcl_takes_another_name_for_the_model(run, tmp_path):
    export(run, "--format", "bfcl", "--output", tmp_path, "--model", "gpt-4o-FC")
    assert (tmp_path / "gpt-4o-FC" / "multi_turn").is_dir()


@pytest.mark.parametrize(
    ("flags", "written"), [((), ["a", "a", "b"]), (("--only-passed",), ["a", "a"])]
)
def test_openai_messages_writes_transcripts_and_says_how_many(
    run, tmp_path, capsys, flags, written
):
    path = tmp_path / "chats.jsonl"
    assert export(run, "--format", "openai-messages", "-o", path, *flags) == 0
    said = capsys.readouterr()
    assert said.out == f"{path}: {len(written)} transcripts\n"
    assert ("causes are left out" in said.err) == (not flags)
    assert [line["metadata"]["id"] for line in lines(path)] == written
    assert lines(path)[0]["tools"] == [LS]


@pytest.mark.parametrize(
    ("format", "flags", "said"),
    [
        ("bfcl", ["--only-passed"], "--only-passed: is for --format openai-messages, not bfcl"),
        ("openai-messages", ["--trial", "0"], "--trial: is for --format bfcl"),
        ("openai-messages", ["--model", "x"], "--model: is for --format bfcl"),
        ("bfcl", ["--trial", "7"], "has no finished episode of trial 7"),
    ],
)
def test_what_makes_no_sense_is_refused_and_writes_nothing(run, tmp_path, format, flags, said):
    with pytest.raises(DataError, match=said):
        export(run, "--format", format, "-o", tmp_path / "out", *flags)
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


@pytest.mark.parametrize("text", ["-1", "x", "1.5", ""])
def test_a_trial_is_a_whole_number(run, capsys, text):
    with pytest.raises(SystemExit, match="2"):
        export(run, "--format", "bfcl", f"--trial={text}")
    assert f"{text!r} is not a whole number of at least 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("format", "path"),
    [
        ("bfcl", "bfcl/org_model/multi_turn/BFCL_v4_multi_turn_base_result.json"),
        ("openai-messages", "openai-messages.jsonl"),
    ],
)
def test_without_a_path_it_is_written_into_the_run(run, capsys, format, path):
    export(run, "--format", format)
    assert str(run / path) in capsys.readouterr().out
    assert len(lines(run / path)) >= 2


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"contains no run: run\.json is missing"):
        export(tmp_path / "nothing", "--format", "bfcl", "-o", tmp_path / "out")


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    """Return a folder with a search, of which not all passes."""
    folder = tmp_path_factory.mktemp("searched") / "runs"
    asked = ["--model", "scripted:0.3", "--category", "base", "--limit", "24"]
    assert run_command("search", *asked, "--run-dir", folder) == 0
    return folder


@pytest.mark.parametrize("form", ["sharegpt", "trl"])
def test_what_passed_is_written_for_training(searched, tmp_path, capsys, form):
    runs = searched / "react", searched / "dfsdt"
    path = tmp_path / "out.jsonl"
    assert export(*runs, "--format", form, "-o", path) == 0
    found = lines(path)
    passed = [line for run in runs for line in lines(run / "episodes.jsonl")
              if line["outcome"] == "passed"]  # fmt: skip
    ended = [line for line in passed
             if any(e["why"] in ("give_up", "exhausted") for e in line["turn_ends"])]  # fmt: skip
    assert len(found) == len(passed) - len(ended) > 24
    assert all(line["metadata"]["passed"] for line in found)
    assert "give_up_branch" not in path.read_text(encoding="utf-8")
    assert f"{path}: {len(found)} transcripts" in capsys.readouterr().out


def test_an_option_of_another_format_is_refused(searched, tmp_path):
    with pytest.raises(DataError, match="--trial: is for --format bfcl, not sharegpt"):
        export(searched / "dfsdt", "--format", "sharegpt", "--trial", "1", "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_bfcl_has_room_for_one_run(searched):
    with pytest.raises(DataError, match="RUN: --format bfcl takes a single run"):
        export(searched / "react", searched / "dfsdt", "--format", "bfcl")


def test_failed_transcripts_have_the_cause(tmp_path):
    folder = tmp_path / "run"
    turnwise.evaluate(lambda messages, tools: "Done.", categories="base", limit=2, run_dir=folder)
    assert export(folder, "--format", "openai-messages", "-o", tmp_path / "chats.jsonl") == 0
    for line in lines(tmp_path / "chats.jsonl"):
        known = line["metadata"]
        assert (known["passed"], known["reward"], known["cause"]) == (False, 0.0, "missing_call")
        assert known["turns"][0] is False
