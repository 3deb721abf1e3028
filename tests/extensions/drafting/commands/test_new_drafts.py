"""The command ``turnwise env new`` with a description: stubs that load, whatever it says."""

from __future__ import annotations

import ast
import json
import shlex
import sys

import pytest

from envs import registry
from envs.calls import Call
from envs.errors import DataError, InvalidArgument
from envs.session import Session
from extensions.contract.contract import contract
from extensions.drafting.stubs import MAX_FUNCTIONS, check_harmless
from extensions.retrieval import corpus_files
from tests.environments.installing import add_metadata
from tests.extensions.drafting.commands.test_new import is_green
from tests.runner.commands.running import run as run_command

PWNED = "__import__('pathlib').Path('pwned').touch()"
HOSTILE = (
    f'x """ + {PWNED} + """ \\ \n\nExamples:\n    >>> {PWNED}\nReturns:\n  \x00 \u202e \ud800 "'
)
NODE = {
    "type": "object",
    "required": ["value", "next"],
    "properties": {"value": {"type": "string"}, "next": {"$ref": "#/components/schemas/Node"}},
}
LONG = ["available", "pending", "sold", "withdrawn for good", "reserved by somebody", "other"]


def openapi(*operations, **more):
    """Return an OpenAPI description of POSTs, each with its own path."""
    paths = {f"/p{number}": {"post": operation} for number, operation in enumerate(operations)}
    return {"openapi": "3.0.0", "info": {"title": HOSTILE}, "paths": paths, **more}


def parameter(name, schema, required=True, description=""):
    return {
        "name": name,
        "in": "query",
        "required": required,
        "schema": schema,
        "description": description,
    }


PETS = openapi(
    {
        "operationId": "listPets",
        "summary": "List pets",
        "tags": ["pets"],
        "parameters": [
            parameter(
                "limit", {"type": "integer", "minimum": 1, "maximum": 9, "default": 5}, False
            ),
            parameter(
                "status", {"type": "array", "items": {"type": "string", "enum": LONG}}, False
            ),
            parameter("kind", {"type": "string", "enum": ["cat", "dog"]}, description="Of animal"),
            parameter("share", {"type": "number", "nullable": True}),
            parameter("size", {"oneOf": [{"type": "string"}, {"type": ["string", "null"]}]}),
            parameter("weight", {"type": "integer", "maximum": 10**400, "minimum": 10**401}),
            parameter("w" * 80, {"type": "string", "enum": LONG}, description="x" * 300),
        ],
    },
    {"operationId": "send_message", "summary": "Named as one of MessageAPI."},
    {"operationId": "class", "summary": HOSTILE, "parameters": [parameter("import", {})]},
    {"operationId": HOSTILE, "parameters": [parameter(HOSTILE, {"enum": [HOSTILE]})]},
    {"operationId": "load", "parameters": [parameter("self", {"type": ["integer", "null"]})]},
    {"operationId": "same"},
    {"operationId": "same"},
    {
        "requestBody": {
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}
        }
    },
    components={"schemas": {"Node": NODE}},
)

GIVEN = {"share": None, "size": "s", "weight": 10**9, "w" * 60: LONG[0]}


@pytest.fixture
def described(tmp_path):
    """Write a description and return its file."""

    def write(value, name="api.json"):
        path = tmp_path / name
        path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
        return path

    return write


@pytest.fixture
def drafted(described, tmp_path, monkeypatch, capsys):
    """Draft an environment and return its module's source."""
    monkeypatch.chdir(tmp_path)

    def draft(value, name="Drafts"):
        assert run("Drafts", "--path", tmp_path / name, "--from-openapi", described(value)) == 0
        code = (tmp_path / name / "drafts_env" / "backend.py").read_text(encoding="utf-8")
        check_harmless(code)
        assert not (tmp_path / "pwned").exists()
        return code

    return draft


def run(*words):
    return run_command("env new", *words)


def functions(code):
    """Return the parameters of every method of a module."""
    nodes = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.FunctionDef)]
    return {n.name: {a.arg: ast.unparse(a.annotation) for a in n.args.args[1:]} for n in nodes}


def test_names_and_types_come_from_the_description(drafted):
    found = functions(drafted(PETS))
    assert found["listPets"] == {
        "kind": "Literal['cat', 'dog']",
        "share": "float | None",
        "size": "str | None",
        "weight": "int",
        "w" * 60: "DraftsListPetsStatus",
        "limit": "Annotated[int, Field(ge=1, le=9)]",
        "status": "list[DraftsListPetsStatus] | None",
    }
    assert {"send_message", "drafts_class", "drafts_load", "same", "same_2"} <= {*found}
    assert found["drafts_class"] == {"import_": "Any"}
    assert found["drafts_load"] == {"self_": "int | None"}
    assert found["post_p7"] == {"value": "str", "next": "DraftsPostP7Next"}


def test_required_parameters_are_those_of_the_description(drafted):
    parts = [
        {"type": "object", "required": [name], "properties": {name: {"type": "string"}}}
        for name in ("first", "second")
    ]
    whole = {"required": ["third"], "properties": {"third": {"type": "integer"}}, "allOf": parts}
    numbers = {"type": "array", "items": {"type": "integer"}}
    media = [
        {"required": needed, "content": {"application/json": {"schema": schema}}}
        for needed, schema in ((True, whole), (True, numbers), (False, numbers))
    ]
    paths = {f"/p{n}": {"post": {"requestBody": body}} for n, body in enumerate(media)}
    verbose = parameter("verbose", {"type": "boolean"})
    own = {"operationId": "show", "parameters": [{**verbose, "required": False}]}
    paths["/show"] = {"parameters": [verbose, parameter("key", {"type": "string"})], "get": own}
    found = functions(drafted({"openapi": "3.1.0", "paths": paths}))
    assert found["post_p0"] == {"third": "int", "first": "str", "second": "str"}
    assert found["post_p1"] == {"body": "list[int]"}
    assert found["post_p2"] == {"body": "list[int] | None"}
    assert found["show"] == {"key": "str", "verbose": "bool | None"}


def test_a_constant_is_the_only_choice(drafted):
    made = [parameter("kind", {"const": "dog"}), parameter("count", {"const": [1]})]
    found = functions(drafted(openapi({"operationId": "call", "parameters": made})))
    assert found["call"] == {"kind": "Literal['dog']", "count": "Any"}


def test_fields_beside_the_name_describe_a_parameter_of_version_2(drafted):
    size = {"name": "size", "in": "query", "type": "integer", "minimum": 1, "default": 5}
    code = drafted({"swagger": "2.0", "paths": {"/a": {"get": {"parameters": [size]}}}})
    assert "size: Annotated[int, Field(ge=1)] = 5," in code


def test_functions_called_like_the_decorators_are_renamed(drafted):
    paths = {f"/{name}": {"post": {"operationId": name}} for name in ("writes", "reads", "last")}
    found = functions(drafted({"openapi": "3.0.0", "paths": paths}))
    assert {"drafts_writes", "drafts_reads", "last"} <= {*found}


def test_texts_are_words_of_docstrings(drafted):
    tree = ast.parse(drafted(PETS))
    texts = [ast.get_docstring(n) or "" for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)]
    [told] = [text for text in texts if "    import_: " in text]
    summary, rest = told.split("\n\nArgs:\n")
    assert "> > > __import__" in summary.replace("\n", " ")
    assert rest.count("Examples:") == 1
    assert ">>> drafts_class(import_='text')" in rest


@pytest.mark.slow
def test_stubs_say_that_they_are_not_written(drafted, tmp_path, monkeypatch):
    drafted(PETS)
    add_metadata(tmp_path / "Drafts", "Drafts", "drafts_env.backend:Drafts")
    monkeypatch.syspath_prepend(tmp_path / "Drafts")
    registry.forget_installed()
    try:
        session = Session.load(["Drafts"], {}, checks_arguments=True)
        made, refused = (
            session.call(Call("listPets", (), {"kind": kind, **GIVEN})) for kind in ("cat", "cow")
        )
        assert made.value["not_written"] == "listPets"
        given = {"kind": "cat", **GIVEN, "limit": 5, "status": None}
        assert made.value["given"] == given
        assert type(refused.error) is InvalidArgument
        for check in contract("Drafts"):
            check()
    finally:
        monkeypatch.undo()
        registry.forget_installed()
        sys.modules.pop("drafts_env.backend", None)
        sys.modules.pop("drafts_env", None)


@pytest.mark.slow
def test_a_drafted_package_is_green(drafted, tmp_path):
    drafted(PETS)
    is_green(tmp_path / "Drafts", tmp_path / "site")


@pytest.mark.slow
def test_many_functions_are_drafted(drafted):
    operations = [{"operationId": "same", "summary": HOSTILE} for _ in range(MAX_FUNCTIONS)]
    found = functions(drafted(openapi(*operations)))
    assert len(found) == MAX_FUNCTIONS + 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (openapi(*({} for _ in range(MAX_FUNCTIONS + 1))), "has 1001 functions; at most 1000"),
        (openapi(), "the description has no function"),
        ({"openapi": "3.0.0"}, "is an OpenAPI file without paths"),
        ({"tools": []}, "contains no function documents"),
        ([1], "function 1 is malformed"),
        ("{", "must be JSON or JSON lines"),
        ("[" * 100_000, "api.json: "),
    ],
)
def test_what_cannot_be_drafted_is_one_line(text, message, described, tmp_path):
    with pytest.raises(DataError, match=message) as caught:
        run("Drafts", "--path", tmp_path / "new", "--from-openapi", described(text))
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "new").exists()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(DataError, match="none"):
        run("Drafts", "--path", tmp_path / "new", "--from-openapi", tmp_path / "none.json")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "program '' was not found"),
        ("no-such-program x", "program 'no-such-program' was not found"),
        ("'", "is not a command"),
        ("http://127.0.0.1:9/mcp", "'http://127.0.0.1:9/mcp' is an address; use a command"),
    ],
)
def test_what_is_no_command_is_one_line(command, message, tmp_path):
    with pytest.raises(DataError, match=f"--from-mcp: .*{message}"):
        run("Drafts", "--path", tmp_path / "new", "--from-mcp", command)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("print('hello'); print('[' * 1000)", "is not an MCP server"),
        ("raise SystemExit(3)", "is not an MCP server"),
        ("import time; time.sleep(1000)", "did not list its tools within 3 seconds"),
    ],
)
def test_a_server_that_says_nothing_of_use_is_one_line(code, message, tmp_path, monkeypatch):
    # All of them run out of it; none is meant to make it.
    monkeypatch.setattr(corpus_files, "_TIMEOUT_SECONDS", 3.0)
    command = shlex.join([sys.executable, "-c", code])
    slow = "did not list its tools within 3 seconds"
    with pytest.raises(DataError, match=f"{message}|{slow}") as caught:
        run("Drafts", "--path", tmp_path / "new", "--from-mcp", command)
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_the_tools_of_a_server_are_drafted(tmp_path, capsys):
    command = shlex.join([sys.executable, "-m", "runner.cli", "env", "serve", "TicketAPI"])
    assert run("Desk", "--path", tmp_path / "new", "--from-mcp", command) == 0
    code = (tmp_path / "new" / "desk_env" / "backend.py").read_text(encoding="utf-8")
    found = functions(code)
    assert found["get_ticket"] == {"ticket_id": "int"}
    assert "    @reads\n    def get_ticket(" in code


@pytest.mark.parametrize(
    "code",
    ["print(1)", "import os\nos.system('x')", "x = [i for i in y]", "x = (lambda: 1)()", "x ="],
)
def test_a_module_that_does_more_than_define_stubs_is_refused(code):
    with pytest.raises(DataError, match="no safe module"):
        check_harmless(code)
