"""A live writer and solver: what they are asked, faults, budgets, kill and resume."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from envs.calls import parse_call
from extensions.generation.answers import ANSWERS_FILE
from extensions.generation.entries.instruction_kinds import InstructionKind
from extensions.generation.entries.tasks import Shown, TaskSource
from extensions.generation.scripted import ScriptedWriter, WriterErrorRates
from extensions.generation.writer_questions import WriterQuestions, read_writer_prompts
from runner.cli import main
from tests.extensions.generation.entries.drawing import GRAPH, own, sampling
from tests.live.running import Ended, end, start, wait_until
from tests.servers.serving import Answer, Asked, FakeServer, as_json
from tests.servers.shapes import completion
from trajectories.dataset import load_path
from trajectories.schema import Category, Trajectory

FEW = 4
"""Entries of one kind that most tests ask for."""
_DRAWN = 12

Generate = Callable[..., Ended]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TURNWISE_CACHE", str(tmp_path / "cache"))


class Knowing:
    """What a writer and a solver say who know the tasks of one kind."""

    def __init__(self, origin: Shown) -> None:
        tasks = TaskSource(sampling(origin), [InstructionKind.I2])
        drawn = [tasks.draw(InstructionKind.I2, number) for number in range(_DRAWN)]
        questions = WriterQuestions(read_writer_prompts(), GRAPH)
        writer = ScriptedWriter(GRAPH, WriterErrorRates(0), 0, own())
        self.answers: dict[str, str] = {}
        self.calls: dict[str, list[tuple[str, ...]]] = {}
        for task in drawn:
            answer = writer.answer(task, 0)
            self.answers[questions.ask(task).messages[1]["content"]] = answer
            first = json.loads(answer)["turns"][0]["words"]
            self.calls[first] = [turn.ground_truth for turn in task.bare.turns]

    def __call__(self, asked: Asked) -> Answer:
        """Return the words of a task, or the next call of an entry."""
        messages = asked.body["messages"]
        if not asked.body.get("tools"):
            return said(self.answers[messages[1]["content"]])
        users = [n for n, message in enumerate(messages) if message["role"] == "user"]
        turns = self.calls[messages[users[0]]["content"]]
        made = sum(len(m.get("tool_calls") or ()) for m in messages[users[-1] :])
        calls = turns[len(users) - 1]
        if made == len(calls):
            return said("That is done.")
        call = parse_call(calls[made])
        function = {"name": call.name, "arguments": json.dumps(dict(call.kwargs))}
        one = {"id": f"c{len(messages)}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [one]}
        return as_json(completion(message, "tool_calls"))


@cache
def knowing(origin: Shown = "paths") -> Knowing:
    """Return who knows, made once."""
    return Knowing(origin)


def said(text: str) -> Answer:
    return as_json(completion({"role": "assistant", "content": text}))


def command(output: Path, server: FakeServer, *more: str) -> list[str]:
    """Return a command line that has entries written by a server."""
    chosen = ["--kind", "I2", "--number", str(FEW), "--no-cache"]
    url = ["--model", "m", "--base-url", server.base_url]
    return ["generate", str(output), *url, *chosen, *more]


@pytest.fixture
def output(tmp_path: Path) -> Path:
    return tmp_path / "new.jsonl"


@pytest.fixture
def generate(output: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]) -> Generate:
    """Run the command in this process, with models that know, until told not to."""
    server.answer = knowing()

    def whole(*more: str, to: Path = output) -> Ended:
        status = main(command(to, server, *more))
        shown = capsys.readouterr()
        return Ended(status, shown.out, shown.err)

    return whole


def entries(path: Path) -> list[Trajectory]:
    return [*load_path(path, [*Category]).trajectories.values()]


def figures(done: Ended) -> dict[str, Any]:
    return dict(json.loads(done.out))


def answers(output: Path) -> int:
    """Return how many answers are kept."""
    path = output.with_name(f"{output.name}.work") / ANSWERS_FILE
    return path.read_bytes().count(b"\n") if path.exists() else 0


# What is asked


def test_words_are_asked_for_and_played_blind(
    generate: Generate, server: FakeServer, output: Path
) -> None:
    found = figures(generate("--json"))
    written = entries(output)
    assert found["entries"] == len(written) == FEW
    tasks = found["kinds"]["I2"]["tasks"]
    assert found["requests"]["writer"] == tasks
    plays = sum(len(t.turns) + sum(len(u.ground_truth) for u in t.turns) for t in written)
    assert found["requests"]["solver"] >= plays
    assert server.requests == sum(found["requests"].values()) == answers(output)
    assert main(["dataset", "validate", str(output), "--strict-warnings"]) == 0
    assert {entry.provenance["solver"] for entry in written} == {"m"}
    assert all("prompts" in entry.provenance for entry in written)


def test_the_solver_sees_words_and_functions_only(generate: Generate, server: FakeServer) -> None:
    seen: list[Any] = []

    def answer(asked: Asked) -> Answer:
        seen.append(asked.body)
        return knowing()(asked)

    server.answer = answer
    assert generate().status == 0
    for body in seen:
        if body.get("tools"):
            texts = [m["content"] for m in body["messages"] if m["role"] in ("system", "user")]
            assert not any("do not tell" in text or "result:" in text for text in texts)


def test_a_hundred_entries_take_few_requests_of_the_writer(generate: Generate) -> None:
    found = figures(generate("--trials", "0", "--json"))
    assert set(found["requests"]) == {"writer"}
    assert found["requests"]["writer"] <= 6 * FEW


def test_from_functions_two_searches_agree(
    generate: Generate, server: FakeServer, output: Path
) -> None:
    server.answer = knowing("functions")
    seen: Counter[str] = Counter()

    def answer(asked: Asked) -> Answer:
        names = [tool["function"]["name"] for tool in asked.body.get("tools") or ()]
        seen["searches" if "give_up_branch" in names else "others"] += 1
        return knowing("functions")(asked)

    server.answer = answer
    found = figures(generate("--from", "functions", "--trials", "0", "--json"))
    assert found["entries"] == FEW == len(entries(output))
    assert seen["searches"] == found["requests"]["solver"] > 2 * FEW
    assert seen["others"] == found["requests"]["writer"]


def test_a_judge_reads_the_calls_that_do_it(generate: Generate, server: FakeServer) -> None:
    votes: list[Any] = []

    def answer(asked: Asked) -> Answer:
        names = [tool["function"]["name"] for tool in asked.body.get("tools") or ()]
        if names != ["report"]:
            return knowing()(asked)
        votes.append(asked.body)
        turn = {"solvable": "yes", "information": "yes", "tried_all": "yes", "answer": "solved"}
        found = {"turns": [{"turn": n, **turn, "why": "as asked"} for n in range(3)]}
        function = {"name": "report", "arguments": json.dumps(found)}
        call = {"id": "1", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        return as_json(completion(message, "tool_calls"))

    server.answer = answer
    found = figures(generate("--trials", "0", "--judge", "j", "--json"))
    assert found["entries"] == FEW
    assert len(votes) == found["requests"]["judge"] >= 3 * FEW
    assert {body["model"] for body in votes} == {"j"}


# What goes wrong


def test_what_a_filter_refuses_is_asked_for_again_with_the_reason(
    generate: Generate, server: FakeServer
) -> None:
    again: list[str] = []

    def answer(asked: Asked) -> Answer:
        messages = asked.body["messages"]
        if asked.body.get("tools") or len(messages) > 2:
            again.extend(m["content"] for m in messages[3:] if len(messages) == 4)
            return knowing()(asked)
        return said("Please do it all.")

    server.answer = answer
    found = figures(generate("--trials", "0", "--json"))
    kind = found["kinds"]["I2"]
    assert kind["refused"]["FORM"] == kind["tasks"] == len(again)
    assert all("the answer has no JSON object" in text for text in again)
    assert kind["answers"] == 2 * kind["tasks"]


@pytest.mark.slow
def test_who_is_never_in_form_is_asked_no_more(generate: Generate, server: FakeServer) -> None:
    server.answer = lambda _: said("No.")
    done = generate("--number", "60", "--concurrency", "1")
    assert done.status == 3
    assert (
        "20 answers in a row were malformed; last error: the answer has no JSON object" in done.err
    )
    assert server.requests == 20


def test_a_server_that_refuses_everything_ends_it(generate: Generate, server: FakeServer) -> None:
    server.answer = lambda _: as_json({"error": {"message": "the context is too long"}}, 400)
    done = generate()
    assert done.status == 3
    assert "tasks failed; last error: " in done.err
    assert "Traceback" not in done.err


def test_a_key_that_is_wrong_ends_it(generate: Generate, server: FakeServer, output: Path) -> None:
    server.answer = lambda _: as_json({"error": {"message": "bad key"}}, 401)
    done = generate("--json")
    assert done.status == 3
    assert "bad key" in done.err
    assert figures(done)["entries"] == 0
    assert not output.exists()


def test_a_secret_is_in_no_file(
    generate: Generate, server: FakeServer, output: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-0123456789abcdef"
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    server.answer = lambda _: said(f"Your key is {secret}.")
    generate("--number", "1", "--tries", "1", "--rejected", str(output.with_name("rejected")))
    held = [path for path in output.parent.rglob("*") if path.is_file()]
    assert output.with_name("rejected") in held
    assert [path for path in held if secret.encode() in path.read_bytes()] == []


# Budget, kill and resume


def test_a_budget_ends_it_and_a_larger_one_goes_on(
    generate: Generate, server: FakeServer, output: Path
) -> None:
    whole = output.with_name("whole.jsonl")
    assert generate(to=whole).status == 0
    in_all, server.requests = server.requests, 0
    first = generate("--max-requests", "20")
    assert first.status == 5
    assert "the budget of 20 requests is used up" in first.err
    assert server.requests == 20
    assert "of 4 requested entries were made; resume with --resume" in first.err
    assert not output.exists() or output.read_bytes().count(b"\n") < FEW
    assert generate("--max-requests", "1000", "--resume").status == 0
    assert server.requests == in_all
    assert output.read_bytes() == whole.read_bytes()


def test_nothing_is_asked_twice_of_what_was_asked_elsewhere(
    generate: Generate, server: FakeServer, output: Path
) -> None:
    url = ["--model", "m", "--base-url", server.base_url, "--kind", "I2", "--number", str(FEW)]
    assert main(["generate", str(output), *url]) == 0
    asked = server.requests
    other = output.with_name("other.jsonl")
    assert main(["generate", str(other), *url]) == 0
    assert server.requests == asked
    assert other.read_bytes() == output.read_bytes()


@pytest.fixture
def slow(server: FakeServer) -> Iterator[FakeServer]:
    server.latency = 0.05
    server.answer = knowing()
    yield server
    server.latency = 0.0


@pytest.mark.slow
def test_killed_and_gone_on_with_no_answer_is_asked_for_twice(
    generate: Generate, slow: FakeServer, output: Path
) -> None:
    whole = output.with_name("whole.jsonl")
    assert generate(to=whole).status == 0
    in_all, slow.requests = slow.requests, 0
    seen: list[str] = []

    def answer(asked: Asked) -> Answer:
        seen.append(json.dumps(asked.body, sort_keys=True))
        return knowing()(asked)

    slow.answer = answer
    flags = ("--concurrency", "2")
    for size, resume in ((2, ()), (9, ("--resume",))):
        process = start(command(output, slow, *flags, *resume))
        wait_until(partial(has_answers, output, size))
        process.kill()
        process.communicate()
    done = end(start(command(output, slow, *flags, "--resume")))
    assert done.status == 0, done.err
    assert output.read_bytes() == whole.read_bytes()
    # What was under way at either kill had no answer yet.
    assert len(seen) <= in_all + 2 * 2


def has_answers(output: Path, size: int) -> bool:
    return answers(output) >= size


@pytest.mark.slow
def test_interrupted_it_keeps_what_it_has(slow: FakeServer, output: Path) -> None:
    slow.latency = 0.2
    process = start(command(output, slow, "--concurrency", "1"))
    wait_until(partial(has_answers, output, 2))
    process.send_signal(signal.SIGINT)
    done = end(process)
    assert done.status == 130, done.err
    assert "interrupted" in done.err
    assert "resume with --resume" in done.err
    assert answers(output) >= 2
