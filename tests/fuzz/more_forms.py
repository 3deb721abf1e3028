"""Further forms: what is beside runs, what functions are found in, and what is typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from extensions.experiments.experiment_scores import VARY_FILE
from extensions.experiments.paraphrase_drafts import own_words
from runner.data.source_literals import TEXTS_FILE, texts_of
from runner.models.model_types import Reply, ToolCall, Usage
from runner.models.toolbox import documents_of
from runner.records.annotations import ANNOTATIONS_FILE
from runner.records.episode_record import RunSegment
from runner.records.json_codec import members_of
from runner.records.run_files import LIVES_FILE
from tests.conftest import bfcl_files
from tests.extensions.experiments.made_experiments import experiment, outcomes
from tests.extensions.traces import conversations as traces
from tests.fuzz.forms import FORMAT_1, Form, bfcl_data
from trajectories.bfcl_reader import LONG_CONTEXT_FILE, MATERIAL_MODULE, read_material
from trajectories.dataset import load_path
from trajectories.schema import Category

_DOCUMENT = {
    "name": "book_room",
    "description": "Book a room for an hour.",
    "parameters": {
        "type": "object",
        "properties": {"room": {"type": "string", "description": "Its name.", "enum": ["a", "b"]}},
        "required": ["room"],
    },
}
_OTHER = {**_DOCUMENT, "name": "send_mail", "description": "Send a mail to somebody."}
_LIVE = "eval --model gpt-x --base-url http://127.0.0.1:9 --dataset IN/data.jsonl --dry-run"


def more_forms(work: Path) -> dict[str, Form]:
    """Return these forms by name; ``work`` is a folder to make them in."""
    return {
        "debugger": _debugger(),
        "held back": Form(_as_files({"files.json": _HELD}), ["files.json"], ("HELD-BACK",)),
        "packs": _packs(),
        "sittings": _sittings(),
        "functions": _functions(),
        "mcp server": _mcp_server(),
        "queries": _queries(),
        "other words": _other_words(),
        "experiment": _experiment(work),
        "tokenizer": _tokenizer(),
        "options": _options(),
        "kept answers": _kept_answers(),
        "runs": _runs(),
        "traces": _traces(),
        "checks": _checks(),
        "annotations": _annotations(),
        "generation": _generation(),
        "extension data": _extension_data(),
    }


_HELD = {"base.jsonl": '{"id": "a"}\n', "scenarios/a.json": "{}"}


def _as_files(values: dict[str, Any]) -> dict[str, bytes]:
    return {name: json.dumps(value).encode() for name, value in values.items()}


def _data() -> dict[str, bytes]:
    return {"data.jsonl": (FORMAT_1 / "data.jsonl").read_bytes()}


def _debugger() -> Form:
    script = (
        "call touch(file_name='a')\nmove ..\nsearch notes\ninstead ls()\ncall cat('notes.txt')\n"
        "break turn=1,step=1\nbreak-on call:cat\nbreak-on divergence\nmove .\ninstead \n"
    )
    return Form({"script.txt": script.encode()}, ["script.txt"], ("DEBUGGER",))


def _packs() -> Form:
    """Return what is kept beside BFCL's data: long material, and the texts of its functions."""
    files = bfcl_data()
    sources = bfcl_files()
    kept = {
        f"data/{LONG_CONTEXT_FILE}": read_material(sources[MATERIAL_MODULE]),
        f"data/{TEXTS_FILE}": texts_of(lambda module: sources[module]),
    }
    files |= _as_files(kept)
    data = "--dataset bfcl:IN/data"
    commands = (
        f"eval --model oracle {data} --category long_context",
        f"exec --dataset bfcl:IN/data < {_SCRIPT}",
        f"search --model scripted:0.2 {data} --observations bfcl --max-nodes 4 --max-calls 4",
    )
    script = {
        "id": 1,
        "involved_classes": ["GorillaFileSystem"],
        "initial_config": {},
        "long_context": True,
        "turns": [["ls()"]],
    }
    files |= _as_files({_SCRIPT: script})
    return Form(files, [*kept], commands)


_SCRIPT = "s.jsonl"
_OF_A_RUN = ("run.json", "episodes.jsonl", "tools.jsonl")


def _sittings() -> Form:
    files = {f"run/{name}": (FORMAT_1 / "run" / name).read_bytes() for name in _OF_A_RUN}
    files[f"run/{LIVES_FILE}"] = json.dumps(members_of(RunSegment(1.5, 4, 2.0))).encode() + b"\n"
    files |= _data()
    data = "--dataset IN/data.jsonl"
    commands = (
        f"table IN/run {data} --allow-errors",
        f"report IN/run {data} -o OUT",
        f"eval --model fake --base-url http://127.0.0.1:9 {data} --category all --trials 2 "
        "--seed 7 --resume IN/run --max-requests 1 --retries 0",
    )
    return Form(files, [f"run/{LIVES_FILE}"], commands)


def _functions() -> Form:
    """Return what functions are found in, in all forms, and lists of functions of ours."""
    tool = {"type": "function", "function": _OTHER}
    openapi = {
        "openapi": "3.0.0",
        "servers": [{"url": "http://localhost/v1"}],
        "paths": {
            "/rooms/{room}": {
                "parameters": [{"$ref": "#/components/parameters/room"}],
                "get": {"operationId": "get_room", "summary": "Show a room."},
                "put": {
                    "summary": "Change a room.",
                    "requestBody": {
                        "content": {
                            "application/json": {"schema": {"$ref": "#/components/schemas/R"}}
                        }
                    },
                },
            }
        },
        "components": {
            "parameters": {
                "room": {"name": "room", "in": "path", "schema": {"type": "string"}},
            },
            "schemas": {"R": {"type": "object", "properties": {"seats": {"type": "integer"}}}},
        },
    }
    files = _as_files(
        {
            "documents.json": [_DOCUMENT, tool, {**_DOCUMENT, "name": "c", "inputSchema": {}}],
            "openapi.json": openapi,
            "pool.json": [{**_DOCUMENT, "name": name} for name in ("touch", "cd", "get_ticket")],
        }
    )
    files["lines.jsonl"] = b"".join(json.dumps(each).encode() + b"\n" for each in (_DOCUMENT, tool))
    lines = [f"{name}: {json.dumps(value)}" for name, value in openapi.items()]
    files["openapi.yaml"] = "\n".join(lines).encode()
    changes = [*files]
    files |= _data()
    offered = "eval --model oracle --dataset IN/data.jsonl --retrieve oracle --pool IN/pool.json"
    return Form(files, changes, ("FUNCTIONS", "FUNCTIONS", "FUNCTIONS", offered))


def _mcp_server() -> Form:
    tools = [
        {
            "name": each["name"],
            "description": each["description"],
            "inputSchema": {"type": "object"},
        }
        for each in (_DOCUMENT, _OTHER)
    ]
    files = {**_as_files({"tools.json": {"tools": tools}}), "server.py": b""}
    return Form(files, ["tools.json"], ("MCP-SERVER",))


def _queries() -> Form:
    lines = (
        {"query": "make a file", "relevant": ["touch"]},
        {"query": "where am I", "relevant": ["pwd", "ls"], "id": "x"},
    )
    files = {"q.jsonl": b"".join(json.dumps(line).encode() + b"\n" for line in lines)}
    return Form(files, [*files], ("QUERIES",))


def _other_words() -> Form:
    known = load_path(FORMAT_1 / "data.jsonl", [*Category]).trajectories.values()
    documents = [document for entry in known for document in documents_of(entry, None)]
    described = {each["name"]: own_words(each)._asdict() for each in documents}
    said = [json.loads(line) for line in (FORMAT_1 / "data.jsonl").read_text("utf-8").splitlines()]
    turns = [
        {"id": e["id"], "turns": [[m["content"] for m in t["messages"]] for t in e["turns"]]}
        for e in said
    ]
    files = _as_files({"functions.json": described})
    files["users.jsonl"] = b"".join(json.dumps(each).encode() + b"\n" for each in turns)
    changes = [*files]
    vary = "eval --model oracle --dataset IN/data.jsonl --run-dir OUT"
    commands = (
        f"{vary} --vary descriptions=IN/functions.json",
        f"{vary} --vary words=IN/users.jsonl",
        "dataset vary FOLDER --dataset IN/data.jsonl --vary words=IN/users.jsonl",
        "dataset vary FOLDER --dataset IN/data.jsonl --vary words=IN/users.jsonl --vary tools=need",
        f"{vary} --vary descriptions=IN/functions.json --vary words=IN/users.jsonl",
        f"{_LIVE} --vary descriptions=IN/functions.json --mode prompt",
        f"{_LIVE} --vary words=IN/users.jsonl --vary descriptions=full,IN/functions.json",
        "OTHER-WORDS",
        "OTHER-WORDS",
    )
    return Form({**files, **_data()}, changes, commands)


def _experiment(work: Path) -> Form:
    axes = {"tools": {"4": outcomes(3, 4), "8": outcomes(2, 4, strangers=1)}}
    folder = experiment(work / "experiment", axes, sizes={"4": 4, "8": 8})
    files = {
        f"made/{path.relative_to(folder)}": path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "lock"
    }
    commands = ("vary IN/made", "vary IN/made --json", "vary IN/made --html OUT --csv OUT")
    return Form(files, [f"made/{VARY_FILE}"], commands)


def _tokenizer() -> Form:
    model = {"type": "WordLevel", "vocab": {"a": 0, "b": 1, "[UNK]": 2}, "unk_token": "[UNK]"}
    members = ("truncation", "padding", "normalizer", "post_processor", "decoder")
    whole = {"version": "1.0", **dict.fromkeys(members), "added_tokens": [], "model": model}
    whole["pre_tokenizer"] = {"type": "Whitespace"}
    files = _as_files({"tokenizer.json": whole})
    command = "compress --dataset IN/data.jsonl --tokenizer IN/tokenizer.json --tokens 64"
    return Form({**files, **_data()}, ["tokenizer.json"], (f"{command} --category all",))


class _Typed(NamedTuple):
    """An option that takes more than a word."""

    option: str
    value: str


_TYPED = (
    _Typed("--body", '{"top_k": 5, "stop": ["a"], "logit_bias": {"1": 2.5}}'),
    _Typed("--header", "X-Key=a b"),
    _Typed("--price", "0.5,1.5,0.1,0.2"),
    _Typed("--compress", "100,ends"),
    _Typed("--vary", "tools=need,10,all"),
    _Typed("--allow-host", "127.0.0.1:99"),
    _Typed("--category", "base,miss_func"),
    _Typed("--ids", "help_desk_0,folders_0"),
    _Typed("--errors-as", "timeout=failure"),
    _Typed("--base-url", "http://127.0.0.1:9/v1?a=b"),
    _Typed("--calling-formats", "hermes,text"),
)


def _options() -> Form:
    files = {f"{each.option[2:]}.txt": each.value.encode() for each in _TYPED}
    words = {each.option: f"{each.option} TEXT:{each.option[2:]}.txt" for each in _TYPED}
    alone = [words.pop(option) for option in ("--vary", "--calling-formats")]
    together = " ".join(words.values())
    commands = [f"{_LIVE} {given}" for given in (*alone, together, together)]
    return Form({**files, **_data()}, [*files], commands)


def _kept_answers() -> Form:
    call = ToolCall("c", "touch", '{"file_name": "a"}')
    reply = Reply("x", (call,), "so", "stop", Usage(5, 6), 0.5, 0.1)
    return Form(_as_files({"reply.json": members_of(reply)}), ["reply.json"], ("REPLY-CACHE",))


def _runs() -> Form:
    """Return a folder of runs, as commands list it."""
    files = {f"runs/a/{name}": (FORMAT_1 / "run" / name).read_bytes() for name in _OF_A_RUN}
    files |= {f"runs/b/{name}": (FORMAT_1 / "run" / name).read_bytes() for name in _OF_A_RUN}
    files |= _data()
    commands = (
        "runs IN/runs",
        "runs IN/runs --json",
        "episodes IN/runs/a --dataset IN/data.jsonl",
        "episodes IN/runs/a --dataset IN/data.jsonl --json",
        "label IN/runs/a --dataset IN/data.jsonl -o OUT",
        "judge IN/runs/a IN/runs/b --dataset IN/data.jsonl --judge scripted:0.8 --keep OUT",
    )
    return Form(files, [name for name in files if name.startswith("runs/a/")], commands)


def _traces() -> Form:
    """Return a trace in each format; of lists of messages, in each dialect."""
    lists = [traces.chat(), traces.LEGACY, traces.ITEMS, traces.BLOCKS, traces.LANGCHAIN]
    named = [{"messages": each, "metadata": {"entry": "desk_0"}} for each in lists]
    files = _as_files(
        {
            "openai.json": named,
            "otel.json": traces.otel(),
            "langsmith.json": traces.langsmith(),
            "inspect.json": traces.inspect(),
        }
    )
    files["jsonl.jsonl"] = b"".join(json.dumps(each).encode() + b"\n" for each in named)
    data = json.dumps(traces.ENTRY).encode() + b"\n"
    commands = [
        f"import IN/{name} --format {name.partition('.')[0]} --dataset IN/data.jsonl -o OUT{more}"
        for name in files
        for more in ("", " --trust-results")
    ]
    return Form({**files, "data.jsonl": data}, [*files], commands)


def _checks() -> Form:
    """Return checks, a policy, and the knobs of a simulated user."""
    checks = [{"at_most": 5}, {"must_call": "create_ticket", "with": {"title": "a"}}]
    knobs = {"brevity": "brief"}
    files = _as_files({"checks.json": checks, "knobs.json": knobs}) | {"policy.txt": b"Be kind."}
    data = "--dataset IN/data.jsonl --ids help_desk_0"
    commands = (
        f"eval --model null {data} --checks IN/checks.json --policy IN/policy.txt",
        f"{_LIVE} --ids help_desk_0 --checks IN/checks.json",
        f"{_LIVE} --user-knobs IN/knobs.json",
    )
    return Form({**files, **_data()}, [*files], commands)


def _annotations() -> Form:
    """Return tags and notes beside a run."""
    lines = [
        {"id": None, "trial": 0, "tags": ["a", "b"], "note": ""},
        {"id": "help_desk_0", "trial": 0, "tags": [], "note": "n"},
    ]
    name = f"runs/a/{ANNOTATIONS_FILE}"
    files = {f"runs/a/{each}": (FORMAT_1 / "run" / each).read_bytes() for each in _OF_A_RUN}
    files |= {**_as_files({name: {"annotations": lines}}), **_data()}
    commands = (
        "runs IN/runs",
        "runs IN/runs --tag a --json",
        "annotate IN/runs/a help_desk_0 --tag c",
        "report IN/runs/a --dataset IN/data.jsonl -o OUT",
    )
    return Form(files, [name], commands)


def _generation() -> Form:
    """Return what generate reads: groups of backends, personas and prompts."""
    configs = FORMAT_1.parents[3] / "configs"
    files = {
        "groups.toml": (configs / "generation/groups.toml").read_bytes(),
        "prompts.toml": (configs / "prompts/generate.toml").read_bytes(),
        "personas.txt": b"a cook\na driver\n",
    }
    live = "generate OUT --model m --base-url http://127.0.0.1:9 --number 3 --dry-run"
    commands = (
        f"{live} --groups IN/groups.toml",
        f"{live} --prompts IN/prompts.toml",
        f"{live} --personas IN/personas.txt",
    )
    return Form(files, [*files], commands)


def _extension_data() -> Form:
    """Return an entry with checks and every field of a turn."""
    turn = {
        "messages": [{"role": "user", "content": "Open a ticket titled 'No light'."}],
        "ground_truth": ["create_ticket(title='No light')"],
        "never": ["close_ticket(ticket_id=1)"],
        "ordered": [["create_ticket(title='No light')"]],
        "outages": {"create_ticket": 1},
        "tells": [
            {"yes": True, "about": ["open"], "opposite": ["shut"], "subject": "it"},
            {"number": 1, "unit": "psi", "decimals": 1, "tolerance": 0.5},
            {"items": ["No light", 1], "ordered": True},
            {"date": "2024-06-01"},
        ],
        "stays": True,
    }
    entry = {
        "id": "desk_0",
        "category": "base",
        "environments": ["TicketAPI", "WorldClock"],
        "config": {
            "TicketAPI": {"current_user": "ada"},
            "WorldClock": {
                "now": "2026-03-02T09:00",
                "events": [{"id": "e", "at": "2026-03-02T12:00", "agent": "It is noon."}],
            },
        },
        "turns": [turn],
        "extensions": {"checks": {"checks": [{"must_not_call": "close_ticket"}, {"at_most": 3}]}},
        "tags": ["a"],
        "provenance": {"language": "de"},
    }
    commands = (
        "eval --model oracle --dataset IN/data.jsonl --require-info",
        "eval --model null --dataset IN/data.jsonl -o OUT",
        "dataset validate IN/data.jsonl",
        "dataset show IN/data.jsonl --ids desk_0",
        "dataset attack --dataset IN/data.jsonl --output OUT",
        "replay desk_0 --dataset IN/data.jsonl",
    )
    return Form({"data.jsonl": json.dumps(entry).encode() + b"\n"}, ["data.jsonl"], commands)
