"""Dialogues with a simulated user through the turn loop: agents, models, judging, resume."""

from __future__ import annotations

import json

import pytest
import turnwise

from runner.cli import main

POLICY = "Ask for consent before you close a ticket."
ENTRY = {
    "id": "dialogue_close_ticket",
    "category": "dialogue",
    "environments": ["TicketAPI"],
    "config": {
        "TicketAPI": {
            "current_user": "ada",
            "ticket_counter": 8,
            "ticket_queue": [
                {
                    "id": 7,
                    "title": "No light",
                    "description": "",
                    "priority": 1,
                    "status": "Open",
                    "created_by": "ada",
                }
            ],
        }
    },
    "turns": [
        {
            "messages": [
                {"role": "system", "content": POLICY},
                {"role": "user", "content": "Please close my ticket."},
            ],
            "ground_truth": ["close_ticket(ticket_id=7)"],
        }
    ],
    "extensions": {
        "users": {
            "scenario": {
                "wishes": [{"text": "Please close my ticket.", "when": "opening"}],
                "facts": [{"name": "ticket number", "value": "7"}],
            },
            "rules": {"consent": ["close_ticket"]},
        }
    },
}
ASK, PROPOSE = "What is the ticket number?", "Shall I close ticket 7?"
DONE = "The ticket has been closed. Is there anything else I can help you with?"


def call(name, **arguments):
    made = {"id": "c1", "type": "function", "function": {"name": name}}
    made["function"]["arguments"] = json.dumps(arguments)
    return {"role": "assistant", "content": None, "tool_calls": [made]}


def say(text):
    return {"role": "assistant", "content": text}


CLOSE = call("close_ticket", ticket_id=7)


@pytest.fixture
def dataset(tmp_path):
    path = tmp_path / "dialogues.jsonl"
    path.write_text(json.dumps(ENTRY) + "\n")
    return path


def play(dataset, tmp_path, answers, **options):
    """Run an agent that gives these answers in order."""
    left = list(answers)
    folder = tmp_path / "run"
    run = turnwise.evaluate(
        lambda messages, tools: left.pop(0), str(dataset), run_dir=folder, **options
    )
    (record,) = run.records()
    return record


def test_an_agent_that_asks_and_has_consent_passes(dataset, tmp_path):
    record = play(dataset, tmp_path, [say(ASK), say(PROPOSE), CLOSE, say(DONE)])
    assert record.outcome == "passed"
    user = record.extensions["users"]
    assert user.stopped
    assert user.answers[0] == "The ticket number is 7."
    assert [each.calls[0].partition("(")[0] for each in record.steps] == [
        "say_to_user",
        "say_to_user",
        "close_ticket",
        "say_to_user",
    ]


def test_a_write_without_consent_fails(dataset, tmp_path):
    record = play(dataset, tmp_path, [say(ASK), CLOSE, say(DONE)])
    assert record.verdict.failure.reason == "dialogue:no_consent"


def test_a_claim_without_the_act_fails(dataset, tmp_path):
    record = play(dataset, tmp_path, [say(DONE)])
    assert record.outcome == "failed"


def test_commands_show_both_sides_and_the_run_verifies(dataset, tmp_path, capsys):
    play(dataset, tmp_path, [say(ASK), say(PROPOSE), CLOSE, say(DONE)])
    run = tmp_path / "run"
    assert main(["replay", ENTRY["id"], "--run", str(run), "--dataset", str(dataset)]) == 0
    shown = capsys.readouterr().out
    assert "say_to_user" in shown
    assert "The ticket number is 7." in shown
    assert main(["verify", str(run), "--dataset", str(dataset)]) == 0
    assert main(["table", str(run)]) == 0
    assert "user errors" in capsys.readouterr().out


def test_the_gold_agent_passes(dataset, capsys):
    assert main(["eval", "--model", "oracle", "--dataset", str(dataset)]) == 0
    assert "100.0%" in capsys.readouterr().out
    assert main(["eval", "--model", "null", "--dataset", str(dataset)]) == 0
    assert "score 0.0%" in capsys.readouterr().out


def test_a_negative_patience_is_refused(tmp_path, capsys):
    entry = json.loads(json.dumps(ENTRY))
    entry["extensions"]["users"]["scenario"]["knobs"] = {"patience": -1}
    path = tmp_path / "dialogues.jsonl"
    path.write_text(json.dumps(entry) + "\n")
    assert main(["eval", "--model", "oracle", "--dataset", str(path), "--category", "all"]) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.endswith("scenario.knobs: $.patience: must be at least 0, but is -1")


@pytest.mark.parametrize(
    ("place", "known", "wrong"),
    [
        ([], "rules", "rule"),
        (["rules"], "consent", "consents"),
        (["scenario"], "rejects", "reject"),
        (["scenario", "wishes", 0], "when", "wen"),
        (["scenario", "facts", 0], "opens", "open"),
        (["scenario", "knobs"], "patience", "patiens"),
    ],
)
def test_an_unknown_key_is_named(tmp_path, capsys, place, known, wrong):
    entry = json.loads(json.dumps(ENTRY))
    users = target = entry["extensions"]["users"]
    users["scenario"]["knobs"] = {}
    for part in place:
        target = target[part]
    target[wrong] = target.pop(known, {})
    path = tmp_path / "dialogues.jsonl"
    path.write_text(json.dumps(entry) + "\n")
    assert main(["eval", "--model", "oracle", "--dataset", str(path), "--category", "all"]) == 2
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    where = f"entry {ENTRY['id']}: $.extensions.users{where}"
    said = capsys.readouterr().err.splitlines()[-1]
    assert said == f"turnwise: {where}: unknown key '{wrong}'; did you mean {known}?"
