"""The built wheel in an environment of its own, among decoys of every name that we have at home.

The API, CLI and contract tests run against it as well: copies of them, whose names of our packages
are those of the wheel.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from tests.source import PACKAGES, modules

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
DECOYS = ("envs", "runner", "configs", "tests", "checkers", "trajectories", "extensions", "tools")
NEEDED = ("pydantic", "typing_extensions", "pytest", "hypothesis")
ALSO_NEEDED = (
    "aiohttp",
    "argcomplete",
    "httpx",
    "tree-sitter",
    "tree-sitter-java",
    "tree-sitter-javascript",
)
"""What tests of the whole need besides."""

SUITES = {
    "API": ("door/test_names.py", "runner/rollouts"),
    "CLI": ("runner/test_cli.py", "runner/commands"),
    "contract": ("envs/test_backend_contract.py", "extensions/contract"),
}
"""Tests that also run against the wheel, by folder or file."""
OF_CHECKOUT = (
    "door/test_names.py::test_the_type_checker_is_told_of_the_same_names",
    "door/test_names.py::test_no_module_is_named_in_a_text",
    "runner/test_cli.py::test_a_data_set_is_built_in_any_size",
    "runner/commands/test_replay.py::test_the_editor_s_configurations_are_commands_that_exist",
    "extensions/contract/test_contract.py::test_the_table_is_that_of_the_broken_environments",
)
"""Tests of them that read sources, scenarios or pages, which a wheel does not have."""
WITNESS = """
import json, sys

def pytest_terminal_summary(terminalreporter):
    ours = [each for name, each in sys.modules.items() if name.split(".")[0] == "turnwise"]
    seen = {
        "files": sorted(each.__file__ for each in ours if each.__file__),
        "imported": sorted(sys.modules),
        "passed": len(terminalreporter.stats.get("passed", ())),
    }
    with open("seen.json", "w", encoding="utf-8") as file:
        json.dump(seen, file)
"""
"""A plugin that writes which of our files were executed."""


def done(*command, cwd, stdin="", status=0):
    """Run a command to its end, and return what it printed."""
    ended = subprocess.run(
        list(map(str, command)), cwd=cwd, input=stdin, capture_output=True, text=True, check=False
    )
    assert ended.returncode == status, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def needed(*names):
    """Return the distributions of some names and all that they need."""
    found, left = {}, list(names)
    while left:
        name = left.pop().lower().replace("_", "-")
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:
            continue
        wanted = [text for text in found[name].requires or () if "extra ==" not in text]
        left += {re.match(r"[\w.-]+", text)[0] for text in wanted} - found.keys()
    return found.values()


def decoys(folder):
    """Put packages into a folder that must never be imported, but for those that are there."""
    for name in DECOYS:
        if (folder / name).exists():
            continue
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"raise ImportError('decoy: {folder / name}')")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build a source distribution, and the wheel from what is in it alone."""
    folder = tmp_path_factory.mktemp("built")
    build = (sys.executable, "-m", "hatchling", "build", "-d", folder, "-t")
    done(*build, "sdist", cwd=ROOT)
    [packed] = folder.glob("*.tar.gz")
    (folder / "source").mkdir()
    # Python 3.11.2 cannot limit what ``tarfile`` extracts, and later versions warn about that.
    done("tar", "-xzf", packed, "-C", folder / "source", cwd=folder)
    [source] = (folder / "source").iterdir()
    done(*build, "wheel", cwd=source)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def site(wheel, tmp_path_factory):
    """Install it in an environment of its own."""
    return made_environment(wheel, tmp_path_factory.mktemp("home"))


def made_environment(wheel, home):
    """Install the wheel in a new environment, and return where."""
    done(sys.executable, "-m", "venv", "--without-pip", home / "venv", cwd=home)
    [site] = (home / "venv" / "lib").glob("python*/site-packages")
    install(wheel, site)
    return site


def install(wheel, site):
    """Install a wheel into an environment."""
    pip = (sys.executable, "-m", "pip", "--python", site.parents[2] / "bin" / "python", "-q")
    done(*pip, "install", "--no-deps", "--no-index", "--no-compile", wheel, cwd=site)


@pytest.fixture(scope="module")
def bin(site, tmp_path_factory):
    """Add what it and tests need, and the decoys."""
    return add_others(site, tmp_path_factory.mktemp("others"), NEEDED)


def add_others(site, others, names):
    """Add distributions, from a folder of their own, and the decoys; return where programs are."""
    for package in needed(*names):
        tops = {file.parts[0] for file in package.files if ".." not in file.parts}
        for top in tops - {"__pycache__"}:
            if not (others / top).exists():
                (others / top).symlink_to(package.locate_file(top))
    (site / "others.pth").write_text(f"{others}\n")
    decoys(site)
    return site.parents[2] / "bin"


@pytest.fixture
def here(tmp_path):
    """Return a folder to work in, with decoys of its own."""
    decoys(tmp_path)
    return tmp_path


def test_it_holds_one_import_name(site, wheel):
    held = {path.name for path in site.iterdir()} - {"others.pth", *DECOYS}
    assert held == {"turnwise", f"{wheel.name.removesuffix('-py3-none-any.whl')}.dist-info"}
    texts = {path: path.read_text(encoding="utf-8") for path in site.rglob("turnwise/**/*.py")}
    assert len(texts) > 100
    old = {
        path
        for path, text in texts.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and re.match(rf"(from|import) ({'|'.join(DECOYS)})\b", ast.unparse(node))
    }
    assert old == set()
    assert (site / "turnwise" / "py.typed").is_file()
    assert not list(site.rglob("hatch_build.py"))
    assert not list(site.glob("turnwise/configs/locks"))


def test_the_main_job(bin, here):
    said = done(bin / "turnwise", "eval", "--model", "oracle", "--category", "base", cwd=here)
    assert re.search(r"^base .*100\.0", said, re.MULTILINE)


def test_every_module_is_found_under_the_one_name(bin, here):
    code = (
        "import importlib, pkgutil, sys, turnwise\n"
        "for found in pkgutil.walk_packages(turnwise.__path__, 'turnwise.', onerror=print):\n"
        "    try:\n"
        "        importlib.import_module(found.name)\n"
        "    except ModuleNotFoundError as error:\n"
        f"        assert error.name.split('.')[0] not in {('turnwise', *DECOYS)!r}, error\n"
        "    except turnwise.DataError as error:\n"
        "        assert 'is not installed' in str(error), (found.name, error)\n"
        f"assert not {set(DECOYS)!r} & sys.modules.keys()\n"
        "print(len(sys.modules))\n"
    )
    done(bin / "python", "-W", "error", "-c", code, cwd=here)


def test_the_public_names(bin, here):
    code = (
        "import turnwise\n"
        "for name in turnwise.__all__: getattr(turnwise, name)\n"
        "from turnwise.testing import contract\n"
        "assert turnwise.testing.contract is contract\n"
        "assert turnwise.Call.__module__ == 'turnwise.envs.calls'\n"
        "run = turnwise.evaluate(lambda messages, tools: 'No.', categories='base', limit=2)\n"
        "print(run)\n"
    )
    assert "Evaluation(0 of 2 passed, 0 errors; runs" in done(bin / "python", "-c", code, cwd=here)


def test_an_agent_of_the_folder(bin, here):
    (here / "mine.py").write_text("def agent(messages, tools): return 'No.'\n")
    command = ("eval", "--model", "python:mine:agent", "--category", "base", "--limit", "2")
    assert re.search(r"^base +2 +0 +2", done(bin / "turnwise", *command, cwd=here), re.MULTILINE)


def test_the_breakpoint(bin, here):
    command = ("replay", "base_files_quarterly_report", "--break", "turn=1,step=1")
    typed = "p str(call)\nstep\np type(self).__module__\ncontinue\n"
    said = done(bin / "turnwise", *command, cwd=here, stdin=typed)
    assert "(Pdb) 'turnwise.envs.backends.file_system'" in said


def test_an_environment_of_another_package(bin, site, here):
    done(bin / "turnwise", "env", "new", "SmartHomeAPI", "--path", "home", cwd=here)
    build = (sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", here / "built")
    done(*build, cwd=here / "home")
    [built] = (here / "built").iterdir()
    install(built, site)
    done(bin / "turnwise", "env", "check", "SmartHomeAPI", cwd=here)
    said = done(bin / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "home", cwd=here)
    assert " failed" not in said


def test_type_checkers_see_it(bin, here):
    (here / "typed.py").write_text(
        "import turnwise\n"
        "from turnwise.testing import contract\n"
        "reveal_type(turnwise.parse_call('f()').name)\n"
        "reveal_type(turnwise.load_dataset().trajectories)\n"
        "reveal_type(contract)\n"
    )
    checker = (sys.executable, "-m", "mypy", "--strict", "--python-executable", bin / "python")
    said = done(*checker, "--no-incremental", "typed.py", cwd=here)
    assert 'Revealed type is "str"' in said or 'Revealed type is "builtins.str"' in said
    assert "turnwise.trajectories.schema.Trajectory" in said
    assert "Any" not in said


def relocated(text):
    """Return the text of a test or page with our modules named as the wheel has them."""
    packages = "|".join(PACKAGES)
    known = {name for package in PACKAGES for name in modules(package) if name.count(".") == 1}
    text = re.sub(rf"^import ({packages})$", r"from turnwise import \1", text, flags=re.MULTILINE)
    text = re.sub(rf"\bfrom ({packages}) import\b", r"from turnwise.\1 import", text)
    return re.sub(
        rf"(?<![\w./-])((?:{packages})\.\w+)",
        lambda found: f"turnwise.{found[1]}" if found[1] in known else found[1],
        text,
    )


@pytest.fixture(scope="module")
def suite(tmp_path_factory):
    """Copy the tests, and what they read, into a folder without our packages."""
    folder = tmp_path_factory.mktemp("suite")
    for name in ("tests", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for path in [*folder.rglob("*.py"), *folder.rglob("*.md")]:
        path.write_text(relocated(path.read_text(encoding="utf-8")), encoding="utf-8")
    # Else the decoy of that name is found first.
    (folder / "tests" / "__init__.py").touch()
    shutil.copy(ROOT / "pyproject.toml", folder)
    decoys(folder)
    (folder / "witness.py").write_text(WITNESS)
    return folder


@pytest.fixture(scope="module")
def whole(wheel, tmp_path_factory):
    """Make an environment in which the wheel's suites can run."""
    site = made_environment(wheel, tmp_path_factory.mktemp("whole"))
    add_others(site, tmp_path_factory.mktemp("all"), (*NEEDED, *ALSO_NEEDED))
    return site


@pytest.mark.parametrize("name", SUITES)
def test_what_ships_passes_the_tests_of_the(name, whole, suite):
    left_out = [word for test in OF_CHECKOUT for word in ("--deselect", f"tests/{test}")]
    done(
        *(whole.parents[2] / "bin" / "python", "-m", "pytest", "-p", "witness", "-m", "not slow"),
        *("-p", "no:cacheprovider", *left_out, *(f"tests/{path}" for path in SUITES[name])),
        cwd=suite,
    )
    seen = json.loads((suite / "seen.json").read_text(encoding="utf-8"))
    assert len(seen["files"]) > 50
    assert [
        name for name in seen["files"] if not Path(name).is_relative_to(whole / "turnwise")
    ] == []
    assert ({*DECOYS} - {"tests"}).isdisjoint(seen["imported"])
    assert seen["passed"] >= 40
