"""Initial worlds of the three domains, and the files of a tau2 checkout."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from envs.errors import DataError
from extensions.tau.airline import AirlineDesk
from extensions.tau.desk import Desk
from extensions.tau.documents import JsonPlace, read_file, read_json
from extensions.tau.phone import copy_default_phone
from extensions.tau.retail import RetailDesk
from extensions.tau.tasks import ServiceTask, read_tasks
from extensions.tau.telecom import TelecomDesk
from extensions.tau.telecom_setup import run_function

DESKS: Mapping[str, type[Desk]] = {
    "airline": AirlineDesk,
    "retail": RetailDesk,
    "telecom": TelecomDesk,
}
_POLICIES = {
    "manual": ("main_policy.md", "tech_support_manual.md"),
    "workflow": ("main_policy.md", "tech_support_workflow.md"),
    "manual_solo": ("main_policy_solo.md", "tech_support_manual.md"),
    "workflow_solo": ("main_policy_solo.md", "tech_support_workflow_solo.md"),
}


class Checkout:
    """Files of tau2's three domains in a folder.

    Three kinds of folders are accepted: a checkout, its subfolder ``data/tau2``, and a folder with
    one subfolder per domain. Files may be compressed (``.gz``).
    """

    def __init__(self, folder: Path) -> None:
        places = (folder / "data" / "tau2" / "domains", folder / "domains", folder)
        found = [each for each in places if (each / "retail").is_dir()]
        if not found:
            message = (
                "is not a checkout of tau2-bench: the folder data/tau2/domains/retail is missing"
            )
            raise DataError(str(folder), message)
        self.folder = found[0]

    def find(self, domain: str, *names: str) -> Path | None:
        """Return a domain's first existing file. Each name is tried with and without ``.gz``."""
        for name in names:
            for path in (self.folder / domain / name, self.folder / domain / f"{name}.gz"):
                if path.is_file():
                    return path
        return None

    def require(self, domain: str, *names: str) -> Path:
        """Return the first file with one of the names. Raises DataError if no file exists."""
        found = self.find(domain, *names)
        if found is None:
            message = f"has no {' or '.join(names)}; run turnwise dataset fetch tau2"
            raise DataError(str(self.folder / domain), message)
        return found

    def tasks(self, domain: str, *, full: bool = False) -> dict[str, ServiceTask]:
        """Return the tasks of a domain by id; ``full`` includes all generated tasks."""
        names = ("tasks_full.json",) if full else ("tasks.json",)
        node = read_json(self.require(domain, *names))
        items = node.items()
        if items is None:
            node.refuse("must be a list of tasks")
        return read_tasks(items)

    def splits(self, domain: str) -> Mapping[str, tuple[str, ...]]:
        """Return the ids of the tasks of each split."""
        node = read_json(self.require(domain, "split_tasks.json", "splits.json"))
        return {name: node.member(name).texts() or () for name in node.object()}

    def policy(self, domain: str, variant: str = "manual") -> str:
        """Return the policy of a domain; telecom has several variants."""
        if domain != "telecom":
            return read_file(self.require(domain, "policy.md"))
        joined = self.find(domain, f"policy_{variant}.md")
        if joined is not None:
            return read_file(joined)
        main, support = (read_file(self.require(domain, name)) for name in _POLICIES[variant])
        return (
            f"<main_policy>\n{main}\n</main_policy>\n"
            f"<tech_support_policy>\n{support}\n</tech_support_policy>"
        )

    def state(self, domain: str) -> Mapping[str, Any]:
        """Return the initial state of a domain's world; every call returns the same object."""
        return _read_state(self.folder, domain)


@cache
def _read_state(folder: Path, domain: str) -> Mapping[str, Any]:
    files = Checkout(folder)
    node = read_json(files.require(domain, "db.json", "db.toml"))
    try:
        state = DESKS[domain].arrange(_plain(node))
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError(node.where, f"is not a database of {domain}: {error!r:.200}") from None
    if domain == "telecom":
        user = read_json(files.require(domain, "user_db.json", "user_db.toml"))
        phone = copy_default_phone()
        for name, default in phone.items():
            state[name] = _fill(default, _plain(user.member(name)))
    return state


def _plain(node: JsonPlace) -> Any:
    def convert(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: convert(each) for key, each in value.items()}
        if isinstance(value, list):
            return [convert(each) for each in value]
        return value.isoformat() if hasattr(value, "isoformat") else value

    return convert(node.value)


def _fill(default: Any, given: Any) -> Any:
    if given is None and default is not None:
        return default
    if isinstance(default, Mapping) and isinstance(given, Mapping):
        known = {key: _fill(value, given.get(key)) for key, value in default.items()}
        return known | {key: value for key, value in given.items() if key not in default}
    return given


def make_desk(domain: str, state: Mapping[str, Any]) -> Desk:
    """Return a service desk that uses the objects of ``state``, and never changes them."""
    desk = DESKS[domain]()
    desk.__dict__.update(desk.FIELDS)
    desk.__dict__.update(state)
    return desk


def set_up(desk: Desk, task: ServiceTask) -> None:
    """Prepare a world for a task.

    Raises DataError if a set-up function refuses.
    """
    if not isinstance(desk, TelecomDesk):
        return
    desk.sync()
    for call in task.setup:
        try:
            run_function(desk, *call)
        except Exception as error:
            raise DataError(
                f"task {task.id}", f"the set-up call {call.name} fails: {error}"
            ) from None
