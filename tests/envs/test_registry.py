"""Which environments there are: ours and those of installed packages."""

from __future__ import annotations

import subprocess
import sys

import pytest

from envs import registry
from envs.backend import Backend, NoConfig, reads
from envs.backends.ticket import TicketAPI
from envs.calls import Call
from envs.errors import ConfigError
from envs.registry import check_config
from envs.session import Session
from tests.environments.installing import add_metadata


@pytest.fixture
def offer(tmp_path, monkeypatch):
    """Let packages offer environments that are somewhere else."""

    def add(package, name, target):
        add_metadata(tmp_path, name, target, package)
        monkeypatch.syspath_prepend(tmp_path)
        registry.forget_installed()

    yield add
    monkeypatch.undo()
    registry.forget_installed()


def refusal(name):
    with pytest.raises(ConfigError) as caught:
        registry.backend_class(name)
    [problem] = caught.value.problems
    assert problem.path == f"$.{name}"
    return problem.message


def test_ours_are_found_by_name():
    assert registry.backend_class("TicketAPI") is TicketAPI
    assert list(registry.BACKENDS) == registry.names()[: len(registry.BACKENDS)]


def test_ours_are_found_without_looking_through_packages(monkeypatch):
    monkeypatch.setattr(
        registry, "_list_installed", lambda: pytest.fail("packages were looked through")
    )
    Session.load(list(registry.BACKENDS), {})


def test_an_unknown_name():
    assert refusal("TicketAPJ").startswith(
        "unknown backend; did you mean TicketAPI? To use your own"
    )
    message = refusal("Quux")
    assert message.startswith("unknown backend; known backends are GorillaFileSystem, ")
    for way in ("module:Class", "turnwise.register", registry.ENTRY_POINT_GROUP):
        assert way in message
    assert not registry.is_usable("TicketAPJ")


def test_an_installed_environment_is_like_ours(install):
    name = install()
    assert registry.is_usable(name)
    # Worlds that other tests used are registered behind it.
    assert [each for each in registry.names() if each not in registry._REGISTERED][-1] == name
    session = Session.load([name, "TicketAPI"], {name: {"next_id": 7}})
    assert session.call(Call(f"{name.lower()}_add", ("Stamps",))).value["id"] == 7
    [problem] = check_config([name], {name: {"items": [{"id": "1"}]}})[:1]
    assert problem.path == f"$.{name}.items[0].id"


def test_an_installed_environment_of_a_name_of_ours(offer):
    offer("their-tickets", "TicketAPI", "nowhere:TicketAPI")
    assert registry.backend_class("TicketAPI") is TicketAPI
    finding = r"TicketAPI: is in more than one package; .* one of turnwise, their-tickets"
    with pytest.raises(ConfigError, match=finding):
        registry.names()


def test_two_packages_with_one_name(offer):
    offer("one", "Shop", "nowhere:Shop")
    offer("two", "Shop", "nowhere:Shop")
    assert refusal("Shop") in (
        "is in more than one package; keep only one of one, two",
        "is in more than one package; keep only one of two, one",
    )


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere_at_all:Shop", "shop cannot be imported: ModuleNotFoundError: No module named"),
        ("envs.backends.ticket:Shop", "shop cannot be imported: AttributeError: "),
        (
            "envs.backends.ticket:TicketUpdates",
            "envs.backends.ticket:TicketUpdates of shop is not a subclass of Backend",
        ),
        (
            "envs.backends.ticket:_status_of",
            "envs.backends.ticket:_status_of of shop is not a subclass of Backend",
        ),
        (
            "envs.backends.ticket:TicketAPI",
            "shop provides the class TicketAPI; rename the entry point to TicketAPI",
        ),
    ],
)
def test_an_environment_that_cannot_be_used(offer, target, message):
    offer("shop", "Shop", target)
    assert refusal("Shop").startswith(message)
    assert not registry.is_usable("Shop")
    assert registry.backend_class("TicketAPI") is TicketAPI


def test_an_environment_with_a_parameter_that_json_cannot_express(install):
    name = install(("item_id: int)", "item_id: set[int])"))
    message = refusal(name)
    assert "cannot be imported: TypeError: " in message
    assert "backend.py:" in message
    assert "parameter item_id: JSON cannot express set[int]" in message
    assert "\n" not in message


def test_ours_do_not_load_what_reads_packages():
    code = "import sys, envs.session; print('importlib.metadata' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(registry, "_REGISTERED", {})
    yield
    monkeypatch.undo()
    registry.list_tools.cache_clear()
    registry._find_clashes.cache_clear()


def make_backend(name, function):
    def act(self) -> int:
        """Act."""
        return 1

    act.__name__ = function
    members = {"Config": NoConfig, function: reads(act)}
    return type(name, (Backend,), members)


def test_a_registered_class_is_known_by_its_name(registered):
    first = registry.register(make_backend("Stock", "act"))
    assert registry.backend_class("Stock") is first
    assert registry.names()[-1] == "Stock"
    again = registry.register(make_backend("Stock", "act_again"))
    assert list(Session.load(["Stock"], {}).tools) == ["act_again"]
    assert registry.backend_class("Stock") is again


def test_a_registered_class_takes_no_name_of_another(registered):
    with pytest.raises(ConfigError, match="another backend has this name; rename the class"):
        registry.register(make_backend("TicketAPI", "act"))


def test_backends_of_one_session_have_different_functions(registered):
    registry.register(make_backend("Stock", "get_ticket"))
    assert list(Session.load(["Stock"], {}).tools) == ["get_ticket"]
    with pytest.raises(ConfigError) as caught:
        Session.load(["TicketAPI", "Stock"], {})
    [problem] = caught.value.problems
    assert str(problem.message) == (
        "TicketAPI in the same session also has the function get_ticket; rename one"
    )


@pytest.fixture
def own_module(tmp_path, monkeypatch):
    """Write a module of the current folder that defines a backend."""

    def write(name, more=""):
        (tmp_path / f"{name}.py").write_text(
            "from envs.backend import Backend, NoConfig, reads\n"
            f"{more}\n"
            "class Stock(Backend):\n"
            "    Config = NoConfig\n"
            "    @reads\n"
            "    def count(self) -> int:\n"
            '        """Count."""\n'
            "        return 1\n"
        )
        monkeypatch.setattr(sys, "path", [*sys.path])
        monkeypatch.chdir(tmp_path)
        monkeypatch.delitem(sys.modules, name, raising=False)

    yield write
    registry._import_path.cache_clear()
    registry.list_tools.cache_clear()


def test_a_path_names_a_class_in_the_current_folder(own_module):
    own_module("own_stock")
    session = Session.load(["own_stock:Stock"], {"own_stock:Stock": {}})
    assert session.call(Call("count", (), {})).held == 1
    assert list(session.fork().snapshot().states) == ["own_stock:Stock"]


def test_a_path_outside_of_the_current_folder_is_not_imported(own_module, tmp_path, monkeypatch):
    own_module("own_outside", "raise AssertionError('imported')")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert refusal("own_outside:Stock").startswith("no module own_outside in the current folder")
    assert "own_outside" not in sys.modules


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("json:loads", "json has no subclass of Backend named 'loads'"),
        (
            "own_broken:Stock",
            "own_broken cannot be imported: ZeroDivisionError: division by zero AT:2",
        ),
        ("own_broken:", "own_broken cannot be imported: ZeroDivisionError: division by zero AT:2"),
        ("own_exit:Stock", "own_exit cannot be imported: SystemExit: 0 AT:2"),
        (
            "own_mark:Stock",
            "own_mark cannot be imported: TypeError: reads() missing 1 required AT:4",
        ),
        (
            "own_type:Stock",
            "own_type cannot be imported: TypeError: own_type.py:4: Shelf.find: AT:",
        ),
    ],
)
def test_a_path_that_leads_to_no_backend(own_module, path, message):
    own_module("own_broken", "1 / 0")
    own_module("own_exit", "raise SystemExit(0)")
    shelf = (
        "class Shelf(Backend):\n    Config = NoConfig\n    @reads{}\n    def find(self, x): ...\n"
    )
    own_module("own_mark", shelf.format("()"))
    own_module("own_type", shelf.format(""))
    start, _, line = message.partition(" AT:")
    found = refusal(path)
    assert found.startswith(start)
    assert found.endswith(f"({path.partition(':')[0]}.py:{line})" if line else "")
    assert found.count(".py:") == ("AT:" in message)
