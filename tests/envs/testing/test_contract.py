# ruff: noqa: E501 - lines of source are shown as they are.
"""Every check finds what it is there for in an environment that is sound but for one thing."""

from __future__ import annotations

import pytest

from envs.errors import InvalidArgument, NotFound
from envs.session import Session
from envs.testing import CONTRACT, Broken, contract, refuse, state, succeed, watched

SOUND = ("Say which world", "Say which world")
BROKEN = {
    "fields": [
        ("backend.py", "    next_id: int = 1\n", "    next_id: int = 1\n    today = 0\n", "today has no annotation"),
        ("backend.py", "    next_id: int\n", "    next_id: int\n    today: int\n", "the key today has no field and does nothing"),
    ],
    "config types": [
        ("backend.py", "    next_id: int\n", "    next_id: dict[int, str]\n", "the keys of a JSON object are text, not int"),
        ("backend.py", "    next_id: int\n", "    next_id: datetime.datetime\n", "JSON cannot express datetime"),
    ],
    "example config": [
        ("NAME.json", '"next_id": 3', '"next_id": 2', "items[1].id: 2 is taken"),
        ("NAME.json", '"next_id": 3', '"next": 3', "next: unknown key"),
        ("NAME.json", "{", "", "is no JSON"),
        ("backend.py", "next_id, seen = config.get(", "next_id, seen = 1 / 0, config.get(", "raises ZeroDivisionError: division by zero"),
        ("backend.py", "    @classmethod", "    def _load(self, config, pack):\n        self.next_id = {}[0]\n\n    @classmethod", "KeyError"),
    ],
    "loading": [
        ("backend.py", "    @classmethod", "    def _load(self, config, pack):\n        if 'items' in config:\n            self.items = config['items']\n\n    @classmethod", "items is config['items'] itself; copy it"),
        ("backend.py", "    @classmethod", "    def _load(self, config, pack):\n        config.pop('items', None)\n\n    @classmethod", "_load changes items of the config"),
    ],
    "round trip": [
        (
            "backend.py",
            "    @classmethod",
            "    def _load(self, config, pack):\n        self.next_id += 1\n\n    @classmethod",
            "a state written as a config loads otherwise: ",
        ),
    ],
    "unknown keys": [
        (
            "backend.py",
            "    @classmethod\n",
            "    @classmethod\n    def check_config(cls, config):\n        return []\n\n    @classmethod\n",
            "a config with an unknown key is not refused",
        ),
    ],
    "wrong types": [("backend.py", "    next_id: int\n", "    next_id: Any\n", ".next_id; give the key")],
    "names": [("backend.py", "_list(", "_list(self): ...\n    @reads\n    def get_ticket(", "TicketAPI has a")],
    "docstrings": [
        ("backend.py", "Put something on the list.", "Put something on the list", "a full stop"),
        ("backend.py", "item_id: Id of the item.", "id: Id of the item.", "not describe 'item_id'"),
        ("backend.py", "name: What is", "name: What is\n            more: It", "describes more, which is"),
        ("backend.py", "        Returns:\n            items:", "        Gives:\n            items:", "does not say what is returned"),
    ],
    "types": [
        ("backend.py", "(self, item_id: int) -> dict[str, str]:", "(self, item_id: int):", "which type its result"),
        ("backend.py", "item_id: int)", "item_id: int = None)", "the default of item_id does not fit its type"),
    ],
    "ends": [
        ("backend.py", "        return {\"items\": self.items}", "        while True:\n            pass", "_list: PREFIX_list("),
        ("backend.py", "    @classmethod", "    def _load(self, config, pack):\n        while self.next_id: pass\n\n    @classmethod", "loading a config runs for more than"),
    ],
    "faults": [
        ("backend.py", "raise NotFound(", "raise KeyError(", "broke with KeyError: 'There is no item"),
    ],
    "output": [
        ("backend.py", "        return {\"items\": self.items}", "        print('listing')\n        return {\"items\": self.items}", "prints 'listing"),
        ("backend.py", "        return {\"items\": self.items}", "        sys.stdout.write('x')\n        return {\"items\": self.items}", "prints 'x"),
    ],
    "processes": [
        *(
            ("backend.py", '"name": name, "done": False', f'"name": f"{{name}} {{{read}}}", "done": False', "gives something else with another clock, zone or os.environ")
            for read in (
                "datetime.date.today()",
                "datetime.datetime.now().year",
                "datetime.datetime.now(datetime.UTC).day",
                "datetime.datetime.today().weekday()",
                "time.strftime('%Y%m%d')",
                "time.strftime('%H')",
                "int(time.time() // 86400)",
                "time.time_ns()",
                "time.gmtime().tm_mon",
                "time.localtime().tm_hour",
                "time.ctime()",
                "int(time.monotonic() // 3600)",
                "os.environ.get('CITY')",
                "os.getenv('LANG', 'C')",
                "'TOKEN' in os.environ",
            )
        ),
        ("backend.py", "    next_id: int = 1\n", "    next_id: int = int(time.time() // 86400)\n", "gives something else with another clock"),
        ("backend.py", '"name": name, "done": False', '"name": f"{name} {time.tzname}", "done": False', "in another process"),
        ("backend.py", '"name": name, "done": False', '"name": f"{name} {uuid.uuid1()}", "done": False', "in another process"),
        ("backend.py", '"name": name, "done": False', '"name": name, "done": hash(name) % 2 == 0', "in another process"),
        ("backend.py", '"name": name, "done": False', '"name": f"{name} {os.getpid()}", "done": False', "in another process"),
    ],
    "inputs": [
        (
            "backend.py",
            "        self.items = [*self.items, item]\n",
            "        type(self).items += [item]\n        self.items = type(self).items\n",
            "changes defaults.items",
        ),
    ],
    "state": [
        ("backend.py", "        self.next_id += 1\n", "        self.items = [*self.items[:-1], {**item, 'at': datetime.date(2026, 1, 1)}]\n        self.next_id += 1\n", "which JSON cannot say"),
    ],
    "snapshots": [
        (
            "backend.py",
            "        self.items = [{**i, \"done\": True} if i[\"id\"] == item_id else i for i in self.items]",
            "        for item in self.items:\n            item[\"done\"] = True",
            "changes an earlier ",
        ),
    ],
    "forks": [
        (
            "backend.py",
            "        self.next_id += 1\n",
            "        _made.append(name)\n        item[\"done\"] = len(_made) % 2 == 0\n        self.next_id += 1\n",
            "in a fork of the same state; keep all state in annotated fields",
        ),
    ],
    "refusals": [
        (
            "backend.py",
            "        if any(item[\"name\"] == name",
            "        self.items.append({})\n        if any(item.get(\"name\") == name",
            "is refused and changes items[",
        ),
    ],
    "reads": [
        ("backend.py", "        return {\"items\": self.items}", "        self.next_id += 1\n        return {\"items\": self.items}", "mark the function @writes"),
    ],
    "results": [
        ("backend.py", "_list(self) -> dict[str, Sequence[Mapping[str, Any]]]:", "_list(self) -> dict[str, int]:", "not of the declared type: items: "),
        ("backend.py", "        return {\"items\": self.items}", "        return {\"items\": {1}}", "which is no JSON"),
        ("backend.py", "        return {\"items\": self.items}", "        return {\"error\": \"no\"}", "raise a ToolError"),
        ("backend.py", "        return {\"items\": self.items}", "        return {1: self.items}", "keys are not all text"),
    ],
    "arguments": [
        (
            "backend.py",
            "def PREFIX_add(self, name: str)",
            "def PREFIX_add(self, name: Annotated[str, AfterValidator(str.strip), Predicate(str.isdigit)])",
            "fits the schema and gives",
        ),
    ],
    "examples": [
        ("backend.py", "Item 1 is done.\"}\n ", "Item 2 is done.\"}\n ", "gives {\"status\": \"Item 1 is done.\"}"),
        ("backend.py", "_list()\n            {", "_list(\n            {", "the example cannot be read"),
        ("backend.py", "        Examples:\n            >>> PREFIX_list()", "        Shown:\n            PREFIX_list()", "has no example"),
    ],
    "outcomes": [
        (
            "backend.py",
            "            >>> PREFIX_finish(item_id=9)\n            {\"error\": \"There is no item with the id 9.\"}\n",
            "",
            "no example shows a refusal, and",
        ),
        (
            "backend.py",
            "            >>> PREFIX_finish(item_id=1)\n            {\"status\": \"Item 1 is done.\"}\n",
            "",
            "no example in the docstring shows a success",
        ),
    ],
    "frozen": [
        ("NAME.functions.json", "What is to be done.", "What is to be did.", "not as in the golden file"),
        ("NAME.functions.json", "[", "", "holds no function documents"),
    ],
    "sessions": [
        (
            "backend.py",
            "        self.next_id += 1\n",
            "        _made.append(name)\n        item[\"done\"] = len(_made) > 5_000\n        self.next_id += 1\n",
            "among other ",
        ),
    ],
}  # fmt: skip
"""Check to alterations: file, what stands there, what is put there, and part of the finding."""
IMPORTS = (
    "from typing_extensions import TypedDict\n",
    "from typing_extensions import TypedDict\nimport datetime\nimport os\nimport sys\nimport time\nimport uuid\nfrom typing import Annotated\n"
    "from annotated_types import Predicate\nfrom pydantic import AfterValidator\n_made: list[str] = []\n",
)  # fmt: skip


def cases():
    return [
        pytest.param(check, *case, id=f"{check} {number}", marks=[pytest.mark.slow] * (number > 0))
        for check, alterations in BROKEN.items()
        for number, case in enumerate(alterations)
    ]


def test_there_is_a_broken_environment_for_every_check():
    assert list(BROKEN) == [check.name for check in CONTRACT]


def test_a_sound_environment_passes(install):
    for check in contract(install(SOUND)):
        check()


@pytest.mark.parametrize(("check", "file", "old", "new", "finding"), cases())
def test_a_check_finds_what_is_broken(install, monkeypatch, check, file, old, new, finding):
    if check == "ends":
        monkeypatch.setattr(watched, "CALL_SECONDS", 0.5)
    imports = [IMPORTS] if file == "backend.py" else []
    name = install(*imports, (old, new), file=file)
    [bound] = [bound for bound in contract(name) if bound.check.name == check]
    with pytest.raises(Broken) as caught:
        bound()
    assert finding.replace("PREFIX", name.lower()) in caught.value.message
    path, line = caught.value.place.rsplit(":", 1)
    assert path.endswith((f"{name.lower()}_env/backend.py", file.replace("NAME", name)))
    assert int(line) >= 1


@pytest.fixture
def desk():
    return Session.load(["TicketAPI"], {"TicketAPI": {"current_user": "ann"}})


def test_a_success_gives_the_value(desk):
    assert succeed(desk, "logout", current_user=None) == {"success": True}
    assert state(desk)["current_user"] is None


def test_a_success_that_changes_something_else(desk):
    with pytest.raises(AssertionError):
        succeed(desk, "logout")


def test_a_success_that_changes_nothing(desk):
    with pytest.raises(AssertionError):
        succeed(desk, "ticket_get_login_status", current_user=None)


def test_a_refusal_where_a_success_is_asserted(desk):
    with pytest.raises(AssertionError, match="no ticket with the id 5"):
        succeed(desk, "get_ticket", 5)


def test_a_refusal(desk):
    refuse(desk, NotFound, "no ticket with the id 5", "get_ticket", 5)


@pytest.mark.parametrize(
    ("kind", "message", "call"),
    [
        (InvalidArgument, "no ticket", ("get_ticket", 5)),
        (NotFound, "no user", ("get_ticket", 5)),
        (NotFound, "no ticket", ("logout",)),
    ],
)
def test_another_refusal_or_none(desk, kind, message, call):
    with pytest.raises(AssertionError):
        refuse(desk, kind, message, *call)
