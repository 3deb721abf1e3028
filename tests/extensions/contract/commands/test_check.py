"""The command ``turnwise env check``: what it prints, and its exit status."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from envs.errors import DataError
from extensions.contract import isolation_checks, random_play
from extensions.contract.commands import check
from extensions.contract.contract import CONTRACT
from tests.runner.commands.running import run as run_command


def run(*words):
    return run_command("env check", *words)


@pytest.fixture
def here(tmp_path, monkeypatch):
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_an_environment_that_keeps_the_contract(install, capsys, here, monkeypatch, few):
    if few:
        monkeypatch.setattr(random_play, "_PLAYS", 5)
        monkeypatch.setattr(isolation_checks, "SESSIONS", 200)
    name = install()
    assert run(name) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{name}  (")
    assert lines[0].endswith("backend.py:30)")
    assert [line.split()[0] for line in lines[1 : len(CONTRACT) + 1]] == ["pass"] * len(CONTRACT)
    assert lines[-2:] == [f"  {len(CONTRACT)} passed, 0 failed", ""]
    assert list(here.iterdir()) == []


def test_a_failure_names_the_line_and_fails_the_command(install, capsys, here, monkeypatch):
    monkeypatch.setattr(random_play, "_PLAYS", 12)
    monkeypatch.setattr(isolation_checks, "SESSIONS", 200)
    name = install(("raise NotFound(", "raise KeyError("))
    assert run(name) == 1
    lines = capsys.readouterr().out.splitlines()
    finding = lines[lines.index(next(line for line in lines if "FAIL  faults" in line)) + 1]
    source = Path(sys.modules[f"{name.lower()}_env.backend"].__file__).read_text(encoding="utf-8")
    line = int(finding.split("backend.py:")[1].split(":")[0])
    assert source.splitlines()[line - 1].lstrip().startswith("raise KeyError(")
    assert "raised KeyError" in finding


@pytest.mark.slow
def test_exceptions_are_listed_with_their_reason(capsys, here):
    assert run("MessageAPI") == 0
    assert (
        "  except MessageAPI.add_contact, refusals: user_count grows even if the id is taken"
        in capsys.readouterr().out
    )


DOOR = """
from typing_extensions import TypedDict
from turnwise import Backend, reads


class DoorConfig(TypedDict, total=False):
    is_open: bool


class Door(Backend):
    Config = DoorConfig
    is_open: bool = False

    @reads
    def look(self, sides: list[str]) -> dict[str, bool]:
        '''Look at the door.

        Args:
            sides: Sides of the door.

        Returns:
            Whether the door is open, by side.

        Examples:
            >>> look(sides=['in'])
            {"in": false}
        '''
        return dict.fromkeys(sides, self.is_open)
"""


def test_a_class_of_a_module_in_the_folder(here, capsys, monkeypatch):
    (here / "some_door.py").write_text(DOOR, encoding="utf-8")
    (here / "Door.json").write_text('{"some_door:Door": {}}')
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(random_play, "_PLAYS", 5)
    monkeypatch.setattr(isolation_checks, "SESSIONS", 200)
    assert run("some_door:Door") == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("some_door:Door  (")
    assert [line.split()[1] for line in lines if "FAIL" in line] == ["frozen"]
    assert any("some_door:Door: the function documents have no" in line for line in lines)


def test_an_unknown_environment(here):
    with pytest.raises(DataError, match="TicketAP: unknown backend"):
        run("TicketAP")


def test_without_hypothesis(monkeypatch, here):
    for module in [
        name for name in sys.modules if name.startswith(("extensions.contract", "hypothesis"))
    ]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "hypothesis", None)
    monkeypatch.delitem(vars(check.testing), "contract", raising=False)
    with pytest.raises(DataError, match=r"hypothesis is missing: pip install 'turnwise\[dev\]'"):
        run("TicketAPI")


OF_FUNCTIONS = '''
import turnwise


def refund(state, order: str) -> bool:
    """Refund an order."""
    state["open"] = [each for each in state["open"] if each != order]
    return True


Shop = turnwise.Backend.from_functions({"open": ["o1"]}, [refund], "Shop")
'''


def test_an_environment_made_of_functions_is_checked(here, capsys):
    (here / "function_shop.py").write_text(OF_FUNCTIONS, encoding="utf-8")
    assert run("function_shop:Shop") == 1
    said = capsys.readouterr()
    assert said.out.startswith("function_shop:Shop  (function_shop)\n")
    assert (
        f"        function_shop: function_shop:Shop has no example config {here}/Shop.json; "
        'write {"function_shop:Shop": {...}} into this file\n'
    ) in said.out
    assert said.err == ""


OF_DATACLASSES = '''
from dataclasses import dataclass
from datetime import date

import turnwise


@dataclass
class Lamp:
    since: date = date(2026, 3, 2)
    level: int = 0


@dataclass
class Home:
    lamps: dict[str, Lamp]


def dim(state: Home, lamp: str) -> dict[str, int]:
    """Turn a lamp off.

    Args:
        lamp: Id of the lamp.

    Returns:
        level: New level.

    Examples:
        >>> dim('a')
        {"level": 0}
        >>> dim('z')
        {"error": "unknown 'z'"}
    """
    state.lamps[lamp].level = 0
    return {"level": 0}


Lamps = turnwise.Backend.from_functions(Home({"a": Lamp()}), [dim], "Lamps")
'''


def test_an_environment_of_functions_on_dataclasses_passes(here, capsys, monkeypatch):
    monkeypatch.setattr(random_play, "_PLAYS", 5)
    monkeypatch.setattr(isolation_checks, "SESSIONS", 200)
    (here / "function_home.py").write_text(OF_DATACLASSES, encoding="utf-8")
    (here / "Lamps.json").write_text('{"function_home:Lamps": {"lamps": {"a": {"level": 5}}}}')
    assert run_command("env tools", "function_home:Lamps", "--json") == 0
    (here / "Lamps.functions.json").write_text(capsys.readouterr().out, encoding="utf-8")
    assert run("function_home:Lamps") == 0
    assert "30 passed, 0 failed" in capsys.readouterr().out


@pytest.mark.slow
def test_the_order_of_a_set_is_not_blamed_on_the_clock(here, capsys, monkeypatch):
    monkeypatch.setattr(random_play, "_PLAYS", 5)
    monkeypatch.setattr(isolation_checks, "SESSIONS", 200)
    source = OF_DATACLASSES.replace("dict[str, int]", "list[str]").replace(
        'return {"level": 0}', 'return {lamp, "b", "c", "d", "e", "f"}'
    )
    source = source.replace("level: New level.", "Ids.").replace('{"level": 0}', "...")
    (here / "function_set.py").write_text(source, encoding="utf-8")
    (here / "Lamps.json").write_text('{"function_set:Lamps": {"lamps": {"a": {"level": 5}}}}')
    assert run("function_set:Lamps") == 1
    shown = capsys.readouterr().out
    assert "do not use hash(); sort the values of a set" in shown
    assert "with another clock" not in shown


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="pydantic then reads both")
def test_a_config_of_the_typed_dict_of_typing_is_one_finding(here, capsys, monkeypatch):
    monkeypatch.syspath_prepend(here)
    (here / "shelves.py").write_text(
        "from typing import TypedDict\n"
        "from envs.backend import Backend\n"
        "class ShelfConfig(TypedDict, total=False):\n"
        "    books: list[str]\n"
        "class Shelf(Backend):\n"
        "    Config = ShelfConfig\n"
        "    books: list[str] = []\n"
    )
    assert run("shelves:Shelf") == 1
    shown = capsys.readouterr().out
    assert "FAIL  config types" in shown
    assert "shelves.py:3: shelves:Shelf.Config: ShelfConfig: Please use `typing_ext" in shown
