"""Runs exported as traces and imported again, traces of others, and results that differ."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import turnwise

from runner.cli import main
from runner.records.durable_files import LineFile, WriteError
from runner.records.episode_record import EpisodeRecord
from runner.records.recorded_run import open_run
from tests.extensions.traces.conversations import (
    BLOCKS,
    FIRST,
    ITEMS,
    LANGCHAIN,
    LEGACY,
    MADE,
    OPEN,
    SECOND,
    chat,
    part,
    span,
)
from tests.extensions.traces.traced_run import FORMATS, export, make_run

QUICK = 5


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a few entries."""
    return make_run(tmp_path_factory.mktemp("traced") / "run", QUICK)


def read(folder: Path) -> dict[tuple[str, int], EpisodeRecord]:
    """Return the records of a run by entry and trial."""
    return {record.key: record for record in open_run(folder).records}


def imported(path: Path, form: str, *more: str) -> Path:
    """Import a file; return the run folder."""
    folder = path.parent / f"{path.stem}-imported{len([*path.parent.iterdir()])}"
    assert main(["import", str(path), "--format", form, "-o", str(folder), *more]) == 0
    return folder


def fields(record: EpisodeRecord, form: str) -> list[Any]:
    """Return what a format can hold of an episode's steps."""
    found = []
    for step in record.steps:
        reply = step.reply
        given = [_arguments(call.arguments) for call in reply.tool_calls]
        calls = [(call.name, args) for call, args in zip(reply.tool_calls, given, strict=True)]
        held: dict[str, Any] = {
            "text": reply.text or "",
            "reasoning": reply.reasoning,
            "calls": calls,
            "turn": step.turn,
            "results": list(step.results),
        }
        if form != "openai":
            held |= {"usage": step.usage, "latency": pytest.approx(step.latency, abs=2e-6)}
            held["finish_reason"] = reply.finish_reason
        found.append(held)
    return found


def _arguments(arguments: Any) -> Any:
    """Return the value of arguments; some formats hold an object in place of its text."""
    try:
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments


def check_round_trip(run: Path, form: str, *more: str) -> None:
    """Compare a run with itself, exported and imported."""
    path = export(run, form)
    then, now = read(run), read(imported(path, form, *more))
    assert then.keys() == now.keys()
    for key, record in then.items():
        again = now[key]
        assert again.verdict is not None
        assert again.verdict.to_json() == record.verdict.to_json()  # type: ignore[union-attr]
        assert fields(again, form) == fields(record, form)
        assert again.extensions["traces"].differences == []
        assert again.telling == record.telling
        assert again.turn_ends == record.turn_ends
        if form != "inspect":  # It has no text of arguments.
            assert again.result == record.result


@pytest.mark.parametrize("form", FORMATS)
def test_nothing_is_lost_on_the_way_there_and_back(run: Path, form: str) -> None:
    check_round_trip(run, form)


@pytest.fixture(scope="module")
def worlds_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run with events of worlds."""
    return make_run(tmp_path_factory.mktemp("worlds") / "run", 8, "worlds")


@pytest.mark.parametrize("form", FORMATS)
def test_events_of_a_world_do_not_count_as_turns(worlds_run: Path, form: str) -> None:
    records = read(worlds_run).values()
    assert [m for record in records for m in record.messages if "[Notice" in str(m)]
    check_round_trip(worlds_run, form, "--dataset", "worlds")


@pytest.mark.slow
def test_nothing_is_lost_of_all_episodes_with_worlds(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", 72, "worlds")
    for form in FORMATS:
        check_round_trip(run, form, "--dataset", "worlds")


@pytest.mark.slow
def test_nothing_is_lost_of_200_episodes(tmp_path: Path) -> None:
    run = make_run(tmp_path / "run", 200)
    records = read(run)
    assert len(records) == 200
    assert {record.outcome for record in records.values()} == {"passed", "failed"}
    for form in FORMATS:
        check_round_trip(run, form)


def test_transcripts_for_training_are_read_too(run: Path) -> None:
    path = run.parent / "transcripts.jsonl"
    assert main(["export", str(run), "--format", "openai-messages", "-o", str(path)]) == 0
    then, now = read(run), read(imported(path, "jsonl"))
    assert [each.outcome for each in now.values()] == [then[key].outcome for key in now]


def test_an_imported_run_is_an_ordinary_run(
    run: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = imported(export(run, "otel"), "otel")
    id = next(iter(read(folder)))[0]
    assert open_run(folder).name == "mine"
    for command in (
        ["table", str(folder)],
        ["verify", str(folder)],
        ["replay", id, "--run", str(folder)],
        ["episodes", str(folder)],
        ["compare", str(run), str(folder)],
        ["report", str(folder), "-o", str(tmp_path / "report.html")],
        ["export", str(folder), "--format", "bfcl", "-o", str(tmp_path / "bfcl")],
    ):
        assert main(command) == 0, command
    assert f"{QUICK} of {QUICK} verdicts are as recorded" in capsys.readouterr().out


def test_an_import_that_cannot_be_written_leaves_no_run(
    run: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    append, left = LineFile.append, iter(range(3))

    def on_a_small_disk(file: LineFile, line: bytes) -> int:
        if next(left, None) is None:
            raise WriteError("here", "cannot be written: no space left")
        return append(file, line)

    monkeypatch.setattr(LineFile, "append", on_a_small_disk)
    folder = tmp_path / "imported"
    words = ["import", str(export(run, "openai")), "--format", "jsonl", "-o", str(folder)]
    assert main(words) == 2
    assert capsys.readouterr().err.endswith("turnwise: here: cannot be written: no space left\n")
    assert not folder.exists()


def test_the_entry_is_right(desk: Path) -> None:
    assert main(["eval", "--model", "oracle", "--dataset", str(desk), "--fail-under", "100%"]) == 0


@pytest.mark.parametrize("messages", [chat(), LEGACY, ITEMS, BLOCKS, LANGCHAIN])
@pytest.mark.parametrize("holder", ["list", "object", "objects"])
def test_lists_of_messages_are_understood(
    desk: Path, tmp_path: Path, messages: list[Any], holder: str
) -> None:
    named = {"messages": messages, "metadata": {"entry": "desk_0"}}
    value: Any = {"list": messages, "object": named, "objects": [named]}[holder]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(value, indent=1))
    more = ["--entry", "desk_0"] if holder == "list" else []
    folder = imported(path, "openai", "--dataset", str(desk), *more)
    [record] = read(folder).values()
    assert record.outcome == "passed"
    assert [len(step.calls) for step in record.steps] == [1, 0, 1, 0]
    assert record.extensions["traces"].differences == []
    assert record.extensions["traces"].source.startswith(f"{path}:")


@pytest.mark.parametrize("role", ["tool", "user"])
def test_spans_of_one_conversation_may_hold_new_messages_only(
    desk: Path, tmp_path: Path, role: str
) -> None:
    texts = [[{"role": "user", "parts": [part("text", content=each)]}] for each in (FIRST, SECOND)]
    calls = [
        part("tool_call", id="a", name="create_ticket", arguments=OPEN),
        part("tool_call", id="b", name="get_ticket", arguments={"ticket_id": 1}),
    ]
    spans = []
    for number, (asked, made) in enumerate(zip(texts, calls, strict=True)):
        result = [
            {
                "role": role,
                "parts": [part("tool_call_response", id=made["id"], response=MADE)],
            }
        ]
        common = {"gen_ai__conversation__id": "one", "gen_ai__usage__input_tokens": 7}
        answers = [[made], [part("text", content="Done.")]]
        for place, (inputs, parts) in enumerate(zip((asked, result), answers, strict=True)):
            output = [{"role": "assistant", "parts": parts, "finish_reason": "stop"}]
            spans.append(
                span(
                    2 * number + place,
                    gen_ai__input__messages=json.dumps(inputs),
                    gen_ai__output__messages=json.dumps(output),
                    turnwise__entry="desk_0",
                    **common,
                )
            )
    # Collectors write a line for each batch, in any order.
    lines = [{"resourceSpans": [{"scopeSpans": [{"spans": [each]}]}]} for each in spans[::-1]]
    path = tmp_path / "spans.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    [record] = read(imported(path, "otel", "--dataset", str(desk))).values()
    assert record.outcome == "passed"
    assert [step.usage.prompt for step in record.steps] == [7, 7, 7, 7]
    assert [step.latency for step in record.steps] == [1.0] * 4
    assert record.extensions["traces"].differences == []


def test_runs_of_a_thread_are_one_conversation(desk: Path, tmp_path: Path) -> None:
    runs = []
    for number, start in enumerate((1, 3, 5, 7)):
        said = LANGCHAIN[:start]
        answer = LANGCHAIN[len(said)]
        runs.append(
            {
                "id": f"r{number}",
                "trace_id": f"t{number // 2}",
                "run_type": "llm",
                "dotted_order": f"{number}",
                "start_time": "2026-01-01T00:00:00",
                "end_time": "2026-01-01T00:00:02.500000",
                "inputs": {"messages": [said]},
                "outputs": {
                    "generations": [[{"text": "", "message": answer}]],
                    "llm_output": {"token_usage": {"prompt_tokens": 9, "completion_tokens": 1}},
                },
                "extra": {"metadata": {"thread_id": "x", "ls_model_name": "some-model"}},
                "tags": ["entry:desk_0"],
            }
        )
    path = tmp_path / "runs.json"
    path.write_text(json.dumps(runs))
    folder = imported(path, "langsmith", "--dataset", str(desk))
    [record] = read(folder).values()
    assert record.outcome == "passed"
    assert open_run(folder).name == "some-model"
    assert [step.usage.prompt for step in record.steps] == [9, 5, 9, 9]
    assert {step.latency for step in record.steps} == {2.5}


def test_the_answer_of_a_graph_may_repeat_the_conversation(desk: Path, tmp_path: Path) -> None:
    said = [{"type": "system", "content": "Be brief."}, *LANGCHAIN]
    graph = {
        "id": "graph",
        "run_type": "chain",
        "inputs": {"messages": LANGCHAIN[:1]},
        "outputs": {"messages": said},
        "tags": ["entry:desk_0"],
    }
    path = tmp_path / "graph.json"
    path.write_text(json.dumps([graph]))
    [record] = read(imported(path, "langsmith", "--dataset", str(desk))).values()
    assert (record.outcome, len(record.steps)) == ("passed", 4)


def test_runs_that_are_nested_in_a_run_belong_to_its_trace(desk: Path, tmp_path: Path) -> None:
    asked = [
        {
            "id": f"llm{number}",
            "run_type": "llm",
            "start_time": f"2026-01-01T00:00:0{number}",
            "inputs": {"messages": [LANGCHAIN[:start]]},
            "outputs": {"generations": [[{"message": LANGCHAIN[start]}]]},
        }
        for number, start in enumerate((1, 3, 5, 7))
    ]
    graph = {"id": "graph", "run_type": "chain", "child_runs": asked}
    top = {"id": "top", "run_type": "chain", "child_runs": [graph], "tags": ["entry:desk_0"]}
    path = tmp_path / "nested.json"
    path.write_text(json.dumps(top))
    [record] = read(imported(path, "langsmith", "--dataset", str(desk))).values()
    assert (record.outcome, len(record.steps)) == ("passed", 4)


def test_a_log_of_inspect_has_errors_of_tools_and_epochs(desk: Path, tmp_path: Path) -> None:
    wrong = [
        {"role": "user", "content": FIRST},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "a", "function": "get_ticket", "arguments": {"ticket_id": 5}}],
        },
        {
            "role": "tool",
            "tool_call_id": "a",
            "content": "",
            "error": {"type": "unknown", "message": "no such ticket"},
        },
        {"role": "assistant", "content": "It failed."},
    ]
    samples = [
        {"id": "desk_0", "epoch": 1, "messages": chat()},
        {"id": "desk_0", "epoch": 2, "messages": wrong},
        {"id": 7, "epoch": 3, "metadata": {"entry": "desk_0"}, "messages": chat()[:5]},
    ]
    samples[2]["error"] = {"message": "the sandbox was gone"}
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"eval": {"model": "org/model"}, "samples": samples}))
    folder = tmp_path / "log-run"
    command = ["import", str(path), "--format", "inspect", "-o", str(folder)]
    assert main([*command, "--dataset", str(desk)]) == 3
    records = read(folder)
    assert [each.outcome for each in records.values()] == ["passed", "failed", "error"]
    assert records["desk_0", 2].error == "the sandbox was gone"
    [difference] = records["desk_0", 1].extensions["traces"].differences
    assert difference.theirs == "no such ticket"


OTHER = {**MADE, "status": "Closed"}


def test_results_that_differ_are_reported_call_by_call(
    desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(chat(OTHER)))
    more = ("--dataset", str(desk), "--entry", "desk_0")
    ours = imported(path, "openai", *more)
    shown = capsys.readouterr().out
    assert "desk_0, turn 2, get_ticket(ticket_id=1): returns" in shown
    assert '"Closed"' in shown
    assert "Differences from the recorded results: 2. The verdicts use the results of" in shown
    [record] = read(ours).values()
    assert record.outcome == "passed"
    assert json.loads(record.steps[2].results[0]) == MADE

    theirs = imported(path, "openai", "--trust-results", *more)
    [record] = read(theirs).values()
    assert record.outcome == "failed"
    assert record.verdict is not None
    assert (record.verdict.error_type or "").endswith("execution_response_mismatch")
    assert json.loads(record.steps[2].results[0]) == OTHER
    assert json.loads(record.messages[6]["content"]) == OTHER
    # The state is ours.
    [change] = [each for each in record.steps[0].changes if "queue" in each.path]
    assert change.after["status"] == "Open"
    capsys.readouterr()
    assert main(["verify", str(theirs), "--dataset", str(desk)]) == 0
    assert main(["replay", "desk_0", "--run", str(theirs), "--dataset", str(desk)]) == 0
    shown = capsys.readouterr().out
    assert "recorded result: turn 2, get_ticket(ticket_id=1)" in shown
    assert main(["replay", "desk_0", "--run", str(theirs), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["trace"]["differences"][1]["theirs"] == json.dumps(OTHER)


@pytest.mark.parametrize(
    ("messages", "warning"),
    [
        (chat()[:5], "has 1 user message, but the entry has 2 turns"),
        ([*chat(), *chat()[5:]], "has 3 user messages, but the entry has 2 turns"),
    ],
)
def test_a_wrong_number_of_turns_is_judged_as_in_recorded_runs(
    desk: Path,
    tmp_path: Path,
    messages: list[Any],
    warning: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(messages))
    folder = imported(path, "openai", "--dataset", str(desk), "--entry", "desk_0")
    assert warning in capsys.readouterr().err
    [record] = read(folder).values()
    assert record.verdict is not None
    assert record.verdict.error_type == "multi_turn:force_terminated"
    assert main(["verify", str(folder), "--dataset", str(desk)]) == 0


def test_other_words_of_the_user_give_a_warning(
    desk: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    messages = chat()
    messages[5] = {"role": "user", "content": "And now?"}
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(messages))
    folder = imported(path, "openai", "--dataset", str(desk), "--entry", "desk_0")
    assert "turn 2: trace and entry have different user messages" in capsys.readouterr().err
    assert [each.outcome for each in read(folder).values()] == ["passed"]


def test_a_turn_may_end_without_words(desk: Path, tmp_path: Path) -> None:
    messages = chat()
    del messages[8], messages[4]
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(messages))
    folder = imported(path, "openai", "--dataset", str(desk), "--entry", "desk_0")
    [record] = read(folder).values()
    assert record.outcome == "passed"
    assert [end.why for end in record.turn_ends] == ["empty", "empty"]
    assert main(["verify", str(folder), "--dataset", str(desk)]) == 0


TRACK = {
    "name": "track",
    "description": "Track a parcel.",
    "parameters": {
        "type": "dict",
        "properties": {"parcel": {"type": "string", "description": "Its number."}},
        "required": ["parcel"],
    },
}
SINGLE = {
    "id": "track_0",
    "category": "simple_python",
    "environments": [],
    "config": {},
    "turns": [{"messages": [{"role": "user", "content": "Where is 7?"}], "ground_truth": []}],
    "expects": {"functions": [TRACK], "answers": [{"track": {"parcel": ["7"]}}]},
}


@pytest.mark.parametrize("profile", ["bfcl", "strict"])
@pytest.mark.parametrize("arguments", [{"parcel": "7"}, '{"parcel": "7"}'])
def test_arguments_of_a_single_turn_may_be_an_object(
    tmp_path: Path, write_lines: Any, profile: str, arguments: object
) -> None:
    data = write_lines("single.jsonl", SINGLE)
    call = {"id": "a", "type": "function", "function": {"name": "track", "arguments": arguments}}
    answer = {"role": "assistant", "tool_calls": [call]}
    messages = [{"role": "user", "content": "Where is 7?"}, answer]
    entry = turnwise.load_dataset(str(data)).trajectories["track_0"]
    assert turnwise.judge(entry, messages=messages, profile=profile).valid
    path = tmp_path / "trace.json"
    path.write_text(json.dumps({"messages": messages, "entry": "track_0"}))
    [record] = read(imported(path, "openai", "--dataset", str(data), "--profile", profile)).values()
    assert record.outcome == "passed"
    run = turnwise.evaluate(
        lambda messages, tools: answer, str(data), profile=profile, run_dir=tmp_path / "run"
    )
    assert (run.passed, run.errors) == (1, 0)


@pytest.mark.parametrize(
    "value",
    [{"data": [{"traceID": "x", "spans": []}]}, {"resourceLogs": []}, [{"traceId": "x"}]],
    ids=["Jaeger", "logs", "spans"],
)
def test_spans_in_other_forms_are_refused_with_the_form_that_is_read(
    desk: Path, tmp_path: Path, value: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "spans.json"
    path.write_text(json.dumps(value))
    command = ["import", str(path), "--format", "otel", "--dataset", str(desk)]
    assert main([*command, "-o", str(tmp_path / "run")]) == 2
    problem = 'has no "resourceSpans"; export spans as OTLP JSON, not as logs or for Jaeger'
    assert capsys.readouterr().err == f"turnwise: {path}:1: $: {problem}\n"
