"""Corpora of others: the forms of files, what is left out of them and why, MCP servers."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from extensions.drafting import openapi
from extensions.retrieval import corpus_files
from extensions.retrieval.corpus_files import _ErrorOutput, load_corpus, read_functions

NOTHING: dict[str, Any] = {"type": "object", "properties": {}}
TEXT = {"type": "string", "description": "Words."}


_BOMB = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 8)}]\n" for n in range(1, 12))
"""Each list holds the one before eight times."""


_MANY_KEYS = ", ".join(f"k{n}: 1" for n in range(1000))


def document(name: str = "f", described: str = "Does it.", **properties: Any) -> dict[str, Any]:
    return {
        "name": name,
        "description": described,
        "parameters": {"type": "dict", "properties": properties, "required": [*properties]},
    }


def read(path: Path, value: object) -> tuple[list[str], list[str]]:
    """Return the names of a file's functions and the notes on it."""
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    notes: list[str] = []
    corpus = load_corpus(str(path), None, notes.append)
    return [each.name for each in corpus.functions], notes


@pytest.mark.parametrize(
    "value",
    [
        [document("a"), document("b")],
        "\n".join([json.dumps(document("a")), "", json.dumps(document("b"))]),
        "\r\n".join(
            json.dumps(document(name, "Does\u2028it.\x85"), ensure_ascii=False) for name in "ab"
        ),
        [{"type": "function", "function": document(name)} for name in "ab"],
        {"tools": [{"name": n, "description": "x", "inputSchema": NOTHING} for n in "ab"]},
        {"result": {"tools": [{"name": n, "description": "x", "inputSchema": {}} for n in "ab"]}},
        [{"name": n, "description": "x", "input_schema": NOTHING} for n in "ab"],
    ],
)
def test_the_usual_forms_are_read(tmp_path: Path, value: object) -> None:
    assert read(tmp_path / "tools.json", value) == (["a", "b"], [])


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (document("x", ""), "x has no description"),
        (document("x", "  "), "x has no description"),
        (document("x", p={"description": "no type"}), "x has no type for p"),
        (document("", p=TEXT), " has no name"),
        (document("f"), "f is a duplicate"),
        (document("f", "Something else."), "f is defined twice: the first definition is used"),
        ({"name": "x", "description": "y", "parameters": 3}, "x is malformed: parameters must"),
        (document("x", p=3), "x is malformed: parameters.properties.p must be an object"),
        ("text", "text has no description"),
    ],
)
def test_broken_functions_are_left_out(tmp_path: Path, broken: object, why: str) -> None:
    names, notes = read(tmp_path / "tools.json", [document(), broken])
    assert names == ["f"]
    [note] = notes
    assert f"omitted, {why}" in note


def test_of_many_broken_ones_a_few_are_named(tmp_path: Path) -> None:
    value = [document(), *(document(f"x{i}", "") for i in range(30))]
    _, notes = read(tmp_path / "tools.json", value)
    assert len(notes) == 11
    assert notes[-1].endswith("omitted, 20 more")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "contains no function documents"),
        ("[]", "contains no function documents"),
        ("{", "must be JSON or JSON lines"),
        ("[" * 100_000, "nested too deep"),
        ('[{"name": "x", "more": NaN}]', "must be a finite number"),
        ('{"name": "x"}\n{"name": 1e999}\n', "must be a finite number"),
        ('[{"name": "x"}]', "contains no usable function: x has no description"),
        ('{"openapi": "3.0.0"}', "is an OpenAPI file without paths"),
        ('{"mcpServers": {"a": {"url": "http://x"}}}', "has no command that starts the server"),
    ],
)
def test_a_file_of_no_use_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(DataError, match=why):
        read(tmp_path / "tools.json", text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a0: &a0 [x, x, x, x, x, x, x, x]\n" + _BOMB, "too large after aliases"),
        ("a: &a [*a]\n", "too deep"),
        (f"b: &b {{{_MANY_KEYS}}}\nx: {{<<: [{'*b, ' * 999}*b]}}\n", "too large after aliases"),
        ("a: [.inf]\n", "must be a finite number"),
        (f"a: !!int 1{':59' * 2_000}\n", "the number in line 1 has more than 4,300 characters"),
        (f"a: 1\nb: !!float 1{':59' * 200}.5\n", r"line 2: '1:59.* is not a valid float"),
        ("a: !!int ''\n", "line 1: '' is not a valid int"),
        ("a:\n  b: !!bool maybe\n", "line 2: 'maybe' is not a valid bool"),
        ("a: !!timestamp now\n", "line 1: 'now' is not a valid timestamp"),
        ("a: !!int {=: ''}\n", "line 1: a mapping is not a valid int"),
        ('a: "\\Uffffffff"\n', "line 1: a character code is too large"),
        ('a:\n  b: "\\U00110000"\n', "line 2: a character code is too large"),
        ("a: !!timestamp 2026-13-01\n", "month must be in 1..12"),
    ],
    ids=[
        *("bomb", "circle", "merge keys", "infinite", "long number"),
        *("large number", "no number", "no truth value", "no time", "mapping", "character"),
        *("character beyond Unicode", "month"),
    ],
)
def test_a_yaml_file_that_stands_for_too_much_is_refused(
    tmp_path: Path, text: str, why: str
) -> None:
    pytest.importorskip("yaml")
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(DataError, match=why):
        load_corpus(str(path), None, print)


def test_words_dates_and_times_in_yaml_stay_texts() -> None:
    pytest.importorskip("yaml")
    text = (
        "on: [on, off, NO, yes, 2024-01-02, 12:30, 1:30.5, 2024-01-02T10:00:00Z]\n"
        "plain: [true, False, 1, 1.5, null, !!bool yes]\n"
    )
    assert openapi.read_yaml(text, "x.yaml") == {
        "on": ["on", "off", "NO", "yes", "2024-01-02", "12:30", "1:30.5", "2024-01-02T10:00:00Z"],
        "plain": [True, False, 1, 1.5, None, True],
    }


@pytest.mark.parametrize(
    ("place", "is_missing"),
    [
        ("#/components/schemas/Pet", False),
        ("#/components/schemas/Dog", True),
        ("shared.yaml#/Dog", True),
    ],
)
def test_a_reference_that_leads_nowhere_is_a_warning(
    tmp_path: Path, place: str, is_missing: bool
) -> None:
    schema = {"schema": {"$ref": place}, "example": {"$ref": "no reference"}}
    path, lines = tmp_path / "x.json", list[str]()
    body = {"content": {"application/json": schema}}
    paths = {"/p": {"post": {"operationId": "f", "summary": "s", "requestBody": body}}}
    schemas = {"Pet": {"type": "object", "properties": {"name": TEXT}}}
    described = {"openapi": "3.0.0", "paths": paths, "components": {"schemas": schemas}}
    path.write_text(json.dumps(described))
    assert [each.document["name"] for each in read_functions(path, lines.append)] == ["f"]
    expected = (
        f"warning: {path}: its references to {place} lead nowhere, so these parts are missing"
    )
    assert lines == ([f"{expected}; bundle all files into one"] if is_missing else [])


def test_functions_are_drafted_from_a_list_of_tools(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    function = {"name": "f", "parameters": {"type": "object", "properties": {"a": TEXT}}}
    named = {"name": "g", "description": "G.", "input_schema": {"type": "object"}}
    path.write_text(json.dumps([{"type": "function", "function": function}, named]))
    assert [each.document["name"] for each in read_functions(path, print)] == ["f", "g"]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ([{"name": "f"}, {"a": 1}], "function 2 has no name"),
        ({"a": 1}, "is not an OpenAPI file.*; it is no list of tools either"),
        ([], "contains no function documents"),
    ],
)
def test_a_file_without_functions_cannot_be_drafted(tmp_path: Path, value: Any, why: str) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(value))
    with pytest.raises(DataError, match=why):
        read_functions(path, print)


def test_a_yaml_file_of_many_values_is_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yaml = pytest.importorskip("yaml")
    monkeypatch.setattr(openapi, "_MAX_NODES", 100)
    compose, composed = yaml.SafeLoader.compose_scalar_node, []

    def counted(loader: Any, anchor: object) -> Any:
        composed.append(anchor)
        return compose(loader, anchor)

    monkeypatch.setattr(yaml.SafeLoader, "compose_scalar_node", counted)
    path = tmp_path / "x.yaml"
    path.write_text("a: 1\n" * 1_000)
    with pytest.raises(DataError, match="has more than 100 keys and values; split the file"):
        load_corpus(str(path), None, print)
    assert len(composed) < 100


def test_a_bomb_in_a_yaml_key_is_not_written_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    yaml = pytest.importorskip("yaml")
    # The text of a node repeats the text of each alias in it.
    monkeypatch.setattr(yaml.Node, "__repr__", lambda _: pytest.fail("a node was written out"))
    path = tmp_path / "x.yaml"
    path.write_text("a: &a [x]\nb:\n  ? [*a, *a]\n  : 1\n")
    with pytest.raises(DataError, match="found unhashable key"):
        load_corpus(str(path), None, print)


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("a.json", '[{"name": "a", "name": "b"}]', "an object has the key 'name' twice"),
        (
            "a.jsonl",
            '{"name": "a"}\n{"b": 1, "b": 2}',
            "a.jsonl:2: an object has the key 'b' twice",
        ),
        ("a.yaml", "paths:\n  a: 1\n  b: 2\n  a: 1\n", "object in line 2 has 'a' twice"),
    ],
)
def test_a_key_that_occurs_twice_is_refused(tmp_path: Path, name: str, text: str, why: str) -> None:
    if name.endswith(".yaml"):
        pytest.importorskip("yaml")
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=why):
        load_corpus(str(path), None, print)


def test_an_operation_may_have_many_required_parameters() -> None:
    made = [
        {"name": f"p{number}", "in": "query", "required": True, "schema": TEXT}
        for number in range(40_000)
    ]
    path = {"get": {"operationId": "f", "summary": "s", "parameters": made}}
    started = time.process_time()
    (found,) = openapi.functions({"paths": {"/p": path}}, "x.json")
    assert len(found.document["parameters"]["required"]) == 40_000
    # A search through all earlier names for each name took 16 seconds.
    assert time.process_time() - started < 5


def test_what_is_no_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="did you mean bfcl"):
        load_corpus("bfc", None, print)
    with pytest.raises(DataError, match="existing file"):
        load_corpus(str(tmp_path), None, print)


def test_named_corpora() -> None:
    own = load_corpus("own", None, print)
    assert own.size == 128
    assert load_corpus("all", None, print).size >= 190
    assert own.by_name["mkdir"].backend == "GorillaFileSystem"
    assert own.sha256 == load_corpus("own", None, print).sha256


PET = {"$ref": "#/components/schemas/Pet"}
OPENAPI = {
    "openapi": "3.1.0",
    "info": {"title": "Pets"},
    "components": {
        "schemas": {
            "Pet": {
                "type": "object",
                "required": ["name"],
                "properties": {"name": TEXT, "friends": {"$ref": "#/components/schemas/Pets"}},
            },
            "Pets": {"type": "array", "items": PET},
        },
        "parameters": {"id": {"name": "id", "in": "path", "required": True, "schema": TEXT}},
    },
    "paths": {
        "/pets/{id}": {
            "parameters": [{"$ref": "#/components/parameters/id"}],
            "get": {"summary": "Show a pet.", "operationId": "showPet", "tags": ["zoo"]},
            "put": {
                "description": "Change a pet.",
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}
                    }
                },
            },
            "delete": {"operationId": "nameless"},
        }
    },
}


def test_an_openapi_file_is_a_function_for_each_operation(tmp_path: Path) -> None:
    path = tmp_path / "pets.json"
    path.write_text(json.dumps(OPENAPI), encoding="utf-8")
    notes: list[str] = []
    corpus = load_corpus(str(path), None, notes.append)
    show, change = corpus.functions
    assert (show.name, show.backend) == ("showPet", "zoo")
    assert show.signature == ("showPet", ("id",))
    assert change.name == "put_pets_id"
    assert change.backend == "Pets"
    assert change.signature[1] == ("friends", "id", "name")
    assert change.document["parameters"]["required"] == ["id", "name"]
    assert "$ref" not in json.dumps(change.document)
    assert notes == [f"{path}: omitted, nameless has no description"]


def test_version_2_has_types_beside_names(tmp_path: Path) -> None:
    body = {"in": "body", "name": "b", "schema": {"type": "array", "items": TEXT}}
    parameters = [{"name": "q", "in": "query", "type": "string"}, body]
    operation = {"summary": "Find.", "operationId": "find", "parameters": parameters}
    value = {"swagger": "2.0", "paths": {"/find": {"post": operation}}}
    path = tmp_path / "api.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    [found] = load_corpus(str(path), None, print).functions
    assert found.signature == ("find", ("body", "q"))


def test_a_schema_that_holds_itself_many_times_stays_small(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {f"p{i}": {"$ref": "#/s"} for i in range(30)}}
    content = {"application/json": {"schema": {"$ref": "#/s"}}}
    operation = {"summary": "Do.", "requestBody": {"content": content}}
    value = {"openapi": "3.0.0", "s": schema, "paths": {"/x": {"post": operation}}}
    path = tmp_path / "api.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    [found] = load_corpus(str(path), None, print).functions
    assert len(json.dumps(found.document)) < 2_000_000


def test_operations_that_share_a_large_schema_are_bounded_together(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {f"p{i}": {"$ref": "#/s"} for i in range(30)}}
    content = {"application/json": {"schema": {"$ref": "#/s"}}}
    operation = {"summary": "Do.", "requestBody": {"content": content}}
    paths = {f"/x{n}": {"post": operation} for n in range(101)}
    path = tmp_path / "api.json"
    path.write_text(json.dumps({"openapi": "3.0.0", "s": schema, "paths": paths}))
    with pytest.raises(DataError, match="more than 200,000 schema parts"):
        load_corpus(str(path), None, print)


def test_required_names_of_a_body_are_texts(tmp_path: Path) -> None:
    body = {"type": "object", "properties": {"a": TEXT}, "required": [["a"], "a", 3]}
    operation = {
        "summary": "Do.",
        "requestBody": {"content": {"application/json": {"schema": body}}},
    }
    path = tmp_path / "api.json"
    path.write_text(json.dumps({"openapi": "3.0.0", "paths": {"/x": {"post": operation}}}))
    [found] = load_corpus(str(path), None, print).functions
    assert found.document["parameters"]["required"] == ["a"]


def test_the_error_output_of_a_server_is_read_to_its_end_and_its_last_line_kept() -> None:
    output = _ErrorOutput()
    print("first\n" * 100_000, "last words", sep="", file=output.file, flush=True)
    assert output.close() == "; it printed: last words"
    assert _ErrorOutput().close() == ""


SERVER = """
import asyncio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import ListToolsResult, Tool

async def list_tools(context, parameters):
    schema = {"type": "object", "properties": {"to": {"type": "string"}}}
    return ListToolsResult(tools=[
        Tool(name="greet", description="Say hello.", inputSchema=schema),
        Tool(name="mute", inputSchema=schema),
    ])

async def main():
    server = Server("greeter", on_list_tools=list_tools)
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "form",
    [
        "path",
        pytest.param("prefix", marks=pytest.mark.slow),
        pytest.param("configuration", marks=pytest.mark.slow),
    ],
)
def test_an_mcp_server_by_its_path(tmp_path: Path, form: str) -> None:
    path = tmp_path / "greeter.py"
    path.write_text(SERVER, encoding="utf-8")
    name = {"path": str(path), "prefix": f"mcp:{path}"}.get(form, str(tmp_path / "client.json"))
    server = {"command": sys.executable, "args": [str(path)]}
    (tmp_path / "client.json").write_text(json.dumps({"mcpServers": {"greeter": server}}))
    notes: list[str] = []
    [found] = load_corpus(name, None, notes.append).functions
    assert (found.name, found.backend) == ("greet", "greeter")
    assert found.signature == ("greet", ("to",))
    assert notes == [f"{name}: omitted, mute has no description"]


def test_what_a_program_prints_besides_messages_is_no_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "talks.py"
    path.write_text("print('Welcome!', flush=True)", encoding="utf-8")
    with pytest.raises(DataError, match="is not an MCP server"):
        load_corpus(str(path), None, print)
    assert capfd.readouterr().err == ""


def test_a_program_that_is_no_mcp_server_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("raise SystemExit(3)", encoding="utf-8")
    with pytest.raises(DataError, match="is not an MCP server"):
        load_corpus(str(path), None, print)


ENDLESS = """
import json, sys

tool = {"name": "f", "description": "Does it.", "inputSchema": {"type": "object"}}
about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
while FLOODS:
    print('{"jsonrpc": "2.0", "id": "x", "method": "ping"}')
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        answer = {"result": {**about, "protocolVersion": asked["params"]["protocolVersion"]}}
    elif asked["method"] == "tools/list":
        answer = {"result": {"tools": [tool], "nextCursor": "more"}}
    else:
        answer = {"error": {"code": -32601, "message": "unknown"}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


@pytest.mark.parametrize(
    ("floods", "why"),
    [
        (True, "is not an MCP server: it sent more than 10000 messages"),
        (False, "lists its tools on more than 100 pages"),
    ],
)
def test_a_server_that_never_ends_is_refused(tmp_path: Path, floods: bool, why: str) -> None:
    path = tmp_path / "endless.py"
    path.write_text(ENDLESS.replace("FLOODS", str(floods)), encoding="utf-8")
    with pytest.raises(DataError, match=f"^mcp:endless: {why}"):
        load_corpus(str(path), None, print)


SENDER = """
import json, sys

about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "initialize":
        answer = {"result": {**about, "protocolVersion": asked["params"]["protocolVersion"]}}
    elif asked["method"] == "tools/list":
        while ENDLESS:
            print("x" * 65536, end="", flush=True)
        tools = [{"name": f"f{n}", "inputSchema": {"type": "object"}} for n in range(NUMBER)]
        answer = {"result": {"tools": tools}}
    else:
        answer = {"error": {"code": -32601, "message": "unknown"}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)
"""


@pytest.mark.parametrize(
    ("endless", "number", "why"),
    [
        (True, 0, "sent more than 10 MB for its list of tools"),
        (False, 400_000, "sent more than 10 MB for its list of tools"),
        (False, 10_001, "lists more than 10000 tools"),
    ],
)
def test_the_output_of_a_server_is_limited(
    tmp_path: Path, endless: bool, number: int, why: str
) -> None:
    path = tmp_path / "large.py"
    server = SENDER.replace("ENDLESS", str(endless)).replace("NUMBER", str(number))
    path.write_text(server, encoding="utf-8")
    with pytest.raises(DataError, match=f"^mcp:large: {why}$"):
        load_corpus(str(path), None, print)


def test_a_server_that_cannot_be_started_is_named(tmp_path: Path) -> None:
    path = tmp_path / "client.json"
    path.write_text(json.dumps({"mcpServers": {"gone": {"command": "/nowhere/gone"}}}))
    with pytest.raises(DataError, match=r"^mcp:gone: .*/nowhere/gone cannot be started: No such"):
        load_corpus(str(path), None, print)


def test_no_process_of_a_server_is_left_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not the pid: without an init process, a killed process keeps its pid.
    monkeypatch.setattr("mcp.client.stdio.PROCESS_TERMINATION_TIMEOUT", 0.05)
    os.mkfifo(held := tmp_path / "held")
    reading = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    path = tmp_path / "stays.py"
    start = f"held = open({str(held)!r}, 'wb', buffering=0)\nheld.write(b'x')\n"
    path.write_text(start + SERVER + "\nimport time\ntime.sleep(600)\n", encoding="utf-8")
    assert load_corpus(str(path), None, print).functions
    # The end of the file comes when no process has the file open for writing.
    os.set_blocking(reading, True)
    with open(reading, "rb") as file:
        assert file.read() == b"x"


def test_a_process_that_a_server_leaves_behind_delays_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus_files, "_TIMEOUT_SECONDS", 10.0)
    pid, path = tmp_path / "pid", tmp_path / "leaves.py"
    path.write_text(
        "import pathlib, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(pid)!r}).write_text(str(child.pid))\n"
        "raise SystemExit(3)\n"
    )
    try:
        with pytest.raises(DataError, match=r"^mcp:leaves: is not an MCP server: "):
            load_corpus(str(path), None, print)
    finally:
        with suppress(ProcessLookupError):
            os.kill(int(pid.read_text()), signal.SIGKILL)
