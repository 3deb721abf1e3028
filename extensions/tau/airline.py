"""Airline desk with flights, reservations, changes and compensation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from typing_extensions import TypedDict

from envs.backend import irreversible, reads, writes
from envs.errors import InvalidArgument, NotFound, Refused
from extensions.tau.desk import Desk, find
from extensions.tau.field_types import (
    ChoiceField,
    Fields,
    MappingField,
    VariantRecord,
    validate,
    validate_all,
)

NOW = "2024-05-15T15:00:00"
_NEW_RESERVATIONS = ("HATHAT", "HATHAU", "HATHAV")
_NEW_CERTIFICATES = ("certificate_3221322", "certificate_3221323", "certificate_3221324")
_INSURANCE_PRICE = 30
_BAG_PRICE = 50

_CABINS = ("basic_economy", "economy", "business")
_BY_CABIN: Fields = dict.fromkeys(_CABINS)
_INSTANCE = VariantRecord(
    "status",
    {
        "available": {"status": str, "available_seats": _BY_CABIN, "prices": _BY_CABIN},
        **dict.fromkeys(
            ("on time", "delayed"),
            dict.fromkeys(
                ("status", "estimated_departure_time_est", "estimated_arrival_time_est"), str
            ),
        ),
        "flying": dict.fromkeys(
            ("status", "actual_departure_time_est", "estimated_arrival_time_est"), str
        ),
        "landed": dict.fromkeys(
            ("status", "actual_departure_time_est", "actual_arrival_time_est"), str
        ),
        "cancelled": {"status": str},
    },
)
_FLIGHT: Fields = {
    "flight_number": str,
    "origin": str,
    "destination": str,
    "scheduled_departure_time_est": str,
    "scheduled_arrival_time_est": str,
    "dates": MappingField(_INSTANCE),
}
_HELD: Fields = {"source": str, "id": str, "amount": float}
_METHOD = VariantRecord(
    "source",
    {
        "credit_card": dict.fromkeys(("source", "id", "brand", "last_four"), str),
        "gift_card": _HELD,
        "certificate": _HELD,
    },
)
_PASSENGER: Fields = dict.fromkeys(("first_name", "last_name", "dob"), str)
_USER: Fields = {
    "user_id": str,
    "name": {"first_name": str, "last_name": str},
    "address": dict.fromkeys(("address1", "address2", "city", "country", "state", "zip"), str),
    "email": str,
    "dob": str,
    "payment_methods": MappingField(_METHOD),
    "saved_passengers": [_PASSENGER],
    "membership": str,
    "reservations": [str],
}
_PAYMENT: Fields = {"payment_id": str, "amount": int}
_BOOKED: Fields = {
    "flight_number": str,
    "origin": str,
    "destination": str,
    "date": str,
    "price": int,
}
_FLIGHT_INFO: Fields = {"flight_number": str, "date": str}
_RESERVATION: Fields = {
    "reservation_id": str,
    "user_id": str,
    "origin": str,
    "destination": str,
    "flight_type": ChoiceField(("round_trip", "one_way")),
    "cabin": ChoiceField(("business", "economy", "basic_economy")),
    "flights": [_BOOKED],
    "passengers": [_PASSENGER],
    "payment_history": [_PAYMENT],
    "created_at": str,
    "total_baggages": int,
    "nonfree_baggages": int,
    "insurance": ChoiceField(("yes", "no")),
    "status": None,
}
_AIRPORTS = (
    ("SFO", "San Francisco"),
    ("JFK", "New York"),
    ("LAX", "Los Angeles"),
    ("ORD", "Chicago"),
    ("DFW", "Dallas"),
    ("DEN", "Denver"),
    ("SEA", "Seattle"),
    ("ATL", "Atlanta"),
    ("MIA", "Miami"),
    ("BOS", "Boston"),
    ("PHX", "Phoenix"),
    ("IAH", "Houston"),
    ("LAS", "Las Vegas"),
    ("MCO", "Orlando"),
    ("EWR", "Newark"),
    ("CLT", "Charlotte"),
    ("MSP", "Minneapolis"),
    ("DTW", "Detroit"),
    ("PHL", "Philadelphia"),
    ("LGA", "LaGuardia"),
)


class AirlineConfig(TypedDict, total=False):
    """Initial config of the airline."""

    flights: dict[str, dict[str, Any]]
    """Maps a flight number to the flight with all its dates."""
    users: dict[str, dict[str, Any]]
    """Customers by id."""
    reservations: dict[str, dict[str, Any]]
    """Reservations by id."""


class AirlineDesk(Desk):
    """Service desk of an airline."""

    Config = AirlineConfig
    DOMAIN: ClassVar[str] = "airline"
    CLASSES: ClassVar[Mapping[str, str]] = {"assistant": "AirlineTools", "user": ""}
    RECORDS: ClassVar[Mapping[str, Fields]] = {
        "flights": _FLIGHT,
        "users": _USER,
        "reservations": _RESERVATION,
    }
    AGENT_TOOLS: ClassVar[tuple[str, ...]] = (
        "book_reservation",
        "calculate",
        "cancel_reservation",
        "get_reservation_details",
        "get_user_details",
        "list_all_airports",
        "search_direct_flight",
        "search_onestop_flight",
        "send_certificate",
        "transfer_to_human_agents",
        "update_reservation_baggages",
        "update_reservation_flights",
        "update_reservation_passengers",
        "get_flight_status",
    )

    flights: dict[str, dict[str, Any]] = {}
    users: dict[str, dict[str, Any]] = {}
    reservations: dict[str, dict[str, Any]] = {}

    @reads
    def get_user_details(self, user_id: str) -> dict[str, Any]:
        """Return a customer's profile.

        Args:
            user_id: Id of the customer.

        Returns:
            Profile with payment methods, membership and reservation ids.

        Examples:
            >>> get_user_details(user_id='mira_lund_2001')
            {"user_id": "mira_lund_2001", "name": {"first_name": "Mira", "last_name": "Lund"...
            >>> get_user_details(user_id='mira')
            {"error": "User mira not found"}
        """
        return self._user(user_id)

    @reads
    def get_reservation_details(self, reservation_id: str) -> dict[str, Any]:
        """Return a reservation.

        Args:
            reservation_id: Id of the reservation.

        Returns:
            Reservation with flights, passengers and payments.

        Examples:
            >>> get_reservation_details(reservation_id='LUND01')
            {"reservation_id": "LUND01", "user_id": "mira_lund_2001", "origin": "SEA", "dest...
            >>> get_reservation_details(reservation_id='LUND02')
            {"error": "Reservation LUND02 not found"}
        """
        return self._reservation(reservation_id)

    @reads
    def get_flight_status(self, flight_number: str, date: str) -> str:
        """Return the status of a flight on a date.

        Args:
            flight_number: Number of the flight.
            date: Date as YYYY-MM-DD.

        Returns:
            Status, such as 'available' or 'landed'.

        Examples:
            >>> get_flight_status(flight_number='HAT902', date='2024-05-15')
            delayed
            >>> get_flight_status(flight_number='HAT902', date='2024-06-15')
            {"error": "Flight HAT902 not found on date 2024-06-15"}
        """
        status: str = self._instance(flight_number, date)["status"]
        return status

    @reads
    def list_all_airports(self) -> list[dict[str, Any]]:
        """List all airports.

        Returns:
            Airports with codes and cities.

        Examples:
            >>> list_all_airports()
            [{'iata': 'SFO', 'city': 'San Francisco'}, {'iata': 'JFK', 'city': 'New York'},...
        """
        return [{"iata": code, "city": city} for code, city in _AIRPORTS]

    @reads
    def search_direct_flight(
        self, origin: str, destination: str, date: str
    ) -> list[dict[str, Any]]:
        """Search for available direct flights.

        Args:
            origin: Code of the departure airport.
            destination: Code of the arrival airport.
            date: Date as YYYY-MM-DD.

        Returns:
            Flights with seats and prices.

        Examples:
            >>> search_direct_flight(origin='SEA', destination='BOS', date='2024-05-20')
            [{'flight_number': 'HAT903', 'origin': 'SEA', 'destination': 'BOS', 'status': 'a...
        """
        return self._offers(origin, destination, date, None)

    @reads
    def search_onestop_flight(
        self, origin: str, destination: str, date: str
    ) -> list[list[dict[str, Any]]]:
        """Search for available connections with one stop.

        Args:
            origin: Code of the departure airport.
            destination: Code of the arrival airport.
            date: Date of the first flight as YYYY-MM-DD.

        Returns:
            Pairs of flights with seats and prices.

        Examples:
            >>> search_onestop_flight(origin='SEA', destination='BOS', date='2024-05-20')
            [[{'flight_number': 'HAT901', 'origin': 'SEA', 'destination': 'DEN', 'status': '...
        """
        pairs = []
        for first in self._offers(origin, None, date, date):
            arrival = first["scheduled_arrival_time_est"]
            # As in upstream, the next day has no leading zero.
            onward = f"2024-05-{int(date[-2:]) + 1}" if "+1" in arrival else date
            for second in self._offers(first["destination"], destination, onward, onward):
                if second["scheduled_departure_time_est"] >= arrival:
                    pairs.append([dict(first), dict(second)])
        return pairs

    @irreversible
    @writes
    def book_reservation(
        self,
        user_id: str,
        origin: str,
        destination: str,
        flight_type: str,
        cabin: str,
        flights: list[dict[str, Any]],
        passengers: list[dict[str, Any]],
        payment_methods: list[dict[str, Any]],
        total_baggages: int,
        nonfree_baggages: int,
        insurance: str,
    ) -> dict[str, Any]:
        """Book flights for one or more passengers.

        Args:
            user_id: Id of the customer.
            origin: Code of the departure airport.
            destination: Code of the arrival airport.
            flight_type: Either 'one_way' or 'round_trip'.
            cabin: One of 'basic_economy', 'economy' and 'business'.
            flights: Flights, each with flight_number and date.
            passengers: Passengers, each with first_name, last_name and dob.
            payment_methods: Payments, each with payment_id and amount.
            total_baggages: Number of checked bags.
            nonfree_baggages: Number of bags that are not free.
            insurance: Travel insurance, either 'yes' or 'no'.

        Returns:
            Booked reservation.

        Examples:
            >>> book_reservation(user_id='mira_lund_2001', origin='SEA', destination='BOS',
            ...     flight_type='one_way', cabin='economy',
            ...     flights=[{'flight_number': 'HAT903', 'date': '2024-05-20'}],
            ...     passengers=[{'first_name': 'Mira', 'last_name': 'Lund', 'dob': '1988-03-09'}],
            ...     payment_methods=[{'payment_id': 'credit_card_7', 'amount': 259}],
            ...     total_baggages=1, nonfree_baggages=0, insurance='no')
            {"reservation_id": "HATHAT", "user_id": "mira_lund_2001", "origin": "SEA", "dest...
            >>> book_reservation(user_id='mira', origin='SEA', destination='BOS', cabin='economy',
            ...     flight_type='one_way', flights=[], passengers=[], payment_methods=[],
            ...     total_baggages=1, nonfree_baggages=0, insurance='no')
            {"error": "User mira not found"}
        """
        wanted = validate_all("FlightInfo", _FLIGHT_INFO, flights)
        given = {
            "user_id": user_id,
            "origin": origin,
            "destination": destination,
            "flight_type": flight_type,
            "cabin": cabin,
            "passengers": validate_all("Passenger", _PASSENGER, passengers),
            "payment_history": validate_all("Payment", _PAYMENT, payment_methods),
            "total_baggages": total_baggages,
            "nonfree_baggages": nonfree_baggages,
            "insurance": insurance,
        }
        return self._reserve(wanted, given)

    @irreversible
    @writes
    def cancel_reservation(self, reservation_id: str) -> dict[str, Any]:
        """Cancel a reservation, and refund its payments.

        Args:
            reservation_id: Id of the reservation.

        Returns:
            Cancelled reservation.

        Examples:
            >>> cancel_reservation(reservation_id='LUND01')
            {"reservation_id": "LUND01", "user_id": "mira_lund_2001", "origin": "SEA", "dest...
            >>> cancel_reservation(reservation_id='LUND02')
            {"error": "Reservation LUND02 not found"}
        """
        reservation = self._reservation(reservation_id)
        history = reservation["payment_history"]
        refunds = [{**each, "amount": -each["amount"]} for each in history]
        return self._put(
            {**reservation, "payment_history": [*history, *refunds], "status": "cancelled"}
        )

    @writes
    def update_reservation_baggages(
        self, reservation_id: str, total_baggages: int, nonfree_baggages: int, payment_id: str
    ) -> dict[str, Any]:
        """Change the number of checked bags of a reservation.

        Args:
            reservation_id: Id of the reservation.
            total_baggages: New number of checked bags.
            nonfree_baggages: New number of bags that are not free.
            payment_id: Payment method for additional bags.

        Returns:
            Changed reservation.

        Examples:
            >>> update_reservation_baggages(reservation_id='LUND01', total_baggages=2,
            ...     nonfree_baggages=1, payment_id='credit_card_7')
            {"reservation_id": "LUND01", "user_id": "mira_lund_2001", "origin": "SEA", "dest...
            >>> update_reservation_baggages(reservation_id='LUND01', total_baggages=2,
            ...     nonfree_baggages=1, payment_id='certificate_7')
            {"error": "Certificate cannot be used to update reservation"}
        """
        reservation = self._reservation(reservation_id)
        user = self._user(reservation["user_id"])
        more = max(0, nonfree_baggages - reservation["nonfree_baggages"])
        payment = self._pay(user, payment_id, _BAG_PRICE * more)
        return self._put(
            {
                **reservation,
                "total_baggages": total_baggages,
                "nonfree_baggages": nonfree_baggages,
                "payment_history": [*reservation["payment_history"], *payment],
            }
        )

    @writes
    def update_reservation_flights(
        self, reservation_id: str, cabin: str, flights: list[dict[str, Any]], payment_id: str
    ) -> dict[str, Any]:
        """Change the flights or the cabin of a reservation.

        Args:
            reservation_id: Id of the reservation.
            cabin: Cabin for all flights.
            flights: All flights of the reservation, including unchanged ones, each with
                flight_number and date.
            payment_id: Payment method for the price difference.

        Returns:
            Changed reservation.

        Examples:
            >>> update_reservation_flights(reservation_id='LUND01', cabin='economy',
            ...     flights=[{'flight_number': 'HAT903', 'date': '2024-05-20'}],
            ...     payment_id='credit_card_7')
            {"reservation_id": "LUND01", "user_id": "mira_lund_2001", "origin": "SEA", "dest...
            >>> update_reservation_flights(reservation_id='LUND01', cabin='economy',
            ...     flights=[{'flight_number': 'HAT902', 'date': '2024-05-21'}],
            ...     payment_id='credit_card_7')
            {"error": "Flight HAT902 not available on date 2024-05-21"}
        """
        wanted = validate_all("FlightInfo", _FLIGHT_INFO, flights)
        reservation = self._reservation(reservation_id)
        user = self._user(reservation["user_id"])
        count = len(reservation["passengers"])
        old = {
            (each["flight_number"], each["date"]): each
            for each in reversed(reservation["flights"])
            if cabin == reservation["cabin"]
        }
        booked = [
            old.get((_member(each, "flight_number"), _member(each, "date")))
            or self._book(each, cabin, count)
            for each in wanted
        ]
        more = sum(each["price"] for each in booked)
        more -= sum(each["price"] for each in reservation["flights"])
        payment = self._pay(user, payment_id, more * count)
        return self._put(
            {
                **reservation,
                "cabin": cabin,
                "flights": booked,
                "payment_history": [*reservation["payment_history"], *payment],
            }
        )

    @writes
    def update_reservation_passengers(
        self, reservation_id: str, passengers: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Replace the passengers of a reservation. Their number must not change.

        Args:
            reservation_id: Id of the reservation.
            passengers: All passengers, each with first_name, last_name and dob.

        Returns:
            Changed reservation.

        Examples:
            >>> update_reservation_passengers(reservation_id='LUND01',
            ...     passengers=[{'first_name': 'Otto', 'last_name': 'Lund', 'dob': '2014-07-01'}])
            {"reservation_id": "LUND01", "user_id": "mira_lund_2001", "origin": "SEA", "dest...
            >>> update_reservation_passengers(reservation_id='LUND01', passengers=[])
            {"error": "Number of passengers does not match"}
        """
        travellers = validate_all("Passenger", _PASSENGER, passengers)
        reservation = self._reservation(reservation_id)
        if len(travellers) != len(reservation["passengers"]):
            raise Refused("Number of passengers does not match")
        return self._put({**reservation, "passengers": travellers})

    @irreversible
    @writes
    def send_certificate(self, user_id: str, amount: float) -> str:
        """Send a certificate to a customer as compensation.

        Args:
            user_id: Id of the customer.
            amount: Amount in dollars.

        Returns:
            Confirmation.

        Examples:
            >>> send_certificate(user_id='mira_lund_2001', amount=50)
            Certificate certificate_3221322 added to user mira_lund_2001 with amount 50.
            >>> send_certificate(user_id='mira', amount=50)
            {"error": "User mira not found"}
        """
        user = self._user(user_id)
        free = [id for id in _NEW_CERTIFICATES if id not in user["payment_methods"]]
        if not free:
            raise Refused("Too many certificates")
        given = {"source": "certificate", "id": free[0], "amount": amount}
        held = validate("Certificate", _HELD, given)
        self._put_user({**user, "payment_methods": {**user["payment_methods"], free[0]: held}})
        return f"Certificate {free[0]} added to user {user_id} with amount {amount}."

    def _user(self, user_id: str) -> dict[str, Any]:
        return find(self.users, user_id, f"User {user_id} not found")

    def _reservation(self, id: str) -> dict[str, Any]:
        return find(self.reservations, id, f"Reservation {id} not found")

    def _put(self, reservation: dict[str, Any]) -> dict[str, Any]:
        self.reservations = {**self.reservations, reservation["reservation_id"]: reservation}
        return reservation

    def _put_user(self, user: dict[str, Any]) -> None:
        self.users = {**self.users, user["user_id"]: user}

    def _instance(self, flight_number: str, date: str) -> dict[str, Any]:
        flight = find(self.flights, flight_number, f"Flight {flight_number} not found")
        missing = f"Flight {flight_number} not found on date {date}"
        return find(flight["dates"], date, missing)

    def _offers(
        self, origin: str, destination: str | None, date: str, shown_date: str | None
    ) -> list[dict[str, Any]]:
        """Return the available flights on a date, by default to all destinations."""
        if isinstance(date, (list, dict)):
            raise InvalidArgument(f"unhashable type: '{type(date).__name__}'")
        found = []
        for flight in self.flights.values():
            if flight["origin"] != origin or destination not in (None, flight["destination"]):
                continue
            day = flight["dates"].get(date)
            if day is None or day["status"] != "available":
                continue
            shown = {name: flight[name] for name in ("flight_number", "origin", "destination")}
            shown["status"] = "available"
            for name in ("scheduled_departure_time_est", "scheduled_arrival_time_est"):
                shown[name] = flight[name]
            shown["date"] = shown_date
            shown["available_seats"], shown["prices"] = day["available_seats"], day["prices"]
            found.append(shown)
        return found

    def _book(self, wanted: Any, cabin: str, count: int) -> dict[str, Any]:
        number, date = _member(wanted, "flight_number"), _member(wanted, "date")
        day = self._instance(number, date)
        if day["status"] != "available":
            raise Refused(f"Flight {number} not available on date {date}")
        seats = find(day["available_seats"], cabin, repr(cabin))
        if seats < count:
            raise Refused(f"Not enough seats on flight {number}")
        flight = self.flights[number]
        return {
            "flight_number": number,
            "origin": flight["origin"],
            "destination": flight["destination"],
            "date": date,
            "price": day["prices"][cabin],
        }

    def _reserve(self, wanted: Sequence[Any], given: Mapping[str, Any]) -> dict[str, Any]:
        user, count = self._user(given["user_id"]), len(given["passengers"])
        free = [id for id in _NEW_RESERVATIONS if id not in self.reservations]
        if not free:
            raise Refused("Too many reservations")
        fixed: dict[str, Any] = {
            "reservation_id": free[0],
            "flights": [],
            "created_at": NOW,
            "status": None,
        }
        reservation = validate("Reservation", _RESERVATION, {**given, **fixed})
        booked = [self._book(each, given["cabin"], count) for each in wanted]
        total = sum(each["price"] for each in booked) * count
        if given["insurance"] == "yes":
            total += _INSURANCE_PRICE * count
        total += _BAG_PRICE * given["nonfree_baggages"]
        _check_payments(user, given["payment_history"], total)
        self._take_seats(booked, given["cabin"], count)
        charged = _charge(user, given["payment_history"])
        self._put_user({**charged, "reservations": [*user["reservations"], free[0]]})
        return self._put({**reservation, "flights": booked})

    def _take_seats(self, booked: Sequence[Mapping[str, Any]], cabin: str, count: int) -> None:
        for each in booked:
            flight = self.flights[each["flight_number"]]
            day = flight["dates"][each["date"]]
            seats = {**day["available_seats"], cabin: day["available_seats"][cabin] - count}
            dates = {**flight["dates"], each["date"]: {**day, "available_seats": seats}}
            self.flights = {**self.flights, each["flight_number"]: {**flight, "dates": dates}}

    def _pay(self, user: dict[str, Any], id: str, price: int) -> list[dict[str, Any]]:
        method = find(user["payment_methods"], id, "Payment method not found")
        if method["source"] == "certificate":
            raise Refused("Certificate cannot be used to update reservation")
        if method["source"] == "gift_card":
            if method["amount"] < price:
                raise Refused("Gift card balance is not enough")
            self._put_user(_charge(user, [{"payment_id": id, "amount": price}]))
        return [{"payment_id": id, "amount": price}] if price != 0 else []


def _member(record: Any, name: str) -> Any:
    """Return a field of a record.

    Raises InvalidArgument if the value is not an object.
    """
    if not isinstance(record, Mapping):
        raise InvalidArgument(f"'{type(record).__name__}' object has no attribute '{name}'")
    if name not in record:
        raise NotFound(f"'dict' object has no attribute '{name}'")
    return record[name]


def _check_payments(user: Mapping[str, Any], payments: Sequence[Any], total: Any) -> None:
    """Raise Refused if the payments are not possible or do not add up to the total."""
    for payment in payments:
        id, amount = _member(payment, "payment_id"), _member(payment, "amount")
        method = find(user["payment_methods"], id, f"Payment method {id} not found")
        if method["source"] != "credit_card" and method["amount"] < amount:
            raise Refused(f"Not enough balance in payment method {id}")
    paid = sum(payment["amount"] for payment in payments)
    if paid != total:
        text = f"Payment amount does not add up, total price is {total}, but paid {paid}"
        raise Refused(text)


def _charge(user: dict[str, Any], payments: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    methods = dict(user["payment_methods"])
    for payment in payments:
        id = payment["payment_id"]
        method = methods.get(id)
        if method is not None and method["source"] == "gift_card":
            methods[id] = {**method, "amount": method["amount"] - payment["amount"]}
        elif method is not None and method["source"] == "certificate":
            del methods[id]
    return {**user, "payment_methods": methods}
