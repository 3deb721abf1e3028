"""The command ``turnwise env tools``: what it prints."""

from __future__ import annotations

import ast
import json

import pytest

from envs.errors import DataError
from envs.registry import BACKENDS
from runner.cli import main
from tests.runner.commands.running import run as run_command


def run(*words):
    return run_command("env tools", *words)


@pytest.fixture
def said(capsys):
    def say(*arguments):
        assert run(*arguments) == 0
        out, err = capsys.readouterr()
        assert err == ""
        return out

    return say


def test_a_table(said):
    lines = said("TicketAPI", "MathAPI").splitlines()
    assert lines[0] == "TicketAPI"
    assert " ".join(lines[1].split()).startswith(
        "create_ticket(title, [description], [priority]) final Open a new ticket in the name"
    )
    assert " ".join(lines[2].split()) == "get_ticket(ticket_id) reads Show one ticket"
    assert "MathAPI" in lines


def test_all_environments(said):
    lines = said().splitlines()
    assert [line for line in lines if not line.startswith(" ")][: len(BACKENDS)] == list(BACKENDS)
    assert len(lines) >= 128 + len(BACKENDS)


def test_documents(said):
    documents = json.loads(said("TicketAPI", "--json"))
    assert [document["name"] for document in documents] == list(BACKENDS["TicketAPI"].TOOLS)
    assert all(list(d) == ["name", "description", "parameters"] for d in documents)


def test_openai_tools(said):
    tools = json.loads(said("TicketAPI", "--openai"))
    assert all(tool["type"] == "function" for tool in tools)
    parameters = tools[1]["function"]["parameters"]
    assert parameters["type"] == "object"
    assert parameters["required"] == ["ticket_id"]


def test_a_reference_page(said):
    page = said("VehicleControlAPI", "--markdown")
    assert page.startswith("# VehicleControlAPI\n\n")
    for name in BACKENDS["VehicleControlAPI"].TOOLS:
        assert f"\n## {name}\n" in page
    assert '| `mode` | `"auto"` or `"cool"` or `"heat"` or `"defrost"` | `"auto"` | ' in page
    assert "| `fuelAmount` | number | required | " in page
    assert ">>> displayCarStatus(option='fuel')\n{\"fuelLevel\": 18.5}" in page


def test_a_reference_page_shows_ranges_and_nesting(said, install):
    name = install(
        ("item_id: int)", "item_id: Annotated[int, Ge(1), Le(9)], tags: list[str | None] = [])"),
        ("item_id: Id of the item.", "item_id: Id of the item.\n            tags: A | b."),
        (
            "from typing import Any",
            "from typing import Annotated, Any\nfrom annotated_types import Ge, Le",
        ),
    )
    page = said(name, "--markdown")
    assert "| `item_id` | integer, from 1, to 9 | required | Id of the item. |" in page
    assert "| `tags` | array of string or null | `[]` | A \\| b. |" in page


def test_an_unknown_environment():
    with pytest.raises(DataError, match="TicketAP: unknown backend; did you mean TicketAPI"):
        run("TicketAP")


def test_functions_are_those_of_tools(capsys):
    assert main(["env", "tools", "TicketAPI", "--openai"]) == 0
    tools = json.loads(capsys.readouterr().out)
    assert main(["env", "tools", "TicketAPI", "--functions"]) == 0
    assert json.loads(capsys.readouterr().out) == [tool["function"] for tool in tools]


def test_a_module_of_langchain_tools_is_python(capsys):
    assert main(["env", "tools", "TicketAPI", "--langchain"]) == 0
    tree = ast.parse(capsys.readouterr().out)
    [listed] = [node.value for node in tree.body if isinstance(node, ast.Assign)]
    names = [function["name"] for function in ast.literal_eval(listed)]
    assert names == list(BACKENDS["TicketAPI"].TOOLS)
