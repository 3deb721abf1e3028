"""A run folder of format 1, as it was first written: every reader opens it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from envs.errors import DataError
from runner.cli import main
from runner.records.episode_record import EpisodeRecord
from runner.records.recorded_run import open_run
from runner.records.run_store import RunStore

RUN = Path("tests/runner/records/format_1/run")


@pytest.fixture
def run(tmp_path):
    """Return a copy of the run, to be written to."""
    return shutil.copytree(RUN, tmp_path / "run")


def test_what_is_read_is_written_byte_for_byte():
    for line in (RUN / "episodes.jsonl").read_text(encoding="utf-8").splitlines():
        record = EpisodeRecord.from_json(json.loads(line), "here")
        assert json.dumps(record.to_json(), separators=(",", ":")) == line
    definition = json.loads((RUN / "run.json").read_text(encoding="utf-8"))["definition"]
    assert json.dumps(open_run(RUN).definition.to_json()) == json.dumps(definition)


def test_it_can_be_gone_on_with(run):
    with RunStore.resume(run, open_run(run).definition) as store:
        assert sorted(store.done.values()) == ["error", "failed", "failed", *["passed"] * 5]


@pytest.mark.parametrize(
    "command",
    [
        ["table", "--allow-errors", str(RUN)],
        ["verify", str(RUN)],
        ["compare", str(RUN), str(RUN)],
        ["align", "help_desk_0", "--run", str(RUN)],
        *[["replay", id, "--run", str(RUN)] for id in ("help_desk_0", "simple_0", "counted_0")],
        ["replay", "folders_0", "--run", str(RUN), "--trial", "1"],
    ],
)
def test_readers_open_it(command, capsys):
    assert main(command) == 0
    assert capsys.readouterr().out


def test_a_large_run_is_read_episode_by_episode(run, monkeypatch):
    held = open_run(run).episodes
    monkeypatch.setattr("runner.records.recorded_run.MAX_HELD_BYTES", 2000)
    stored = open_run(run).episodes
    assert type(stored) is not type(held)
    assert [*stored.items()] == [*held.items()]
    assert ("help_desk_0", 0) in stored
    assert ("help_desk_0", 7) not in stored
    (run / "episodes.jsonl").write_text("{}\n" * 9, encoding="utf-8")
    with pytest.raises(DataError, match=r"episodes\.jsonl:1"):
        stored["help_desk_0", 0]


def test_it_is_reported_and_exported(run, tmp_path):
    assert main(["report", str(run), "--output", str(tmp_path / "report.html")]) == 0
    for form in ("bfcl", "openai-messages"):
        assert main(["export", str(run), "--format", form]) == 0


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"trial": "0"}, "$.trial: must be a whole number, but is '0'"),
        ({"steps": [{}]}, "$.steps[0].turn: is missing"),
        ({"verdict": {"valid": True}}, "$.verdict: is not a verdict: "),
        ({"result": [["a"], [5]]}, "$.result[1][0]: must be "),
    ],
)
def test_a_record_that_does_not_fit_is_named_by_file_line_and_path(run, change, complaint):
    file = run / "episodes.jsonl"
    first, *others = file.read_text(encoding="utf-8").splitlines(keepends=True)
    broken = json.dumps({**json.loads(first), **change})
    file.write_text("".join([broken, "\n", *others]), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        open_run(run)
    assert str(caught.value).startswith(f"{file}:1: {complaint}")


def test_members_that_have_another_name_or_place_now_are_read(run):
    path = run / "run.json"
    written = json.loads(path.read_text(encoding="utf-8"))
    written["definition"]["selection"]["split"] = "hard"
    written["definition"]["protocol"] = {"name": "hermes", "sha256": "0"}
    written["definition"]["settings"]["compress"] = "512"
    path.write_text(json.dumps(written), encoding="utf-8")
    definition = open_run(run).definition
    assert definition.selection.subset == "hard"
    assert definition.extensions == {
        "formats": {"protocol": {"name": "hermes", "sha256": "0"}},
        "compression": {"compress": "512"},
    }
