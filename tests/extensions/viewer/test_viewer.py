"""The viewer over HTTP: who is let in, what pages and their data hold."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runner.records.annotations import TagsAndNote, read_annotations
from tests.extensions.viewer.viewing import Viewing, fetched, viewing, write_noted
from tests.runner.analysis.replayed_runs import definition, error_record, record, truth_turns
from tests.runner.analysis.report.making import unpacked
from trajectories.schema import Trajectory


@pytest.fixture
def data(write_lines: Callable[..., Path], folders: Trajectory, help_desk: Trajectory) -> Path:
    """A data file of two trajectories."""
    return write_lines("data.jsonl", folders, help_desk)


@pytest.fixture
def runs(tmp_path: Path, data: Path, folders: Trajectory) -> Path:
    """Two runs, of which one passes and one fails."""
    right = record(data, "folders_0", truth_turns(folders))
    wrong = record(data, "folders_0", [["No."], ["No."]])
    desk = record(data, "help_desk_0", [["I will not."], [], []])
    write_noted(tmp_path / "runs" / "a", definition(data), [right, desk], 2)
    write_noted(tmp_path / "runs" / "deep" / "b <i>", definition(data, model="other"), [wrong], 2)
    return tmp_path / "runs"


@pytest.fixture
def viewer(runs: Path) -> Iterator[Viewing]:
    """A viewer of them."""
    with viewing(runs) as found:
        yield found


# Who is let in


def test_without_the_token_there_is_nothing(viewer: Viewing) -> None:
    base = f"http://{viewer.host}"
    for path in ("/", "/wrong/", "/wrong/data/runs", "/favicon.ico", "/%ff/", "//"):
        assert fetched(base + path)[0] == 403
    assert viewer.get("")[0] == 200


def test_another_host_is_refused(viewer: Viewing) -> None:
    assert viewer.get("", host="evil.example")[0] == 421
    assert viewer.get("", host=viewer.host.replace("127.0.0.1", "localhost"))[0] == 200
    assert viewer.get("", host=f"evil.{viewer.host}")[0] == 421


def test_another_site_is_refused(viewer: Viewing) -> None:
    assert viewer.get("data/runs", sec_fetch_site="cross-site")[0] == 403
    assert viewer.get("data/runs", sec_fetch_site="same-origin")[0] == 200


def test_nothing_is_written(viewer: Viewing, runs: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in runs.rglob("*")}
    viewer.get("")
    viewer.data("run/a")
    viewer.get("export/run/a")
    assert {path: path.stat().st_mtime_ns for path in runs.rglob("*")} == before


@pytest.mark.parametrize(
    "name", ["../a", "..%2fa", "/etc", "a/../a", "deep", "%00", "a%2f", "%ff", "a" * 5000]
)
def test_a_name_is_no_path(viewer: Viewing, name: str) -> None:
    status, text = viewer.get(f"data/run/{name}")
    assert status in (200, 404)
    if status == 200:
        assert "does not contain this run" in json.loads(text)["problem"]
    status, text = viewer.get(f"run/{name}")
    assert status == 404
    assert "root:" not in text


# What there is


def test_all_runs_are_listed(viewer: Viewing) -> None:
    found = viewer.data("")
    assert found["complete"]
    assert {run["name"]: run["score"] for run in found["runs"]} == {"a": 0.5, "deep/b <i>": 0.0}
    again = viewer.data(f"runs?since={found['version']}")
    assert [run for run in again["runs"] if not run["reckoned"]] == []
    for odd in ("nonsense", "9" * 5000):
        assert len(viewer.data(f"runs?since={odd}")["runs"]) == 2


def test_the_first_view_has_the_recorded_outcomes_until_the_run_is_kept(viewer: Viewing) -> None:
    first = viewer.data("run/a?first=1")
    whole = viewer.data("run/a")
    assert (first["partial"], whole["partial"]) == (True, False)
    known = ["id", "trial", "outcome", "failed_turn", "reason", "steps", "calls"]
    rows = [[[row[name] for name in known] for row in shown["rows"]] for shown in (first, whole)]
    assert rows[0] == rows[1]
    assert first["overview"]["headline"] == whole["overview"]["headline"]
    assert [row["cause"] for row in first["rows"]] == [None, None]
    assert any(row["cause"] for row in whole["rows"])
    assert viewer.data("run/a?first=1") == whole


def test_a_run_has_its_index_and_its_episodes_by_themselves(viewer: Viewing) -> None:
    index = viewer.data("run/deep/b%20%3Ci%3E")
    assert (index["name"], index["notes"]) == ("deep/b <i>: other", [])
    assert [row["outcome"] for row in index["rows"]] == ["failed"]
    only = viewer.data("run/a?id=help_desk_0&trial=0")
    assert [row["id"] for row in only["rows"]] == ["help_desk_0"]
    episode = viewer.data("run/a?id=help_desk_0&trial=0&part=episode")
    assert len(episode["turns"]) == 3
    assert "prompts" in viewer.data("run/a?id=help_desk_0&trial=0&part=shared")


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("id=none", "is not an entry"),
        ("id=help_desk_0&trial=3", "has no trial 3"),
        ("id=help_desk_0&trial=-1", "must be a whole number"),
        ("id=help_desk_0&trial=99999999999999999999", "must be a whole number"),
    ],
)
def test_an_episode_that_there_is_not_is_a_line(viewer: Viewing, query: str, problem: str) -> None:
    assert problem in viewer.data(f"run/a?{query}")["problem"]


def test_how_far_a_run_has_got(viewer: Viewing) -> None:
    state = viewer.data("state/deep/b%20%3Ci%3E")
    assert (state["state"], state["episodes"], state["planned"]) == ("unfinished", 1, 2)


def test_an_entry_is_found_in_all_runs(viewer: Viewing) -> None:
    found = viewer.data("entry?id=folders_0")["found"]
    assert [(each["run"], each["outcome"]) for each in found] == [
        ("a", "passed"),
        ("deep/b <i>", "failed"),
    ]


def test_a_call_is_tried_on_a_copy_of_the_state(viewer: Viewing, runs: Path) -> None:
    before = [path.read_bytes() for path in sorted(runs.rglob("*.jsonl"))]
    asked = "try?run=a&id=folders_0&turn=1&call="
    made = viewer.data(f"{asked}mkdir(dir_name%3D'tried')")
    assert made["call"] == "mkdir(dir_name='tried')"
    [change] = made["changes"]
    assert "tried" in change
    assert viewer.data(f"{asked}mkdir(dir_name%3D'tried')") == made
    shown = viewer.data(f"{asked}ls()")
    assert (shown["changes"], "tried" in shown["result"]) == ([], False)
    assert [path.read_bytes() for path in sorted(runs.rglob("*.jsonl"))] == before


@pytest.mark.parametrize(
    ("query", "problem"),
    [
        ("id=folders_0&turn=9&call=ls()", "turn: 9 must be a number from 1 to 2"),
        ("id=folders_0&turn=0&call=ls()", "turn: 0 must be a number from 1 to 2"),
        ("id=folders_0&turn=x&call=ls()", "turn: 'x' must be a whole number of at least 0"),
        ("id=folders_0&turn=1&call=ls(", "call: "),
        ("id=folders_0&turn=1&call=", "call: must have 1 to 10000 characters"),
        ("id=nobody&turn=1&call=ls()", "nobody"),
        ("turn=1&call=ls()", "id: is missing"),
    ],
)
def test_a_call_that_cannot_be_tried_is_a_line(viewer: Viewing, query: str, problem: str) -> None:
    found = viewer.data(f"try?run=a&{query}")
    assert problem in found["problem"]
    assert "\n" not in found["problem"]


def test_a_call_is_not_tried_on_the_state_of_the_ground_truth(
    viewer: Viewing, runs: Path, data: Path
) -> None:
    write_noted(runs / "gone", definition(data), [error_record("folders_0")], 1)
    found = viewer.data("try?run=gone&id=folders_0&turn=1&call=ls()")
    assert found == {"problem": "call: only multi-turn episodes with executed calls have states"}


def test_pages_are_exported_as_files(viewer: Viewing) -> None:
    status, text = viewer.get("export/")
    assert status == 200
    [listed] = unpacked(text)
    assert len(listed["runs"]) == 2
    status, text = viewer.get("export/run/a")
    index, _, *episodes = unpacked(text)
    assert (len(index[0]["rows"]), len(episodes)) == (2, 2)
    _, text = viewer.get("export/run/a?id=help_desk_0")
    assert len(unpacked(text)) == 3
    assert "connect-src" not in text


def test_a_damaged_run_is_a_page_that_says_so(viewer: Viewing, runs: Path) -> None:
    (runs / "bad").mkdir()
    (runs / "bad" / "run.json").write_text("{")
    status, text = viewer.get("run/bad")
    assert status == 404
    assert "run.json" in text


def test_a_run_without_an_episode_is_a_line(viewer: Viewing, runs: Path, data: Path) -> None:
    write_noted(runs / "begun", definition(data), [], 5)
    assert viewer.get("run/begun")[0] == 200
    assert "has no finished episode" in viewer.data("run/begun")["problem"]


def test_bfcl_s_errata_are_not_of_other_data(runs: Path) -> None:
    with viewing(runs, "bfcl") as viewer:
        assert viewer.data("")["errata"] == "bfcl"
        assert viewer.data("run/a")["mended"] is None


# The command


def test_the_command_says_where_it_is(runs: Path) -> None:
    command = [sys.executable, "-W", "error", "-m", "runner.cli", "view", str(runs)]
    with subprocess.Popen(
        [*command, "--at", "run/a#e/x"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        address = process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{32}/run/a#e/x", address)
        assert fetched(address)[0] == 200
        process.terminate()


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["nowhere"], "nowhere: is not a folder"),
        (["--port", "70000"], "is not a port"),
        (["--errata", "none", "--prot", "1"], "did you mean --port?"),
    ],
)
def test_bad_options_are_a_line(tmp_path: Path, words: list[str], complaint: str) -> None:
    command = [sys.executable, "-m", "runner.cli", "view", *words]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(Path.cwd())},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert complaint in done.stderr
    assert len(done.stderr.splitlines()) == 1


# Several runs


def test_two_runs_are_compared(viewer: Viewing) -> None:
    found = viewer.data("compare?run=a&run=deep/b%20%3Ci%3E")
    assert found["served"] == ["a", "deep/b <i>"]
    assert [each["name"] for each in found["runs"]] == ["a: org/model", "deep/b <i>: other"]
    assert [entry["id"] for entry in found["lost"]] == ["folders_0"]
    [shown] = unpacked(viewer.get("export/compare?run=a&run=deep/b%20%3Ci%3E")[1])
    assert shown["served"] is None


def test_three_runs_are_compared(viewer: Viewing, runs: Path, data: Path) -> None:
    wrong = record(data, "folders_0", [["No."], ["No."]])
    write_noted(runs / "c", definition(data), [wrong])
    found = viewer.data("compare?run=a&run=deep/b%20%3Ci%3E&run=c")
    assert (found["entries"], found["scores"], found["left_out"]) == (1, [1.0, 0.0, 0.0], [1, 0, 0])
    [flip] = found["flips"]
    assert [each["passed"] for each in flip["runs"]] == [1, 0, 0]
    assert len(found["against"]) == 2
    assert viewer.get("compare?run=a&run=deep/b%20%3Ci%3E&run=c")[0] == 200


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("compare?run=a", "2 to 10 runs"),
        ("compare?run=a&run=a", "2 to 10 runs"),
        ("compare", "2 to 10 runs"),
        ("compare?run=a&run=none", "does not contain this run"),
        ("align?id=folders_0&run=a", "2 to 5 episodes"),
        ("align?id=none&run=a&run=a", "is not an entry"),
        ("align?id=folders_0&run=a&run=a&trial=x", "must be a whole number"),
        ("align?id=folders_0&run=a&run=a&trial=0&trial=4", "has no trial 4"),
    ],
)
def test_what_cannot_be_compared_is_a_line(viewer: Viewing, path: str, problem: str) -> None:
    assert problem in viewer.data(path)["problem"]
    status, text = viewer.get(f"export/{path}")
    assert status == 404
    assert problem in text


def test_runs_judged_by_different_profiles_are_not_compared(
    viewer: Viewing, runs: Path, data: Path
) -> None:
    other = record(data, "folders_0", [["No."], ["No."]], profile="bfcl")
    write_noted(runs / "c", definition(data, profile="bfcl"), [other])
    assert "by different profiles" in viewer.data("compare?run=a&run=c")["problem"]


def test_episodes_stand_side_by_side(viewer: Viewing) -> None:
    path = "align?id=folders_0&run=a&run=deep/b%20%3Ci%3E"
    found = viewer.data(path)
    assert [each["run"] for each in found["served"]] == ["a", "deep/b <i>"]
    assert [run["verdict"]["valid"] for run in found["runs"]] == [True, False]
    assert found["parts"] == {"turn": 0, "step": 0}
    assert found["turns"][0]["messages"][0]["content"] == "Put the notes away."
    assert [step["alike"] for step in found["turns"][0]["steps"]] == [False]
    [shown] = unpacked(viewer.get(f"export/{path}")[1])
    assert shown["served"] is None


# Tags and notes


def posted(viewer: Viewing, query: str, **headers: str) -> tuple[int, str]:
    """Post an annotation and return status and text of the answer."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    address = f"{viewer.url}data/annotation?{query}"
    asked = urllib.request.Request(address, method="POST", headers=named)
    try:
        with urllib.request.urlopen(asked, timeout=30) as got:
            return got.status, got.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_an_annotation_is_written_and_in_the_pages_data(viewer: Viewing, runs: Path) -> None:
    query = "run=a&id=help_desk_0&trial=0&tag=odd&tag=odd&note=see+log"
    assert posted(viewer, query) == (200, '{"tags": ["odd"], "note": "see log"}')
    assert read_annotations(runs / "a") == {("help_desk_0", 0): TagsAndNote(("odd",), "see log")}
    rows = {row["id"]: row["tags"] for row in viewer.data("run/a")["rows"]}
    assert rows == {"folders_0": [], "help_desk_0": ["odd"]}
    assert posted(viewer, "run=a&tag=baseline")[0] == 200
    listed = {run["name"]: run["tags"] for run in viewer.data("runs?since=0")["runs"]}
    assert listed["a"] == ["baseline"]


def test_only_the_page_writes_and_only_to_known_runs_and_episodes(
    viewer: Viewing, runs: Path
) -> None:
    assert viewer.get("data/annotation?run=a&tag=x")[0] in (404, 405)
    assert posted(viewer, "run=a&tag=x", sec_fetch_site="cross-site")[0] == 403
    for query in ("run=../a&tag=x", "run=a&id=nothing&tag=x", "tag=x", f"run=a&tag={'x' * 41}"):
        status, text = posted(viewer, query)
        assert status == 200
        assert "problem" in json.loads(text), query
    assert read_annotations(runs / "a") == {}
