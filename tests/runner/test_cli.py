from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from threading import Timer
from types import SimpleNamespace
from typing import NamedTuple

import pytest

import runner
from checkers.profile import STRICT
from checkers.reasons import Reason
from envs import __version__
from envs.backends.ticket import TicketAPI
from envs.calls import parse_call
from extensions.authoring.making.scenarios import SCENARIOS
from runner.cli import DONE, INTERRUPTED, RUN_ERROR, USER_ERROR, main
from runner.commands import BELOW
from runner.commands.offline_judging import note_failing_truths
from runner.data import bfcl_download
from runner.data.source_literals import TEXTS_FILE
from trajectories import bfcl_reader
from trajectories.dataset import load_embedded, load_path
from trajectories.schema import Category

ROOT = Path(runner.__file__).resolve().parent.parent


class Done(NamedTuple):
    """What a command left behind."""

    status: int
    out: str
    err: str


@pytest.fixture
def turnwise(monkeypatch, tmp_path, capsys):
    """Run the command in this process, in a folder of its own and with an empty cache."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(bfcl_download, "_download", lambda _: pytest.fail("a download was started"))

    def run(*arguments, stdin=()):
        monkeypatch.setattr(sys, "stdin", stdin)
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            status = stop.code
        return Done(status, *capsys.readouterr())

    return run


def assert_refused(done, *parts):
    """Assert that bad input was answered by one line, all parts in it, and nothing else."""
    assert done.status == USER_ERROR
    assert done.out == ""
    assert done.err.startswith("turnwise")
    assert done.err.count("\n") == 1
    assert done.err.endswith("\n")
    for part in parts:
        assert str(part) in done.err


@pytest.fixture
def data(write_lines, help_desk, folders):
    """Write a small data file."""
    return write_lines("data.jsonl", help_desk, folders)


TRUTH_RUN = (
    {
        "id": "help_desk_0",
        "result": [
            [[{"create_ticket": '{"title": "Dark screen"}'}], "Opened."],
            ["I cannot do that."],
            [[{"close_ticket": '{"ticket_id": 1}'}], [{"get_ticket": '{"ticket_id": 1}'}], "Done."],
        ],
    },
    {
        "id": "folders_0",
        "result": [
            [[{"mv": '{"source": "notes.txt", "destination": "old"}'}], None],
            [[{"cd": '{"folder": "old"}'}, {"wc": '{"file_name": "notes.txt"}'}], "Two lines."],
        ],
    },
)


@pytest.fixture
def run_file(write_lines):
    """Write a recorded run of the data file in which all is right."""
    return write_lines("run.json", *TRUTH_RUN)


def lines_of(path):
    """Return the objects of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# Help and version


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["eval"],
        ["score"],
        ["replay"],
        ["exec"],
        ["dataset"],
        ["dataset", "list"],
        ["dataset", "show"],
        ["dataset", "fetch"],
    ],
    ids=" ".join,
)
def test_help(turnwise, command):
    done = turnwise(*command, "--help")
    assert (done.status, done.err) == (DONE, "")
    assert done.out.startswith(" ".join(["usage: turnwise", *command]))


def test_version(turnwise):
    assert turnwise("--version") == Done(DONE, f"turnwise {__version__}\n", "")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["evaluate"],
        ["eval"],
        ["eval", "--model"],
        ["eval", "--model", "oracle", "extra"],
        ["eval", "--model", "oracle", "--modle", "null"],
        ["eval", "--model", "oracle", "--profile", "lax"],
        ["eval", "--model", "oracle", "--step-limit", "0"],
        ["eval", "--model", "oracle", "--step-limit", "-1"],
        ["eval", "--model", "oracle", "--step-limit", "1.5"],
        ["eval", "--model", "oracle", "--step-limit", "many"],
        ["replay"],
        ["replay", "x", "--step-limit", "0"],
        ["score"],
        ["score", "x", "--mode", "other"],
        ["exec", "extra"],
        ["dataset"],
        ["dataset", "remove"],
        ["dataset", "fetch"],
    ],
    ids=" ".join,
)
def test_a_command_line_that_is_none(turnwise, arguments):
    assert_refused(turnwise(*arguments), "--help")


# eval


def rows(out):
    """Return the score table as category to heading to cell."""
    lines = [re.split(r"  +", text) for text in out.splitlines()]
    heading, _, *found = [line for line in lines if len(line) == len(lines[0])]
    return {row[0]: dict(zip(heading[1:], row[1:], strict=True)) for row in found}


def passed(out):
    """Return how many entries of how many passed, by category."""
    return {name: f"{row['passed']} of {row['entries']}" for name, row in rows(out).items()}


@pytest.mark.parametrize("profile", ["bfcl", "strict"])
@pytest.mark.parametrize("model", ["oracle", "replay"])
def test_what_is_right_passes(turnwise, data, run_file, model, profile):
    model = f"replay:{run_file}" if model == "replay" else model
    done = turnwise("eval", "--model", model, "--dataset", data, "--profile", profile)
    assert done.status == DONE
    assert passed(done.out) == {"base": "1 of 1", "miss_func": "1 of 1", "all": "2 of 2"}
    assert f"profile {profile}; turnwise {__version__}" in done.out
    assert "sha256" in done.out


def test_null_passes_nothing_and_that_is_no_error(turnwise, data):
    done = turnwise("eval", "--model", "null", "--dataset", data)
    assert done.status == DONE
    assert passed(done.out)["all"] == "0 of 2"


def test_progress_goes_to_standard_error(turnwise, data):
    done = turnwise("eval", "--model", "null", "--dataset", data)
    assert done.err == "judged 1/2\njudged 2/2\n"


def test_progress_that_nobody_can_read_ends_nothing(turnwise, monkeypatch, data):
    shown = turnwise("eval", "--model", "null", "--dataset", data).out
    monkeypatch.setattr(sys, "stderr", None)
    done = turnwise("eval", "--model", "null", "--dataset", data)
    sys.stderr.close()
    assert (done.status, done.out) == (0, shown)


def test_only_the_categories_that_are_wanted(turnwise, data):
    done = turnwise("eval", "--model", "oracle", "--dataset", data, "--category", "base")
    assert list(rows(done.out)) == ["base"]


def test_a_replay_runs_what_is_recorded_and_no_more(turnwise, write_lines, data):
    run = write_lines("run.json", TRUTH_RUN[1])
    done = turnwise("eval", "--model", f"replay:{run}", "--dataset", data)
    assert done.status == DONE
    assert list(rows(done.out)) == ["base"]


def test_our_data_is_judged_strictly_by_default(turnwise, data):
    done = turnwise("eval", "--model", "oracle", "--dataset", data)
    assert "profile strict" in done.out


@pytest.mark.parametrize(
    ("truth", "fails"),
    [
        ("ticket_logn(username='a', password='b')", True),
        ("ticket_login(username='a', password='b')", False),
        ("get_ticket(ticket_id=5)", True),
    ],
)
def test_failing_calls_of_the_ground_truth_are_told(
    turnwise, write_lines, tmp_path, monkeypatch, truth, fails
):
    turn = {"messages": [{"role": "user", "content": "Go."}], "ground_truth": [truth]}
    entry = {"id": "desk_1", "category": "base", "environments": ["TicketAPI"]}
    data = write_lines("own.jsonl", {**entry, "config": {"TicketAPI": {}}, "turns": [turn]})
    run = write_lines("run.json", {"id": "desk_1", "result": [["Done."]]})
    said = (
        "turnwise: warning: ground-truth calls fail in 1 entry; the first entry is desk_1; "
        f"run turnwise dataset validate {data}\n"
    )
    in_processes = turnwise("score", run, "--dataset", data, "--workers", "2")
    assert (said in in_processes.err) is fails
    # What this process has played is not played again.
    monkeypatch.setattr("runner.commands.offline_judging.prepare", None)
    done = turnwise("eval", "--model", "oracle", "--dataset", data)
    assert (done.status, passed(done.out)["base"]) == (DONE, "1 of 1")
    assert (said in done.err) is fails
    assert (said in turnwise("score", run, "--dataset", data).err) is fails
    agent = 'def answer(messages, tools):\n    return {"role": "assistant", "content": "Done."}\n'
    (tmp_path / f"agent_{fails}.py").write_text(agent)
    monkeypatch.syspath_prepend(tmp_path)
    model = f"python:agent_{fails}:answer"
    live = turnwise("eval", "--model", model, "--dataset", data, "--run-dir", tmp_path / "run")
    assert (live.status, said in live.err) == (DONE, fails)


def test_an_episode_of_an_entry_that_the_data_lack_has_no_ground_truth(write_lines, help_desk):
    dataset = load_path(write_lines("own.jsonl", help_desk), list(Category))
    gone = SimpleNamespace(id="gone", verdict=True)
    note_failing_truths(dataset, STRICT, SimpleNamespace(outcomes=[gone]))


def test_a_result_that_contains_itself_ends_a_replay_with_one_line(turnwise, tmp_path):
    here = tmp_path / "here"
    (here / "own_loop.py").write_text(
        "from envs.backend import Backend, NoConfig, reads\n"
        "class Loop(Backend):\n"
        "    Config = NoConfig\n"
        "    @reads\n"
        "    def look(self) -> dict[str, list]:\n"
        "        found = []\n"
        "        found.append(found)\n"
        "        return {'found': found}\n"
    )
    turns = [{"messages": [{"role": "user", "content": "Look."}], "ground_truth": ["look()"]}]
    entry = {"id": "loop_0", "category": "base", "environments": ["own_loop:Loop"]}
    entry |= {"config": {"own_loop:Loop": {}}, "turns": turns}
    (here / "loop.jsonl").write_text(json.dumps(entry) + "\n")
    done = turnwise("replay", "loop_0", "--dataset", "loop.jsonl")
    assert done.status == RUN_ERROR
    assert done.err == "turnwise: a value contains itself; try turnwise env check NAME\n"


def test_the_step_limit(turnwise, data, run_file):
    limited = ("eval", "--model", f"replay:{run_file}", "--dataset", data, "--step-limit", "1")
    # The last turn of one of the recorded runs takes two steps.
    assert passed(turnwise(*limited).out)["all"] == "1 of 2"
    assert passed(turnwise(*limited, "--profile", "bfcl").out)["all"] == "2 of 2"


def test_the_same_run_gives_the_same_output(turnwise, data, tmp_path):
    outs = []
    for name in ("one", "two"):
        path = tmp_path / name
        done = turnwise("eval", "--model", "null", "--dataset", data, "--output", path)
        outs.append((done.out, path.read_bytes()))
    assert outs[0] == outs[1]


def test_verdict_lines(turnwise, data, tmp_path):
    path = tmp_path / "verdicts.jsonl"
    done = turnwise("eval", "--model", "null", "--dataset", data, "--output", path)
    assert done.status == DONE
    first, second = lines_of(path)
    assert first == {
        "id": "help_desk_0",
        "category": "miss_func",
        "valid": False,
        "error_type": "multi_turn:empty_turn_model_response",
        "failed_turn": 0,
        "turns": 3,
        "turns_passed": 0,
        "selected": {"needed": 3, "functions": 0, "arguments": 0, "strangers": 0},
        "profile": "strict",
        "dataset": str(data),
        "data_sha256": first["data_sha256"],
    }
    assert second["id"] == "folders_0"
    assert first["data_sha256"].startswith(done.out.split("sha256 ")[1][:12])


def test_an_earlier_output_is_replaced(turnwise, data, tmp_path):
    path = tmp_path / "verdicts.jsonl"
    path.write_text("earlier\n" * 100, encoding="utf-8")
    turnwise("eval", "--model", "oracle", "--dataset", data, "--output", path)
    assert len(lines_of(path)) == 2


# eval: bad input

EVAL = ("eval", "--model", "oracle")


@pytest.mark.parametrize(
    ("model", "message"), [("oracl", "did you mean oracle?"), ("", "names no model")]
)
def test_an_unknown_model(turnwise, data, model, message):
    done = turnwise("eval", "--model", model, "--dataset", data)
    assert_refused(done, repr(model), message)


def test_an_unknown_category(turnwise, data):
    done = turnwise(*EVAL, "--dataset", data, "--category", "bsae")
    assert_refused(done, "'bsae' is not a category; did you mean base?")


def test_a_category_that_the_data_has_not(turnwise, data):
    done = turnwise(*EVAL, "--dataset", data, "--category", "composite")
    assert_refused(done, "has no entries in composite")


def test_a_data_set_of_nothing(turnwise, write_lines):
    empty = write_lines("empty.jsonl")
    assert_refused(turnwise(*EVAL, "--dataset", empty), f"--dataset: {empty} has no entries")


@pytest.mark.parametrize("command", ["score", "table", "report", "dataset audit"])
def test_a_run_of_nothing(turnwise, tmp_path, command):
    path = tmp_path / "multi_turn_base_result.json"
    path.write_text("", encoding="utf-8")
    assert_refused(turnwise(*command.split(), path), f"{path}: holds no entries")


@pytest.mark.parametrize("name", ["nothing.jsonl", "bfcl2", "no/where"])
def test_an_unknown_data_set(turnwise, name):
    assert_refused(turnwise(*EVAL, "--dataset", name), repr(name), "bfcl:FOLDER")


def test_a_folder_that_is_not_the_reference_s(turnwise, tmp_path):
    done = turnwise(*EVAL, "--dataset", f"bfcl:{tmp_path}")
    assert_refused(done, tmp_path, "BFCL_v4_multi_turn_base.json is missing")


def test_a_missing_recorded_run(turnwise, data):
    done = turnwise("eval", "--model", "replay:nothing.json", "--dataset", data)
    assert_refused(done, "nothing.json: does not exist")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not valid JSON"),
        ("[]", "must be a JSON object"),
        ('{"id": "x"}', "$.category: "),
        ('{"id": "x", "unknown": 1}', "$"),
        ("[" * 100_000, "is nested too deep"),
    ],
    ids=lambda text: text[:10],
)
def test_a_bad_line_of_data_is_named_by_file_and_line(
    turnwise, write_lines, help_desk, line, message
):
    path = write_lines("bad.jsonl", help_desk, "", line)
    assert_refused(turnwise(*EVAL, "--dataset", path), f"{path}:3: ", message)


def test_an_id_that_is_used_twice(turnwise, write_lines, help_desk):
    path = write_lines("bad.jsonl", help_desk, help_desk)
    done = turnwise(*EVAL, "--dataset", path)
    assert_refused(done, f"{path}:2: the id 'help_desk_0' is used twice")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"environments": ("Telephone",)}, "help_desk_0: $.Telephone: unknown backend"),
        ({"config": {"TicketAPI": {"queue": []}}}, "help_desk_0: $.TicketAPI.queue: unknown key"),
        ({"config": {"TicketAPI": {"ticket_queue": [{}]}}}, "$.TicketAPI.ticket_queue[0].id"),
    ],
)
def test_a_config_that_does_not_fit(turnwise, write_lines, help_desk, changes, message):
    path = write_lines("bad.jsonl", replace(help_desk, **changes))
    assert_refused(turnwise(*EVAL, "--dataset", path), path, message)


@pytest.mark.parametrize("mode", ["replay:", "score"])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "is not valid JSON"),
        ('{"id": 1, "result": []}', "$.id: must be a string"),
        ('{"id": "multi_turn_base_9", "result": ["x"]}', "$.result[0]: must be a list of steps"),
        (
            '{"id": "multi_turn_base_0", "result": []}',
            "duplicate id 'multi_turn_base_0', first used at ",
        ),
    ],
)
def test_a_bad_line_of_a_recorded_run_is_named_by_file_and_line(
    turnwise, write_lines, data, mode, line, message
):
    path = write_lines("run.json", {"id": "multi_turn_base_0", "result": []}, line)
    if mode == "score":
        done = turnwise("score", path, "--dataset", data)
    else:
        done = turnwise("eval", "--model", f"replay:{path}", "--dataset", data)
    assert_refused(done, f"{path}:2: ", message)


def test_a_recorded_run_of_something_else(turnwise, write_lines, data):
    path = write_lines("run.json", {"id": "help_disk_0", "result": []})
    done = turnwise("eval", "--model", f"replay:{path}", "--dataset", data)
    assert_refused(done, f"{path}:1: 'help_disk_0' is not in ", "did you mean help_desk_0?")


# eval: output


@pytest.mark.parametrize(
    "path", ["no/where/out.jsonl", "file/out.jsonl", "x" * 250, ".", "/", "folder", ".."]
)
def test_an_output_that_cannot_be_written(turnwise, data, path):
    Path("file").write_text("as it was", encoding="utf-8")
    Path("folder").mkdir()
    done = turnwise(*EVAL, "--dataset", data, "--output", path)
    progress = "judged 1/2\njudged 2/2\n"
    assert_refused(done._replace(err=done.err.removeprefix(progress)), "cannot be written")
    assert sorted(p.name for p in Path().iterdir()) == ["file", "folder"]
    assert Path("file").read_text(encoding="utf-8") == "as it was"
    assert list(Path("folder").iterdir()) == []


@pytest.mark.parametrize("earlier", [None, "as it was"])
def test_bad_data_in_the_middle_leaves_no_half_output(turnwise, write_lines, folders, earlier):
    bad = replace(folders, id="bad", config={"GorillaFileSystem": {"rot": {}}})
    path = write_lines("bad.jsonl", folders, bad)
    output = Path("out.jsonl")
    if earlier:
        output.write_text(earlier, encoding="utf-8")
    done = turnwise(*EVAL, "--dataset", path, "--output", output)
    assert_refused(
        done._replace(err=done.err.removeprefix("judged 1/2\n")), "$.GorillaFileSystem.rot"
    )
    left = {p.name: p.read_text(encoding="utf-8") for p in Path().iterdir()}
    assert left == ({"out.jsonl": earlier} if earlier else {})


def test_an_interrupted_run_leaves_no_half_output(monkeypatch, turnwise, data):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("runner.commands.eval.run_oracle", stop)
    done = turnwise(*EVAL, "--dataset", data, "--output", "out.jsonl")
    assert done == Done(INTERRUPTED, "", "turnwise: interrupted\n")
    assert list(Path().iterdir()) == []


def test_an_interrupt_while_classes_are_defined_is_no_traceback(monkeypatch, turnwise):
    def stop(*_):
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    monkeypatch.setattr("runner.cli.read_options", stop)
    assert turnwise("exec") == Done(INTERRUPTED, "", "turnwise: interrupted\n")


# eval: what is not the model's fault


@pytest.fixture
def broken_help_desk(monkeypatch):
    """Put a bug into a backend."""

    def broken(self, ticket_id):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(TicketAPI, "_find", broken)


def test_a_bug_in_a_backend_is_status_3_and_the_others_are_judged(
    turnwise, data, tmp_path, broken_help_desk
):
    path = tmp_path / "verdicts.jsonl"
    done = turnwise(*EVAL, "--dataset", data, "--output", path)
    assert done.status == RUN_ERROR
    message = "TicketAPI.close_ticket(ticket_id=1) raised ZeroDivisionError: a bug"
    assert done.err == f"judged 1/2\njudged 2/2\nturnwise: help_desk_0: {message}\n"
    table = rows(done.out)
    assert (table["miss_func"]["passed"], table["miss_func"]["errors"]) == ("0", "1")
    assert (table["base"]["passed"], table["base"]["errors"]) == ("1", "0")
    # Too many errors for a score.
    assert table["all"]["score"] == "-"
    broken, fine = lines_of(path)
    assert (broken["id"], broken["valid"], broken["error"]) == ("help_desk_0", None, message)
    assert fine["valid"] is True


def test_a_bug_in_a_backend_is_status_3_for_a_replay(turnwise, data, broken_help_desk):
    done = turnwise("replay", "help_desk_0", "--dataset", data)
    assert (done.status, done.out) == (RUN_ERROR, "")
    assert done.err.startswith("turnwise: TicketAPI.close_ticket(ticket_id=1) raised ")
    assert done.err.count("\n") == 1


# eval and score: BFCL's data


def test_the_reference_s_data_is_judged_as_there_and_its_oddities_are_noted(turnwise, bfcl_folder):
    done = turnwise(*EVAL, "--dataset", f"bfcl:{bfcl_folder}")
    assert done.status == DONE
    assert "profile bfcl" in done.out
    assert list(rows(done.out)) == ["base", "miss_func", "long_context", "all"]
    assert passed(done.out)["all"] == "4 of 4"
    note, *progress = done.err.splitlines()
    assert note.startswith("turnwise: warning: 1 initial configs have 1 irregularities; turnwise")
    assert progress == [f"judged {n}/4" for n in range(1, 5)]


def test_the_reference_s_retired_category_is_there_when_asked_for(turnwise, bfcl_folder):
    done = turnwise(*EVAL, "--dataset", f"bfcl:{bfcl_folder}", "--category", "composite")
    assert passed(done.out)["composite"] == "1 of 1"


def test_statements_that_cannot_be_executed_are_named(turnwise, bfcl_folder):
    sql = (*EVAL, "--dataset", f"bfcl:{bfcl_folder}", "--category", "sql")
    strict = turnwise(*sql, "--profile", "strict")
    said = "1 SQL entries cannot be executed, so their calls are compared; for example, sql_0: "
    assert f"{said}the answer must name the statement" in strict.err
    assert said not in turnwise(*sql).err


def test_missing_long_context_material_is_named(turnwise, bfcl_folder):
    (bfcl_folder.parent / bfcl_reader.MATERIAL_MODULE).unlink()
    done = turnwise(*EVAL, "--dataset", f"bfcl:{bfcl_folder}", "--category", "long_context")
    assert_refused(done, "the long-context material cannot be read")


BASE_0 = {
    "id": "multi_turn_base_0",
    "result": [[[{"create_ticket": '{"title": "A", "priority": 3}'}], "Opened."]],
}
BASE_1 = {"id": "multi_turn_base_1", "result": "Error: too many requests"}
MISS_FUNC_0 = {
    "id": "multi_turn_miss_func_0",
    "result": [["I cannot."], ["[create_ticket(title='A', priority=3)]"]],
}


def test_recorded_runs_are_scored(turnwise, write_lines, bfcl_folder, tmp_path):
    write_lines("result/m/BFCL_v4_multi_turn_base_result.json", BASE_0, BASE_1)
    write_lines("result/m/BFCL_v4_multi_turn_miss_func_result.json", MISS_FUNC_0)
    output = tmp_path / "verdicts.jsonl"
    done = turnwise(
        "score", tmp_path / "result", "--dataset", f"bfcl:{bfcl_folder}", "--output", output
    )
    assert done.status == DONE
    assert "profile bfcl" in done.out
    assert passed(done.out) == {"base": "1 of 2", "miss_func": "1 of 1", "all": "2 of 3"}
    assert [(line["id"], line["error_type"]) for line in lines_of(output)] == [
        ("multi_turn_base_0", None),
        ("multi_turn_base_1", "multi_turn:inference_error"),
        ("multi_turn_miss_func_0", None),
    ]


def test_the_mode_of_recorded_runs_may_be_told(turnwise, write_lines, bfcl_folder):
    path = write_lines("run.json", BASE_0)
    for mode, expected in (("fc", "1 of 1"), ("prompt", "0 of 1")):
        done = turnwise("score", path, "--dataset", f"bfcl:{bfcl_folder}", "--mode", mode)
        assert passed(done.out)["base"] == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ({"id": "multi_turn_base_7", "result": []}, "did you mean multi_turn_base_"),
        ({"id": "simple_0", "result": []}, "'simple_0' is not in bfcl:"),
    ],
)
def test_a_scored_run_of_something_else(turnwise, write_lines, bfcl_folder, line, message):
    path = write_lines("run.json", line)
    done = turnwise("score", path, "--dataset", f"bfcl:{bfcl_folder}")
    assert_refused(done, f"{path}:1: ", message)


def test_two_runs_cannot_be_scored_at_once(turnwise, write_lines, bfcl_folder):
    one, two = write_lines("one.json", BASE_0), write_lines("two.json", BASE_0)
    done = turnwise("score", one, two, "--dataset", f"bfcl:{bfcl_folder}")
    assert_refused(done, f"{two}:1: multi_turn_base_0 is also in {one}:1")


@pytest.mark.parametrize("name", ["nothing.json", "empty"])
def test_nothing_to_score(turnwise, name):
    Path("empty").mkdir()
    assert_refused(turnwise("score", name), name)


# replay


def test_the_truth_is_shown(turnwise, data):
    done = turnwise("replay", "folders_0", "--dataset", data)
    assert (done.status, done.err) == (DONE, "")
    lines = done.out.splitlines()
    assert lines[0] == "folders_0 (base; GorillaFileSystem)"
    assert "  step 1  cd(folder='old')" in lines
    assert lines[-1] == "passed: 2 of 2 turns"


def test_a_recorded_run_is_shown(turnwise, write_lines, data):
    run = write_lines("run.json", {"id": "folders_0", "result": [[], []]})
    done = turnwise("replay", "folders_0", "--dataset", data, "--run", run)
    assert done.status == DONE
    assert f"  FAILED {Reason.EMPTY_TURN}: {Reason.EMPTY_TURN.meaning}" in done.out.splitlines()
    assert "FAILED: 0 of 2 turns passed" in done.out.splitlines()


@pytest.mark.parametrize(
    ("result", "reason"),
    [
        ("Error: too many requests", "multi_turn:inference_error"),
        ([], "multi_turn:force_terminated"),
        ([[]], "multi_turn:force_terminated"),
        ([*TRUTH_RUN[1]["result"], []], "multi_turn:force_terminated"),
    ],
    ids=["error", "no turn", "one turn", "three turns"],
)
def test_a_replay_says_what_eval_says(turnwise, write_lines, data, result, reason):
    run = write_lines("run.json", {"id": "folders_0", "result": result})
    output = Path("out.jsonl")
    turnwise("eval", "--model", f"replay:{run}", "--dataset", data, "--output", output)
    assert lines_of(output)[0]["error_type"] == reason
    done = turnwise("replay", "folders_0", "--dataset", data, "--run", run)
    assert done.status == DONE
    assert reason in done.out
    assert "FAILED: 0 of 2 turns passed" in done.out.splitlines()


def test_an_unknown_id_is_named_with_a_near_miss(turnwise, data):
    done = turnwise("replay", "folder_0", "--dataset", data)
    assert_refused(done, "'folder_0' is not in ", "did you mean folders_0?")


def test_an_id_that_the_run_has_not(turnwise, data, run_file, write_lines):
    run = write_lines("other.json", TRUTH_RUN[0])
    done = turnwise("replay", "folders_0", "--dataset", data, "--run", run)
    assert_refused(done, run, "'folders_0' is not an entry of this run")


def test_the_reference_s_entries_are_found_without_naming_its_data(turnwise, bfcl_folder):
    folder = bfcl_download.cache_folder()
    folder.parent.mkdir(parents=True)
    bfcl_folder.rename(folder)
    (folder / bfcl_reader.MANIFEST_FILE).write_text('{"version": "7"}', encoding="utf-8")
    done = turnwise("replay", "multi_turn_miss_func_0")
    assert done.status == DONE
    assert done.out.startswith("multi_turn_miss_func_0 (miss_func; TicketAPI)\n")


def test_text_that_the_terminal_cannot_show_is_shown_escaped(
    monkeypatch, turnwise, write_lines, folders
):
    said = [replace(folders.turns[0].messages[0], content="caf\u00e9 \ud800")]
    turn = replace(folders.turns[0], messages=tuple(said))
    path = write_lines("data.jsonl", replace(folders, turns=(turn,)))
    written = io.BytesIO()
    terminal = io.TextIOWrapper(written, encoding="ascii", write_through=True)
    monkeypatch.setattr(sys, "stdout", terminal)
    done = turnwise("replay", "folders_0", "--dataset", path)
    assert (done.status, done.err) == (DONE, "")
    assert b"passed: 1 of 1 turns" in written.getvalue()


# exec

SCRIPT = {
    "id": 1,
    "initial_config": {"TicketAPI": {"current_user": "ann"}},
    "involved_classes": ["TicketAPI"],
    "turns": [["create_ticket(title='A')"]],
}


def line(**changes):
    """Return a line of standard input."""
    return json.dumps({**SCRIPT, **changes}) + "\n"


def test_scripts_are_answered_line_by_line(turnwise):
    done = turnwise("exec", stdin=[line(), "\n", "  \n", line(id="b", turns=[])])
    assert (done.status, done.err) == (DONE, "")
    first, second = map(json.loads, done.out.splitlines())
    assert first["id"] == 1
    assert json.loads(first["turns"][0]["results"][0])["title"] == "A"
    assert first["turns"][0]["state"]["TicketAPI"]["ticket_counter"] == 2
    assert (second["id"], second["turns"]) == ("b", [])


def test_each_script_has_a_world_of_its_own(turnwise):
    done = turnwise("exec", stdin=[line(), line()])
    assert len(set(done.out.splitlines())) == 1


def test_no_scripts_are_no_error(turnwise):
    assert turnwise("exec", stdin=[]) == Done(DONE, "", "")


def test_results_come_before_the_next_script_is_read(turnwise, capsys):
    def scripts():
        yield line(id="first")
        assert json.loads(capsys.readouterr().out)["id"] == "first"
        yield line(id="second")

    done = turnwise("exec", stdin=scripts())
    assert json.loads(done.out)["id"] == "second"


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("{\n", "is not valid JSON"),
        ("[1]\n", "must be a JSON object, but is of type list"),
        ("[" * 100_000 + "\n", "is nested too deep"),
        (line(turns=[[1]]), "$.turns[0]: must be a list of calls as strings"),
        (line(turns=None), "$.turns: must be a list"),
        (line(involved_classes="TicketAPI"), "$.involved_classes: must be a list"),
        (line(involved_classes=[1]), "$.involved_classes"),
        (line(involved_classes=[["TicketAPI"]]), "$.involved_classes"),
        (line(involved_classes=["TicketAPI", "Telephone"]), "$.Telephone: unknown backend"),
        (line(initial_config={"TicketAPI": 5}), "$.initial_config.TicketAPI: must be an object"),
        (line(long_context="yes"), "$.long_context: must be a bool"),
    ],
    ids=lambda text: text[:30],
)
def test_a_bad_script_is_named_by_its_line_after_the_results_before_it(turnwise, bad, message):
    done = turnwise("exec", stdin=[line(id="good"), "\n", bad, line(id="never read")])
    assert [json.loads(text)["id"] for text in done.out.splitlines()] == ["good"]
    assert_refused(done._replace(out=""), "turnwise: <stdin>:3: ", message)


def test_input_that_is_not_utf8_is_named(turnwise):
    stdin = io.TextIOWrapper(io.BytesIO(b"\xff\n"), encoding="utf-8")
    assert_refused(turnwise("exec", stdin=stdin), "<stdin>", "UTF-8")


def test_an_irregular_config_is_taken_as_it_is_with_a_warning(turnwise):
    config = {"TicketAPI": {"current_user": "ann", "ticket_counter": "5"}, "Other": {}}
    done = turnwise("exec", stdin=[line(initial_config=config, turns=[[]])])
    assert done.status == DONE
    state = json.loads(done.out)["turns"][0]["state"]["TicketAPI"]
    assert state["ticket_counter"] == "5"
    first, second = done.err.splitlines()
    assert first.startswith("turnwise: warning: <stdin>:1: $.Other: ")
    assert second.startswith("turnwise: warning: <stdin>:1: $.TicketAPI.ticket_counter: ")


def test_a_bug_in_a_backend_is_status_3_and_the_next_scripts_run(turnwise, broken_help_desk):
    done = turnwise("exec", stdin=[line(turns=[["get_ticket(1)"]]), line(id="next")])
    assert done.status == RUN_ERROR
    assert [json.loads(text)["id"] for text in done.out.splitlines()] == ["next"]
    assert done.err.startswith(
        "turnwise: <stdin>:1: TicketAPI.get_ticket(1) raised ZeroDivisionError"
    )
    assert done.err.count("\n") == 1


def test_long_context_material_is_read_once_and_only_when_wanted(
    turnwise, bfcl_folder, monkeypatch
):
    reads = []
    load_pack = bfcl_reader.load_pack
    monkeypatch.setattr(
        bfcl_reader, "load_pack", lambda folder: reads.append(folder) or load_pack(folder)
    )
    dataset = ("--dataset", f"bfcl:{bfcl_folder}")
    assert turnwise("exec", *dataset, stdin=[line()]).status == DONE
    assert reads == []
    assert turnwise("exec", *dataset, stdin=[line(long_context=True)] * 2).status == DONE
    assert reads == [bfcl_folder]


def test_long_context_material_that_there_is_not(turnwise, tmp_path):
    done = turnwise("exec", "--dataset", f"bfcl:{tmp_path}", stdin=[line(long_context=True)])
    assert_refused(done, "the long-context material cannot be read")
    done = turnwise("exec", "--dataset", "other", stdin=[line(long_context=True)])
    assert_refused(done, "'other' must be `bfcl` or `bfcl:FOLDER`")


# dataset


def test_data_sets_are_listed(turnwise):
    done = turnwise("dataset", "list")
    assert (done.status, done.err) == (DONE, "")
    heading, _, ours, reference = done.out.splitlines()
    assert heading.startswith("data set")
    assert ours.startswith("turnwise")
    assert "dataset fetch bfcl" in reference


def test_a_data_set_is_shown(turnwise, data):
    done = turnwise("dataset", "show", data)
    assert (done.status, done.err) == (DONE, "")
    assert "0 irregularities in 0 initial configs" in done.out
    base = next(text for text in done.out.splitlines() if text.startswith("base"))
    assert base.split() == ["base", "1", "2", "3"]


def test_what_is_irregular_is_listed(turnwise, bfcl_folder):
    done = turnwise("dataset", "show", f"bfcl:{bfcl_folder}", "--warnings")
    assert done.status == DONE
    assert "warning: multi_turn_base_1: $.TicketAPI.ticket_counter: " in done.out
    assert "1 irregularities in 1 initial configs" in done.out


def test_a_trajectory_is_shown_in_the_form_that_is_read(turnwise, data, write_lines, help_desk):
    done = turnwise("dataset", "show", data, "--ids", "help_desk_0")
    assert done.status == DONE
    copy = write_lines("copy.jsonl", json.loads(done.out))
    assert turnwise("dataset", "show", copy, "--ids", "help_desk_0").out == done.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--ids", "help_disk_0"], "did you mean help_desk_0?"),
        (["--category", "bsae"], "did you mean base?"),
        (["--category", "composite"], "has no entries in composite"),
    ],
)
def test_what_cannot_be_shown(turnwise, data, arguments, message):
    assert_refused(turnwise("dataset", "show", data, *arguments), message)


def test_only_known_data_can_be_fetched(turnwise):
    done = turnwise("dataset", "fetch", "other")
    message = "turnwise: NAME: 'other' cannot be fetched; use `bfcl` or `tau2`\n"
    assert done == Done(USER_ERROR, "", message)


def test_fetched_data_is_not_fetched_again(turnwise):
    folder = bfcl_download.cache_folder()
    folder.mkdir(parents=True)
    (folder / bfcl_reader.MANIFEST_FILE).write_text('{"version": "7"}', encoding="utf-8")
    (folder / TEXTS_FILE).write_text("{}", encoding="utf-8")
    assert turnwise("dataset", "fetch", "bfcl") == Done(DONE, f"{folder}\n", "")


def test_a_download_that_fails_is_one_line(monkeypatch, turnwise, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "file"))
    done = turnwise("dataset", "fetch", "bfcl")
    note, _, error = done.err.partition("\n")
    assert note.startswith("turnwise: downloading bfcl-eval")
    assert_refused(done._replace(err=error), "cannot be written", "set TURNWISE_CACHE")


# As a program


def test_an_agent_that_waits_for_input_at_the_end_does_not_abort_the_program(tmp_path):
    text = "def agent(messages, tools):\n    input()\n"
    (tmp_path / "waiting.py").write_text(text, encoding="utf-8")
    flags = ["--model", "python:waiting:agent", "--limit", "1", "--timeout", "0.2"]
    command = [sys.executable, "-m", "runner.cli", "eval", *flags, "--run-dir", "run"]
    more = {"cwd": tmp_path, "env": {**os.environ, "PYTHONPATH": str(ROOT)}, "text": True}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **more, **pipes) as program:
        assert program.wait(60) == RUN_ERROR
        assert "model python:waiting:agent" in program.stdout.read()
        assert "Fatal Python error" not in program.stderr.read()


def test_the_program_answers_each_script_before_it_reads_the_next():
    command = [sys.executable, "-W", "error", "-m", "runner.cli", "exec"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=ROOT, text=True, **pipes) as program:
        # Should an answer never come, this ends the waiting for it.
        timer = Timer(20, program.kill)
        timer.start()
        for name in ("first", "second"):
            program.stdin.write(line(id=name))
            program.stdin.flush()
            assert json.loads(program.stdout.readline())["id"] == name
        out, err = program.communicate("{\n")
        timer.cancel()
    assert (program.returncode, out) == (USER_ERROR, "")
    assert err.startswith("turnwise: <stdin>:3: is not valid JSON")
    assert err.count("\n") == 1


@pytest.mark.slow
def test_a_data_set_is_built_in_any_size(turnwise, tmp_path):
    source, built = tmp_path / "source", tmp_path / "built"
    for folder in (source, built):
        folder.mkdir()
    for name in ("files_quarterly_report", "files_ticket_disk_pressure"):
        shutil.copy(SCENARIOS / f"{name}.json", source)
    done = turnwise(
        "dataset", "build", built, "--source", source, "--chars", "30000", "--seed", "7"
    )
    assert done.status == DONE
    text = (built / "long_context.jsonl").read_text(encoding="utf-8")
    bulk = [json.loads(line)["long_context"] for line in text.splitlines()]
    assert {b["seed"] for b in bulk} == {7}
    assert all(b["items"] > 0 for b in bulk)
    assert turnwise("eval", "--model", "oracle", "--dataset", built).status == DONE
    assert_refused(
        turnwise("dataset", "build", tmp_path / "nowhere", "--source", source), "nowhere"
    )


def test_a_missing_folder_is_told_before_a_missing_key(turnwise, tmp_path):
    done = turnwise("eval", "--resume", tmp_path / "none", "--model", "openai/gpt-4o")
    assert_refused(done, f"--resume: {tmp_path}/none is not a folder")


def test_the_folder_of_a_built_data_set_is_looked_for_before_the_work(turnwise, tmp_path):
    there = tmp_path / "taken.jsonl"
    there.touch()
    done = turnwise("dataset", "build", there, "--source", tmp_path / "nowhere")
    assert_refused(done, f"{there}: is not a folder; create it first")


def test_missing_grammars_are_told_before_the_first_entry_is_judged(
    turnwise, without_grammars, single_turn, write_lines, help_desk
):
    document = {
        "name": "f",
        "description": "",
        "parameters": {"type": "dict", "properties": {"n": {"type": "long"}}, "required": ["n"]},
    }
    path = write_lines("data.jsonl", help_desk, single_turn("java", document, {"f": {"n": [5]}}))
    assert_refused(turnwise(*EVAL, "--dataset", path), without_grammars)
    run = write_lines("run.json", *TRUTH_RUN[:1], {"id": "simple_java_0", "result": "f(5)"})
    for command in ("score", "table", "report"):
        assert_refused(turnwise(command, run, "--dataset", path), without_grammars)
    assert_refused(turnwise("compare", run, run, "--dataset", path), without_grammars)


def test_eval_needs_no_library_of_an_extra():
    extras = ("aiohttp", "litellm", "mcp", "multidict", "pandas", "ray", "starlette", "textual")
    absent = "".join(f"sys.modules[{name!r}] = None; " for name in (*extras, "uvicorn", "yaml"))
    # A flag of one extension loads the options of all.
    play = ["eval", "--model", "null", "--category", "base", "--limit", "1", "--github"]
    program = f"import sys; {absent}from runner.cli import main; sys.exit(main({play}))"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == DONE, done.stderr


def test_the_prompts_name_the_option_that_there_is(turnwise):
    text = (ROOT / "configs" / "prompts" / "default.toml").read_text(encoding="utf-8")
    flags = set(re.findall(r"--[a-z-]+", text))
    assert flags
    assert flags <= set(re.findall(r"--[a-z-]+", turnwise("eval", "--help").out))


@pytest.mark.parametrize(
    ("share", "status"),
    [("100%", 0), ("99.5", 0), ("0%", 0), ("0.9", 0), ("1", 2), ("1.5", 2), ("101%", 2), ("a", 2)],
)
def test_a_share_that_is_to_pass(turnwise, share, status):
    done = turnwise("eval", "--model", "oracle", "--limit", 2, "--fail-under", share)
    assert done.status == status


@pytest.mark.parametrize("share", ["0.6", "60%", "0.1", "10%"])
def test_a_share_without_a_sign_is_no_percentage(turnwise, share):
    model = ("--model", "scripted:0.2", "--category", "base", "--limit", 20)
    done = turnwise("eval", *model, "--fail-under", share)
    score = float(re.search(r"score ([0-9.]+)%", done.out)[1]) / 100
    expected = float(share.removesuffix("%")) / (100 if "%" in share else 1)
    assert done.status == (BELOW if score < expected else 0)


def test_a_score_below_the_one_asked_for_has_a_status_of_its_own(turnwise):
    done = turnwise("eval", "--model", "null", "--limit", 2, "--fail-under", "90%")
    assert done.status == BELOW
    assert done.err.endswith("turnwise: the overall score, 0.0%, is below 90.0%\n")


def test_entries_of_a_data_set_are_listed_with_their_first_words(turnwise, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    done = turnwise("dataset", "list", "turnwise", "--category", "nested")
    lines = done.out.splitlines()
    assert len(lines) == 30
    assert lines[0].startswith("nested_mean_plus ")
    assert lines[0].endswith("all in one call.")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    lines = turnwise("dataset", "list", "turnwise", "--category", "nested").out.splitlines()
    assert "Take the mean" in lines[0]
    assert max(map(len, lines)) <= 80
    asked = json.loads(
        turnwise("dataset", "list", "turnwise", "--category", "nested", "--json").out
    )
    assert asked["entries"][0]["asks"].endswith("all in one call.")


def modules_of_score(path: Path, *options: str) -> list[str]:
    """Return the names, without packages, of our modules that a command ``score`` has loaded."""
    code = (
        "import sys; from runner.cli import main; status = main(sys.argv[1:]);"
        "print(*[m.__name__ for m in sys.modules.values()"
        " if type(m) is type(sys) and not hasattr(m, '__path__')], file=sys.stderr);"
        "sys.exit(status)"
    )
    command = [sys.executable, "-c", code, "score", path, *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    packages = ("envs", "checkers", "trajectories", "runner", "extensions")
    names = {name.removeprefix("turnwise.") for name in done.stderr.split()}
    return [name.rpartition(".")[2] for name in names if name.partition(".")[0] in packages]


@pytest.mark.parametrize("id", ["base_travel_files_witness_flights", "simple_java_restock"])
@pytest.mark.parametrize("profile", ["bfcl", "strict"])
def test_scoring_one_embedded_entry_loads_at_most_60_modules(id, profile, write_lines):
    # No entry has more than three backends, and the travel agency has a module of facts.
    entry = load_embedded(tuple(Category)).trajectories[id]
    assert entry.expects or len(entry.environments) == 3
    # Without text, no required information is looked for.
    calls = [[*map(parse_call, turn.ground_truth)] for turn in entry.turns]
    steps = [[*([{c.name: json.dumps(c.kwargs)}] for c in turn), []] for turn in calls]
    if entry.expects:
        steps = [{"restock": json.dumps({"article": '"HX-204"'})}]
    path = write_lines(f"BFCL_v4_{entry.category}_result.json", {"id": id, "result": steps})
    loaded = modules_of_score(path, "--profile", profile)
    assert {"score", "profile"} < {*loaded}
    assert len(loaded) <= 60


@pytest.mark.parametrize("profile", ["bfcl", "strict"])
def test_scoring_one_entry_of_bfcl_loads_at_most_60_modules(profile, write_lines, bfcl_folder):
    calls = {"id": "multi_turn_base_0", "result": [[[{"pwd": "{}"}], []]]}
    path = write_lines("BFCL_v4_multi_turn_base_result.json", calls)
    loaded = modules_of_score(path, "--dataset", f"bfcl:{bfcl_folder}", "--profile", profile)
    assert "bfcl_reader" in loaded
    assert len(loaded) <= 60


@pytest.mark.parametrize(
    "words",
    [
        ["LONG"],
        ["dataset", "LONG"],
        ["eval", "--LONG"],
        ["eval", "--model", "python:LONG:agent"],
        ["eval", "--model", "oracle", "--ids", "LONG"],
        ["eval", "--model", "oracle", "--profile", "LONG"],
        ["report", "LONG"],
    ],
)
def test_an_error_does_not_repeat_a_long_value(words, capsys):
    long = [word.replace("LONG", "x" * 100_000) for word in words]
    try:
        status = main(long)
    except SystemExit as ended:
        status = ended.code
    said = capsys.readouterr().err
    assert status == 2
    assert said.count("\n") == 1
    assert len(said) < 2_100
