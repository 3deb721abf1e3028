"""Damaged traces: one line with file, line and JSON path, status 2, and no run folder."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import pytest

from extensions.traces import documents
from extensions.traces.commands.import_traces import _episodes
from extensions.traces.conversation import RecordedTrace
from extensions.traces.documents import Document, root
from runner.cli import main
from runner.data import dataset_choice
from tests.extensions.traces.conversations import chat, inspect, langsmith, openai, otel

Change = Callable[[Any], object]


MAKERS = {"openai": openai, "otel": otel, "langsmith": langsmith, "inspect": inspect}


def put(*path: Any) -> Change:
    """Return a change that sets a member; the last argument is its value."""
    *way, last, value = path

    def change(root: Any) -> None:
        for each in way:
            root = root[each]
        root[last] = value

    return change


def drop(*path: Any) -> Change:
    """Return a change that removes a member."""
    *way, last = path

    def change(root: Any) -> None:
        for each in way:
            root = root[each]
        del root[last]

    return change


SPANS = ("resourceSpans", 0, "scopeSpans", 0, "spans")
AT_SPAN = r"\$.resourceSpans[0].scopeSpans[0].spans"
ATTRIBUTE = (*SPANS, 0, "attributes")
DAMAGES: dict[str, tuple[str, Change, str]] = {
    "no messages": ("openai", drop("messages"), '$: has no "messages"'),
    "messages not a list": ("openai", put("messages", "x"), "$.messages: must be a list"),
    "message not an object": ("openai", put("messages", 2, 7), "$.messages[2]: must be a message"),
    "unknown role": ("openai", put("messages", 1, "role", "bot"), "$.messages[1].role: "),
    "no role": ("openai", drop("messages", 1, "role"), "$.messages[1]: is not a message"),
    "calls not a list": (
        "openai",
        put("messages", 2, "tool_calls", "x"),
        "$.messages[2].tool_calls: must be a list",
    ),
    "call without a name": (
        "openai",
        drop("messages", 2, "tool_calls", 0, "function", "name"),
        "$.messages[2].tool_calls[0].function.name: is missing",
    ),
    "arguments of a wrong type": (
        "openai",
        put("messages", 2, "tool_calls", 0, "function", "arguments", [1]),
        "$.messages[2].tool_calls[0].function.arguments: must be an object",
    ),
    "id of no call": (
        "openai",
        put("messages", 3, "tool_call_id", "z"),
        "$.messages[3].tool_call_id: ",
    ),
    "result without a call": (
        "openai",
        put("messages", 5, {"role": "tool", "content": "x"}),
        "$.messages[5]: is a result without a call",
    ),
    "content of a wrong type": (
        "openai",
        put("messages", 1, "content", 5),
        "$.messages[1].content: must be a string",
    ),
    "part of a wrong type": (
        "openai",
        put("messages", 1, "content", [5]),
        "$.messages[1].content[0]: is not a content part",
    ),
    "huge trial": ("openai", put("metadata", "trial", 10**9), "$: the trial must be"),
    "negative trial": ("openai", put("metadata", "trial", -1), "$: the trial must be"),
    "entry of a wrong type": ("openai", put("metadata", "entry", 5), "$: the entry's name"),
    "unknown entry": ("openai", put("metadata", "entry", "desk_1"), "did you mean desk_0?"),
    "no entry": ("openai", drop("metadata"), "$: has no entry id"),
    "no user message": ("openai", put("messages", []), "$.messages: has no user message"),
    "calls before the user": (
        "openai",
        drop("messages", 1),
        "$.messages[1]: calls functions before",
    ),
    "not spans": ("otel", drop("resourceSpans"), '$: has no "resourceSpans"'),
    "spans not a list": ("otel", put("resourceSpans", {}), "$.resourceSpans: must be a list"),
    "attribute without a key": (
        "otel",
        drop(*ATTRIBUTE, 0, "key"),
        "spans[0].attributes[0].key: is missing",
    ),
    "messages not JSON": (
        "otel",
        put(*ATTRIBUTE, 1, "value", "stringValue", "[{"),
        "spans[0].attributes[1].value: gen_ai.input.messages is not valid JSON",
    ),
    "parts not a list": (
        "otel",
        put(*ATTRIBUTE, 1, "value", "stringValue", '[{"role": "user", "parts": 1}]'),
        "gen_ai.input.messages[0].parts: must be a list",
    ),
    "time of a wrong form": (
        "otel",
        put(*SPANS, 1, "startTimeUnixNano", "now"),
        "spans[1].startTimeUnixNano: must be nanoseconds",
    ),
    "history that does not continue": (
        "otel",
        lambda root: (
            put(*SPANS, 1, "traceId", "t0")(root)
            or put(
                *SPANS,
                1,
                "attributes",
                1,
                "value",
                "stringValue",
                '[{"role": "user", "content": "a"}, {"role": "user", "content": "b"},'
                ' {"role": "assistant", "content": "c"}]',
            )(root)
        ),
        "spans[1]: the messages do not continue",
    ),
    "not a run": ("langsmith", drop(0, "run_type"), "$[0]: is not a run"),
    "no model run": (
        "langsmith",
        lambda root: root[0].update(run_type="tool", outputs={}),
        "$[0]: the trace has no run of the type `llm`",
    ),
    "time that is none": ("langsmith", put(0, "end_time", "x"), "$[0].start_time: is not a time"),
    "answer of the user": (
        "langsmith",
        put(0, "outputs", "choices", 0, "message", "role", "user"),
        "$[0].outputs.choices[0].message: does not end with",
    ),
    "no samples": ("inspect", drop("samples"), '$: has no "samples"'),
    "epoch 0": ("inspect", put("samples", 0, "epoch", 0), "$.samples[0].epoch: must be"),
    "sample without messages": (
        "inspect",
        drop("samples", 0, "messages"),
        '$.samples[0]: has no "messages"',
    ),
}


def refusal(path: Path, form: str, desk: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line with which an import is refused."""
    folder = path.parent / "never"
    command = ["import", str(path), "--format", form, "-o", str(folder), "--dataset", str(desk)]
    status = main(command)
    out, error = capsys.readouterr()
    assert (status, out) == (2, "")
    assert not folder.exists()
    [line] = error.splitlines()
    assert "Traceback" not in line
    return line


def test_there_are_enough() -> None:
    assert len(DAMAGES) >= 30


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_trace_gives_one_line(
    name: str, tmp_path: Path, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    form, change, said = DAMAGES[name]
    value = MAKERS[form]()
    change(value)
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(value, indent=1))
    line = refusal(path, form, desk, capsys)
    assert said in line
    place = re.search(re.escape(str(path)) + r":(\d+): \$", line)
    assert place, line
    # The line is that of the place, and the last one that exists on the way to it.
    assert 1 <= int(place[1]) <= path.read_text().count("\n") + 1


def test_the_line_is_that_of_the_place(
    tmp_path: Path, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    value = openai()
    value["messages"][6]["tool_calls"][0]["function"]["name"] = 5
    path = tmp_path / "trace.json"
    path.write_text(text := json.dumps(value, indent=1))
    number = text[: text.index('"name": 5')].count("\n") + 1
    assert f"{path}:{number}: $.messages[6].tool_calls[0].function.name" in refusal(
        path, "openai", desk, capsys
    )
    path = tmp_path / "traces.jsonl"
    path.write_text(f"{json.dumps(openai())}\n\n{json.dumps(value)}\n")
    assert f"{path}:3: $.messages[6]" in refusal(path, "jsonl", desk, capsys)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "holds no trace"),
        (b'{"messages": [', "is not valid JSON"),
        (b'{"messages": NaN}', "$.messages: must be a finite number"),
        (b"[" * 100_000, "is nested too deep"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"[]", "has no user message"),
    ],
)
def test_a_file_that_is_not_json_gives_one_line(
    text: bytes, said: str, tmp_path: Path, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "damaged.json"
    path.write_bytes(text)
    assert said in refusal(path, "openai", desk, capsys)


def test_a_file_may_be_neither_too_large_nor_an_archive(
    tmp_path: Path,
    desk: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(documents, "MAX_BYTES", 10)
    path = tmp_path / "log.eval"
    path.write_bytes(b"PK")
    assert "convert it to JSON with `inspect log dump FILE`" in refusal(
        path, "inspect", desk, capsys
    )
    path = tmp_path / "trace.json"
    path.write_text(json.dumps(openai()))
    assert "the maximum is 10 bytes" in refusal(path, "openai", desk, capsys)


def test_a_path_must_exist_and_a_folder_hold_files(
    tmp_path: Path, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "is not a file or folder" in refusal(tmp_path / "none", "openai", desk, capsys)
    (tmp_path / "empty").mkdir()
    assert "has no *.json or *.jsonl file" in refusal(tmp_path / "empty", "openai", desk, capsys)


def test_trials_must_differ(tmp_path: Path, desk: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text(f"{json.dumps(openai())}\n{json.dumps(openai())}\n")
    line = refusal(path, "openai", desk, capsys)
    assert f"{path}:2: $: trial 0 of desk_0 is also at {path}:1; keep one" in line


def test_free_trials_are_found_in_one_pass(tmp_path: Path, desk: Path) -> None:
    """Many traces without a trial number do not search the taken numbers again."""
    free = RecordedTrace(root(Document(tmp_path, 1, "{}", {})), "desk_0", None, None, [])
    traces = [free._replace(trial=1), *[free] * 20_000]
    dataset = dataset_choice.load_named(str(desk), None, print)
    started = process_time()
    trials = [trial for _, trial, _ in _episodes(traces, dataset)]
    assert process_time() - started < 2
    assert trials == [1, 0, *range(2, 20_001)]


def test_an_entry_is_named_for_one_trace_only(
    tmp_path: Path, desk: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "traces.jsonl"
    path.write_text(f"{json.dumps(chat())}\n{json.dumps(chat())}\n")
    command = ["import", str(path), "--format", "jsonl", "-o", str(tmp_path / "never")]
    assert main([*command, "--dataset", str(desk), "--entry", "desk_0"]) == 2
    assert "--entry: is for a single trace, but the file has 2" in capsys.readouterr().err


def test_traces_are_exported_from_transcripts_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["export", str(tmp_path), "--format", "bfcl", "--traces", "otel"]) == 2
    assert "--traces: is for --format openai-messages, not bfcl" in capsys.readouterr().err
