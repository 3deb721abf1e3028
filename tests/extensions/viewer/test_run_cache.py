from __future__ import annotations

import gc

import pytest

from envs.errors import DataError
from extensions.viewer import run_cache as module
from extensions.viewer.commands.runs import list_runs
from extensions.viewer.run_cache import RunCache
from runner.analysis import replayed_runs
from runner.episodes.rejudged_episode import RejudgedMultiTurn
from runner.records.episode_record import RecordedEpisode
from runner.records.run_store import RunStore
from tests.runner.analysis.replayed_runs import definition, record, truth_turns, write_run


@pytest.fixture
def run(data, tmp_path, folders):
    """Write a run of one entry, which passes."""
    return write_run(
        tmp_path / "run", definition(data), record(data, "folders_0", truth_turns(folders))
    )


@pytest.fixture
def executed(monkeypatch):
    """Return the episodes that are executed, as they are."""
    keys = []

    def noting(run, wanted, *rest, **more):
        found = [*wanted]
        keys.extend(found)
        return plain(run, found, *rest, **more)

    plain = replayed_runs.replay_episodes
    monkeypatch.setattr(replayed_runs, "replay_episodes", noting)
    return keys


def test_a_run_is_executed_once_until_it_changes(run, data, executed):
    library = RunCache()
    first = library.whole(run)
    assert library.whole(run) is first
    assert executed == [("folders_0", 0)]
    with RunStore.resume(run, definition(data)) as store:
        store.append(record(data, "help_desk_0", [["No."], [], []]))
    outlines = library.whole(run).outlines
    assert [each.record.outcome for each in outlines.values()] == ["passed", "failed"]
    assert executed == [("folders_0", 0), ("help_desk_0", 0)]


def test_an_episode_needs_no_other_one(run, data, executed):
    with RunStore.resume(run, definition(data)) as store:
        store.append(record(data, "help_desk_0", [["No."], [], []]))
    library = RunCache()
    [episode] = library.one(run, ("help_desk_0", 0)).run.episodes
    assert (episode.recorded.id, episode.judged.outcome) == ("help_desk_0", "failed")
    assert executed == [("help_desk_0", 0)]
    library.whole(run)
    assert library.one(run, ("folders_0", 0)).run.episodes[0].judged.outcome == "passed"
    library.one(run, ("folders_0", 0))
    assert executed == [("help_desk_0", 0), ("folders_0", 0)] * 2


def test_a_run_in_memory_has_outlines_and_no_executed_episodes(run, data):
    with RunStore.resume(run, definition(data)) as store:
        store.append(record(data, "help_desk_0", [["No."], [], []]))
    library = RunCache()
    before = count(RejudgedMultiTurn)
    assert [*library.whole(run).outlines] == [("folders_0", 0), ("help_desk_0", 0)]
    assert count(RejudgedMultiTurn) == before
    library.one(run, ("folders_0", 0))
    assert count(RejudgedMultiTurn) == before + 1


def test_compared_runs_in_memory_have_no_recorded_episodes(run, data, tmp_path):
    other = write_run(tmp_path / "other", definition(data), record(data, "folders_0", [["No."]]))
    library = RunCache()
    before = count(RecordedEpisode)
    compared = library.compared({"one": run, "other": other}).compared
    assert count(RecordedEpisode) == before
    assert len(compared[0].lost) == 1


def count(kind):
    """Return the number of objects of a type in memory."""
    gc.collect()
    return sum(isinstance(each, kind) for each in gc.get_objects())


@pytest.mark.parametrize("whole", [False, True])
def test_an_episode_that_there_is_not(run, whole):
    library = RunCache()
    if whole:
        library.whole(run)
    with pytest.raises(DataError, match="'nothing' is not an entry"):
        library.one(run, ("nothing", 0))
    with pytest.raises(DataError, match="has no trial 7"):
        library.one(run, ("folders_0", 7))


def test_data_that_changed_are_noted(run, data):
    assert RunCache().whole(run).notes == []
    data.write_text(data.read_text() + data.read_text().replace('_0"', '_1"'))
    [note] = RunCache().whole(run).notes
    assert "the data has changed since the run" in note


def test_data_are_loaded_once(run, monkeypatch):
    loads = []
    plain = module.dataset_choice.open_dataset
    monkeypatch.setattr(
        module.dataset_choice,
        "open_dataset",
        lambda *given: loads.append(given[0]) or plain(*given),
    )
    library = RunCache()
    library.whole(run)
    library.one(run, ("folders_0", 0))
    assert len(loads) == 1


def test_a_run_in_memory_is_open(run):
    library = RunCache()
    [recorded] = library.recorded(run).outlines.values()
    assert (recorded.record.outcome, recorded.row["place"]) == ("passed", None)
    assert not library.is_open(run)
    library.whole(run)
    assert library.is_open(run)


def test_data_in_a_file_are_loaded_before_a_run_is_opened(run, data, monkeypatch):
    loads = []
    plain = module.dataset_choice.open_dataset
    monkeypatch.setattr(
        module.dataset_choice,
        "open_dataset",
        lambda *given: loads.append(given[0]) or plain(*given),
    )
    library = RunCache()
    library.warm(list_runs(run.parent))
    assert loads == [str(data)]
    library.whole(run)
    assert len(loads) == 1


def test_runs_are_compared_once_until_one_changes(run, data, folders, tmp_path):
    other = write_run(tmp_path / "other", definition(data), record(data, folders.id, [["No."]]))
    library, folders = RunCache(), {"one": run, "other": other}
    first = library.compared(folders)
    assert library.compared(folders) is first
    assert len(first.compared[0].lost) == 1
    with RunStore.resume(run, definition(data)) as store:
        store.append(record(data, "help_desk_0", [["No."], [], []]))
    again = library.compared(folders)
    assert again is not first
    assert again.compared[0].left_out.only_first == 1
