from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import turnwise

from envs.errors import DataError
from extensions.export.tables import write_frames
from extensions.viewer.annotation_writer import write_annotation
from runner.analysis.frames import RunFrames, load_runs
from runner.cli import main
from runner.records.annotations import TagsAndNote
from tests.runner.analysis.replayed_runs import definition, record, truth_turns, write_run
from trajectories.schema import Trajectory


@pytest.fixture
def run(
    tmp_path: Path,
    write_lines: Callable[..., Path],
    folders: Trajectory,
    help_desk: Trajectory,
) -> Path:
    """A run of two entries, of which one fails, in a folder of runs."""
    data = write_lines("data.jsonl", folders, help_desk)
    right = record(data, "folders_0", truth_turns(folders))
    desk = record(data, "help_desk_0", [["[get_ticket(ticket_id=99)]", "No."], ["No."], ["No."]])
    return write_run(tmp_path / "runs" / "a", definition(data), right, desk)


def test_episodes_and_calls_are_rows(run: Path) -> None:
    write_annotation(run, ("folders_0", 0), TagsAndNote(("x", "y"), "look"))
    write_annotation(run, None, TagsAndNote(("baseline",), "first"))
    found = turnwise.load_runs(run)
    assert repr(found) == f"RunFrames(2 episodes, {len(found.calls)} calls)"
    right, wrong = found.episodes
    assert (right["run"], right["id"], right["passed"], right["cause"]) == (
        "a", "folders_0", True, None,
    )  # fmt: skip
    assert (right["tags"], right["note"], wrong["tags"]) == ("x,y", "look", "")
    assert {(row["run_tags"], row["run_note"]) for row in (right, wrong)} == {("baseline", "first")}
    assert (right["calls"], right["redundant_calls"]) == (right["needed_calls"], 0)
    assert (wrong["passed"], wrong["redundant_calls"]) == (False, None)
    assert wrong["cause"] is not None
    [call] = [each for each in found.calls if each["id"] == "help_desk_0"]
    assert (call["turn"], call["step"], call["call"], call["function"]) == (0, 0, 0, "get_ticket")
    assert (call["text"], call["ok"]) == ("get_ticket(ticket_id=99)", False)
    assert len({tuple(row) for row in found.calls}) == 1


def test_a_folder_of_runs_has_the_rows_of_all(run: Path) -> None:
    assert len(load_runs(run.parent).episodes) == 2
    assert len(load_runs(str(run), run).episodes) == 4
    with pytest.raises(DataError, match="does not exist"):
        load_runs(run / "none")


def test_csv_has_the_same_rows(run: Path, tmp_path: Path, capsys) -> None:
    assert main(["export", str(run), "--format", "csv", "-o", str(tmp_path / "out")]) == 0
    written = capsys.readouterr().out.splitlines()
    assert [Path(line).name for line in written] == ["episodes.csv", "calls.csv"]
    found = load_runs(run)
    for name, rows in (("episodes", found.episodes), ("calls", found.calls)):
        with (tmp_path / "out" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
            kept = list(csv.DictReader(file))
        assert [row["id"] for row in kept] == [row["id"] for row in rows]
        assert [*kept[0]] == [*rows[0]]


def test_hostile_texts_are_no_formulas_and_encodable(tmp_path: Path) -> None:
    frames = RunFrames([{"id": "=1+1", "note": "\ud800"}], [])
    episodes, calls = write_frames(frames, "csv", tmp_path)
    assert episodes.read_text() == "id,note\n'=1+1,\\ud800\n"
    assert calls.read_text() == "\n"


def test_parquet_has_the_same_rows_and_types(run: Path, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    assert main(["export", str(run), "--format", "parquet", "-o", str(tmp_path)]) == 0
    episodes = pandas.read_parquet(tmp_path / "episodes.parquet")
    found = load_runs(run)
    assert json.loads(episodes.to_json(orient="records")) == json.loads(
        pandas.DataFrame(found.episodes).to_json(orient="records")
    )
    assert episodes["passed"].mean() == 0.5
    assert len(pandas.read_parquet(tmp_path / "calls.parquet")) == len(found.calls)


def test_options_of_transcripts_are_not_for_tables(run: Path, capsys) -> None:
    assert main(["export", str(run), "--format", "csv", "--only-passed"]) == 2
    assert "--only-passed: is for --format openai-messages" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("", "silent"),
        ("I am sorry, none of the functions can do that.", "declined"),
        ("Which city do you mean?", "asked"),
        ("Paris is the capital of France.", "other"),
    ],
)
def test_a_refusal_is_told_from_silence_where_no_call_is_right(
    tmp_path: Path, said: str, kind: str
) -> None:
    turnwise.evaluate(
        lambda messages, tools: {"role": "assistant", "content": said},
        categories="irrelevance,simple_python",
        ids=["irrelevance_haircut", "simple_python_tomato_bed"],
        run_dir=tmp_path / "run",
    )
    rows = turnwise.load_runs(tmp_path / "run").episodes
    assert [row["answer_without_call"] for row in rows] == [None, kind]
