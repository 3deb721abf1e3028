# ruff: noqa: E501 - lines of source are shown as they are.
"""Environments that are sound but for one thing: the template of a new one, altered.

`envs/README.md` lists them, and what catches each.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Mutant(NamedTuple):
    """One thing that is wrong with an environment."""

    check: str
    """Which check finds it, and no other does."""
    what: str
    """As the table has it."""
    changes: Sequence[tuple[str, str]]
    """What stands in the template, once, and what is put there."""
    finding: str
    """Part of what is said."""
    line: str
    """What the line begins with that is named; PREFIX is what the functions' names begin with."""
    file: str = "backend.py"


IMPORTS = (
    "from typing_extensions import TypedDict\n",
    "from typing_extensions import TypedDict\nimport datetime\nimport functools\nimport os\nimport random\nimport sys\nimport threading\nimport time\nimport uuid\nfrom typing import Annotated\n"
    "from annotated_types import Predicate\nfrom pydantic import AfterValidator\n_made: list[str] = []\n",
)  # fmt: skip
ADD = '"name": name, "done": False'
ITEM = 'item = {"id": self.next_id'
NEXT = "        self.next_id += 1\n"
LIST = '        return {"items": self.items}'
FINISH = (
    '        self.items = [{**i, "done": True} if i["id"] == item_id else i for i in self.items]'
)


def _load(*lines: str) -> tuple[tuple[str, str]]:
    code = "".join(f"        {line}\n" for line in lines)
    new = f"    def _load(self, config: Mapping[str, Any], pack: Any) -> None:\n{code}\n    @classmethod"
    return (("    @classmethod", new),)


_CLOCK = "a read of the clock at any resolution: `date.today()`, `strftime`, `time_ns`, ..."
_IMPORTED = "a read of the clock or `os.environ` while the module is imported"
_OTHER = "use of the time zone, `hash`, process ids or `uuid`"
_ENVIRONMENT = "a read of `os.environ` or `os.getenv`"
_PRINT = "`print` and `sys.stdout.write`"
_CONFIG_TYPE = (
    "`dict[int, ...]`, `datetime`, or another type in `Config` that a JSON file cannot hold"
)
_EXAMPLE = "an example config with invalid JSON, a broken reference or an unknown key"
_HOOK = "`references` or `_load` raises an exception"
_ALIAS = "`_load` uses a list or object of the config without a copy, or changes the config"
_DOC = "a docstring that lacks a full stop, parameter or result, or names an unknown parameter"
_TYPE = "a function without a declared result; a default that does not fit its type"
_LOOP = "a call or a `_load` that does not end within 5 seconds"
_FAULT = "a function that raises another exception than `ToolError`, or calls `sys.exit`"
_SHARED = "state outside of fields, such as a list at module level"
_RESULT = "a result that is no JSON or has the wrong type; an error that is returned"
_SHOWN = "an example that is missing, cannot be parsed, or shows a wrong result"
_NOT_SHOWN = "no example of a success; no example of a refusal, although the function refuses calls"
_FROZEN = "function documents that differ from the frozen ones"
_ELSEWHERE = "in another process"
_ASKED = "returns a different result with another clock, time zone, os.environ or machine"


def _asks(what: str, *reads: str) -> Iterator[Mutant]:
    for read in reads:
        changes = ((ADD, f'"name": f"{{name}} {{{read}}}", "done": False'),)
        yield Mutant("processes", what, changes, _ASKED, ITEM)


def _differs(*changes: str) -> Iterator[Mutant]:
    for new in changes:
        yield Mutant("processes", _OTHER, ((ADD, new),), _ELSEWHERE, ITEM)


def _returns(new: str, finding: str) -> Mutant:
    return Mutant("results", _RESULT, ((LIST, f"        {new}"),), finding, new)


def _docstring(old: str, new: str, finding: str, line: str) -> Mutant:
    return Mutant("docstrings", _DOC, ((old, new),), finding, line)


MUTANTS: Sequence[Mutant] = (
    Mutant("fields", "`today = 0` without annotation", (("    next_id: int = 1\n", "    next_id: int = 1\n    today = 0\n"),), "today has no annotation", "today = 0"),
    Mutant("fields", "a key of `Config` that has no field and that no `_load` reads", (("    next_id: int\n", "    next_id: int\n    today: int\n"),), "the key today has no effect; add a field", "today: int"),
    Mutant("config types", _CONFIG_TYPE, (("    next_id: int\n", "    next_id: dict[int, str]\n"),), "the keys of a JSON object are strings, not int", "next_id: dict"),
    Mutant("config types", _CONFIG_TYPE, (("    next_id: int\n", "    next_id: datetime.datetime\n"),), "JSON cannot express datetime", "next_id: datetime"),
    Mutant("example config", _EXAMPLE, (('"next_id": 3', '"next_id": 2'),), "items[1].id: 2 is taken", "{", "NAME.json"),
    Mutant("example config", _EXAMPLE, (('"next_id": 3', '"next": 3'),), "next: unknown key", "{", "NAME.json"),
    Mutant("example config", _EXAMPLE, (("{", ""),), "is not valid JSON", "", "NAME.json"),
    Mutant("example config", _HOOK, (("next_id, seen = config.get(", "next_id, seen = 1 / 0, config.get("),), "raises ZeroDivisionError: division by zero", "next_id, seen = 1 / 0"),
    Mutant("example config", _HOOK, _load("self.next_id = {}[0]"), "KeyError", "self.next_id = {}[0]"),
    Mutant("example config", _HOOK, _load("sys.exit(3)"), "loading raised SystemExit: 3", "sys.exit(3)"),
    Mutant("unknown keys", "a `check_config` that accepts unknown keys", (("    @classmethod\n", "    @classmethod\n    def check_config(cls, config):\n        return []\n\n    @classmethod\n"),), "Config accepts the unknown key $.", "return []"),
    Mutant("wrong types", "a key of type `Any`", (("    next_id: int\n", "    next_id: Any\n"),), "accepts a value of a wrong type; declare a precise", "next_id: Any"),
    Mutant("references", "a `references` that raises an exception if a key is missing", (('config.get("next_id", cls.next_id), set()', 'config["next_id"] if config.get("items") else 1, set()'),), "`references` raises KeyError: 'next_id'", "next_id, seen = config["),
    Mutant("loading", _ALIAS, _load("if 'items' in config:", "    self.items = config['items']"), "items is the same object as config['items']", "self.items = config"),
    Mutant("loading", _ALIAS, _load("self.items = list(config.get('items', []))"), "items[0] is the same object as config['items'][0]", "self.items = list"),
    Mutant("loading", _ALIAS, _load("taken = config", "taken.pop('items', None)"), "`_load` changes items of the config", "taken.pop("),
    Mutant("loading", _ALIAS, _load("for item in config.get('items', []):", "    item['done'] = True"), "`_load` changes items of the config", "item['done'] = True"),
    Mutant("round trip", "a state that becomes another state when it is written as a config and loaded", _load("self.next_id += 1"), "the state differs after saving and loading it as a config: ", "self.next_id += 1"),
    Mutant("caches", "`lru_cache`, `cache` or `cached_property` on a method", (("    @classmethod\n", "    @functools.lru_cache(maxsize=None)\n    def _kept(self) -> int:\n        return len(self.items)\n\n    @classmethod\n"),), "the lru_cache of _kept", "@functools.lru_cache"),
    _docstring("Put something on the list.", "Put something on the list", "a full stop", '"""Put something'),
    _docstring("item_id: Id of the item.", "id: Id of the item.", "not describe 'item_id'", "def PREFIX_finish("),
    _docstring("name: What is", "name: What is\n            more: It", "describes more, which is", "more: It"),
    _docstring("        Returns:\n            items:", "        Gives:\n            items:", "the section Returns is missing", '"""List everything'),
    Mutant("types", _TYPE, (("(self, item_id: int) -> dict[str, str]:", "(self, item_id: int):"),), "the type of its result", "def PREFIX_finish("),
    Mutant("types", _TYPE, (("self, item_id: int)", "\n        self,\n        item_id: int = None,\n    )"),), "the default of item_id does not fit its type", "item_id: int = None"),
    Mutant("ends", _LOOP, ((LIST, "        while True:\n            pass"),), "_list: PREFIX_list(", ""),
    Mutant("ends", _LOOP, _load("while self.next_id:", "    pass"), "loading a config runs for more than", ""),
    Mutant("faults", _FAULT, (("raise NotFound(", "raise KeyError("),), "raised KeyError: 'There is no item", "raise KeyError("),
    Mutant("faults", _FAULT, ((LIST, "        sys.exit('enough')"),), "raised SystemExit: enough", "sys.exit("),
    Mutant("output", _PRINT, ((LIST, f"        print('listing')\n{LIST}"),), "prints 'listing", "print("),
    Mutant("output", _PRINT, ((LIST, f"        sys.stdout.write('x')\n{LIST}"),), "prints 'x", "sys.stdout.write("),
    Mutant("output", "a file that a call reads or writes; a process, a thread or a connection", ((LIST, f"        threading.Thread(target=len, args=('',)).start()\n{LIST}"),), "starts a thread", "threading.Thread("),
    Mutant("state", "a field with keys that are neither strings nor integers, or with NaN", ((NEXT, f"        self.items = [*self.items[:-1], {{**item, 'at': {{(1, 2): 3}}}}]\n{NEXT}"),), "a key is neither a string nor an integer", "self.items = [*self.items[:-1]"),
    Mutant("state", "a date in a field, or another object that JSON cannot hold", ((NEXT, f"        self.items = [*self.items[:-1], {{**item, 'at': datetime.date(2026, 1, 1)}}]\n{NEXT}"),), "JSON cannot represent this value", "self.items = [*self.items[:-1]"),
    Mutant("inputs", "use of the global random generator; a change of the decimal context or the locale", ((ADD, '"name": f"{name} {random.random()}", "done": False'),), "changes the random generator, which all sessions share", "def PREFIX_add("),
    Mutant("inputs", "a class default that is changed in place", (("        self.items = [*self.items, item]\n", "        type(self).items += [item]\n        self.items = type(self).items\n"),), "changes defaults.items", "items: Sequence["),
    Mutant("copies", "a lock, an open file, or another object in a private field that cannot be pickled", (("    next_id: int = 1\n", "    next_id: int = 1\n    _lock: Any = threading.Lock()\n"),), "cannot be copied to other processes", "_lock: Any"),
    Mutant("refusals", "a refused call that has changed a value in place", (("            raise AlreadyExists(", "            self.items[0]['done'] = not self.items[0]['done']\n            raise AlreadyExists("),), "is refused but changes items[", "self.items[0]['done'] ="),
    Mutant("snapshots", "a value changed in place, so that an earlier snapshot or result changes, too", ((FINISH, "        for item in self.items:\n            item['done'] = True"),), "changes an earlier ", "item['done'] = True"),
    Mutant("reached states", "a tuple, a set or an integer key in a field; a state that `references` refuses", (("self.items = [*self.items, item]", "self.items = (*self.items, item)"),), "store list(...)", "self.items = (*self.items, item)"),
    Mutant("results", _RESULT, (("_list(self) -> dict[str, Sequence[Mapping[str, Any]]]:", "_list(self) -> dict[str, int]:"),), "items is not of the declared type: ", 'return {"items"'),
    _returns('return {"items": {1}}', "which is not JSON"),
    _returns('return {"error": "no"}', "raise a ToolError"),
    Mutant("results", "a result with a key that the docstring does not describe, or without a described key", ((LIST, '        return {"items": self.items, "count": []}'),), "but the docstring lacks the key count", 'return {"items"'),
    _returns("return {1: self.items}", "an object that has a key other than a string"),
    *_asks(
        _CLOCK, "datetime.date.today()", "datetime.datetime.now().year", "datetime.datetime.now(datetime.UTC).day",
        "datetime.datetime.today().weekday()", "time.strftime('%Y%m%d')", "time.strftime('%H')", "int(time.time() // 86400)",
        "time.time_ns()", "time.gmtime().tm_mon", "time.localtime().tm_hour", "time.ctime()", "int(time.monotonic() // 3600)",
    ),
    *_asks(_ENVIRONMENT, "os.environ.get('CITY')", "os.getenv('LANG', 'C')", "'TOKEN' in os.environ"),
    Mutant("processes", _IMPORTED, (("    next_id: int = 1\n", "    next_id: int = int(time.time() // 86400)\n"),), _ASKED, "next_id: int = int(time"),
    *_differs(
        '"name": f"{name} {time.tzname}", "done": False',
        '"name": f"{name} {uuid.uuid1()}", "done": False',
        '"name": name, "done": hash(name) % 2 == 0',
        '"name": f"{name} {os.getpid()}", "done": False',
    ),
    Mutant("forks", _SHARED, ((NEXT, f"        _made.append(name)\n        item['done'] = len(_made) % 2 == 0\n{NEXT}"),), "; keep all state in annotated fields", "_made: list[str] = []"),
    Mutant("reads", "a function marked `@reads` that writes", ((LIST, f"{NEXT}{LIST}"),), "mark the function @writes", "self.next_id += 1"),
    Mutant("arguments", "a refusal of arguments that fit the function document", (("self, name: str)", "\n        self,\n        name: Annotated[str, AfterValidator(str.strip), Predicate(str.isdigit)],\n    )"),), "fits the schema but returns", "name: Annotated["),
    Mutant("sessions", "a count of all calls, or other state that many sessions share", ((NEXT, f"        _made.append(name)\n        item['done'] = len(_made) > 8_000\n{NEXT}"),), "among other ", "_made: list[str] = []"),
    Mutant("memory", "a private field, a memo or another memory of earlier calls that no config sets", (("    next_id: int = 1\n", "    next_id: int = 1\n    _made: int = 0\n"), (NEXT, f"        item['done'] = self._made > 0\n        self._made += 1\n{NEXT}")), "depends on the private field _made", ""),
    Mutant("examples", _SHOWN, (('Item 1 is done."}\n ', 'Item 2 is done."}\n '),), 'gives {"status": "Item 1 is done."}', ">>> PREFIX_finish(item_id=1)"),
    Mutant("examples", _SHOWN, (("_list()\n            {", "_list(\n            {"),), "the example cannot be read", ">>> PREFIX_list("),
    Mutant("examples", _SHOWN, (("        Examples:\n            >>> PREFIX_list()", "        Shown:\n            PREFIX_list()"),), "has no example", '"""List everything'),
    Mutant("outcomes", _NOT_SHOWN, (('            >>> PREFIX_finish(item_id=9)\n            {"error": "There is no item with the id 9."}\n', ""),), "no example shows a refusal, although", "Examples:"),
    Mutant("outcomes", _NOT_SHOWN, (('            >>> PREFIX_finish(item_id=1)\n            {"status": "Item 1 is done."}\n', ""),), "no example in the docstring shows a success", "Examples:"),
    Mutant("frozen", _FROZEN, (("What is to be done.", "What is to be did."),), "differs from the golden file", "def PREFIX_add(", "NAME.functions.json"),
    Mutant("frozen", _FROZEN, (("[", ""),), "contains no function documents", "", "NAME.functions.json"),
)  # fmt: skip
"""In the order of the checks."""


def table(rows: Sequence[Mutant] = MUTANTS) -> str:
    """Return which check finds what, as the rows of the table in ``envs/README.md``."""
    found: Mapping[tuple[str, str], None] = dict.fromkeys((each.what, each.check) for each in rows)
    return "".join(f"| {what} | {check} |\n" for what, check in found)
