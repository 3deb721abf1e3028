"""The server of the author page: drafts, saving by several people, reviews, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from extensions.authoring.author.author_app import Author, serve
from extensions.authoring.author.entry_file import EntryFile
from runner.cli import main
from runner.records.durable_files import lock_folder
from tests.conftest import user
from tests.extensions.viewer.viewing import Viewing, fetched, serving
from trajectories.dataset import Dataset, load_path
from trajectories.schema import Category, ExpectedCalls, Trajectory

Asked = dict[str, Any]


@pytest.fixture
def file(write_lines: Callable[..., Path], folders: Trajectory, help_desk: Trajectory) -> Path:
    """A data file of two entries."""
    return write_lines("mine.jsonl", folders, help_desk)


@pytest.fixture
def author(file: Path, folders: Trajectory, dataset_of: Callable[..., Dataset]) -> Author:
    """Author of the file."""
    return Author(file, lambda: dataset_of(folders), "Ada")


@pytest.fixture
def served(author: Author) -> Iterator[Viewing]:
    """The server of the author."""
    with serving(lambda started: serve(author, 0, "token", started)) as url:
        yield Viewing(url)


def opened(author: Author, id: str = "folders_0") -> Asked:
    """Open a draft of a saved entry."""
    return author.draft({"id": author.open({"id": id, "from": "file"})["draft"]})


def changed(author: Author, shown: Asked, words: str) -> Asked:
    """Change the first message of a draft."""
    entry = json.loads(json.dumps(shown["entry"]))
    entry["turns"][0]["messages"] = [{"role": "user", "content": words}]
    return author.play({"draft": shown["draft"], "revision": shown["revision"], "entry": entry})


def save(author: Author, shown: Asked, name: str = "Ada") -> Asked:
    """Save a draft."""
    return author.save({"draft": shown["draft"], "revision": shown["revision"], "name": name})


def messages(file: Path, id: str = "folders_0") -> str:
    """Return the first message of a saved entry."""
    return load_path(file, list(Category)).trajectories[id].opening


def test_a_draft_shows_results_and_changes(author: Author) -> None:
    shown = opened(author)
    assert shown["saved"]
    turns = shown["played"]["turns"]
    assert len(turns) == len(shown["entry"]["turns"])
    made = [call for turn in turns for call in turn["calls"]]
    assert not any(call["failed"] for call in made)
    assert any(call["changes"] for call in made)
    first = author.state({"id": shown["draft"], "turn": "0"})["state"]
    assert first != author.state({"id": shown["draft"], "turn": "1"})["state"]


def test_saving_changes_one_line_only(author: Author, file: Path) -> None:
    before = file.read_text(encoding="utf-8").splitlines()
    found = save(author, changed(author, opened(author), "Move it, please."), "Grace")
    after = file.read_text(encoding="utf-8").splitlines()
    assert (found["saved"], len(after), after[1]) == (True, 2, before[1])
    assert messages(file) == "Move it, please."
    saved = load_path(file, list(Category)).trajectories["folders_0"]
    assert saved.provenance["author"] == "Grace"
    again = save(author, changed(author, found, "Once more."), "Ada")
    assert again["entry"]["provenance"] == {"author": "Grace", "editor": "Ada"}


def test_the_second_of_two_people_is_told(author: Author, file: Path) -> None:
    other = Author(file, lambda: pytest.fail("not needed"))
    mine, theirs = opened(author), opened(other)
    save(author, changed(author, mine, "First."))
    later = changed(other, theirs, "Second.")
    with pytest.raises(DataError, match="folders_0 was changed by somebody else"):
        save(other, later)
    assert messages(file) == "First."
    renamed = {**later["entry"], "id": "folders_9"}
    beside = other.play({"draft": later["draft"], "revision": 1, "entry": renamed})
    assert save(other, beside)["saved"]
    assert messages(file, "folders_9") == "Second."


def test_an_existing_id_is_not_overwritten(author: Author, file: Path) -> None:
    copy = author.draft({"id": author.open({"id": "folders_0", "from": "source"})["draft"]})
    with pytest.raises(DataError, match="folders_0 already exists"):
        save(author, copy)


def test_a_lock_of_another_process_is_a_line(
    author: Author, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extensions.authoring.author.entry_file.LOCK_ATTEMPTS", 1)
    shown = changed(author, opened(author), "New.")
    with lock_folder(EntryFile(file).folder), pytest.raises(DataError, match="save later"):
        save(author, shown)
    assert messages(file) != "New."


def test_entries_saved_at_the_same_time_are_all_kept(file: Path, folders: Trajectory) -> None:
    def save_one(number: int) -> str:
        return EntryFile(file).save(replace(folders, id=f"new_{number}"), None)

    with ThreadPoolExecutor(8) as pool:
        versions = list(pool.map(save_one, range(16)))
    found = load_path(file, list(Category)).trajectories
    assert len(set(versions)) == 16
    assert found.keys() == {"folders_0", "help_desk_0", *(f"new_{n}" for n in range(16))}


def test_a_failed_write_leaves_the_file(author: Author, file: Path) -> None:
    before = file.read_bytes()
    shown = changed(author, opened(author), "\ud800")
    with pytest.raises(DataError, match="surrogate"):
        save(author, shown)
    assert file.read_bytes() == before
    assert [each.name for each in file.parent.iterdir() if "unfinished" in each.name] == []


def test_an_old_revision_is_refused(author: Author) -> None:
    shown = opened(author)
    changed(author, shown, "One.")
    with pytest.raises(DataError, match="another window has changed this draft"):
        changed(author, shown, "Two.")


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"id": ""}, "id: must have 1 to 200"),
        ({"turns": []}, "at least one turn"),
        ({"turns": [{"messages": []}]}, "ground_truth"),
        ({"environments": ["Nowhere"]}, "backend"),
        ({"config": {"GorillaFileSystem": {"root": 7}}}, "root: input should be"),
        ({"other": 1}, "other"),
    ],
)
def test_an_invalid_draft_is_kept_and_not_saved(
    author: Author, file: Path, change: Asked, problem: str
) -> None:
    shown, before = opened(author), file.read_bytes()
    entry = {**shown["entry"], **change}
    kept = author.play({"draft": shown["draft"], "revision": 0, "entry": entry})
    assert author.draft({"id": shown["draft"]})["entry"] == entry
    with pytest.raises(DataError, match=problem):
        save(author, kept)
    assert file.read_bytes() == before


def test_an_entry_that_the_rules_refuse_is_not_saved(author: Author, file: Path) -> None:
    shown, before = opened(author), file.read_bytes()
    entry = json.loads(json.dumps(shown["entry"]))
    entry["turns"][0]["ground_truth"].append("cd(folder='nowhere')")
    kept = author.play({"draft": shown["draft"], "revision": 0, "entry": entry})
    found = save(author, kept)
    assert not found["saved"]
    assert any(each["severity"] == "error" for each in found["findings"])
    assert file.read_bytes() == before


def test_reviews_are_of_a_version(author: Author) -> None:
    shown = opened(author)
    about = {"draft": shown["draft"], "revision": 0}
    author.review({**about, "name": "Grace", "class": "sound"})
    found = author.review({**about, "name": "Edsger", "class": "wrong", "reason": "Cannot pass."})
    assert found["status"]["state"] == "open"
    again = author.review({**about, "name": "Edsger", "class": "sound"})
    assert [each["reviewer"] for each in again["status"]["reviews"]] == ["Grace", "Edsger"]
    assert again["status"]["state"] == "sound"
    edited = changed(author, shown, "Other words.")
    about = {"draft": shown["draft"], "revision": edited["revision"]}
    with pytest.raises(DataError, match="unsaved changes"):
        author.review({**about, "name": "Grace", "class": "sound"})
    later = save(author, edited)
    assert later["status"]["changed"]
    assert not any(each["current"] for each in later["status"]["reviews"])


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"name": "", "class": "sound"}, "name: must have 1 to 60"),
        ({"name": "a\nb", "class": "sound"}, "name: must have 1 to 60"),
        ({"name": "Ada", "class": "fine"}, "class: 'fine' must be sound"),
        ({"name": "Ada", "class": "wrong"}, r"\$\.reason: must say why"),
    ],
)
def test_a_review_that_says_nothing_is_refused(author: Author, given: Asked, problem: str) -> None:
    shown = opened(author)
    with pytest.raises(DataError, match=problem):
        author.review({"draft": shown["draft"], "revision": 0, **given})


def test_only_entries_that_compare_states_are_edited(
    write_lines: Callable[..., Path], single_turn: Trajectory
) -> None:
    author = Author(write_lines("one.jsonl", single_turn), lambda: pytest.fail("not needed"))
    assert [each["edited"] for each in author.home({})["entries"]] == [False]
    with pytest.raises(DataError, match="not judged by state"):
        author.open({"id": single_turn.id, "from": "file"})


@pytest.fixture
def single_turn(folders: Trajectory) -> Trajectory:
    """An entry of one turn whose calls are compared."""
    return replace(
        folders,
        id="simple_0",
        category=Category.IRRELEVANCE,
        environments=(),
        config={},
        turns=(replace(folders.turns[0], messages=user("Hello."), ground_truth=()),),
        expects=ExpectedCalls(()),
    )


def test_clean_drafts_make_room(author: Author, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extensions.authoring.author.drafts._MAX_DRAFTS", 2)
    kept = changed(author, opened(author), "New.")
    opened(author)
    opened(author)
    assert author.draft({"id": kept["draft"]})["entry"] == kept["entry"]
    changed(author, opened(author), "Newer.")
    with pytest.raises(DataError, match="discard some"):
        opened(author)


def test_a_key_is_no_path(author: Author, file: Path) -> None:
    for key in ("../mine", "", "0" * 15, "0" * 16, "reviews", 7):
        with pytest.raises(DataError):
            author.discard({"draft": key, "revision": 0})
    assert file.exists()


def test_without_the_token_there_is_nothing(served: Viewing) -> None:
    assert fetched(f"http://{served.host}/wrong/data/")[0] == 403
    assert served.get("data/", host="evil.example")[0] == 421
    assert served.get("data/", sec_fetch_site="cross-site")[0] == 403
    assert [each["id"] for each in served.data("")["entries"]] == ["folders_0", "help_desk_0"]


def test_bodies_are_bounded_json(served: Viewing) -> None:
    assert "must be a JSON object" in served.post("open", [])["problem"]
    assert "more than" in served.post("new", {"id": "x" * 4_100_000})["problem"]
    assert "does not exist" in served.post("play", {"draft": "0" * 16})["problem"]
    assert served.get("data/save")[0] == 405


def test_a_draft_is_exported_as_a_line(served: Viewing) -> None:
    key = served.post("open", {"id": "folders_0", "from": "file"})["draft"]
    status, text = served.get(f"export/draft?id={key}")
    assert (status, json.loads(text)["id"]) == (200, "folders_0")
    assert served.get("export/draft?id=no")[0] == 404


def test_a_damaged_file_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"id": 1}\n', encoding="utf-8")
    assert main(["dataset", "author", str(path)]) == 2
    assert f"{path}:1: $" in capsys.readouterr().err
    assert main(["dataset", "author", str(tmp_path / "no" / "x.jsonl")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_reviews_are_shown_by_the_command(
    author: Author, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = opened(author)
    about = {"draft": shown["draft"], "revision": 0, "name": "Grace", "class": "sound"}
    author.review(about)
    assert main(["dataset", "show", str(file)]) == 0
    assert "reviews: 1 sound" in capsys.readouterr().out
    assert main(["dataset", "show", str(file), "--ids", "folders_0"]) == 0
    assert "reviewer Grace: sound" in capsys.readouterr().err
    assert main(["dataset", "show", "--ids", "base_files_quarterly_report"]) == 0
    assert main(["dataset", "show", str(file.parent)]) == 0
