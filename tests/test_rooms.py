"""Where modules stand and whom they may reach: rooms in order, no circle, no import in hiding."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter

import pytest

from extensions import NAMES
from tests.source import (
    FUNCTIONS,
    MANY,
    PACKAGES,
    ROOT,
    arrows,
    inner_imports,
    nodes,
    paths,
    reached,
)

ROOMS = (
    "extension",
    "show",
    "models",
    "records",
    "data",
    "episodes",
    "live",
    "analysis",
    "rollouts",
    "commands",
    "cli",
)
"""What runner is made of, low to high: each may import itself and those before it."""

OPTIONAL = {
    "fastembed",
    "fcntl",
    "gymnasium",
    "inspect_ai",
    "litellm",
    "mcp",
    "openai",
    "ray",
    "sentence_transformers",
    "textual",
    "tokenizers",
    "torch",
    "transformers",
    "tree_sitter",
    "tree_sitter_java",
    "tree_sitter_javascript",
    "verifiers",
    "yaml",
}
"""What not every installation has: the only reason to import inside a function."""

INNER_IMPORTS = 30
CORE_LINES, CORE_FILES = 45_000, 290
"""Limits of the core; features are extensions."""
LONGEST_FUNCTION = 60
POSITIONAL_CALLS = 20
"""How many calls may have many positional arguments."""


def room(module: str) -> str:
    """Return the room of a module of runner."""
    return module.split(".")[1]


def test_runner_is_made_of_rooms() -> None:
    runner = ROOT / "runner"
    files = {path.name for path in runner.iterdir() if path.is_file()}
    folders = {path.parent.name for path in runner.glob("*/__init__.py")}
    assert files == {"__init__.py", "README.md", "cli.py", "extension.py", "py.typed"}
    assert folders == set(ROOMS) - {"cli", "extension"}


def test_no_room_reaches_a_higher_one() -> None:
    wrong = []
    for (own, other), place in arrows().items():
        inside = own.startswith("runner.") and other.startswith("runner.")
        if inside and ROOMS.index(room(other)) > ROOMS.index(room(own)):
            wrong.append(f"{place}: {room(own)} reaches {other}")
    assert wrong == []


def test_no_package_reaches_one_to_its_right() -> None:
    wrong = [
        f"{place}: reaches {other}"
        for (own, other), place in arrows().items()
        if PACKAGES.index(other.split(".")[0]) > PACKAGES.index(own.split(".")[0])
    ]
    assert wrong == []


def extension_of(module: str) -> str:
    """Return the extension of a module, or nothing for a module of the core."""
    package, _, rest = module.partition(".")
    return rest.partition(".")[0] if package == "extensions" else ""


def test_extensions_are_folders_with_a_page_and_a_registration() -> None:
    folders = {path.parent.name for path in (ROOT / "extensions").glob("*/__init__.py")}
    assert folders == {*NAMES}
    for name in NAMES:
        for file in ("README.md", "extension.py"):
            assert (ROOT / "extensions" / name / file).is_file(), f"extensions/{name}/{file}"


def used_by(name: str) -> set[str]:
    """Return the extensions that the page of an extension says it uses."""
    page = (ROOT / "extensions" / name / "README.md").read_text(encoding="utf-8")
    [line] = re.findall(r"^Uses: (.*)\.$", page, re.MULTILINE)
    return set(re.findall(r"`(\w+)`", line))


@pytest.mark.parametrize("name", NAMES)
def test_an_extension_uses_those_that_its_page_names(name: str) -> None:
    used = {
        extension_of(other)
        for own, other in arrows()
        if extension_of(own) == name and extension_of(other) not in ("", name)
    }
    assert used == used_by(name)


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Return a way round in a graph, or nothing where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def test_modules_go_round_in_no_circle() -> None:
    graph: dict[str, set[str]] = {}
    for own, other in arrows():
        if own != other:
            graph.setdefault(own, set()).add(other)
    assert circle(graph) == []
    assert circle({"a": {"b"}, "b": {"a"}}) != []


def test_functions_import_optional_libraries_only() -> None:
    found = inner_imports()
    wrong = [f"{place}: {name}" for place, name in found if name.split(".")[0] not in OPTIONAL]
    assert wrong == []
    assert len(found) <= INNER_IMPORTS


def test_the_core_stays_small() -> None:
    core = [name for name in PACKAGES if name != "extensions"]
    files = [path for name in core for path in (ROOT / name).rglob("*.py")]
    assert 100 < len(files) <= CORE_FILES
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in files) <= CORE_LINES


def test_functions_are_short() -> None:
    wrong = [
        f"{each.place}: {each.node.name} has {length} lines"
        for each in nodes(*FUNCTIONS)
        if (length := each.node.end_lineno - each.node.lineno + 1) > LONGEST_FUNCTION
    ]
    assert wrong == []


def test_functions_have_few_parameters() -> None:
    found = {each.node.name for each in nodes(*FUNCTIONS) if each.node.parameters > 7}
    # The public function, and two whose parameters the data prescribe.
    assert found == {"evaluate", "requests_get", "book_reservation"}


def test_calls_have_few_positional_arguments() -> None:
    found = [each.place for each in nodes(ast.Call) if len(each.node.args) >= MANY]
    assert 0 < len(found) <= POSITIONAL_CALLS, found


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import runner.show", ["runner.show"]),
        ("from runner.show import table", ["runner.show.table"]),
        ("from runner.show.table import lines", ["runner.show.table"]),
        ("from runner.show import other", ["runner.show"]),
        ("load('runner.show.table')", ["runner.show.table"]),
        ("load('.show.table')", ["runner.show.table"]),
        ("if TYPE_CHECKING:\n    import runner.show", ["runner.show"]),
        ("def f():\n    import runner.show", ["runner.show"]),
        ("say('runner')", []),
        ("import json", []),
    ],
)
def test_what_is_reached_is_recognised(code: str, expected: list[str]) -> None:
    known = frozenset({"runner", "runner.show", "runner.show.table"})
    found = [name for node in ast.walk(ast.parse(code)) for name in reached(node, known, "runner")]
    assert found == expected


def test_there_are_arrows_to_check() -> None:
    assert len(paths()) > 100
    assert len(arrows()) > len(paths())


def test_a_class_name_has_one_meaning() -> None:
    homes: dict[str, list[str]] = {}
    for each in nodes(ast.ClassDef):
        name = each.node.name
        # A name with an underscore is its module's own affair.
        if name.startswith("_"):
            continue
        # What a command takes: every command's module has to have it under this name.
        if name != "Options" or "/commands/" not in each.path:
            homes.setdefault(name, []).append(each.place)
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
