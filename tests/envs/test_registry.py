"""Which environments there are: ours and those of installed packages."""

from __future__ import annotations

import subprocess
import sys

import pytest

from envs import registry
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
    monkeypatch.setattr(registry, "_installed", lambda: pytest.fail("packages were looked through"))
    Session.load(list(registry.BACKENDS), {})


def test_an_unknown_name():
    assert refusal("TicketAPJ").startswith(
        "there is no such backend; there are GorillaFileSystem, "
    )
    assert not registry.is_usable("TicketAPJ")


def test_an_installed_environment_is_like_ours(install):
    name = install()
    assert registry.is_usable(name)
    assert registry.names()[-1] == name
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
        "is in more than one package; uninstall all but one of one, two",
        "is in more than one package; uninstall all but one of two, one",
    )


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nowhere_at_all:Shop", "shop cannot be imported: ModuleNotFoundError: No module named"),
        ("envs.backends.ticket:Shop", "shop cannot be imported: AttributeError: "),
        (
            "envs.backends.ticket:TicketUpdates",
            "envs.backends.ticket:TicketUpdates of shop is no subclass of Backend",
        ),
        (
            "envs.backends.ticket:_status_of",
            "envs.backends.ticket:_status_of of shop is no subclass of Backend",
        ),
        (
            "envs.backends.ticket:TicketAPI",
            "the class in shop is TicketAPI; name its entry point TicketAPI",
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
