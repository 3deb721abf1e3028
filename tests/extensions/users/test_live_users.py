"""Live runs in which a model plays the user: budget, figures by side, resume inside an episode."""

from __future__ import annotations

import json

import pytest

from runner.cli import main
from tests.extensions.users.test_dialogues import ASK, DONE, PROPOSE, dataset
from tests.live.running import calls, records, says
from tests.runner.analysis.report.making import unpacked
from tests.servers.serving import Answer, Asked, FakeServer

__all__ = ["dataset"]

STEPS = [says(ASK), says(PROPOSE), calls("close_ticket", ticket_id=7), says(DONE)]
WAYS = ("full", "brief")
USER = [says("It is number 7."), says("Yes, go ahead."), says("Thanks. [END]")]


@pytest.fixture
def both(server: FakeServer) -> FakeServer:
    """Return a server that answers as the agent and as the user, by the name of the model."""

    def answer(asked: Asked) -> Answer:
        said = sum(each["role"] == "assistant" for each in asked.body["messages"])
        if asked.body["model"] == "customer":
            return USER[said - 1](asked)
        return STEPS[said](asked)

    server.answer = answer
    return server


def command(server, dataset, folder, *more):
    return [
        *("eval", "--model", "fake", "--base-url", server.base_url, "--dataset", str(dataset)),
        *("--user-model", "customer", "--no-preflight"),
        *([] if "--resume" in more else ["--run-dir", str(folder)]),
        *more,
    ]


def test_a_model_plays_the_user(both, dataset, tmp_path, capsys):
    assert main(command(both, dataset, tmp_path / "run")) == 0
    out = capsys.readouterr().out
    assert "100.0%" in out
    (line,) = records(tmp_path / "run")
    user = line["extensions"]["users"]
    assert user["kind"] == "model"
    assert user["answers"] == ["It is number 7.", "Yes, go ahead.", "Thanks."]
    assert user["requests"] == 3
    assert both.requests == 7
    assert main(["verify", str(tmp_path / "run"), "--dataset", str(dataset)]) == 0
    capsys.readouterr()
    assert main(["table", str(tmp_path / "run"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["runs"][0]
    assert found["user_requests"] == 3


PROGRAM = '''
class Customer:
    """A user that answers three times."""

    def __init__(self):
        self.left = ["It is number 7.", "Yes, go ahead.", "Thanks. [END]"]

    def __call__(self, messages, tools):
        assert messages[0]["role"] == "system" and messages[-1]["role"] == "user"
        return self.left.pop(0)


def broken(messages, tools):
    raise ValueError("no answer")
'''


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Write a module with users into the current folder; return its name."""
    name = f"customers_{tmp_path.name.removesuffix('0')}"
    (tmp_path / f"{name}.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return name


def test_a_program_plays_the_user(both, dataset, tmp_path, program, capsys):
    # The base URL and the temperature are for the agent's model.
    words = command(both, dataset, tmp_path / "run", "--temperature", "0")
    words[words.index("customer")] = f"python:{program}:Customer"
    assert main(words) == 0
    (line,) = records(tmp_path / "run")
    assert line["outcome"] == "passed"
    assert line["extensions"]["users"]["answers"] == [
        "It is number 7.",
        "Yes, go ahead.",
        "Thanks.",
    ]


def test_each_dialogue_has_a_user_of_its_own(both, dataset, tmp_path, program, capsys):
    words = command(both, dataset, tmp_path / "run", "--trials", "3")
    words[words.index("customer")] = f"python:{program}:Customer"
    assert main(words) == 0
    found = [line["extensions"]["users"]["answers"] for line in records(tmp_path / "run")]
    assert found == [["It is number 7.", "Yes, go ahead.", "Thanks."]] * 3


def test_an_error_of_the_user_s_program_names_the_user(both, dataset, tmp_path, program, capsys):
    words = command(both, dataset, tmp_path / "run")
    words[words.index("customer")] = f"python:{program}:broken"
    assert main(words) == 3
    assert "the user's program raised ValueError: no answer" in capsys.readouterr().err
    words[words.index("--run-dir") + 1] = str(tmp_path / "other")
    words[words.index(f"python:{program}:broken")] = f"python:{program}:missing"
    assert main(words) == 2
    assert f"turnwise: --user-model: {program} has no missing" in capsys.readouterr().err
    words[words.index(f"python:{program}:missing")] = f"python:{program}:Customer"
    assert main([*words, "--user-base-url", both.base_url]) == 2
    assert "turnwise: --user-base-url: only servers use this option" in capsys.readouterr().err


def test_no_secret_of_the_user_s_server_is_kept(both, dataset, tmp_path, capsys, monkeypatch):
    usual = both.answer

    def answer(asked):
        said = sum(each["role"] == "assistant" for each in asked.body["messages"])
        if asked.body["model"] != "customer" or said > 1:
            return usual(asked)
        echo = f"{asked.path} and {asked.headers['authorization']}"
        return says(f"It is number 7, by {echo}.")(asked)

    both.answer = answer
    monkeypatch.setenv("OPENAI_API_KEY", "keyofuser1234")
    folder = tmp_path / "run"
    words = command(both, dataset, folder, "--user-base-url", f"{both.base_url}?key=inquery777")
    words += ["--reply-cache", str(tmp_path / "cache")]
    monkeypatch.setattr("sys.argv", ["turnwise", *words])
    assert main(words) == 0
    told = "".join(capsys.readouterr())
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    told += "".join(path.read_text(errors="replace") for path in files)
    assert "by /v1/chat/completions?*** and Bearer ***." in told
    assert "inquery777" not in told
    assert "keyofuser1234" not in told


def test_a_stopped_episode_goes_on_within_the_dialogue(both, dataset, tmp_path, capsys):
    folder = tmp_path / "run"
    assert main(command(both, dataset, folder, "--max-requests", "5")) == 5
    assert both.requests == 5
    assert main(command(both, dataset, folder, "--resume", str(folder))) == 0
    # The third text of the user was not kept, since its step was unfinished.
    assert both.requests == 7
    (line,) = records(folder)
    assert line["outcome"] == "passed"
    assert line["extensions"]["users"]["requests"] == 3


def test_each_trial_gives_the_user_another_seed(both, dataset, tmp_path, capsys):
    assert main(command(both, dataset, tmp_path / "run", "--trials", "2")) == 0
    seeds = [line["extensions"]["users"]["seed"] for line in records(tmp_path / "run")]
    assert sorted(seeds) == [0, 1]


def test_costs_are_split_by_side(both, dataset, tmp_path, capsys):
    folder = tmp_path / "run"
    prices = ["--price", "1000,1000", "--user-price", "500,500"]
    assert main(command(both, dataset, folder, *prices)) == 0
    (line,) = records(folder)
    user = line["extensions"]["users"]
    assert user["cost"] == pytest.approx(user["tokens"] * 500 / 1e6)
    out = capsys.readouterr().out
    assert "user cost" in out
    assert main(["table", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["runs"][0]
    assert found["user_cost"] == pytest.approx(user["cost"])
    assert main(["report", str(folder), "-o", str(tmp_path / "page.html")]) == 0
    usage = unpacked((tmp_path / "page.html").read_text())[0][0]["overview"]["usage"]
    assert {each["label"]: each["value"] for each in usage}["User cost"] == found["user_cost"]


def test_a_second_run_with_a_reply_cache_asks_neither_side(both, dataset, tmp_path, capsys):
    cache = ["--reply-cache", str(tmp_path / "cache")]
    assert main(command(both, dataset, tmp_path / "one", *cache)) == 0
    assert both.requests == 7
    assert main(command(both, dataset, tmp_path / "two", *cache)) == 0
    assert both.requests == 7
    one, two = (records(tmp_path / name)[0] for name in ("one", "two"))
    assert [each["calls"] for each in one["steps"]] == [each["calls"] for each in two["steps"]]
    assert two["extensions"]["users"]["requests"] == 0
    assert two["extensions"]["users"]["answers"] == one["extensions"]["users"]["answers"]


def test_pass_hat_k_counts_the_seeds_of_the_user(both, dataset, tmp_path, capsys):
    usual, seen = both.answer, []

    def answer(asked):
        seen.append(asked.body["model"])
        refuses = asked.body["model"] == "customer" and seen.count("customer") > 3
        return says("No. [END]")(asked) if refuses else usual(asked)

    both.answer = answer
    words = ["--trials", "2", "--concurrency", "1"]
    assert main(command(both, dataset, tmp_path / "run", *words)) == 0
    assert "pass^k: k=1 50.0%, k=2 0.0%" in capsys.readouterr().out
    outcomes = sorted(line["outcome"] for line in records(tmp_path / "run"))
    assert outcomes == ["failed", "passed"]


def test_an_episode_that_the_user_broke_is_counted_and_can_be_excluded(
    both, dataset, tmp_path, capsys
):
    both.answer = says("Which colour do you need?")
    words = ["eval", "--model", "fake", "--base-url", both.base_url, "--no-preflight"]
    words += ["--dataset", str(dataset), "--run-dir"]
    assert main([*words, str(tmp_path / "counted")]) == 0
    (line,) = records(tmp_path / "counted")
    assert line["outcome"] == "failed"
    assert line["extensions"]["users"]["error"] == "not_understood"
    assert main([*words, str(tmp_path / "excluded"), "--exclude-user-errors"]) == 3
    (line,) = records(tmp_path / "excluded")
    assert line["outcome"] == "error"
    assert "the simulated user broke the episode" in line["error"]


def test_knobs_from_a_file_change_what_the_user_says(both, dataset, tmp_path, capsys):
    words = ["eval", "--model", "fake", "--base-url", both.base_url, "--no-preflight"]
    words += ["--dataset", str(dataset), "--run-dir"]
    knobs = tmp_path / "knobs.json"
    knobs.write_text('{"brevity": "brief"}')
    assert main([*words, str(tmp_path / "full")]) == 0
    assert main([*words, str(tmp_path / "brief"), "--user-knobs", str(knobs)]) == 0
    said = [records(tmp_path / name)[0]["extensions"]["users"]["answers"] for name in WAYS]
    assert [answers[0] for answers in said] == ["The ticket number is 7.", "7."]
    assert [answers[1] for answers in said] == ["Yes, please go ahead.", "Yes."]
    assert [records(tmp_path / name)[0]["outcome"] for name in WAYS] == ["passed", "passed"]


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ('{"patience": "long"}', "$.patience: must be"),
        ('{"patience": -1}', "$.patience: must be at least 0, but is -1"),
        ('{"patiens": 1}', "unknown key 'patiens'; did you mean patience?"),
        ("[]", "must be an object with patience, brevity"),
    ],
)
def test_bad_knobs_are_one_line(dataset, tmp_path, capsys, knobs, message):
    path = tmp_path / "knobs.json"
    path.write_text(knobs)
    words = ["eval", "--model", "fake", "--dataset", str(dataset), "--user-knobs", str(path)]
    assert main(words) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"turnwise: {path}: {message}")
