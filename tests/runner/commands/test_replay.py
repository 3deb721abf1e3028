from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from checkers.causes.episode_place import EpisodePlace
from envs.backends import ticket
from extensions.debugger.breakpoints import BreakpointOptions, read_place
from runner.cli import main
from runner.commands.options import build_parser, parse
from runner.commands.replay import EXAMPLE, Options
from runner.records.recorded_run import read_run
from tests.runner.analysis.replayed_runs import (
    definition,
    error_record,
    record,
    truth_turns,
    write_run,
)
from trajectories.schema import Category

ROOT = Path(__file__).parents[3]


@pytest.fixture
def run(tmp_path, data, help_desk):
    """Write a run with two trials, of which the second goes wrong in its second step."""
    wrong = [
        ["[get_ticket(ticket_id=1)]", "[create_ticket(title='Dark screen', priority=2)]", "Done."],
        ["No."],
        ["No."],
    ]
    return write_run(
        tmp_path / "run",
        definition(data),
        record(data, "help_desk_0", truth_turns(help_desk)),
        record(data, "help_desk_0", wrong, trial=1),
    )


@pytest.fixture
def replay(capsys):
    """Run the command and return what it prints."""

    def show(*arguments) -> str:
        assert main(["replay", *map(str, arguments)]) == 0
        said = capsys.readouterr()
        assert said.err == ""
        return said.out

    return show


def test_a_run_folder_says_of_itself_what_it_is_of(replay, run):
    shown = replay("help_desk_0", "--run", run).splitlines()
    assert shown[1] == "run org/model, trial 0, profile strict"
    assert shown[-1] == "passed: 3 of 3 turns"


def test_the_trial_can_be_chosen(replay, run):
    shown = replay("help_desk_0", "--run", run, "--trial", 1)
    assert "> step 2  create_ticket(title='Dark screen', priority=2)" in shown
    assert "\ncause: wrong_argument at turn 1, step 2, call 1: create_ticket: " in shown


def test_a_trial_without_a_run_is_refused(capsys):
    assert main(["replay", "base_files_band_setlist", "--trial", "1"]) == 2
    message = "turnwise: --trial: needs --run: add it, or leave --trial out\n"
    assert capsys.readouterr().err == message


def test_a_terminal_shows_long_calls_whole_on_request(replay, tmp_path, data, monkeypatch):
    title = "t" * 500
    long = [[f"[create_ticket(title='{title}')]", "Done."], ["No."], ["No."]]
    folder = write_run(tmp_path / "long", definition(data), record(data, "help_desk_0", long))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert title not in replay("help_desk_0", "--run", folder)
    assert title in replay("help_desk_0", "--run", folder, "--full")


def test_an_error_is_no_failure_and_what_came_before_it_is_shown(replay, run, tmp_path, data):
    step = next(read_run(run).records).steps[0]
    begun = error_record("help_desk_0")._replace(error="the server has gone", steps=[step])
    folder = write_run(tmp_path / "errors", definition(data), begun)
    shown = replay("help_desk_0", "--run", folder).splitlines()
    assert shown[2] == "the episode ended in an error: the server has gone"
    assert shown[-1] == "no verdict: the episode ended in turn 1 after 1 answer"
    assert f"  step 1  {step.calls[0]}" in shown
    assert "  the episode ended here" in shown
    assert "FAILED" not in "\n".join(shown)
    found = json.loads(replay("help_desk_0", "--run", folder, "--json"))
    assert (found["verdict"], found["error"]) == (None, "the server has gone")


def test_the_traceback_of_an_agent_is_shown(replay, tmp_path, data):
    failed = error_record("help_desk_0")._replace(error="boom", traceback="Traceback:\n  line 2")
    folder = write_run(tmp_path / "errors", definition(data), failed)
    shown = replay("help_desk_0", "--run", folder).splitlines()
    assert shown[2:5] == ["the episode ended in an error: boom", "  Traceback:", "    line 2"]


def test_the_user_s_profile_goes_before_the_run_s(replay, run):
    assert "profile bfcl" in replay("help_desk_0", "--run", run, "--profile", "bfcl")


def test_a_turn_and_a_step_can_be_chosen(replay, run):
    shown = replay("help_desk_0", "--run", run, "--trial", 1, "--turn", 1, "--step", 2)
    assert re.findall(r"^..step (\d)|^turn (\d)", shown, re.MULTILINE) == [("", "1"), ("2", "")]


def test_what_is_right_can_be_left_out(replay, run):
    shown = replay("help_desk_0", "--run", run, "--trial", 1, "--only-diff")
    assert re.findall(r"^..step (\d)", shown, re.MULTILINE) == ["2"]


def test_json_is_one_object(replay, run):
    found = json.loads(replay("help_desk_0", "--run", run, "--trial", 1, "--json"))
    assert (found["id"], found["trial"], found["source"]) == (
        "help_desk_0",
        1,
        "run org/model, trial 1",
    )
    assert found["diagnosis"]["step"] == 1


def test_hostile_texts_do_not_reach_the_terminal(replay, tmp_path, data):
    turns = [["[create_ticket(title='\033[2J')]", "\033]0;owned\007 \u202e"], ["\x9b2J"], []]
    folder = write_run(tmp_path / "bad", definition(data), record(data, "help_desk_0", turns))
    shown = replay("help_desk_0", "--run", folder)
    assert re.findall("[\033\007\x9b\u202e]", shown) == []
    assert "\\x1b]0;owned\\x07 \\u202e" in shown


@pytest.fixture
def single(single_turn):
    """Return an entry that wants no call."""
    document = {"name": "f", "description": "", "parameters": {"type": "dict", "properties": {}}}
    return single_turn("python", document, category=Category.IRRELEVANCE)


def test_a_single_turn_has_nothing_to_stop_at(capsys, write_lines, single):
    data = write_lines("single.jsonl", single)
    assert main(["replay", single.id, "--dataset", str(data), "--break", "turn=1"]) == 2
    assert capsys.readouterr().err == (
        "turnwise: ID: irrelevance_0 is a single-turn entry (irrelevance): it has no state to stop "
        "at; use turnwise replay\n"
    )


def test_a_single_turn_is_shown_beside_what_is_right(replay, write_lines, single):
    data = write_lines("single.jsonl", single)
    results = write_lines("single_result.json", {"id": single.id, "result": [{"f": "{}"}]})
    options = (single.id, "--dataset", data, "--run", results)
    assert "\n> called    f()\n            no function fits\n" in replay(*options)
    assert json.loads(replay(*options, "--json"))["calls"][0]["call"] == "f()"
    assert replay(single.id, "--dataset", data, "--turn", 1, "--step", 1).endswith("\npassed\n")


def test_a_single_turn_has_no_other_step(capsys, write_lines, single):
    data = write_lines("single.jsonl", single)
    assert main(["replay", single.id, "--dataset", str(data), "--step", "2"]) == 2
    said = capsys.readouterr().err
    assert (
        said == "turnwise: --step: must be 1, not 2; irrelevance_0 has only one turn and one step\n"
    )


def test_what_cannot_be_judged_is_said(capsys, write_lines, single):
    data = write_lines("single.jsonl", single)
    lines = {"id": single.id, "result": "Error during inference: 500"}
    results = write_lines("single_result.json", lines)
    assert main(["replay", single.id, "--dataset", str(data), "--run", str(results)]) == 2
    said = capsys.readouterr().err
    assert said == "turnwise: irrelevance_0: cannot be judged: the request failed\n"


@pytest.mark.parametrize("flags", [["--json"], ["--only-diff"], ["--turn", "1"]])
def test_stopping_prints_no_transcript(capsys, run, flags):
    stop = ["--break", "turn=1", *flags]
    assert main(["replay", "help_desk_0", "--run", str(run), *stop]) == 2
    assert capsys.readouterr().err == (
        f"turnwise: --break: cannot be combined with {flags[0]}: leave one of them out\n"
    )


def debug(*arguments, typed="", **environment) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, with what is typed into its debugger."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-m", "runner.cli", "replay", *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, **environment},
        input=typed,
        capture_output=True,
        text=True,
        check=False,
    )


def test_one_step_leads_from_the_breakpoint_into_the_backend(run):
    done = debug(
        "help_desk_0",
        *("--run", run, "--trial", 1, "--break-on", "divergence"),
        typed="p str(call)\np result.ok\np truth.calls\np len(session.snapshot().states)\n"
        "step\nwhere\np self.ticket_counter\ncontinue\n",
    )
    assert done.returncode == 0
    assert done.stderr == (
        "turnwise: turn 1, step 2, call 1: create_ticket(title='Dark screen', priority=2)\n"
        "turnwise: cause: wrong_argument at turn 1, step 2, call 1: create_ticket: "
        "priority should be 1, but is 2\n"
    )
    before, _, after = done.stdout.partition("--Call--")
    assert "function(backend, *args, **kwargs)" in before
    assert "\"create_ticket(title='Dark screen', priority=2)\"" in before
    assert "(Pdb) True" in before
    assert "(\"create_ticket(title='Dark screen')\",)" in before
    assert "(Pdb) 1" in before
    *_, last = re.findall(r"> (\S+)\(\d+\)(\w+)\(\)", after)
    assert last == (ticket.__file__, "create_ticket")
    assert after.rstrip().endswith("(Pdb) 2\n(Pdb)")


@pytest.mark.parametrize(
    "typed",
    [
        "step\nstep\nquit\n",
        *(
            pytest.param(typed, marks=pytest.mark.slow)
            for typed in ("quit\n", "step\nreturn\nnext\nquit\n", "")
        ),
    ],
)
def test_who_quits_the_debugger_has_interrupted(run, typed):
    done = debug("help_desk_0", "--run", run, "--break", "turn=1", typed=typed)
    assert done.returncode == 130
    assert done.stderr.splitlines()[-1] == "turnwise: interrupted"
    assert "Traceback" not in done.stdout + done.stderr


def test_every_event_is_stopped_at(run):
    done = debug(
        *("help_desk_0", "--run", run, "--break-on", "call:get_ticket"),
        *("--break-on", "call:close_ticket"),
        typed="p call.name\ncontinue\np call.name\ncontinue\n",
    )
    assert re.findall(r"\(Pdb\) '(\w+)'", done.stdout) == ["close_ticket", "get_ticket"]
    assert done.returncode == 0


def test_another_debugger_can_be_named(run, tmp_path):
    (tmp_path / "mine.py").write_text(
        "import sys\n"
        "def look():\n"
        "    scope = sys._getframe(1).f_locals\n"
        "    print(scope['call'], scope['result'].ok, sorted(scope['session'].backends))\n",
        encoding="utf-8",
    )
    done = debug(
        "help_desk_0",
        *("--run", run, "--break", "turn=1"),
        PYTHONBREAKPOINT="mine.look",
        PYTHONPATH=str(tmp_path),
    )
    assert done.stdout == "create_ticket(title='Dark screen') True ['TicketAPI']\n"
    assert done.returncode == 0


def test_the_program_can_be_run_as_a_module_from_any_folder(tmp_path):
    command = [sys.executable, "-m", "turnwise.runner.cli", "--version"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("turnwise ")


def test_the_editor_s_configurations_are_commands_that_exist():
    further = {"debugger": BreakpointOptions}
    parser = build_parser(Options, "replay", "", EXAMPLE, "", further)
    file = ROOT / ".vscode" / "launch.json"
    found = json.loads(file.read_text(encoding="utf-8"))
    for configuration in found["configurations"]:
        # As it is called where it is installed; in a checkout it is called so too.
        assert configuration["module"] == "turnwise.runner.cli"
        assert configuration["justMyCode"] is False
        name, *words = configuration["args"]
        assert name == "replay"
        own = parse(Options, parser, words, further).extensions["debugger"]
        assert own.places or own.events
        asked = {given[8:-1] for given in configuration["args"] if given.startswith("${input:")}
        assert asked <= {given["id"] for given in found["inputs"]}
    (place,) = [given["default"] for given in found["inputs"] if given["id"] == "place"]
    assert read_place(place) == EpisodePlace(0, "call", 0, 0)
