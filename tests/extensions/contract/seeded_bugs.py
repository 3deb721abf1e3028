# ruff: noqa: E501 - lines of source are shown as they are.
"""A sound hotel, and bugs that an author may make in it.

The hotel begins almost empty, so that the contract has to reach the interesting states by itself.
"""

from __future__ import annotations

from typing import NamedTuple

CONFIG = {"rooms": {"101": "single", "201": "double"}}

SOURCE = '''
"""A small hotel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache, cached_property, lru_cache
from typing import Annotated, Any
import os
import random
import threading
import uuid

from pydantic import Field
from turnwise import Backend, NotFound, Refused, InvalidArgument, reads, writes
from typing_extensions import TypedDict

Day = Annotated[str, Field(pattern=r"^\\d{4}-\\d\\d-\\d\\d$")]
_MEMO: dict[str, Any] = {}
_RANDOM = random.Random(0)


class Stay(TypedDict):
    id: int
    guest: str
    room: str
    arrival: str
    departure: str
    is_in: bool


class HotelConfig(TypedDict, total=False):
    rooms: dict[str, str]
    stays: list[Stay]
    next_id: int
    labels: list[str]


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InvalidArgument(f"{text} is no day.") from None


class NAME(Backend):
    """A hotel with rooms and stays."""

    Config = HotelConfig

    rooms: Mapping[str, str] = {}
    stays: Sequence[Mapping[str, Any]] = []
    next_id: int = 1
    labels: Sequence[str] = []

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Find ids that the counter would give out again, and unknown rooms."""
        for index, stay in enumerate(config.get("stays", [])):
            if stay["id"] >= config.get("next_id", cls.next_id):
                yield f".stays[{index}].id", "must be below next_id"
            if stay["room"] not in config.get("rooms", {}):
                yield f".stays[{index}].room", "is no room"

    def _free(self, kind: str, arrival: str, departure: str) -> list[str]:
        taken = {
            s["room"] for s in self.stays if s["arrival"] < departure and arrival < s["departure"]
        }
        return [room for room, k in sorted(self.rooms.items()) if k == kind and room not in taken]

    def _stay(self, stay_id: int) -> Mapping[str, Any]:
        for stay in self.stays:
            if stay["id"] == stay_id:
                return stay
        raise NotFound(f"There is no stay {stay_id}.")

    @reads
    def PREFIX_search(self, kind: str, arrival: Day, nights: Annotated[int, Field(ge=1, le=30)]) -> dict[str, Any]:
        """Find free rooms.

        Args:
            kind: Kind of room, such as single.
            arrival: First day, such as 2026-03-02.
            nights: Number of nights, from 1 to 30.

        Returns:
            rooms: Numbers of free rooms.
        """
        rooms = self._free(kind, arrival, self._departure(arrival, nights))
        return {"rooms": rooms}

    def _departure(self, arrival: str, nights: int) -> str:
        try:
            return (_day(arrival) + timedelta(days=nights)).isoformat()
        except OverflowError:
            raise InvalidArgument(f"{arrival} is too late.") from None

    @writes
    def PREFIX_reserve(self, guest: str, kind: str, arrival: Day, nights: Annotated[int, Field(ge=1, le=30)]) -> dict[str, Any]:
        """Reserve a room.

        Args:
            guest: Name of the guest.
            kind: Kind of room, such as single.
            arrival: First day, such as 2026-03-02.
            nights: Number of nights, from 1 to 30.

        Returns:
            id: Id of the stay.
            room: Number of the room.
        """
        departure = self._departure(arrival, nights)
        free = self._free(kind, arrival, departure)
        if not free:
            raise Refused(f"No {kind} room is free.")
        stay = {"id": self.next_id, "guest": guest, "room": free[0], "arrival": arrival, "departure": departure, "is_in": False}
        self.stays = [*self.stays, stay]
        self.next_id += 1
        return {"id": stay["id"], "room": stay["room"]}

    @writes
    def PREFIX_cancel(self, stay_id: int) -> dict[str, Any]:
        """Cancel a stay.

        Args:
            stay_id: Id of the stay.

        Returns:
            status: What was done.
        """
        stay = self._stay(stay_id)
        if stay["is_in"]:
            raise Refused("The guest is in the house.")
        self.stays = [s for s in self.stays if s["id"] != stay_id]
        return {"status": f"Stay {stay_id} is cancelled."}

    @writes
    def PREFIX_check_in(self, stay_id: int) -> dict[str, Any]:
        """Check a guest in.

        Args:
            stay_id: Id of the stay.

        Returns:
            room: Number of the room.
        """
        stay = self._stay(stay_id)
        if stay["is_in"]:
            raise Refused("The guest is in the house.")
        self.stays = [{**s, "is_in": True} if s["id"] == stay_id else s for s in self.stays]
        return {"room": stay["room"]}

    @reads
    def PREFIX_stays(self) -> dict[str, Any]:
        """List all stays.

        Returns:
            stays: Objects with id, guest, room, arrival, departure and is_in.
        """
        return {"stays": [dict(s) for s in self.stays]}

    @writes
    def PREFIX_label(self, names: list[str]) -> dict[str, Any]:
        """Print labels for guests.

        Args:
            names: Names of the guests.

        Returns:
            labels: All labels, sorted.
        """
        self.labels = sorted({*self.labels, *names})
        return {"labels": [*self.labels]}

    @reads
    def PREFIX_share(self, parts: list[float]) -> dict[str, Any]:
        """Share a bill.

        Args:
            parts: Parts of the bill.

        Returns:
            largest: The largest part.
        """
        return {"largest": max(parts, default=0.0)}
'''

_RESERVED = '        self.next_id += 1\n        return {"id": stay["id"]'


class Bug(NamedTuple):
    """One bug."""

    name: str
    old: str
    new: str
    finding: str
    """Part of the message that names the cause."""


def _reserve(name: str, line: str, finding: str) -> Bug:
    """Return a bug of a line in the function that reserves."""
    return Bug(name, _RESERVED, f"        {line}\n{_RESERVED}", finding)


BUGS = (
    # The review's.
    _reserve("clock", "self.stays = [*self.stays[:-1], {**stay, 'guest': f'{guest} {date.today()}'}]", "another clock"),
    _reserve("environment", "self.stays = [*self.stays[:-1], {**stay, 'guest': guest + os.environ.get('HOME', '')}]", "os.environ"),
    _reserve("uuid", "self.stays = [*self.stays[:-1], {**stay, 'guest': f'{guest} {uuid.uuid4()}'}]", "another process"),
    _reserve("counter of the module", "_MEMO['n'] = _MEMO.get('n', 0) + 1; self.stays = [*self.stays[:-1], {**stay, 'guest': f'{guest} {_MEMO[\"n\"]}'}]", "keep all state in annotated fields"),
    Bug("default of the class", "        self.stays = [*self.stays, stay]\n", "        type(self).stays += [stay]\n        self.stays = type(self).stays\n", "in place; assign a new value"),
    Bug("value changed in place", '        self.stays = [{**s, "is_in": True} if s["id"] == stay_id else s for s in self.stays]\n', '        stay["is_in"] = True\n', "assign new values; do not change"),
    Bug("read that writes", '        return {"rooms": rooms}', '        self.next_id += 1\n        return {"rooms": rooms}', "mark the function @writes"),
    Bug("type of a result", "-> dict[str, Any]:\n        \"\"\"Share a bill.", "-> dict[str, int]:\n        \"\"\"Share a bill.", "not of the declared type"),
    Bug("no docstring of a parameter", "            parts: Parts of the bill.\n", "", "parts"),
    Bug("wrong parameter in a docstring", "            parts: Parts of the bill.", "            portions: Parts of the bill.", "parts"),
    _reserve("undeclared attribute", "self.days = nights", "annotate it in the class: days: int ="),
    Bug("argument kept in an undeclared attribute", "        self.labels = sorted(", "        self.names = names\n        self.labels = sorted(", "annotate it in the class: names: list ="),
    Bug("generator", '        return {"stays": [dict(s) for s in self.stays]}', '        return (dict(s) for s in self.stays)', "generator"),
    Bug("order of a set", "        return {\"labels\": [*self.labels]}", "        return {\"labels\": list({*self.labels, 'b', 'c', 'd'})}", "another process"),
    Bug("random stream of the module", '"room": free[0], "arrival"', '"room": _RANDOM.choice(free), "arrival": str(arrival), "x": _RANDOM.random(), "arrival"', ""),
    _reserve("error behind seven stays", "if len(self.stays) >= 7: {}['none']", "KeyError"),
    Bug("lru_cache on a method", "    def _free(", "    @lru_cache(maxsize=None)\n    def _free(", "lru_cache"),
    Bug("memo of the module", "        rooms = self._free(kind, arrival, self._departure(arrival, nights))\n", "        key = f'{kind} {arrival} {nights}'\n        if key not in _MEMO:\n            _MEMO[key] = self._free(kind, arrival, self._departure(arrival, nights))\n        rooms = _MEMO[key]\n", ""),
    Bug("argument sorted in place", "        self.labels = sorted(", "        names.sort()\n        self.labels = sorted(", "changes its argument"),
    Bug("argument of a read sorted in place", "        return {\"largest\"", "        parts.sort()\n        return {\"largest\"", "changes its argument"),
    Bug("private field that decides refusals", "    labels: Sequence[str] = []\n\n    @classmethod", "    labels: Sequence[str] = []\n    _frozen: bool = False\n\n    @classmethod", "private field _frozen"),
    Bug("lock in a private field", "    labels: Sequence[str] = []\n\n    @classmethod", "    labels: Sequence[str] = []\n    _lock: Any = None\n\n    def _load(self, config, pack):\n        self._lock = threading.Lock()\n\n    @classmethod", "cannot be copied to other processes"),
    Bug("overflow of dates", "        except OverflowError:\n            raise InvalidArgument(f\"{arrival} is too late.\") from None\n", "        except KeyError:\n            raise\n", "OverflowError"),
    Bug("coroutine as a result", '        return {"stays": [dict(s) for s in self.stays]}', '        async def later():\n            return {}\n        return later()', "coroutine"),
    # Others.
    Bug("cached_property", "    def _stay(self, stay_id", "    @cached_property\n    def _first(self):\n        return len(self.stays)\n\n    def _stay(self, stay_id", "cached_property"),
    Bug("cache below another decorator", "    def _free(", "    @classmethod\n    @cache\n    def _kinds(cls):\n        return {}\n\n    def _free(", "lru_cache"),
    Bug("function in a private field", "    labels: Sequence[str] = []\n\n    @classmethod", "    labels: Sequence[str] = []\n    _log: Any = None\n\n    def _load(self, config, pack):\n        self._log = lambda text: None\n\n    @classmethod", "cannot be copied to other processes"),
    Bug("private counter of ids", "self.stays = [s for s in self.stays if s[\"id\"] != stay_id]", "self.stays = [s for s in self.stays if s[\"id\"] != stay_id]\n        self._gone = self._gone + 1", "private field _gone"),
    Bug("refusal after a write in place", "            raise Refused(\"The guest is in the house.\")\n        self.stays = [{", "            stay['guest'] = 'x'\n            raise Refused(\"The guest is in the house.\")\n        self.stays = [{", "in place"),
    Bug("key error of an unknown id", "        raise NotFound(f\"There is no stay {stay_id}.\")", "        raise KeyError(stay_id)", "KeyError"),
    Bug("huge number", "        return {\"largest\": max(parts, default=0.0)}", "        return {\"largest\": max(parts, default=0.0), \"square\": max(parts, default=0.0) ** 2}", "OverflowError"),
    Bug("empty list", "        return {\"largest\": max(parts, default=0.0)}", "        return {\"largest\": max(parts)}", "ValueError"),
    Bug("result shared with the state", '        return {"stays": [dict(s) for s in self.stays]}', '        return {"stays": self.stays, "first": set()}', "not JSON"),
    Bug("error as a value", "        return {\"rooms\": rooms}", "        return {\"rooms\": rooms} if rooms else {\"error\": \"none\"}", "raise a ToolError"),
    Bug("print", "        return {\"rooms\": rooms}", "        print(rooms)\n        return {\"rooms\": rooms}", "prints"),
    Bug("endless loop", "        return {\"largest\": max(parts, default=0.0)}", "        while len(parts) == 3:\n            pass\n        return {\"largest\": max(parts, default=0.0)}", "runs for more than"),
)  # fmt: skip

ALSO = {
    "private field that decides refusals": [
        ('        stay = self._stay(stay_id)\n        if stay["is_in"]:\n            raise Refused("The guest is in the house.")\n        self.stays = [s for', '        stay = self._stay(stay_id)\n        if self._frozen:\n            raise Refused("No more.")\n        self._frozen = True\n        self.stays = [s for'),
    ],
    "private counter of ids": [
        ("    labels: Sequence[str] = []\n\n    @classmethod", "    labels: Sequence[str] = []\n    _gone: int = 0\n\n    @classmethod"),
        ('return {"id": stay["id"], "room"', 'return {"id": stay["id"] + self._gone, "room"'),
    ],
}  # fmt: skip
"""Further changes of bugs that need several."""

MISSED = {"error behind seven stays"}
"""Bugs that need a larger example config, because random plays do not get so far."""
