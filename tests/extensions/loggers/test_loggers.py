from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from extensions.loggers.logged_run import load_logged_run
from extensions.viewer.annotation_writer import write_annotation
from runner.analysis import replayed_runs
from runner.cli import main
from runner.episodes.rejudged_episode import RejudgedMultiTurn
from runner.records.annotations import TagsAndNote
from runner.records.run_store import RunStore
from tests.runner.analysis.replayed_runs import definition, record, truth_turns, write_run
from trajectories.schema import Trajectory


def library(name: str):
    """Import a tracker's library; where `make test-adapters` runs, it must be there."""
    return __import__(name) if os.environ.get("ADAPTERS") else pytest.importorskip(name)


@pytest.fixture
def run(
    tmp_path: Path,
    write_lines: Callable[..., Path],
    folders: Trajectory,
    help_desk: Trajectory,
) -> Path:
    """A run of two entries, of which one fails, with a tag."""
    data = write_lines("data.jsonl", folders, help_desk)
    right = record(data, "folders_0", truth_turns(folders))
    desk = record(data, "help_desk_0", [["No."], ["No."], ["No."]])
    folder = write_run(tmp_path / "a", definition(data), right, desk)
    write_annotation(folder, None, TagsAndNote(("baseline",)))
    return folder


def test_settings_scores_figures_and_report_are_logged(run: Path) -> None:
    found = load_logged_run(run, None, print)
    assert found.name == "a"
    assert found.tags == ("baseline",)
    assert found.parameters["model"] == "org/model"
    assert found.parameters["settings.mode"] == "prompt"
    assert (found.metrics["score/all"], found.metrics["passed/all"]) == (0.5, 1)
    assert found.metrics["score_low/all"] <= 0.5 <= found.metrics["score_high/all"]
    assert found.metrics["hallucinations/invented_functions"] == 0
    assert found.metrics["requests/requests"] > 0
    assert all(isinstance(value, (int, float)) for value in found.metrics.values())
    assert "<title>Turnwise: a</title>" in found.report or "<!doctype html>" in found.report


def test_an_unfinished_run_is_marked(
    tmp_path: Path, write_lines: Callable[..., Path], folders: Trajectory
) -> None:
    data = write_lines("data.jsonl", folders)
    for planned in (1, 2):
        told: list[str] = []
        with RunStore.create(
            tmp_path / str(planned), definition(data), note={"episodes": planned}
        ) as store:
            store.append(record(data, "folders_0", truth_turns(folders)))
        found = load_logged_run(tmp_path / str(planned), None, told.append)
        assert (found.metrics["episodes/done"], found.metrics["episodes/planned"]) == (1, planned)
        assert not {"episodes"} & {*found.metrics}
        warned = [each for each in told if "is of 1 of 2 episodes: the run is unfinished" in each]
        assert len(warned) == planned - 1


def test_episodes_are_executed_once_and_not_kept(run: Path, monkeypatch) -> None:
    def count(*given, **more):
        for each in replay(*given, **more):
            gc.collect()
            kept.append(sum(isinstance(one, RejudgedMultiTurn) for one in gc.get_objects()))
            yield each

    kept: list[int] = []
    replay = replayed_runs.replay_episodes
    monkeypatch.setattr(replayed_runs, "replay_episodes", count)
    load_logged_run(run, None, print)
    assert len(kept) == 2
    assert kept[0] == kept[1]


def test_a_run_of_one_category_has_a_total_score(
    tmp_path: Path, write_lines: Callable[..., Path], folders: Trajectory
) -> None:
    data = write_lines("data.jsonl", folders)
    right = record(data, "folders_0", truth_turns(folders))
    found = load_logged_run(write_run(tmp_path / "a", definition(data), right), None, print)
    assert (found.metrics["score/all"], found.metrics[f"score/{folders.category}"]) == (1, 1)


def test_an_unknown_tracker_and_a_missing_run_are_one_line(run: Path, capsys) -> None:
    assert main(["log", str(run.parent / "none"), "--to", "mlflow"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.filterwarnings("ignore")
def test_mlflow_keeps_the_run_in_a_local_store(run: Path, tmp_path: Path, capsys, monkeypatch):
    mlflow = library("mlflow")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"file://{tmp_path}/store")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.chdir(tmp_path)
    assert main(["log", str(run), "--to", "mlflow", "--project", "tools"]) == 0
    client = mlflow.MlflowClient(f"file://{tmp_path}/store")
    experiment = client.get_experiment_by_name("tools")
    [kept] = client.search_runs([experiment.experiment_id])
    assert kept.info.run_name == "a"
    assert kept.data.metrics["score/all"] == 0.5
    assert kept.data.params["model"] == "org/model"
    assert kept.data.tags["turnwise.tag.baseline"] == "yes"
    address = capsys.readouterr().out.splitlines()[-1]
    assert Path(address.removeprefix("file://")).read_text().startswith("<!doctype html>")


@pytest.mark.filterwarnings("ignore")
def test_wandb_keeps_the_run_offline(run: Path, tmp_path: Path, capsys, monkeypatch) -> None:
    library("wandb")
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.setenv("WANDB_SILENT", "true")
    for name in ("CACHE_DIR", "DATA_DIR", "CONFIG_DIR", "ARTIFACT_DIR"):
        monkeypatch.setenv(f"WANDB_{name}", str(tmp_path / name))
    assert main(["log", str(run), "--to", "wandb", "--project", "tools"]) == 0
    address = Path(capsys.readouterr().out.splitlines()[-1])
    [log] = address.glob("*.wandb")
    content = log.read_bytes()
    for text in (b"org/model", b"hallucinations/invented_functions", b"baseline", b"tools"):
        assert text in content
