"""An environment in a package of its own, installed, in the commands that run environments."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.environments.installing import pip_install

ROOT = Path(__file__).parents[2]
CALENDAR = Path(__file__).parent / "calendar"
DATA = CALENDAR / "tests" / "trajectories.jsonl"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Install the package, from a copy, since building leaves files behind."""
    folder = tmp_path_factory.mktemp("calendar")
    shutil.copytree(CALENDAR, folder / "source")
    pip_install(folder / "source", folder / "site")
    return folder / "site"


@pytest.fixture
def python(site, tmp_path):
    """Run a module in a folder of its own."""

    def run(*arguments, stdin="", status=0):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(site)])}
        command = [sys.executable, "-m", *map(str, arguments)]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env=environment,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


@pytest.mark.slow
def test_its_own_tests(python):
    assert " failed" not in python("pytest", "-q", "-p", "no:cacheprovider", CALENDAR)


def test_eval_with_the_ground_truth_and_with_none(python):
    assert "100.0" in python("runner.cli", "eval", "--model", "oracle", "--dataset", DATA)
    assert " 0.0" in python("runner.cli", "eval", "--model", "null", "--dataset", DATA)


@pytest.mark.slow
def test_a_recorded_run(python, tmp_path):
    calls = [
        [[{"list_events": "{}"}], "Two meetings."],
        [
            [{"move_event": '{"event_id": 2, "start": "2026-03-03T10:00"}'}],
            [{"invite": '{"event_id": 2, "attendees": ["kim@example.org"]}'}],
            "Done.",
        ],
        [[{"create_event": '{"title": "Report", "start": "2026-03-02T09:30"}'}], "Done."],
    ]
    run = tmp_path / "run.json"
    run.write_text(json.dumps({"id": "calendar_0", "result": calls}) + "\n", encoding="utf-8")
    python("runner.cli", "score", run, "--dataset", DATA, "--output", "verdicts.jsonl")
    verdict = json.loads((tmp_path / "verdicts.jsonl").read_text(encoding="utf-8"))
    assert verdict["error_type"].endswith("instance_state_mismatch")
    assert verdict["failed_turn"] == 2
    shown = python("runner.cli", "replay", "calendar_0", "--run", run, "--dataset", DATA)
    assert "CalendarAPI.events[2].title" in shown
    python("runner.cli", "report", run, "--dataset", DATA, "--output", "report.html")
    assert (tmp_path / "report.html").is_file()


def test_replay_of_the_ground_truth(python):
    shown = python("runner.cli", "replay", "calendar_0", "--dataset", DATA)
    assert "find_free_time(day='2026-03-02', minutes=120)" in shown
    assert '{"start": "2026-03-02T09:30"}' in shown


def test_exec(python):
    repeat = "{'every': 'week', 'times': 2}"
    script = {
        "id": 1,
        "involved_classes": ["CalendarAPI", "TicketAPI"],
        "initial_config": {"CalendarAPI": {"next_id": 5}},
        "turns": [[f"create_event('Swim', '2026-03-03T07:00', repeat={repeat})"]],
    }
    answer = json.loads(python("runner.cli", "exec", stdin=json.dumps(script)))
    events = answer["turns"][0]["state"]["CalendarAPI"]["events"]
    assert [(e["id"], e["start"][:10]) for e in events] == [(5, "2026-03-03"), (6, "2026-03-10")]


@pytest.mark.slow
def test_validate_finds_what_is_wrong(python, tmp_path):
    entry = json.loads(DATA.read_text(encoding="utf-8"))
    entry["turns"][1]["ground_truth"][0] = "move_event(event_id=7, start='2026-03-03T10:00')"
    broken = tmp_path / "broken.jsonl"
    broken.write_text(json.dumps(entry), encoding="utf-8")
    python("runner.cli", "dataset", "validate", DATA)
    assert "no event with the id 7" in python("runner.cli", "dataset", "validate", broken, status=1)


def test_a_config_that_does_not_fit(python, tmp_path):
    entry = json.loads(DATA.read_text(encoding="utf-8"))
    entry["config"]["CalendarAPI"]["events"][1]["start"] = "noon"
    broken = tmp_path / "broken.jsonl"
    broken.write_text(json.dumps(entry), encoding="utf-8")
    said = python("runner.cli", "eval", "--model", "oracle", "--dataset", broken, status=2)
    assert "$.CalendarAPI.events[1].start: 'noon' is no time" in said


def test_tools(python):
    tools = json.loads(python("runner.cli", "env", "tools", "CalendarAPI", "--openai"))
    create = next(t["function"] for t in tools if t["function"]["name"] == "create_event")
    repeat = create["parameters"]["properties"]["repeat"]["anyOf"][0]
    assert repeat["properties"]["every"] == {"enum": ["day", "week"], "type": "string"}
    assert repeat["properties"]["times"] == {"maximum": 10, "minimum": 2, "type": "integer"}


def test_an_entry_without_the_package_says_what_is_missing(tmp_path):
    command = [sys.executable, "-m", "runner.cli", "eval", "--model", "oracle", "--dataset", DATA]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "$.CalendarAPI: unknown backend; " in done.stderr
    assert "install a package with an entry point in turnwise.environments" in done.stderr
