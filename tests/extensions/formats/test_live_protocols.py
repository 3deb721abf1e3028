"""Models asked in every protocol, from the command line over real HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from envs.calls import Call
from extensions.experiments.function_counts import list_needed_functions
from extensions.formats.registry import PROTOCOLS, calling_formats_named
from runner.cli import main
from runner.data import dataset_choice
from runner.models.calling_formats.format_types import NativeFormat, TextFormat
from runner.records.recorded_run import open_run
from tests.live.oracle import GROUPS, knowing, played
from tests.live.running import records
from tests.servers.protocols import refusal
from tests.servers.responses import call, response, thought
from tests.servers.serving import Answer, Asked, FakeServer, as_json
from tests.servers.shapes import completion

SEVERAL = "base,miss_param,miss_func,long_context"
ONE_TURN = "simple_python,multiple,parallel,parallel_multiple,irrelevance,live_relevance"
EXECUTED = "exec_simple,exec_multiple,exec_parallel,exec_parallel_multiple,rest,sql,chat"
QUICK = ("multi_call", "hermes", "harmony")
"""Protocols of different kinds; the round trips of all are quick tests."""
in_every_protocol = pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[] if n in QUICK else [pytest.mark.slow]) for n in PROTOCOLS]
)


@pytest.fixture
def knows(server: FakeServer) -> Callable[..., FakeServer]:
    """Return a server that answers with the ground truth in a protocol."""

    def asked(name: str, categories: str) -> FakeServer:
        server.answer = knowing(PROTOCOLS[name], categories)
        return server

    return asked


def evaluate(server: FakeServer, folder: Path, *more: str) -> int:
    place = [] if "--resume" in more else ["--run-dir", str(folder)]
    return main(["eval", "--model", "fake", "--base-url", server.base_url, *place, *more])


@in_every_protocol
def test_the_oracle_passes_in_every_protocol(
    knows: Callable[..., FakeServer], tmp_path: Path, name: str
) -> None:
    server = knows(name, SEVERAL)
    wanted = ("--category", SEVERAL, "--sample", "4", "--calling-format", name)
    assert evaluate(server, tmp_path, *wanted) == 0
    found = records(tmp_path)
    assert [record["outcome"] for record in found] == ["passed"] * 4
    steps = [step for record in found for turn in record["result"] for step in turn]
    assert any(isinstance(step, list) for step in steps)
    for step in steps:
        if isinstance(step, list):
            assert all(isinstance(json.loads(*call.values()), dict) for call in step)
        else:
            assert step == "That is done."
    definition = open_run(tmp_path).definition
    assert definition is not None
    assert definition.extensions["formats"]["protocol"]["name"] == name
    assert definition.settings.mode == "fc"


@in_every_protocol
def test_single_turns_are_asked_in_every_protocol(
    knows: Callable[..., FakeServer], tmp_path: Path, name: str
) -> None:
    server = knows(name, ONE_TURN)
    wanted = ("--category", ONE_TURN, "--sample", "8", "--calling-format", name)
    assert evaluate(server, tmp_path, *wanted) == 0
    assert [record["outcome"] for record in records(tmp_path)] == ["passed"] * 8


@in_every_protocol
def test_what_is_executed_is_asked_in_every_protocol(
    knows: Callable[..., FakeServer], tmp_path: Path, name: str
) -> None:
    server = knows(name, EXECUTED)
    wanted = ("--category", EXECUTED, "--sample", "8", "--calling-format", name)
    assert evaluate(server, tmp_path, *wanted) == 0
    assert [record["outcome"] for record in records(tmp_path)] == ["passed"] * 8


@pytest.mark.slow
@pytest.mark.parametrize("categories", GROUPS)
@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_oracle_passes_a_sample_of_all_data_in_every_protocol(
    server: FakeServer, name: str, categories: str
) -> None:
    found = played(server, PROTOCOLS[name], categories, "--sample", "10")
    assert (found.asked, found.failed) == (10, ()), found.said


@pytest.mark.parametrize(
    "name",
    [
        "multi_call",
        "hermes",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("functions", "react", "kimi", "harmony")
        ),
    ],
)
def test_a_run_in_a_protocol_is_judged_once_more_as_it_was(
    knows: Callable[..., FakeServer],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
) -> None:
    server = knows(name, "base")
    folder = tmp_path / "run"
    assert (
        evaluate(server, folder, "--category", "base", "--limit", "3", "--calling-format", name)
        == 0
    )
    capsys.readouterr()
    assert main(["verify", str(folder)]) == 0
    assert "3 of 3 verdicts are as recorded" in capsys.readouterr().out
    assert main(["export", str(folder), "--format", "bfcl", "-o", str(tmp_path / "out")]) == 0
    assert main(["score", str(tmp_path / "out")]) == 0
    assert main(["report", str(folder), "-o", str(tmp_path / "report.html")]) == 0


def test_a_run_goes_on_in_its_protocol_and_in_no_other(
    knows: Callable[..., FakeServer], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = knows("harmony", "base")
    wanted = ("--category", "base", "--limit", "3", "--calling-format")
    assert evaluate(server, tmp_path / "whole", *wanted, "harmony") == 0
    assert evaluate(server, tmp_path / "cut", *wanted, "harmony", "--max-requests", "20") == 5
    asked = server.requests
    assert evaluate(server, tmp_path, *wanted, "olmo", "--resume", str(tmp_path / "cut")) == 2
    assert "protocol" in capsys.readouterr().err
    resumed = ("--resume", str(tmp_path / "cut"), "--no-preflight")
    assert evaluate(server, tmp_path, *wanted, "harmony", *resumed) == 0
    assert server.requests > asked

    def said(folder: Path) -> dict[str, object]:
        return {record["id"]: record["messages"] for record in records(folder)}

    assert said(tmp_path / "cut") == said(tmp_path / "whole")


def test_what_cannot_be_read_is_answered_and_judged_so_once_more(
    knows: Callable[..., FakeServer], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = knows("hermes", "base")
    truth, broken = server.answer, '<tool_call>{"name": "pwd", "arguments": {</tool_call>'

    def once(asked: Asked) -> Answer:
        messages = asked.body["messages"]
        said = [m["content"] for m in messages if m["role"] == "assistant"]
        if not said and len(messages) > 1:
            return as_json(completion({"role": "assistant", "content": broken}))
        rest = [m for m in messages if m["content"] != broken and "(unreadable" not in m["content"]]
        rest = [m for m in rest if "not valid JSON" not in m["content"]]
        return truth(asked._replace(body={**asked.body, "messages": rest}))

    server.answer = once
    wanted = ("--category", "base", "--limit", "2", "--calling-format", "hermes")
    assert evaluate(server, tmp_path, *wanted) == 0
    for record in records(tmp_path):
        assert record["outcome"] == "passed"
        assert record["result"][0][0] == [{"(unreadable)": record["steps"][0]["calls"][0][13:-1]}]
        assert "not valid JSON" in record["messages"][3]["content"]
    capsys.readouterr()
    assert main(["verify", str(tmp_path)]) == 0
    assert "2 of 2 verdicts are as recorded" in capsys.readouterr().out


def test_several_protocols_are_one_table(
    knows: Callable[..., FakeServer], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    server = knows("hermes", "base")
    wanted = ("--category", "base", "--limit", "2", "--calling-formats", "hermes,react,hermes")
    assert evaluate(server, tmp_path / "runs", *wanted) == 0
    said = capsys.readouterr().out
    heading, _, first, second = said.splitlines()[:4]
    assert heading.startswith("calling format")
    assert "tokens in  tokens out  unreadable  several calls" in heading
    assert first.split()[:2] == ["hermes", "2"]
    assert second.split()[:2] == ["react", "0"], "what the other one writes it does not read"
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"hermes", "react"}
    assert records(tmp_path / "runs" / "hermes")[0]["outcome"] == "passed"


def test_thoughts_in_the_text_are_kept_as_such(
    knows: Callable[..., FakeServer], tmp_path: Path
) -> None:
    server = knows("harmony", "base")
    truth = server.answer

    def thinking(asked: Asked) -> Answer:
        body = json.loads(truth(asked).body)
        choice = body["choices"][0]
        thought = "<|channel|>analysis<|message|>Let me see.<|end|><|start|>assistant"
        if choice["text"].startswith("<|channel|>final"):
            choice["text"] = thought + choice["text"]
        return as_json(body)

    server.answer = thinking
    evaluate(server, tmp_path, "--category", "base", "--limit", "1", "--calling-format", "harmony")
    [record] = records(tmp_path)
    ends = [s for s in record["steps"] if not s["calls"]]
    assert ends[0]["reply"]["reasoning"] == "Let me see."
    assert record["result"][0][-1] == "That is done."


@pytest.mark.parametrize("name", ["hermes", "multi_call", "mistral", "react"])
def test_search_works_in_a_protocol(
    knows: Callable[..., FakeServer], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    server = knows(name, "base")
    output = tmp_path / "found.jsonl"
    asked = ["search", "--model", "fake", "--base-url", server.base_url, "--category", "base"]
    more = ["--limit", "2", "--calling-format", name, "--output", str(output)]
    more += ["--run-dir", str(tmp_path / "runs")]
    assert main([*asked, *more]) == 0
    found = [json.loads(line) for line in output.read_text().splitlines()]
    assert [line["valid"] for line in found] == [True] * 4


def test_a_branch_is_given_up_as_the_protocol_writes_it(
    knows: Callable[..., FakeServer], tmp_path: Path
) -> None:
    server = knows("hermes", "base")
    truth = server.answer
    asked_at: dict[str, int] = {}

    def gives_up(asked: Asked) -> Answer:
        messages = asked.body["messages"]
        told = messages[-1]["content"]
        steps = sum(m["role"] == "assistant" for m in messages)
        opening = messages[1]["content"]
        if steps == 1 and opening not in asked_at and "give_up_branch" in told:
            asked_at[opening] = steps
            start = told.index("<tool_call>")
            call = told[start : told.index("</tool_call>") + len("</tool_call>")]
            return as_json(completion({"role": "assistant", "content": call}))
        kept = [m for m in messages if "give_up_branch" not in m["content"]]
        return truth(asked._replace(body={**asked.body, "messages": kept}))

    server.answer = gives_up
    output = tmp_path / "found.jsonl"
    asked = ["search", "--model", "fake", "--base-url", server.base_url, "--category", "base"]
    kept = ["--run-dir", str(tmp_path / "runs"), "--no-preflight"]
    main([*asked, "--limit", "1", "--calling-format", "hermes", "--output", str(output), *kept])
    found = [json.loads(line) for line in output.read_text().splitlines()]
    assert [line["undone"] for line in found] == [0, 1]
    assert found[1]["valid"] is True


@pytest.mark.parametrize("name", PROTOCOLS)
def test_what_a_model_makes_up_is_refused_as_any_call(
    knows: Callable[..., FakeServer], tmp_path: Path, name: str
) -> None:
    server, protocol = knows(name, "base"), PROTOCOLS[name]
    made_up = [Call("no_such_function", (), {"a": "b"})]

    def answer(asked: Asked) -> Answer:
        message = protocol.write(made_up, "", ()) if isinstance(protocol, TextFormat) else None
        if isinstance(message, str) and "prompt" in asked.body:
            return as_json({"choices": [{"text": message, "finish_reason": "stop"}]})
        if isinstance(message, str):
            return as_json(completion({"role": "assistant", "content": message}))
        assert isinstance(protocol, NativeFormat)
        if "input" in asked.body:
            return as_json(response([thought(), call("1", "no_such_function", '{"a": "b"}')]))
        return as_json(completion(protocol.write(made_up, "")))

    server.answer = answer
    wanted = ("--category", "base", "--limit", "1", "--calling-format", name, "--step-limit", "2")
    assert evaluate(server, tmp_path, *wanted, "--no-preflight") == 0
    [record] = records(tmp_path)
    assert record["outcome"] == "failed"
    assert record["steps"][0]["calls"] == ["no_such_function(a='b')"]
    assert "no_such_function" in record["steps"][0]["results"][0]
    assert len(record["messages"]) > 3


THOUGHTS: tuple[dict[str, object], ...] = (
    {"reasoning_content": "Hm."},
    {"reasoning": "Hm."},
    {"reasoning_details": [{"type": "reasoning.encrypted", "data": "ENC", "id": "r1"}]},
    {"thinking_blocks": [{"type": "thinking", "thinking": "Hm.", "signature": "SIG"}]},
    {"thinking_blocks": [{"type": "redacted_thinking", "data": "ENC"}]},
    {"content": [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "I look."}]},
    {"reasoning_content": ""},
    {"reasoning": "Hm.", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]},
    {"reasoning_details": [{"type": "reasoning.summary", "summary": "Hm.", "index": 0}]},
)


@pytest.mark.parametrize("name", ["tools", "functions", "multi_call", "hermes"])
@pytest.mark.parametrize("members", THOUGHTS, ids=lambda members: str(members)[:40])
def test_thoughts_go_back_as_each_provider_sends_them(
    knows: Callable[..., FakeServer], tmp_path: Path, name: str, members: dict[str, object]
) -> None:
    if name == "hermes" and "content" in members:
        pytest.skip("its calls are the content")
    server = knows(name, "base")
    truth, bodies = server.answer, list[dict[str, Any]]()

    def thinking(asked: Asked) -> Answer:
        bodies.append(asked.body)
        said = [m for m in asked.body["messages"] if m["role"] == "assistant"]
        kept = [{**m, "content": None} if "tool_calls" in m else m for m in asked.body["messages"]]
        body = json.loads(truth(asked._replace(body={**asked.body, "messages": kept})).body)
        if not said:
            body["choices"][0]["message"].update(members)
        return as_json(body)

    server.answer = thinking
    wanted = ("--category", "base", "--limit", "1", "--calling-format", name, "--no-preflight")
    assert evaluate(server, tmp_path, *wanted) == 0
    sent = [m for m in bodies[1]["messages"] if m["role"] == "assistant"]
    assert {key: sent[0][key] for key in members} == members


def test_signatures_of_calls_go_back(knows: Callable[..., FakeServer], tmp_path: Path) -> None:
    for name in ("tools", "multi_call"):
        server = knows(name, "base")
        truth, bodies = server.answer, list[dict[str, Any]]()
        signature = {"google": {"thought_signature": "SIG"}}

        def signing(asked: Asked, truth=truth, bodies=bodies, signature=signature) -> Answer:
            bodies.append(asked.body)
            body = json.loads(truth(asked).body)
            for made in body["choices"][0]["message"].get("tool_calls", ()):
                made["extra_content"] = signature
            return as_json(body)

        server.answer = signing
        wanted = ("--category", "base", "--limit", "1", "--calling-format", name, "--no-preflight")
        assert evaluate(server, tmp_path / name, *wanted) == 0
        sent = [m for m in bodies[1]["messages"] if m["role"] == "assistant"]
        assert all(made["extra_content"] == signature for made in sent[0]["tool_calls"])


NAMED = {"type": "function", "function": {"name": "{}"}}
ONE = {"name": "{}"}


@pytest.mark.parametrize(
    ("name", "choice", "member", "sent"),
    [
        ("tools", "required", "tool_choice", "required"),
        ("tools", "NAME", "tool_choice", NAMED),
        ("responses", "required", "tool_choice", "required"),
        ("responses", "NAME", "tool_choice", {"type": "function", **ONE}),
        ("functions", "NAME", "function_call", ONE),
        ("multi_call", "required", "tool_choice", "required"),
    ],
)
@pytest.mark.parametrize("category", ["simple_python", "exec_simple"])
def test_a_model_is_made_to_call_in_each_native_protocol(
    knows: Callable[..., FakeServer],
    tmp_path: Path,
    name: str,
    choice: str,
    member: str,
    sent: object,
    category: str,
) -> None:
    server = knows(name, category)
    bodies: list[dict[str, Any]] = []
    truth = server.answer

    def noting(asked: Asked) -> Answer:
        bodies.append(asked.body)
        return truth(asked)

    server.answer = noting
    data = dataset_choice.open_dataset(
        None, dataset_choice.parse_categories(category, None), lambda _: None
    )
    entry = next(iter(data.trajectories.values()))
    called = list_needed_functions(entry)[0]
    wanted = ("--category", category, "--ids", entry.id, "--calling-format", name)
    asked_for = called if choice == "NAME" else choice
    assert evaluate(server, tmp_path, *wanted, "--tool-choice", asked_for) == 0
    assert [record["outcome"] for record in records(tmp_path)] == ["passed"]
    legal = called.replace(".", "_")
    expected = json.loads(json.dumps(sent).replace("{}", legal))
    # The request before the run offers a function by that name, too.
    assert [body[member] for body in bodies] == [expected] * 2
    definition = open_run(tmp_path).definition
    assert definition is not None
    assert definition.settings.tool_choice == asked_for


def test_functions_have_one_choice(knows: Callable[..., FakeServer], tmp_path: Path) -> None:
    server = knows("functions", "base")
    bodies: list[dict[str, object]] = []
    truth = server.answer

    def noting(asked: Asked) -> Answer:
        bodies.append(asked.body)
        return truth(asked)

    server.answer = noting
    wanted = ("--category", "base", "--limit", "1", "--calling-format", "functions")
    assert evaluate(server, tmp_path, *wanted, "--tool-choice", "auto") == 0
    assert {body["function_call"] for body in bodies} == {"auto"}
    assert not any("tools" in body for body in bodies)
    assert {m["role"] for body in bodies for m in body["messages"]} == {  # type: ignore[attr-defined]
        *("user", "assistant", "function")
    }


FORMAT, FORMATS = "--calling-format", "--calling-formats"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ((FORMAT, "hermess"), f"{FORMAT}: 'hermess' is not a calling format; did you mean hermes?"),
        ((FORMAT, "Hermes"), f"{FORMAT}: 'Hermes' is not a calling format; did you mean hermes?"),
        (
            (FORMAT, "text"),
            f"{FORMAT}: 'text' selects several calling formats; use --calling-formats text",
        ),
        ((FORMATS, "hermes", "--vary", "tools=5"), "--vary: cannot be combined with"),
        (("--vary", "tools=5", "--output", "x.jsonl"), "--output: needs a single run, but --vary"),
        (
            (FORMATS, "hermes,kimmi"),
            f"{FORMATS}: 'kimmi' is not a calling format; did you mean kimi",
        ),
        ((FORMATS, ""), f"{FORMATS}: '' is not a calling format; choose from tools, functions"),
        ((FORMAT, "hermes", FORMATS, "react"), f"{FORMATS}: cannot be combined"),
        ((FORMAT, "hermes", "--mode", "prompt"), "--mode: `prompt` cannot be combined"),
        ((FORMAT, "hermes", "--formats", "all"), "--formats: cannot be combined with"),
        ((FORMATS, "hermes", "--formats", "all"), f"{FORMATS}: cannot be combined"),
        ((FORMAT, "hermes", "--prompts", "x.toml"), "x.toml: cannot be read"),
        ((FORMAT, "functions", "--prompts", "x.toml"), "--prompts: the calling format functions"),
        ((FORMAT, "hermes", "--tool-choice", "auto"), "format hermes sends no tools"),
        ((FORMAT, "functions", "--parallel-tool-calls", "on"), "format functions sends no tools"),
        ((FORMAT, "kimi", "--tool-choice", "ls"), "format kimi sends no tools"),
        ((FORMAT, "functions", "--tool-choice", "required"), "functions, use `auto`, `none`"),
        ((FORMAT, "multi_call", "--tool-choice", "ls"), "one tool represents all functions"),
        ((FORMATS, "tools,functions", "--tool-choice", "required"), "format functions, use"),
        (("--tool-choice", "required"), "is for single-turn entries, but base_files"),
        (("--tool-choice", "ls"), "is for single-turn entries, but base_files_band_setlist has"),
        (("--tool-choice", "requird"), "'requird' is not auto, none, required or the name of a"),
        (("--tool-choice", ""), "--tool-choice: must be auto, none, required or"),
        ((FORMAT, "tools", "--api", "responses"), "--api: responses cannot be combined"),
        ((FORMATS, "hermes", "--output", "x.jsonl"), "--output: needs a single run"),
    ],
)  # fmt: skip
def test_what_does_not_go_together_is_one_line(
    server: FakeServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...],
    message: str,
) -> None:
    status = evaluate(server, tmp_path / "none", "--category", "base", *more)
    said = capsys.readouterr().err.splitlines()
    assert (status, len(said)) == (2, 1)
    assert message in said[0]
    assert (server.requests, (tmp_path / "none").exists()) == (0, False)


@pytest.mark.parametrize("more", [(FORMAT, "kimi"), (FORMATS, "raw")])
def test_raw_protocols_need_a_server(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    more: tuple[str, ...],
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    command = ["eval", "--model", "groq/x", "--run-dir", str(tmp_path / "none"), *more]
    assert main(command) == 2
    [said] = capsys.readouterr().err.splitlines()
    assert "needs a server with /completions; add --base-url URL" in said


@pytest.mark.parametrize(("name", "path"), [("kimi", "/completions"), ("responses", "/responses")])
def test_a_server_without_the_api_is_told_by_one_request(
    server: FakeServer,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    name: str,
    path: str,
) -> None:
    server.answer = lambda _: refusal("Not Found", 404)
    names = (FORMATS, f"{name},{name}") if name == "kimi" else (FORMAT, name)
    assert evaluate(server, tmp_path / "none", "--category", "base", *names) != 0
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert f"has no {path}" in said[0]
    assert (server.requests, (tmp_path / "none").exists()) == (1, False)


def test_an_agent_of_one_s_own_has_no_protocol(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "--model", "python:json:dumps", FORMAT, "hermes"]) == 2
    assert f"{FORMAT}: cannot be used with an agent" in capsys.readouterr().err


def test_all_names_stand_for_all() -> None:
    natives = [each.name for each in calling_formats_named(["native"])]
    assert natives == ["tools", "functions", "responses", "multi_call"]
    assert all(
        not isinstance(each, NativeFormat) for each in calling_formats_named(["text", "raw"])
    )
    assert [each.name for each in calling_formats_named(["all"])] == list(PROTOCOLS)
