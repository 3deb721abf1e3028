"""A judge model for required information: figures, files, bad replies and bad input."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.judges.required_info_judge import INFO, read_prompts
from runner.cli import main
from tests.checkers.answer_text.test_corpus import NEW
from tests.live.running import BASE
from tests.servers.serving import Answer, Asked, FakeServer, as_json
from tests.servers.shapes import completion

pytest_plugins = ["tests.live.run_fixtures"]

FEW = 40
QUOTED = re.compile(r"<<<answer (\w+)\n(.*)\n\1 answer>>>", re.S)
LINES = [
    line for line in NEW.read_text(encoding="utf-8").splitlines() if not line.startswith('{"head')
][:FEW]
TOLD = {json.loads(line)["answer"]: json.loads(line)["told"] for line in LINES}


def said(asked: Asked) -> str:
    """Return the answer that a request quotes."""
    found = QUOTED.search(asked.body["messages"][1]["content"])
    assert found
    return found[2]


def called(reported: object) -> Answer:
    """Return a reply that reports whether a fact is told."""
    call = {"name": INFO, "arguments": json.dumps({"reported": reported})}
    calls = [{"id": "1", "type": "function", "function": call}]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return as_json(completion(message, "tool_calls"))


def in_words(text: str) -> Answer:
    """Return a reply without a call."""
    return as_json(completion({"role": "assistant", "content": text}))


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(['{"header": "h"}', *LINES]) + "\n", encoding="utf-8")
    return path


def judge(source: Path, server: FakeServer, *more: str) -> int:
    words = ["--judge", "j", "--base-url", server.base_url, "--no-cache", *more]
    return main(["judge-info", str(source), *words])


def test_the_error_rates_of_parser_and_judge_are_printed(
    answers: Path, server: FakeServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    wrong = {*[each for each, told in TOLD.items() if told][:3]}
    server.answer = lambda asked: called(
        "yes" if TOLD[said(asked)] != (said(asked) in wrong) else "no"
    )
    file = tmp_path / "differ.jsonl"
    assert judge(answers, server, "--output", str(file)) == 0
    *_, parser, model = capsys.readouterr().out.splitlines()
    told = sum(TOLD.values())
    assert model.startswith(f"judge model: false negatives: 3 of {told} (")
    assert f"; false positives: 0 of {FEW - told} (0.0%, 0.0% to " in model
    assert parser.startswith("parser: false negatives: ")
    assert server.requests == FEW
    assert server.last is not None
    assert server.last.body["tools"][0]["function"]["name"] == INFO
    for line in file.read_text(encoding="utf-8").splitlines():
        each = json.loads(line)
        assert each["parser"] == ((TOLD[each["answer"]]) == (each["answer"] in wrong))
    # The votes are stored: a second command sends no request.
    assert judge(answers, server, "--json", "--resume") == 0
    assert server.requests == FEW
    found = json.loads(capsys.readouterr().out)["facts"]
    assert sum(each["judge"] != each["label"] for each in found) == 3


def test_json_text_is_read_and_an_invalid_reply_is_requested_once_more(
    answers: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(asked: Asked) -> Answer:
        first = len(asked.body["messages"]) == 2
        return in_words("perhaps" if first else '{"reported": "no"}')

    server.answer = answer
    assert judge(answers, server, "--mode", "prompt", "--json") == 0
    assert server.requests == 2 * FEW
    assert not any(each["judge"] for each in json.loads(capsys.readouterr().out)["facts"])


def test_two_invalid_replies_are_an_abstention(
    answers: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.answer = lambda _: called("maybe")
    assert judge(answers, server, "--json") == 0
    assert json.loads(capsys.readouterr().out)["facts"] == []


def test_the_answers_of_a_run_are_judged(
    server: FakeServer, truth, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    server.answer = truth
    command = ["eval", "--model", "fake", "--base-url", server.base_url, "--run-dir", str(folder)]
    assert main([*command, *BASE, "--limit", "2", "--no-preflight"]) == 0
    capsys.readouterr()
    server.answer = lambda _: called("yes")
    assert judge(folder, server) == 0
    first, second = capsys.readouterr().out.splitlines()
    facts = int(first.split()[1].rstrip(";"))
    assert facts > 0
    assert first.endswith(f"by the judge model {facts}")
    assert second.startswith("parser and judge model agree: ")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ('{"fact": {"number": 1}, "told": true}', "answers.jsonl:1: $.answer: field required"),
        ('{"fact": {"odd": 1}, "answer": "1", "told": true}', "answers.jsonl:1: $.fact"),
        ('{"header": "h"}', "has no required information"),
    ],
)
def test_a_bad_file_is_refused(
    line: str, why: str, tmp_path: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    assert judge(path, server) == 2
    assert why in capsys.readouterr().err
    assert server.requests == 0


def test_a_scripted_judge_and_a_prompt_file_without_placeholder_are_refused(
    answers: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["judge-info", str(answers), "--judge", "scripted:1"]) == 2
    assert "--judge: scripted:1 is not a live model" in capsys.readouterr().err
    file = tmp_path / "p.toml"
    file.write_text('system = "{token}"\nquestion = "x"\nagain = "{reason}"\njson = "y"\n')
    with pytest.raises(DataError, match="brief"):
        read_prompts(file)
