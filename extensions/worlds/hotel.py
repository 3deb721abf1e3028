"""Hotel with rooms, stays and a waiting list: an example of a world with passing time.

Guests arrive on the first day, after 14:00, and leave on the last day, before 11:00. At the end of
each day, an event calls ``HotelBook.close_day``. Guests on the waiting list then get free rooms.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from envs.backend import Backend, irreversible, reads, writes
from envs.errors import InvalidArgument, NotFound, Refused
from envs.worlds import World
from extensions.worlds.events import reaction
from extensions.worlds.items import FIRST_ADDED, find_item, find_reused_ids
from extensions.worlds.timestamps import is_moment, read_moment, shift
from extensions.worlds.world_clock import WorldClock
from trajectories.vocabulary import ItemSettings, Vocabulary

Day = Annotated[str, Field(pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")]
RoomKind = Literal["single", "double", "suite"]
ARRIVALS, DEPARTURES = "14:00", "11:00"
_MAX_NIGHTS = 60
_MINUTES_PER_DAY = 24 * 60


class HotelRoom(TypedDict):
    """One room."""

    kind: RoomKind
    price: Annotated[int, Field(ge=0, le=1_000_000)]
    """Cents per night."""


class Stay(TypedDict):
    """One stay of a guest."""

    guest: str
    room: str
    arrival: Day
    departure: Day
    status: Literal["booked", "checked_in", "checked_out", "cancelled", "no_show"]
    paid: Annotated[int, Field(ge=0)]
    """Cents, paid at departure."""
    remark: str
    """What the guest wrote."""


class WaitingGuest(TypedDict):
    """One entry of the waiting list."""

    guest: str
    kind: RoomKind
    arrival: Day
    departure: Day
    remark: str


class HotelBookConfig(TypedDict, total=False):
    """Initial config of the hotel book."""

    rooms: dict[str, HotelRoom]
    """By room number."""
    stays: dict[str, Stay]
    next_stay: int
    waiting: list[WaitingGuest]
    """First come, first served."""


class HotelBook(World):
    """Rooms, stays and waiting guests."""

    Config = HotelBookConfig
    untrusted = frozenset(
        {"stays.*.guest", "stays.*.remark", "waiting.*.guest", "waiting.*.remark"}
    )
    uses = [WorldClock]

    rooms: Mapping[str, Mapping[str, Any]] = {}
    stays: Mapping[str, Mapping[str, Any]] = {}
    next_stay: int = 1
    waiting: Sequence[Mapping[str, Any]] = []

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield errors: unknown rooms, invalid days, and a ``next_stay`` that is already used."""
        yield from find_reused_ids(config, "stays", "next_stay")
        for number, stay in config.get("stays", {}).items():
            place = f".stays[{number!r}]"
            if stay["room"] not in config.get("rooms", {}):
                yield f"{place}.room", f"there is no room {stay['room']!r:.40}"
        items = [(f".stays[{number!r}]", each) for number, each in config.get("stays", {}).items()]
        items += [(f".waiting[{i}]", each) for i, each in enumerate(config.get("waiting", ()))]
        for place, item in items:
            days = item["arrival"], item["departure"]
            if not all(map(is_moment, days)):
                yield place, f"{days[0]} or {days[1]} is not a real date"
            elif not 0 < count_nights(*days) <= _MAX_NIGHTS:
                yield place, f"must last 1 to {_MAX_NIGHTS} nights"

    @classmethod
    def _add_bulk(
        cls, config: dict[str, Any], whole: Mapping[str, Any], words: Vocabulary, bulk: ItemSettings
    ) -> None:
        """Add generated finished stays."""
        rooms = [*whole["rooms"]]
        added = {}
        for number in range(FIRST_ADDED, FIRST_ADDED + (bulk.count("bookings") if rooms else 0)):
            arrival = words.day()
            added[f"{arrival.year}-{number}"] = {
                "guest": words.person(),
                "room": words.choice(rooms),
                "arrival": arrival.isoformat(),
                "departure": (arrival + timedelta(days=words.choice((1, 2, 3)))).isoformat(),
                "status": words.choice(("checked_out", "cancelled", "no_show")),
                "paid": words.number(5_000, 90_000),
                "remark": words.remark("message"),
            }
        config["stays"] = dict(words.mix(added.items(), whole["stays"].items()))

    @property
    def today(self) -> str:
        """The present day."""
        return self.world(WorldClock).now[:10]

    def list_free_rooms(self, kind: str, arrival: str, departure: str) -> list[str]:
        """Return the free rooms of a kind, lowest price first."""
        taken = {
            stay["room"]
            for stay in self.stays.values()
            if stay["status"] in ("booked", "checked_in")
            and stay["arrival"] < departure
            and arrival < stay["departure"]
        }
        free = [n for n, room in self.rooms.items() if room["kind"] == kind and n not in taken]
        return sorted(free, key=lambda number: (self.rooms[number]["price"], number))

    def check_days(self, arrival: str, departure: str) -> None:
        """Check the days of a stay. Raises InvalidArgument or Refused if a day is not possible."""
        read_moment(arrival)
        read_moment(departure)
        if not 0 < count_nights(arrival, departure) <= _MAX_NIGHTS:
            raise InvalidArgument(f"A stay lasts 1 to {_MAX_NIGHTS} nights.")
        if arrival < self.today:
            raise Refused(f"{arrival} is in the past (today: {self.today}).")

    def get_stay(self, number: str, status: str) -> Mapping[str, Any]:
        """Return a stay.

        Raises NotFound if the number is unknown, and Refused if the status is wrong.
        """
        return find_item(self.stays, "stay", number, status)

    def put_stay(self, number: str, stay: Mapping[str, Any], **changes: Any) -> None:
        """Change fields of a stay."""
        self.stays = {**self.stays, number: {**stay, **changes}}

    def book(self, room: str, guest: Mapping[str, Any]) -> str:
        """Book a room for a guest, and return the number of the stay."""
        number = str(self.next_stay)
        self.next_stay += 1
        booked = {name: guest[name] for name in ("guest", "arrival", "departure", "remark")}
        self.put_stay(number, booked, room=room, status="booked", paid=0)
        return number

    def serve_waiting(self) -> None:
        """Book free rooms for waiting guests, in the order of the list."""
        left = []
        for guest in self.waiting:
            free = self.list_free_rooms(guest["kind"], guest["arrival"], guest["departure"])
            if free and guest["arrival"] >= self.today:
                self.book(free[0], guest)
            else:
                left.append(guest)
        self.waiting = left

    @reaction
    def close_day(self) -> None:
        """Release the rooms of absent guests, and schedule the end of the next day.

        Guests who still wait at the end of their arrival day leave the waiting list.
        """
        for number, stay in self.stays.items():
            if stay["status"] == "booked" and stay["arrival"] <= self.today:
                self.put_stay(number, stay, status="no_show")
        self.waiting = [guest for guest in self.waiting if guest["arrival"] > self.today]
        self.serve_waiting()
        clock = self.world(WorldClock)
        next_day = shift(clock.now, _MINUTES_PER_DAY)
        # The calendar ends in the year 9999.
        if next_day > clock.now:
            clock.schedule(
                {"id": f"close {next_day[:10]}", "at": next_day, "does": ["HotelBook.close_day"]}
            )


def count_nights(arrival: str, departure: str) -> int:
    """Return the number of nights between two days."""
    return (read_moment(departure) - read_moment(arrival)).days


class NoFrontDeskConfig(TypedDict, total=False):
    """Empty initial config of ``FrontDesk``; the state is in ``HotelBook``."""


class FrontDesk(Backend):
    """Front desk of the hotel."""

    Config = NoFrontDeskConfig
    uses = [HotelBook, WorldClock]

    @reads
    def find_free_rooms(self, kind: RoomKind, arrival: Day, departure: Day) -> dict[str, Any]:
        """Find rooms that are free for a whole stay.

        Args:
            kind: Type of the room.
            arrival: Arrival date, such as 2026-03-02.
            departure: Departure date, such as 2026-03-04.

        Returns:
            rooms: Price per night in cents by room number, lowest price first.

        Examples:
            >>> find_free_rooms(kind='double', arrival='2026-03-02', departure='2026-03-04')
            {"rooms": {"12": 9000}}
            >>> find_free_rooms(kind='double', arrival='2026-03-01', departure='2026-03-04')
            {"error": "2026-03-01 is in the past (today: 2026-03-02)."}
        """
        book = self.world(HotelBook)
        book.check_days(arrival, departure)
        free = book.list_free_rooms(kind, arrival, departure)
        return {"rooms": {number: book.rooms[number]["price"] for number in free}}

    @writes
    def reserve_room(
        self, room: str, guest: str, arrival: Day, departure: Day, remark: str = ""
    ) -> dict[str, Any]:
        """Reserve a room for a guest. The room must be free for the whole stay.

        Args:
            room: Room number.
            guest: Name of the guest.
            arrival: Arrival date, such as 2026-03-02.
            departure: Departure date, such as 2026-03-04.
            remark: Special request of the guest; empty for none.

        Returns:
            stay: Number of the stay.

        Examples:
            >>> reserve_room(room='11', guest='Cy', arrival='2026-03-02', departure='2026-03-03')
            {"error": "Room 11 is not free from 2026-03-02 to 2026-03-03."}
            >>> reserve_room(room='12', guest='Cy', arrival='2026-03-02', departure='2026-03-03')
            {"stay": "2"}
        """
        book = self.world(HotelBook)
        book.check_days(arrival, departure)
        kind = find_item(book.rooms, "room", room)["kind"]
        if room not in book.list_free_rooms(kind, arrival, departure):
            raise Refused(f"Room {room} is not free from {arrival} to {departure}.")
        days = {"arrival": arrival, "departure": departure}
        return {"stay": book.book(room, {"guest": guest, "remark": remark, **days})}

    @reads
    def get_stay(self, stay: str) -> dict[str, Any]:
        """Return a stay.

        Args:
            stay: Number of the stay.

        Returns:
            guest: Name of the guest.
            room: Room number.
            arrival: Arrival date.
            departure: Departure date.
            status: One of booked, checked_in, checked_out, cancelled and no_show.
            paid: Amount in cents, which is paid at check-out.
            remark: Special request of the guest.

        Examples:
            >>> get_stay(stay='1')
            {"guest": "Ada", "room": "11", "arrival": "2026-03-02", "departure": "2026-03-04", ...
            >>> get_stay(stay='7')
            {"error": "There is no stay '7'."}
        """
        return dict(find_item(self.world(HotelBook).stays, "stay", stay))

    @reads
    def find_stays(self, guest: str) -> dict[str, Any]:
        """Find stays by part of the guest's name.

        Args:
            guest: Part of the guest's name, ignoring case; empty for all stays.

        Returns:
            stays: Stays by number: guest, room and status.

        Examples:
            >>> find_stays(guest='ad')
            {"stays": {"1": {"guest": "Ada", "room": "11", "status": "booked"}}}
        """
        wanted = guest.casefold()
        return {
            "stays": {
                number: {name: stay[name] for name in ("guest", "room", "status")}
                for number, stay in self.world(HotelBook).stays.items()
                if wanted in stay["guest"].casefold()
            }
        }

    @writes
    def cancel_stay(self, stay: str) -> dict[str, Any]:
        """Cancel a booked stay. Waiting guests then get suitable free rooms.

        Args:
            stay: Number of the stay.

        Returns:
            status: New status of the stay.

        Examples:
            >>> cancel_stay(stay='1')
            {"status": "cancelled"}
            >>> cancel_stay(stay='1')
            {"error": "Stay 1 is cancelled, not booked."}
        """
        book = self.world(HotelBook)
        book.put_stay(stay, book.get_stay(stay, "booked"), status="cancelled")
        book.serve_waiting()
        return {"status": "cancelled"}

    @writes
    def extend_stay(self, stay: str, departure: Day) -> dict[str, Any]:
        """Change the departure date of a checked-in guest. The room must be free until then.

        Args:
            stay: Number of the stay.
            departure: New departure date, such as 2026-03-05. It must not be before today.

        Returns:
            departure: New departure date.

        Examples:
            >>> extend_stay(stay='1', departure='2026-03-05')
            {"error": "Stay 1 is booked, not checked_in."}
            >>> wait(until='2026-03-02T15:00')
            {"now": "2026-03-02T15:00"}
            >>> check_in_guest(stay='1')
            {"room": "11"}
            >>> extend_stay(stay='1', departure='2026-03-05')
            {"departure": "2026-03-05"}
        """
        book = self.world(HotelBook)
        found = book.get_stay(stay, "checked_in")
        book.check_days(max(found["arrival"], book.today), departure)
        others = [s for number, s in book.stays.items() if number != stay]
        for other in others:
            if (
                other["room"] == found["room"]
                and other["status"] in ("booked", "checked_in")
                and found["departure"] <= other["arrival"] < departure
            ):
                raise Refused(f"Room {found['room']} is booked from {other['arrival']} on.")
        book.put_stay(stay, found, departure=departure)
        return {"departure": departure}

    @writes
    def check_in_guest(self, stay: str) -> dict[str, Any]:
        """Check in a guest. Check-in begins at 14:00 on the arrival date.

        Args:
            stay: Number of the stay.

        Returns:
            room: Room number.

        Examples:
            >>> check_in_guest(stay='1')
            {"error": "Check-in begins at 2026-03-02T14:00 (now: 2026-03-02T09:00)."}
            >>> wait(until='2026-03-02T15:00')
            {"now": "2026-03-02T15:00"}
            >>> check_in_guest(stay='1')
            {"room": "11"}
        """
        book, now = self.world(HotelBook), self.world(WorldClock).now
        found = book.get_stay(stay, "booked")
        begin = f"{found['arrival']}T{ARRIVALS}"
        if now < begin:
            raise Refused(f"Check-in begins at {begin} (now: {now}).")
        if book.today >= found["departure"]:
            raise Refused(f"Stay {stay} ended on {found['departure']}.")
        for number, other in book.stays.items():
            if other["room"] == found["room"] and other["status"] == "checked_in":
                raise Refused(f"Room {found['room']} still has the guest of stay {number}.")
        book.put_stay(stay, found, status="checked_in")
        return {"room": found["room"]}

    @irreversible
    @writes
    def check_out_guest(self, stay: str) -> dict[str, Any]:
        """Check out a guest. After 11:00 on the last day, one more night is charged.

        Args:
            stay: Number of the stay.

        Returns:
            paid: Price of all nights in cents.

        Examples:
            >>> check_out_guest(stay='1')
            {"error": "Stay 1 is booked, not checked_in."}
            >>> wait(until='2026-03-02T15:00')
            {"now": "2026-03-02T15:00"}
            >>> check_in_guest(stay='1')
            {"room": "11"}
            >>> check_out_guest(stay='1')
            {"paid": 12000}
        """
        book = self.world(HotelBook)
        found = book.get_stay(stay, "checked_in")
        nights = count_nights(found["arrival"], max(found["departure"], book.today))
        nights += self.world(WorldClock).now > f"{max(found['departure'], book.today)}T{DEPARTURES}"
        paid = nights * book.rooms[found["room"]]["price"]
        book.put_stay(stay, found, status="checked_out", paid=paid)
        book.serve_waiting()
        return {"paid": paid}

    @writes
    def join_waiting_list(
        self, guest: str, kind: RoomKind, arrival: Day, departure: Day, remark: str = ""
    ) -> dict[str, Any]:
        """Add a guest to the waiting list if no room of this type is free.

        Args:
            guest: Name of the guest.
            kind: Type of the room.
            arrival: Arrival date, such as 2026-03-02.
            departure: Departure date, such as 2026-03-04.
            remark: Special request of the guest; empty for none.

        Returns:
            place: Position on the list, from 1.

        Examples:
            >>> join_waiting_list('Cy', 'double', '2026-03-02', '2026-03-03')
            {"error": "Room 12 is free; reserve it."}
            >>> join_waiting_list('Cy', 'single', '2026-03-02', '2026-03-03')
            {"place": 2}
        """
        book = self.world(HotelBook)
        book.check_days(arrival, departure)
        free = book.list_free_rooms(kind, arrival, departure)
        if free:
            raise Refused(f"Room {free[0]} is free; reserve it.")
        days = {"arrival": arrival, "departure": departure}
        waiting = {"guest": guest, "kind": kind, **days, "remark": remark}
        book.waiting = [*book.waiting, waiting]
        return {"place": len(book.waiting)}

    @writes
    def leave_waiting_list(self, guest: str) -> dict[str, Any]:
        """Remove a guest from the waiting list.

        Args:
            guest: Name of the guest.

        Returns:
            left: Number of remaining guests on the list.

        Examples:
            >>> leave_waiting_list(guest='Bo')
            {"left": 0}
            >>> leave_waiting_list(guest='Bo')
            {"error": "'Bo' is not on the waiting list."}
        """
        book = self.world(HotelBook)
        left = [each for each in book.waiting if each["guest"] != guest]
        if len(left) == len(book.waiting):
            raise NotFound(f"{guest!r:.60} is not on the waiting list.")
        book.waiting = left
        return {"left": len(left)}

    @reads
    def show_waiting_list(self) -> dict[str, Any]:
        """Return the waiting list, first guest first.

        Returns:
            waiting: Guest, type of room, arrival date, departure date and remark.

        Examples:
            >>> show_waiting_list()
            {"waiting": [{"guest": "Bo", "kind": "single", "arrival": "2026-03-02", ...
        """
        return {"waiting": [dict(each) for each in self.world(HotelBook).waiting]}
