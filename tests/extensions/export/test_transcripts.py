from __future__ import annotations

import json
import tracemalloc

import pytest

from checkers.reasons import Reason
from checkers.verdict import Failure, Verdict
from envs.errors import DataError
from extensions.export.fine_tuning import write_transcripts
from extensions.export.transcripts import export_bfcl, tuning_transcripts
from runner.cli import main
from runner.models.model_types import ToolCall, Usage
from runner.records import bfcl_result_file, recorded_run
from runner.records.episode_record import EpisodeRecord, ReplyRecord
from runner.records.recorded_run import open_run
from runner.records.run_store import RunStore
from tests.runner.records.made import defining
from tests.runner.records.made import step as request

LS, CD = (
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("ls", "cd")
)
CALL = {"create_ticket": '{"title": "A", "priority": 3}'}


@pytest.fixture
def run_of(tmp_path):
    """Make a run of some records and read it."""

    def make(*records, model="org/model"):
        folder = tmp_path / "run"
        with RunStore.create(folder, defining(model)) as store:
            store.put_tools("early", [LS])
            store.put_tools("late", [LS, CD])
            for record in records:
                store.append(record)
        return open_run(folder)

    return make


def step(turn, prompt=None, completion=None, latency=0.5, tools=None):
    """Return the record of a step."""
    usage = Usage(prompt, completion)
    return request(turn)._replace(usage=usage, latency=latency, tools=tools)


def episode(id="multi_turn_base_0", outcome="passed", trial=0, category="base", **more):
    """Return an episode of one turn with two steps, in the form that function calling gives."""
    messages = [
        {"role": "user", "content": "Go."},
        assistant("c1"),
        answer("c1"),
        {"role": "assistant", "content": "Done."},
    ]
    steps = [step(0, 10, 2, tools="early"), step(0, 14, 3, 0.25, "early")]
    made = EpisodeRecord(
        *(id, trial, category, outcome, None, None),
        messages=messages,
        steps=steps,
        result=[[[CALL], "Done."]],
    )
    return made._replace(**more)


def failure(id="multi_turn_base_9"):
    """Return an episode that ended in an error, with no more than such a one has."""
    return EpisodeRecord(id, 0, "base", "error", None, "no answer")


def assistant(*ids):
    """Return an assistant's message with tool calls."""
    function = {"name": "ls", "arguments": "{}"}
    calls = [{"id": id, "type": "function", "function": function} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answer(id):
    """Return the result of a tool call."""
    return {"role": "tool", "tool_call_id": id, "content": "{}"}


def entries(path):
    """Return the JSON lines of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# BFCL's result files


def test_there_is_a_file_per_category_where_the_reference_looks(run_of, tmp_path):
    run = run_of(
        episode("multi_turn_base_0"),
        episode("multi_turn_miss_func_3", category="miss_func"),
        episode("ours_7", category="composite"),
        episode("multi_turn_base_1"),
    )
    folder = tmp_path / "result" / "org_model" / "multi_turn"
    paths = export_bfcl(run, tmp_path / "result")
    assert paths == [
        folder / "BFCL_v4_multi_turn_base_result.json",
        folder / "BFCL_v4_multi_turn_miss_func_result.json",
        folder / "BFCL_v4_multi_turn_composite_result.json",
    ]
    assert sorted(paths) == sorted(folder.iterdir())
    assert [[entry["id"] for entry in entries(path)] for path in paths] == [
        ["multi_turn_base_0", "multi_turn_base_1"],
        ["multi_turn_miss_func_3"],
        ["ours_7"],
    ]


def test_no_file_is_written_if_the_folder_of_one_cannot_be_made(run_of, tmp_path):
    run = run_of(
        episode("multi_turn_base_0"),
        episode("live_simple_0-0-0", category="live_simple", result=[["Done."]]),
    )
    folder = tmp_path / "org_model"
    folder.mkdir()
    (folder / "live").write_text("a file")
    with pytest.raises(DataError, match=r"live_simple_result.json: .*live is a file, not a folder"):
        export_bfcl(run, tmp_path)
    assert [*folder.iterdir()] == [folder / "live"]


def test_an_entry_has_tokens_and_latency_nested_like_its_result(run_of, tmp_path):
    steps = [step(0, 10, 2, 0.5), step(0, 14, 3, 0.25), step(1, None, None, 1.0)]
    run = run_of(episode(steps=steps, result=[[[CALL], "Done."], [None]]))
    [path] = export_bfcl(run, tmp_path)
    assert entries(path) == [
        {
            "id": "multi_turn_base_0",
            "result": [[[CALL], "Done."], [None]],
            "input_token_count": [[10, 14], [None]],
            "output_token_count": [[2, 3], [None]],
            "latency": [[0.5, 0.25], [1.0]],
        }
    ]


@pytest.mark.parametrize(
    ("category", "place"),
    [
        ("simple_java", "non_live/BFCL_v4_simple_java_result.json"),
        ("irrelevance", "non_live/BFCL_v4_irrelevance_result.json"),
        ("live_parallel_multiple", "live/BFCL_v4_live_parallel_multiple_result.json"),
        ("chat", "other/BFCL_v4_chat_result.json"),
    ],
)
def test_a_single_turn_is_its_step_in_the_folder_of_its_group(run_of, tmp_path, category, place):
    one = episode("ours", category=category, steps=[step(0, 10, 2)], result=[[[{"f": "{}"}]]])
    [path] = export_bfcl(run_of(one), tmp_path)
    assert path == tmp_path / "org_model" / place
    assert entries(path) == [
        {
            "id": "ours",
            "result": [{"f": "{}"}],
            "input_token_count": 10,
            "output_token_count": 2,
            "latency": 0.5,
        }
    ]
    [entry] = bfcl_result_file.read(path)
    assert entry.turns == [[[{"f": "{}"}]]]
    assert bfcl_result_file.find_result_files([tmp_path]) == [path]


def test_an_executed_answer_is_found_again(run_of, tmp_path):
    one = episode("ours", category="exec_simple", steps=[step(0, 10, 2)], result=[[[CALL]]])
    [path] = export_bfcl(run_of(one), tmp_path)
    assert path == tmp_path / "org_model" / "other" / "BFCL_v4_exec_simple_result.json"
    [entry] = bfcl_result_file.read(path)
    assert entry.turns == [[[CALL]]]
    assert bfcl_result_file.find_result_files([tmp_path]) == [path]


def test_an_error_is_text_where_turns_would_be(run_of, tmp_path):
    [path] = export_bfcl(run_of(failure()), tmp_path)
    assert entries(path) == [
        {"id": "multi_turn_base_9", "result": "Error during inference: no answer"}
    ]
    [entry] = bfcl_result_file.read(path)
    assert entry.turns is None


def test_entries_come_in_the_order_of_their_numbers(run_of, tmp_path):
    ids = ["multi_turn_base_10", "multi_turn_base_9", "2x", "10x", "ours"]
    [path] = export_bfcl(run_of(*map(episode, ids)), tmp_path)
    assert [entry["id"] for entry in entries(path)] == [
        *("2x", "10x", "multi_turn_base_9", "multi_turn_base_10", "ours")
    ]


def test_one_trial_is_written_the_first_unless_another_is_asked_for(run_of, tmp_path):
    run = run_of(*(episode(trial=trial, result=[[f"trial {trial}"]]) for trial in (1, 0)))
    for trial, options in ((0, {}), (1, {"trial": 1})):
        [path] = export_bfcl(run, tmp_path, **options)
        assert [entry["result"] for entry in entries(path)] == [[[f"trial {trial}"]]]
    with pytest.raises(DataError, match="has no finished episode of trial 2"):
        export_bfcl(run, tmp_path, trial=2)


@pytest.mark.parametrize(
    ("model", "options", "folder"),
    [
        ("gemini/pro", {}, "gemini_pro"),
        ("../../x", {}, ".._.._x"),
        ("..", {}, "model"),
        (".", {}, "model"),
        ("a\0b", {}, "a-b"),
        ("mine", {"model": "gpt-4o-FC"}, "gpt-4o-FC"),
        ("mine", {"model": "a/b"}, "a_b"),
    ],
)
def test_the_model_names_the_folder(run_of, tmp_path, model, options, folder):
    [path] = export_bfcl(run_of(episode(), model=model), tmp_path / "out", **options)
    assert path.parent == tmp_path / "out" / folder / "multi_turn"


def test_a_category_that_does_not_exist_names_no_file(run_of, tmp_path):
    run = run_of(episode(category="../../base"))
    with pytest.raises(DataError, match=r"multi_turn_base_0: '\.\./\.\./base' is not a category"):
        export_bfcl(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("step", "mode"), [([CALL], "fc"), ("create_ticket(title='A', priority=3)", "prompt")]
)
def test_what_is_exported_is_scored_like_any_recorded_run(
    run_of, tmp_path, bfcl_folder, step, mode
):
    run = run_of(
        episode("multi_turn_base_0", result=[[step, "Done."]]),
        episode("multi_turn_base_1", outcome="failed", result=[["Done."], ["Done."]]),
        episode("multi_turn_long_context_0", category="long_context", result=[[step, "Done."]]),
    )
    [path, _] = export_bfcl(run, tmp_path / "result")
    assert {entry.mode for entry in bfcl_result_file.read(path)} == {mode}
    verdicts = tmp_path / "verdicts.jsonl"
    options = ["--dataset", f"bfcl:{bfcl_folder}", "--output", str(verdicts)]
    assert main(["score", str(tmp_path / "result"), *options]) == 0
    assert {entry["id"]: entry["valid"] for entry in entries(verdicts)} == {
        "multi_turn_base_0": True,
        "multi_turn_base_1": False,
        "multi_turn_long_context_0": True,
    }


# Chat transcripts


def write_chats(run, path, *, only_passed):
    """Write the transcripts of a run as ``turnwise export --format openai-messages`` does."""
    found = tuning_transcripts(run, only_passed=only_passed)
    write_transcripts({path: found}, "openai-messages")
    return len(found)


def test_a_transcript_has_messages_tools_and_where_it_is_from(run_of, tmp_path):
    first, second = episode(), episode(outcome="failed", trial=1)
    path = tmp_path / "out" / "chats.jsonl"
    assert write_chats(run_of(first, second), path, only_passed=False) == 2
    id = "multi_turn_base_0"
    assert entries(path) == [
        {
            "messages": first.messages,
            "tools": [LS],
            "metadata": {"id": id, "trial": 0, "passed": True},
        },
        {
            "messages": second.messages,
            "tools": [LS],
            "metadata": {"id": id, "trial": 1, "passed": False},
        },
    ]


def test_a_transcript_has_reward_reason_and_turns(run_of, tmp_path):
    failure = Failure(Reason.STATE_MISMATCH)
    verdict = Verdict(False, failure, 1, 3, 1, measures={"checks": 0.5})
    path = tmp_path / "chats.jsonl"
    write_chats(
        run_of(episode(outcome="failed")._replace(verdict=verdict)), path, only_passed=False
    )
    known = entries(path)[0]["metadata"]
    assert known["reward"] == 0.0
    assert known["progress"] == 1 / 3
    assert known["error_type"] == "multi_turn:instance_state_mismatch"
    assert known["turns"] == [True, False, None]
    assert known["checks"] == 0.5


def test_only_passed_episodes_are_written_if_that_is_wanted_and_errors_never(run_of, tmp_path):
    run = run_of(episode("a"), episode("b", outcome="failed"), failure("c"))
    path = tmp_path / "chats.jsonl"
    for only_passed, ids in ((True, ["a"]), (False, ["a", "b"])):
        assert write_chats(run, path, only_passed=only_passed) == len(ids)
        assert [entry["metadata"]["id"] for entry in entries(path)] == ids


def test_the_tools_are_those_of_the_last_request(run_of, tmp_path):
    run = run_of(episode(steps=[step(0, tools="early"), step(1, tools="late")]))
    path = tmp_path / "chats.jsonl"
    write_chats(run, path, only_passed=True)
    assert entries(path)[0]["tools"] == [LS, CD]


def test_a_prompting_model_was_offered_no_tools(run_of, tmp_path):
    messages = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": "[ls()]"}]
    path = tmp_path / "chats.jsonl"
    run = run_of(episode(steps=[step(0)], messages=messages))
    write_chats(run, path, only_passed=True)
    assert entries(path)[0].keys() == {"messages", "metadata"}


def test_of_thoughts_what_can_be_read_is_written(run_of, tmp_path):
    signed = {**assistant("c1")["tool_calls"][0], "extra_content": {"google": "SIG"}}
    messages = [
        {"role": "user", "content": "Go."},
        {**assistant("c1"), "tool_calls": [signed], "reasoning_details": [{"data": "ENC"}]},
        answer("c1"),
        {"role": "assistant", "content": [{"type": "thinking"}, {"type": "text", "text": "Yes."}]},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": "No.", "thinking_blocks": [{"type": "redacted_thinking"}]},
    ]
    said = [(1, None, "Hm."), (3, "Yes.", "So."), (5, "No.", None)]
    steps = [
        step(0)._replace(
            request_messages=asked, reply=ReplyRecord(text, [], reasoning, "stop"), tools="early"
        )
        for asked, text, reasoning in said
    ]
    path = tmp_path / "chats.jsonl"
    run = run_of(episode(messages=messages, steps=steps))
    assert write_chats(run, path, only_passed=True) == 1
    [line] = entries(path)
    assert line["messages"] == [
        {"role": "user", "content": "Go."},
        {**assistant("c1"), "reasoning_content": "Hm."},
        answer("c1"),
        {"role": "assistant", "content": "Yes.", "reasoning_content": "So."},
        {"role": "user", "content": "And?"},
        {"role": "assistant", "content": "No."},
    ]


@pytest.mark.parametrize(
    "messages",
    [
        [assistant("c1", "c2"), answer("c1"), answer("c2")],
        [assistant("c1"), answer("c1"), assistant("c2"), answer("c2")],
        [{"role": "assistant", "content": "", "tool_calls": None}],
        [],
    ],
)
def test_paired_calls_and_results_are_written(run_of, tmp_path, messages):
    path = tmp_path / "chats.jsonl"
    assert write_chats(run_of(episode(messages=messages)), path, only_passed=True) == 1


@pytest.mark.parametrize(
    "messages",
    [
        [assistant("c1")],
        [assistant("c1"), {"role": "user", "content": "Go on."}],
        [assistant("c1", "c2"), answer("c1")],
        [assistant("c1", "c2"), answer("c2"), answer("c1")],
        [assistant("c1"), answer("c2")],
        [assistant("c1"), answer("c1"), answer("c1")],
        [answer("c1")],
    ],
)
def test_calls_and_results_that_are_not_paired_are_refused(run_of, tmp_path, messages):
    path = tmp_path / "chats.jsonl"
    path.write_text("old", encoding="utf-8")
    run = run_of(episode("a"), episode("b", messages=messages))
    with pytest.raises(DataError, match=f"^{run.path}: b: has a tool call without a result"):
        write_chats(run, path, only_passed=False)
    assert path.read_text(encoding="utf-8") == "old"
    assert {file.name for file in tmp_path.iterdir()} == {"run", "chats.jsonl"}


def test_tools_that_are_not_in_the_run_are_named(run_of, tmp_path):
    run = run_of(episode(steps=[step(0, tools="gone")]))
    with pytest.raises(DataError, match="has no tool list 'gone'"):
        write_chats(run, tmp_path / "chats.jsonl", only_passed=False)


def test_half_of_a_surrogate_pair_is_written_as_it_was_said(run_of, tmp_path):
    messages = [{"role": "assistant", "content": "\ud83d"}]
    path = tmp_path / "chats.jsonl"
    write_chats(run_of(episode(messages=messages)), path, only_passed=True)
    assert entries(path)[0]["messages"] == messages


def with_calls(record):
    """Return a record whose first step has the call of its message."""
    first, *others = record.steps
    calls = (ToolCall("c1", "ls", "{}"),)
    first = first._replace(request_messages=1, reply=first.reply._replace(tool_calls=calls))
    others = [each._replace(request_messages=3) for each in others]
    return record._replace(steps=[first, *others])


@pytest.mark.parametrize("traces", [[], *(["--traces", t] for t in ("otel", "langsmith"))])
def test_a_large_run_is_exported_episode_by_episode(run_of, tmp_path, monkeypatch, traces):
    monkeypatch.setattr(recorded_run, "MAX_HELD_BYTES", 0)
    text = {"role": "user", "content": "a" * 20_000}
    made = [with_calls(episode(trial=trial)) for trial in range(200)]
    run_of(*(each._replace(messages=[text, *each.messages[1:]]) for each in made))
    options = ["--format", "openai-messages", "-o", str(tmp_path / "out"), *traces]
    assert main(["export", str(tmp_path / "run"), *options]) == 0
    tracemalloc.start()
    try:
        assert main(["export", str(tmp_path / "run"), *options]) == 0
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()
    assert (tmp_path / "out").stat().st_size > 4_000_000


def test_a_trace_of_messages_without_the_recorded_calls_is_refused(run_of, tmp_path, capsys):
    record = with_calls(episode())
    [text, _, _, last] = record.messages
    run_of(record._replace(messages=[text, last, last, last]))
    options = ["--format", "openai-messages", "--traces", "otel"]
    assert main(["export", str(tmp_path / "run"), *options]) == 2
    said = "run: multi_turn_base_0, trial 0: the messages lack a call of turn 1"
    assert said in capsys.readouterr().err
