"""The rules that hold for the source as a whole, read off its syntax trees and its files."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkers.calls.call_entry import Language
from runner.cli import main
from runner.data.bfcl_download import WHEEL_SHA256
from runner.data.dataset_choice import SUITES
from tests.source import IMPORTS, PACKAGES, ROOT, imported, modules, nodes
from trajectories.bfcl_reader import PACKAGE, VERSION
from trajectories.schema import FACTS

PRINTERS = (
    "runner/show/terminal.py",
    "runner/commands/common_options.py",
    "runner/commands/completion.py",
    "tools/show_scenario.py",
)
"""Where modules may print: what is a stranger's is shown by the first only, or by its helpers."""

NEEDS_CARE = {
    "eval": "runs text as code",
    "exec": "runs text as code",
    "__import__": "imports what a text names",
    "import_module": "imports what a text names",
    "getattr": "looks up what a text names",
    "os.system": "runs a program",
    "os.popen": "runs a program",
    "subprocess": "runs a program",
    "pickle": "runs what a file says",
}
ALLOWED = {
    ("envs/tool.py", "getattr"): "reads bounds whose names the module itself lists",
    ("envs/registry.py", "import_module"): "loads the modules of a folder of the package itself",
    (
        "extensions/contract/isolation_checks.py",
        "subprocess",
    ): "plays the same calls under other hash seeds",
    (
        "extensions/contract/hidden_state.py",
        "subprocess",
    ): "makes calls in a process without memory of earlier ones",
    (
        "extensions/contract/hidden_state.py",
        "pickle",
    ): "tells whether the state can be pickled, and reads nothing",
    ("extensions/faults/faults.py", "getattr"): "copies the slots of sessions",
    ("extensions/pools/process_workers.py", "pickle"): "reads what the pool's own processes send",
    ("extensions/ray/rollout_workers.py", "getattr"): "asks actors for methods of their class",
    ("extensions/users/session.py", "getattr"): "copies the slots of sessions",
    (
        "extensions/contract/changed_clock.py",
        "getattr",
    ): "reads the clocks that the module itself lists",
    ("envs/lazy_modules.py", "getattr"): "gives members of a module that the source names",
    ("envs/lazy_modules.py", "import_module"): "loads modules that the source names",
    ("envs/backend.py", "getattr"): "copies defaults of the fields that the class itself declares",
    ("envs/backends/vehicle_control.py", "getattr"): "reads fields that the module itself names",
    ("trajectories/schema.py", "getattr"): "compares the fields that the record itself declares",
    ("runner/__init__.py", "getattr"): "takes a name of its own list out of the module it is in",
    ("runner/__init__.py", "import_module"): "loads the module of a name out of a list of its own",
    ("runner/extension.py", "import_module"): "loads extensions out of a list of our own",
    ("envs/plain_functions.py", "getattr"): "reads the fields of the user's own state",
    (
        "extensions/traces/recorded_session.py",
        "getattr",
    ): "copies the slots that the class itself names",
    ("runner/episodes/forked_judging.py", "pickle"): "reads what forks of the process send",
    ("runner/analysis/figure_table.py", "getattr"): "reads members that the table itself names",
    ("runner/models/agent_model.py", "getattr"): "finds the user's own agent, which he named",
    (
        "extensions/injection/dojo/agentdojo_package.py",
        "import_module",
    ): "imports an optional package late",
    (
        "runner/models/agent_model.py",
        "import_module",
    ): "imports the user's own agent, which he named",
    (
        "runner/data/bfcl_download.py",
        "subprocess",
    ): "starts the package installer to download the data",
    (
        "extensions/retrieval/server_relay.py",
        "subprocess",
    ): "starts the MCP server that the user named",
}
"""Where one of these is used all the same, and why it is safe."""

NETWORK = {"socket", "ssl", "http.client", "urllib.request", "httpx", "openai", "litellm"}
LOCKS = sorted((ROOT / "configs" / "locks").glob("*.txt"))


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh interpreter that sees the checkout."""
    command = [sys.executable, "-W", "error", "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def loaded_by(code: str) -> set[str]:
    """Return the names of the modules that running some code loads."""
    done = python(f"{code}\nimport sys; print(*sys.modules, sep='\\n')")
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


@pytest.mark.parametrize("package", PACKAGES)
def test_there_is_something_to_check(package: str) -> None:
    assert modules(package)


def test_imports_are_absolute_and_of_what_ships() -> None:
    wrong = [
        f"{each.place}: imports {module}"
        for each in nodes(*IMPORTS)
        for module in imported(each.node)
        if module.split(".")[0] in ("", "tests", "configs")
    ]
    assert wrong == []


def test_no_module_is_named_in_a_text() -> None:
    dotted = re.compile(rf"(?:{'|'.join(PACKAGES)})(?:\.\w+)+(?<!\.jsonl)")
    # These are renamed for the wheel, as imports are.
    lazy = {
        id(each.node.args[0])
        for each in nodes(ast.Call)
        if isinstance(each.node.func, ast.Name) and each.node.func.id == "lazy_module"
    }
    found = [
        f"{each.place}: {each.node.value}"
        for each in nodes(ast.Constant)
        if isinstance(each.node.value, str)
        and dotted.fullmatch(each.node.value)
        and id(each.node) not in lazy
        and each.path != "runner/__init__.py"
    ]
    assert found == [], "it is another one in a wheel: name it from __package__"


def test_only_the_command_line_prints() -> None:
    wrong = [
        each.place
        for each in nodes(ast.Name)
        if each.node.id == "print" and not each.path.startswith(PRINTERS)
    ]
    assert wrong == []


def uses(node: ast.AST) -> Iterator[str]:
    """Yield which of the things that need care a node uses."""
    if isinstance(node, ast.Attribute):
        full = f"{node.value.id}.{node.attr}" if isinstance(node.value, ast.Name) else node.attr
        yield from {full, node.attr} & {"os.system", "os.popen", "import_module"}
    yield from {module.split(".")[0] for module in imported(node)} & {"subprocess", "pickle"}
    if isinstance(node, ast.ImportFrom):
        names = {alias.name for alias in node.names}
        yield from names & {"import_module"}
        yield from {f"{node.module}.{name}" for name in names} & {"os.system", "os.popen"}
    if isinstance(node, ast.Name) and node.id in {"eval", "exec", "__import__"}:
        yield node.id
    # With a constant name, getattr is an attribute access that may fail.
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "getattr":
        yield from () if isinstance(node.args[1], ast.Constant) else ("getattr",)


def test_what_needs_care_is_used_only_where_listed() -> None:
    found = {}
    for each in nodes(ast.Attribute, ast.Call, ast.Name, *IMPORTS):
        for name in uses(each.node):
            found[each.path, name] = f"{each.place}: {name} {NEEDS_CARE[name]}"
    assert [text for use, text in found.items() if use not in ALLOWED] == []
    assert [use for use in ALLOWED if use not in found] == [], (
        "no longer used: take it off the list"
    )


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("eval('1')", ["eval"]),
        ("f = exec", ["exec"]),
        ("getattr(x, name)", ["getattr"]),
        ("getattr(x, 'name', None)", []),
        ("import os\nos.system('ls')", ["os.system"]),
        ("from os import system", ["os.system"]),
        ("import subprocess as s", ["subprocess"]),
        ("import importlib\nimportlib.import_module(name)", ["import_module"]),
        ("import ast\nast.literal_eval('1')", []),
    ],
)
def test_what_needs_care_is_recognised(code: str, found: list[str]) -> None:
    assert [name for node in ast.walk(ast.parse(code)) for name in uses(node)] == found


@pytest.mark.parametrize("package", ["envs", "checkers"])
def test_simulator_and_judge_load_no_network_library(package: str) -> None:
    # The test tools are for authors of environments, and hypothesis knows networks.
    names = [name for name in modules(package) if not name.startswith("extensions.contract")]
    assert loaded_by(f"import {', '.join(names)}") & NETWORK == set()


def test_the_command_starts_without_pydantic() -> None:
    assert loaded_by("import runner.cli") & {"pydantic", *NETWORK} == set()


def test_the_command_shows_its_help() -> None:
    script = project()["scripts"]["turnwise"]
    assert script == "turnwise.runner.cli:main"
    done = python("import sys, runner.cli; sys.exit(runner.cli.main())", "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("usage: turnwise")


def project() -> dict:
    """Return the project table of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def locked(name: str) -> dict[str, str]:
    """Return version by distribution of one lock file."""
    text = (ROOT / "configs" / "locks" / f"{name}.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
def test_a_lock_pins_and_hashes_and_names_no_place(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    entries = re.split(r"\n(?=\w)", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).strip())
    entry = r"[\w.-]+==[\w.]+( ; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+"
    assert [found for found in entries if not re.fullmatch(entry, found)] == []
    assert "/" not in text


def test_locks_agree_and_hold_what_the_project_asks_for() -> None:
    locks = {name: locked(name) for name in ("core", "dev", "models", "extras", "browser")}
    for name in {name for lock in locks.values() for name in lock}:
        assert len({lock[name] for lock in locks.values() if name in lock}) == 1, name
    in_lock = dict.fromkeys(("debug", "serve", "view", "languages"), "extras")
    in_lock |= dict.fromkeys(("frames", "lexical", "loggers", "ray", "yaml"), "adapters")
    in_lock |= dict.fromkeys(("gymnasium", "inspect", "langchain", "verifiers"), "adapters")
    in_lock["training"] = "retrieval"
    wanted = {"core": project()["dependencies"]}
    for extra, requirements in project()["optional-dependencies"].items():
        wanted.setdefault(in_lock.get(extra, extra), []).extend(requirements)
    for lock, requirements in wanted.items():
        names = {re.split(r"[><=]", text)[0].replace("_", "-") for text in requirements}
        assert names <= locked(lock).keys()


def test_one_version_of_the_reference() -> None:
    text = (ROOT / "configs" / "locks" / "bfcl.txt").read_text(encoding="utf-8")
    assert locked("bfcl")[PACKAGE] == VERSION
    assert WHEEL_SHA256 in text
    assert f"{PACKAGE}=={VERSION}" in (ROOT / "Makefile").read_text(encoding="utf-8")


def status(words: list[str]) -> object:
    """Return the exit status of a command."""
    try:
        return main(words)
    except SystemExit as left:
        return left.code or 0


def test_the_readme_names_targets_and_commands_that_exist(
    capsys: pytest.CaptureFixture[str],
) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    assert set(re.findall(r"^make ([a-z-]+)", readme, re.MULTILINE)) <= targets
    commands = set(re.findall(r"^turnwise ([a-z-]+)", readme, re.MULTILINE))
    assert commands
    for command in commands:
        assert status([command, "--help"]) == 0, capsys.readouterr().err


def test_make_knows_which_categories_need_grammars() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    [words] = re.findall(r"^IN_LANGUAGES := (.*)$", makefile, re.MULTILINE)
    foreign = {c for c, facts in FACTS.items() if facts.language is not Language.PYTHON}
    suites = {name for name, members in SUITES.items() if foreign.intersection(members)}
    assert set(words.split()) == {*foreign, *suites}


def test_actions_of_the_workflows_are_pinned_by_commit() -> None:
    used = [
        action
        for path in (ROOT / ".github" / "workflows").glob("*.yml")
        for action in re.findall(r"uses:\s*(\S+)", path.read_text(encoding="utf-8"))
    ]
    assert used
    assert [action for action in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action)] == []
