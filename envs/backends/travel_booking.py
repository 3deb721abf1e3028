"""A travel agency: flights, the credit cards that pay for them, and the record of bookings.

Money is in US dollars. Most functions need the access token that ``authenticate_travel`` returns.
The token never expires by itself. Ids are random. In BFCL's data, cards and bookings lack fields.
A call fails only if it needs a missing field.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NotRequired

from typing_extensions import TypedDict

from envs.backend import Backend, irreversible, random_stream, reads, writes
from envs.backends.travel_facts import AIRPORTS, CITIES, CLASS_FACTORS, FARES, USD_RATES
from envs.errors import AccessDenied, AlreadyExists, InvalidArgument, NotFound, Refused, ToolError
from envs.random_stream import RandomStream
from envs.results import DeclinedResult
from envs.state import copy_json

if TYPE_CHECKING:
    from envs.long_context import LongContextPack

_USUAL_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_SEED = 141053
# BFCL uses the current date; this is the release date of BFCL's package.
_TODAY = date(2026, 3, 23)
_ADULT = 18
_INVOICED = (
    "travel_date",
    "travel_from",
    "travel_to",
    "travel_class",
    "travel_cost",
    "transaction_id",
)
_INSURANCE = ("insurance_type", "booking_id", "insurance_cost", "card_id")


class CreditCard(TypedDict):
    """One credit card; the id is the card's key."""

    balance: float
    card_type: NotRequired[str]
    card_number: NotRequired[str]
    expiration_date: NotRequired[str]
    cardholder_name: NotRequired[str]
    card_verification_number: NotRequired[int]


class Booking(TypedDict, total=False):
    """One booking; only the functions for invoices and cancellations need all fields."""

    card_id: str
    travel_date: str
    travel_from: str
    travel_to: str
    travel_class: Literal["economy", "business", "first"]
    travel_cost: float
    transaction_id: str


class TravelConfig(TypedDict, total=False):
    """Initial config of the travel agency."""

    credit_card_list: dict[str, CreditCard]
    booking_record: dict[str, Booking]
    access_token: str | None
    token_type: Literal["Bearer"] | None
    token_expires_in: int | None
    token_scope: str | None
    user_first_name: str | None
    user_last_name: str | None
    budget_limit: float | None
    random_seed: int


class TravelAPI(Backend):
    """A travel agency with one customer."""

    Config = TravelConfig
    beyond_bfcl = frozenset({"insurances", "support_messages"})
    # Customer support handles each message separately.
    unordered = frozenset({"support_messages"})
    visible = frozenset({"book_flight", "cancel_booking"})

    credit_card_list: Mapping[str, Any] = {}
    booking_record: Mapping[str, Any] = {}
    access_token: str | None = None
    token_type: str | None = None
    token_expires_in: int | None = None
    token_scope: str | None = None
    user_first_name: str | None = None
    user_last_name: str | None = None
    budget_limit: float | None = None
    insurances: Mapping[str, Mapping[str, Any]] = {}
    support_messages: Sequence[Mapping[str, str]] = []
    long_context: bool = False
    _lists_fares: bool = False
    _random: RandomStream = RandomStream(_SEED)

    def _load(self, config: Mapping[str, Any], pack: LongContextPack | None) -> None:
        self._random = random_stream(config, _SEED)
        self.long_context = pack is not None
        if pack is not None:
            self._lists_fares = pack.lists_fares
            self.credit_card_list = _filled_up(self.credit_card_list, pack.credit_cards)
            self.booking_record = _filled_up(self.booking_record, pack.bookings)

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Find bookings with unknown cards, unknown airports or invalid dates."""
        cards = config.get("credit_card_list", {})
        known, airports = {None, *cards}, {None, *AIRPORTS}
        for booking_id, booking in config.get("booking_record", {}).items():
            path = f".booking_record[{booking_id!r}]"
            if booking.get("card_id") not in known:
                yield f"{path}.card_id", f"there is no card {booking['card_id']!r}"
            for end in ("travel_from", "travel_to"):
                if booking.get(end) not in airports:
                    yield f"{path}.{end}", f"{booking[end]} is none of {', '.join(AIRPORTS)}"
            if "travel_date" in booking and _day(booking["travel_date"]) is None:
                yield f"{path}.travel_date", f"{booking['travel_date']!r} is not a YYYY-MM-DD day"

    @writes
    def authenticate_travel(
        self,
        client_id: str,
        client_secret: str,
        refresh_token: str,
        grant_type: str,
        user_first_name: str,
        user_last_name: str,
    ) -> dict[str, Any]:
        """Get a new access token; any credentials will do, and earlier tokens become invalid.

        Args:
            client_id: Id of the application.
            client_secret: Secret of the application.
            refresh_token: Token that the application got before.
            grant_type: What the token is for, such as read_write; becomes its scope.
            user_first_name: First name of the traveler.
            user_last_name: Last name of the traveler.

        Returns:
            expires_in, the access_token of 6 digits, token_type and scope.

        Examples:
            >>> authenticate_travel(client_id='id', client_secret='s', refresh_token='r',
            ... grant_type='read_write', user_first_name='Isobel', user_last_name='Kerr')
            {"expires_in": 2, "access_token": "913076", "token_type": "Bearer", "scope": ...
        """
        self.access_token = self._drawn(6, "token", self.access_token)
        self.token_expires_in = 2
        self.token_type = "Bearer"
        self.token_scope = grant_type
        self.user_first_name = user_first_name
        self.user_last_name = user_last_name
        return {
            "expires_in": self.token_expires_in,
            "access_token": self.access_token,
            "token_type": self.token_type,
            "scope": self.token_scope,
        }

    @reads
    def travel_get_login_status(self) -> dict[str, bool]:
        """Tell whether there is an access token that has not expired.

        Returns:
            status: Whether the traveler is logged in.

        Examples:
            >>> travel_get_login_status()
            {"status": true}
        """
        return {"status": self.token_expires_in is not None and self.token_expires_in != 0}

    @reads
    def get_budget_fiscal_year(
        self,
        lastModifiedAfter: str | None = None,
        includeRemoved: str | None = None,
    ) -> dict[str, str]:
        """Tell the fiscal year of the travel budget.

        Args:
            lastModifiedAfter: Has no effect.
            includeRemoved: Has no effect.

        Returns:
            budget_fiscal_year: The year.

        Examples:
            >>> get_budget_fiscal_year()
            {"budget_fiscal_year": "2018"}
        """
        return {"budget_fiscal_year": "2018"}

    @irreversible
    @writes
    def register_credit_card(
        self,
        access_token: str,
        card_number: str,
        expiration_date: str,
        cardholder_name: str,
        card_verification_number: int,
    ) -> dict[str, str]:
        """Register a credit card; its balance is set by the agency.

        Args:
            access_token: Token from authenticate_travel.
            card_number: Number of the card.
            expiration_date: Month and year in which the card expires, such as 05/2027.
            cardholder_name: Name on the card.
            card_verification_number: Security number on the card.

        Returns:
            card_id: Id of the card, of 12 digits, which other functions ask for.

        Examples:
            >>> register_credit_card(access_token='448201', card_number='4000123412341234',
            ... expiration_date='01/2029', cardholder_name='Isobel Kerr',
            ... card_verification_number=123)
            {"card_id": "758716812355"}
            >>> register_credit_card(access_token='1', card_number='4000123412341234',
            ... expiration_date='01/2029', cardholder_name='Isobel Kerr',
            ... card_verification_number=123)
            {"error": "'1' is not the valid access token. Use the token from the last call of ...
        """
        if self.token_expires_in is None:
            raise AccessDenied(
                "There is no access token yet. Get one with authenticate_travel.", "missing"
            )
        self._require_token(access_token)
        if card_number in self.credit_card_list:
            raise AlreadyExists(f"{card_number!r} is the id of a registered card.")
        card_id = self._new_id(
            12,
            self.credit_card_list,
            "card",
            card_number,
            expiration_date,
            cardholder_name,
            card_verification_number,
        )
        card = {
            "card_number": card_number,
            "expiration_date": expiration_date,
            "cardholder_name": cardholder_name,
            "card_verification_number": card_verification_number,
            "balance": int(self._drawn(5, "balance", card_id)),
        }
        self.credit_card_list = {**self.credit_card_list, card_id: card}
        return {"card_id": card_id}

    @reads
    def get_flight_cost(
        self, travel_from: str, travel_to: str, travel_date: str, travel_class: str
    ) -> dict[str, list[float]]:
        """Tell what a flight costs.

        Args:
            travel_from: Code of the departure airport, such as SFO.
            travel_to: Code of the destination airport.
            travel_date: Day of the flight, written YYYY-MM-DD.
            travel_class: economy, business or first.

        Returns:
            travel_cost_list: The cost in US dollars.

        Examples:
            >>> get_flight_cost(travel_from='JFK', travel_to='ORD', travel_date='2025-10-18',
            ... travel_class='economy')
            {"travel_cost_list": [300.0]}
            >>> get_flight_cost(travel_from='XXX', travel_to='ORD', travel_date='2025-10-18',
            ... travel_class='economy')
            {"error": "There is no flight from 'XXX' to 'ORD'. From 'XXX' there are flights to: ...
        """
        fare = _fare(travel_from, travel_to)
        factor = _class_factor(travel_class) * _date_factor(travel_date)
        fares = FARES.values() if self._lists_fares else (fare,)
        return {"travel_cost_list": [float(fare * factor) for fare in fares]}

    @reads
    def get_credit_card_balance(self, access_token: str, card_id: str) -> dict[str, float]:
        """Tell how much money a credit card has left.

        Args:
            access_token: Token from authenticate_travel.
            card_id: Id of a registered card.

        Returns:
            card_balance: US dollars.

        Examples:
            >>> get_credit_card_balance(access_token='448201', card_id='601100990011')
            {"card_balance": 1820.5}
            >>> get_credit_card_balance(access_token='448201', card_id='1')
            {"error": "There is no card '1'; registered cards: 601100990011, 601100990022."}
        """
        self._require_token(access_token)
        return {"card_balance": _member(self._card(card_id), "balance", f"The card {card_id}")}

    @writes
    def book_flight(
        self,
        access_token: str,
        card_id: str,
        travel_date: str,
        travel_from: str,
        travel_to: str,
        travel_class: str,
    ) -> dict[str, Any]:
        """Book a flight and pay for it with a credit card.

        Args:
            access_token: Token from authenticate_travel.
            card_id: Id of a registered card that has the money, and no less than the budget limit.
            travel_date: Day of the flight, written YYYY-MM-DD.
            travel_from: Code of the departure airport, such as SFO.
            travel_to: Code of the destination airport.
            travel_class: economy, business or first.

        Returns:
            booking_id of 7 digits, transaction_id of 8 digits, booking_status, booking_history.

        Examples:
            >>> book_flight(access_token='448201', card_id='601100990011',
            ... travel_date='2025-10-18', travel_from='JFK', travel_to='ORD',
            ... travel_class='economy')
            {"booking_id": "1428458", "transaction_id": "53683429", "booking_status": true, ...
            >>> book_flight(access_token='448201', card_id='1', travel_date='2025-10-18',
            ... travel_from='JFK', travel_to='ORD', travel_class='economy')
            {"booking_status": false, "error": "There is no card '1'; registered cards: ...
        """
        with _Reporting(booking_status=False):
            self._require_token(access_token)
            balance = self._balance(card_id)
            cost = _bookable_cost(travel_from, travel_to, travel_date, travel_class)
            self._require_funds(card_id, balance, cost)
        flight = (card_id, travel_date, travel_from, travel_to, travel_class)
        booking_id = self._new_id(7, self.booking_record, "booking", *flight)
        transaction_id = self._drawn(8, "transaction", booking_id)
        booking = {
            "card_id": card_id,
            "travel_date": travel_date,
            "travel_from": travel_from,
            "travel_to": travel_to,
            "travel_class": travel_class,
            "travel_cost": cost,
            "transaction_id": transaction_id,
        }
        self._set_balance(card_id, balance - cost)
        self.booking_record = {**self.booking_record, booking_id: booking}
        return {
            "booking_id": booking_id,
            "transaction_id": transaction_id,
            "booking_status": True,
            "booking_history": dict(self.booking_record) if self._lists_fares else {},
        }

    @reads
    def retrieve_invoice(
        self,
        access_token: str,
        booking_id: str | None = None,
        insurance_id: str | None = None,
    ) -> dict[str, Any]:
        """Show the invoice of a booking.

        Args:
            access_token: Token from authenticate_travel.
            booking_id: Id of the booking; always needed.
            insurance_id: Id of an insurance; has no effect.

        Returns:
            invoice: booking_id, travel_date, travel_from, travel_to, travel_class, travel_cost in
            US dollars, and transaction_id.

        Examples:
            >>> retrieve_invoice(access_token='448201', booking_id='3300147')
            {"invoice": {"booking_id": "3300147", "travel_date": "2025-10-18", "travel_from": ...
            >>> retrieve_invoice(access_token='448201', booking_id='1')
            {"error": "There is no booking '1'. See get_booking_history."}
        """
        self._require_token(access_token)
        booking = self._booking(booking_id)
        owner = f"The booking {booking_id}"
        members = {name: _member(booking, name, owner) for name in _INVOICED}
        return {"invoice": {"booking_id": booking_id, **members}}

    @reads
    def get_booking_history(self, access_token: str) -> dict[str, Any]:
        """Show all bookings.

        Args:
            access_token: Token from authenticate_travel.

        Returns:
            booking_history: The bookings by their ids.

        Examples:
            >>> get_booking_history(access_token='448201')
            {"booking_history": {"3300147": {"card_id": "601100990011", "travel_date": ...
            >>> get_booking_history(access_token='1')
            {"error": "'1' is not the valid access token. Use the token from the last call of ...
        """
        self._require_token(access_token)
        return {"booking_history": self.booking_record}

    @reads
    def list_all_airports(self) -> list[str]:
        """List the airports that can be booked.

        Returns:
            Codes of the airports.

        Examples:
            >>> list_all_airports()
            ['RMS', 'SBK', 'MPC', 'SVP', 'SHD', 'CDG', 'LHR', 'SSV', 'OKD', 'WLB', 'PEK', ...
        """
        return list(AIRPORTS)

    @irreversible
    @writes
    def cancel_booking(self, access_token: str, booking_id: str) -> dict[str, bool]:
        """Cancel a booking and pay its cost back to the card that it was made with.

        Args:
            access_token: Token from authenticate_travel.
            booking_id: Id of the booking.

        Returns:
            cancel_status: Whether the booking is cancelled.

        Examples:
            >>> cancel_booking(access_token='448201', booking_id='3300147')
            {"cancel_status": true}
            >>> cancel_booking(access_token='448201', booking_id='1')
            {"cancel_status": false, "error": "There is no booking '1'. See get_booking_history."}
        """
        with _Reporting(cancel_status=False):
            self._require_token(access_token)
            booking = self._booking(booking_id)
            card_id = _member(booking, "card_id", f"The booking {booking_id}")
            cost = _number(booking, "travel_cost", f"The booking {booking_id}")
            balance = self._balance(card_id)
        self._set_balance(card_id, balance + cost)
        self.booking_record = {
            key: kept for key, kept in self.booking_record.items() if key != booking_id
        }
        return {"cancel_status": True}

    @reads
    def compute_exchange_rate(
        self, base_currency: str, target_currency: str, value: float
    ) -> dict[str, float]:
        """Convert an amount of money from US dollars to another currency, or to US dollars.

        Args:
            base_currency: Currency of the amount: USD, RMB, EUR, JPY, GBP, CAD, AUD, INR, RUB, BRL
                or MXN.
            target_currency: Currency to convert to. One of the two must be USD, the other not.
            value: Amount in the base currency.

        Returns:
            exchanged_value: Amount in the target currency.

        Examples:
            >>> compute_exchange_rate(base_currency='USD', target_currency='EUR', value=100.0)
            {"exchanged_value": 80.0}
            >>> compute_exchange_rate(base_currency='USD', target_currency='XXX', value=100.0)
            {"error": "There is no rate from 'USD' to 'XXX'. There are rates between USD and ...
        """
        if base_currency == "USD" and target_currency in USD_RATES:
            return {"exchanged_value": float(value * USD_RATES[target_currency])}
        if target_currency == "USD" and base_currency in USD_RATES:
            return {"exchanged_value": round(value / USD_RATES[base_currency], 2)}
        raise InvalidArgument(
            f"There is no rate from {base_currency!r} to {target_currency!r}. "
            f"There are rates between USD and {', '.join(USD_RATES)}."
        )

    @reads
    def verify_traveler_information(
        self, first_name: str, last_name: str, date_of_birth: str, passport_number: str
    ) -> dict[str, Any]:
        """Check that a traveler is the authenticated one, of age, and has a US passport.

        Args:
            first_name: First name of the traveler.
            last_name: Last name of the traveler.
            date_of_birth: Day of birth, written YYYY-MM-DD.
            passport_number: Number of the passport; one of the United States begins with US.

        Returns:
            verification_status: Whether the traveler is fine; if not, verification_failure says
            why.

        Examples:
            >>> verify_traveler_information(first_name='Isobel', last_name='Kerr',
            ... date_of_birth='1980-01-31', passport_number='US1234567')
            {"verification_status": true}
        """
        failure = self._unverified(first_name, last_name, date_of_birth, passport_number)
        if failure is None:
            return {"verification_status": True}
        why, reason = failure
        return DeclinedResult(why, verification_status=False, verification_failure=reason)

    @writes
    def set_budget_limit(self, access_token: str, budget_limit: float) -> dict[str, float]:
        """Set the budget: cards with less money cannot book, dearer insurance cannot be bought.

        Args:
            access_token: Token from authenticate_travel.
            budget_limit: US dollars.

        Returns:
            budget_limit: The new limit.

        Examples:
            >>> set_budget_limit(access_token='448201', budget_limit=1000.0)
            {"budget_limit": 1000.0}
            >>> set_budget_limit(access_token='1', budget_limit=1000.0)
            {"error": "'1' is not the valid access token. Use the token from the last call of ...
        """
        self._require_token(access_token)
        self.budget_limit = float(budget_limit)
        return {"budget_limit": self.budget_limit}

    @reads
    def get_nearest_airport_by_city(self, location: str) -> dict[str, str]:
        """Look up the airport nearest to a city.

        Args:
            location: Name of the city, spelled exactly, such as San Francisco.

        Returns:
            nearest_airport: Code of the airport, or "Unknown" for a city that is not known.

        Examples:
            >>> get_nearest_airport_by_city(location='Rivermist')
            {"nearest_airport": "RMS"}
        """
        return {"nearest_airport": CITIES.get(location, "Unknown")}

    @irreversible
    @writes
    def purchase_insurance(
        self,
        access_token: str,
        insurance_type: str,
        booking_id: str,
        insurance_cost: float,
        card_id: str,
    ) -> dict[str, Any]:
        """Buy insurance for a booking; the card pays even if its balance becomes negative.

        Args:
            access_token: Token from authenticate_travel.
            insurance_type: What is insured, such as travel or cancellation.
            booking_id: Id of the booking.
            insurance_cost: US dollars, at most the budget limit where there is one.
            card_id: Id of a registered card.

        Returns:
            insurance_id of 9 digits, and insurance_status.

        Examples:
            >>> purchase_insurance(access_token='448201', insurance_type='travel',
            ... booking_id='3300147', insurance_cost=50.0, card_id='601100990011')
            {"insurance_id": "808789315", "insurance_status": true}
            >>> purchase_insurance(access_token='448201', insurance_type='travel', booking_id='1',
            ... insurance_cost=50.0, card_id='601100990011')
            {"insurance_status": false, "error": "There is no booking '1'. See ...
        """
        with _Reporting(insurance_status=False):
            self._require_token(access_token)
            if self.budget_limit is not None and self.budget_limit < insurance_cost:
                raise Refused(
                    f"{insurance_cost} exceeds the budget limit, {self.budget_limit}.", "budget"
                )
            self._booking(booking_id)
            balance = self._balance(card_id)
        self._set_balance(card_id, balance - insurance_cost)
        bought = (_insured(insurance_type), booking_id, insurance_cost, card_id)
        insurance_id = self._new_id(9, self.insurances, "insurance", *bought)
        if self._keeps("insurances"):
            insurance = dict(zip(_INSURANCE, bought, strict=True))
            self.insurances = {**self.insurances, insurance_id: insurance}
        return {"insurance_id": insurance_id, "insurance_status": True}

    @irreversible
    @writes
    def contact_customer_support(self, booking_id: str, message: str) -> dict[str, str]:
        """Send customer support a message about a booking.

        Args:
            booking_id: Id of the booking.
            message: The message.

        Returns:
            customer_support_message: Confirmation of receipt.

        Examples:
            >>> contact_customer_support(booking_id='3300147', message='A window seat, please.')
            {"customer_support_message": "Thank you for contacting customer support. Your ...
            >>> contact_customer_support(booking_id='1', message='A window seat, please.')
            {"error": "There is no booking '1'. See get_booking_history."}
        """
        self._booking(booking_id)
        if self._keeps("support_messages"):
            sent = {"booking_id": booking_id, "message": message}
            self.support_messages = [*self.support_messages, sent]
        return {
            "customer_support_message": "Thank you for contacting customer support. Your message "
            "has been received and we will get back to you shortly."
        }

    @reads
    def get_all_credit_cards(self) -> dict[str, Any]:
        """Show all registered credit cards.

        Returns:
            credit_card_list: The cards by their ids, with balances in US dollars.

        Examples:
            >>> get_all_credit_cards()
            {"credit_card_list": {"601100990011": {"card_type": "credit", "card_number": ...
        """
        return {"credit_card_list": self.credit_card_list}

    def _drawn(self, digits: int, *occasion: object) -> str:
        value, self._random = self._random.randint(10 ** (digits - 1), 10**digits - 1, *occasion)
        return str(value)

    def _new_id(self, digits: int, taken: Container[str], *occasion: object) -> str:
        """Draw an id. If ids are drawn in sequence, as in BFCL, the id may already exist."""
        if not self._random.by_occasion:
            return self._drawn(digits)
        for attempt in count():
            drawn = self._drawn(digits, *occasion, attempt)
            if drawn not in taken:
                break
        return drawn

    def _require_token(self, access_token: str) -> None:
        if self.token_expires_in == 0:
            raise AccessDenied(
                "The access token has expired. Get one with authenticate_travel.", "expired"
            )
        if access_token != self.access_token:
            raise AccessDenied(
                f"{access_token!r} is not the valid access token. "
                "Use the token from the last call of authenticate_travel.",
                "wrong",
            )

    def _card(self, card_id: str) -> Any:
        # A list, because an irregular booking may have a ``card_id`` that cannot be hashed.
        if card_id not in list(self.credit_card_list):
            known = ", ".join(self.credit_card_list) or "none"
            raise NotFound(f"There is no card {card_id!r}; registered cards: {known}.", "card")
        return self.credit_card_list[card_id]

    def _balance(self, card_id: str) -> float:
        return _number(self._card(card_id), "balance", f"The card {card_id}")

    def _set_balance(self, card_id: str, balance: float) -> None:
        card = {**self.credit_card_list[card_id], "balance": balance}
        self.credit_card_list = {**self.credit_card_list, card_id: card}

    def _require_funds(self, card_id: str, balance: float, cost: float) -> None:
        if balance < cost:
            raise Refused(
                f"The flight costs {cost}, but the card {card_id} has only {balance}.", "balance"
            )
        # BFCL compares the budget with the card's balance, not with the price.
        if self.budget_limit is not None and balance < self.budget_limit:
            raise Refused(
                f"The card {card_id} has {balance}, less than the budget limit, "
                f"{self.budget_limit}. Lower the limit or take another card.",
                "budget",
            )

    def _booking(self, booking_id: str | None) -> Any:
        if booking_id is None or booking_id not in self.booking_record:
            raise NotFound(
                f"There is no booking {booking_id!r}. See get_booking_history.", "booking"
            )
        return self.booking_record[booking_id]

    def _unverified(
        self, first_name: str, last_name: str, date_of_birth: str, passport_number: str
    ) -> tuple[str, str] | None:
        """Return kind and text of the failed verification, or None for a verified traveler."""
        if (first_name, last_name) != (self.user_first_name, self.user_last_name):
            expected = f"{self.user_first_name} {self.user_last_name}"
            return "name", f"The traveler must be {expected}, not {first_name} {last_name}."
        born = _day(date_of_birth)
        if born is None:
            return "date", f"The date of birth {date_of_birth!r} is not a day. Write YYYY-MM-DD."
        before_birthday = (_TODAY.month, _TODAY.day) < (born.month, born.day)
        if _TODAY.year - born.year - before_birthday < _ADULT:
            return "age", f"The traveler must be at least {_ADULT} years old."
        if not passport_number.startswith("US"):
            return (
                "passport",
                f"The passport {passport_number} must begin with US, for the United States.",
            )
        return None


class _Reporting:
    """Context that adds fields to refusals; ``contextmanager`` would be slower."""

    def __init__(self, **flags: object) -> None:
        self._flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ToolError):
            error.fields = self._flags


def _bookable_cost(travel_from: str, travel_to: str, travel_date: str, travel_class: str) -> float:
    """Check the airports and the date of a flight, and return its cost."""
    for end, airport in (("from", travel_from), ("to", travel_to)):
        if airport not in AIRPORTS:
            raise NotFound(
                f"There is no airport {airport!r}; there are {', '.join(AIRPORTS)}.", end
            )
    if _day(travel_date) is None:
        raise InvalidArgument(f"The date {travel_date!r} is not a day. Write YYYY-MM-DD.", "date")
    factor = _class_factor(travel_class) * _date_factor(travel_date)
    return float(_fare(travel_from, travel_to) * factor)


def _fare(travel_from: str, travel_to: str) -> int:
    if (travel_from, travel_to) not in FARES:
        reachable = ", ".join(end for start, end in FARES if start == travel_from) or "nowhere"
        raise NotFound(
            f"There is no flight from {travel_from!r} to {travel_to!r}. "
            f"From {travel_from!r} there are flights to: {reachable}.",
            "route",
        )
    return FARES[travel_from, travel_to]


def _class_factor(travel_class: str) -> int:
    if travel_class not in CLASS_FACTORS:
        raise InvalidArgument(
            f"No class {travel_class!r}; give {', '.join(CLASS_FACTORS)}.",
            "class",
            {"classes": f"{{{', '.join(map(repr, CLASS_FACTORS))}}}"},
        )
    return CLASS_FACTORS[travel_class]


def _date_factor(travel_date: str) -> int:
    """Return 2 if the sum of the date's digits is even, else 1."""
    if type(travel_date) is str and travel_date.isascii():
        return 1 if sum(map(travel_date.count, "13579")) % 2 else 2
    try:
        total = sum([int(digit) for digit in travel_date if digit.isdigit()])
    except ValueError:  # such as a superscript two
        raise InvalidArgument(
            f"The date {travel_date!r} contains invalid digits. Use 0 to 9."
        ) from None
    return 1 if total % 2 else 2


def _insured(insurance_type: str) -> str:
    """Return an insurance type as stored: ``Travel insurance`` becomes ``travel``."""
    words = str(insurance_type).casefold().split()
    return " ".join([word for word in words if word != "insurance"])


def _day(text: str) -> date | None:
    try:
        # strptime accepts more formats, but takes longer than the rest of ``book_flight``.
        if isinstance(text, str) and _USUAL_DATE.fullmatch(text):
            return date.fromisoformat(text)
        return datetime.strptime(text, "%Y-%m-%d").date()
    except ValueError:
        return None


def _filled_up(own: Mapping[str, Any], added: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return ``own`` with copies of the missing entries from ``added``."""
    return {**own, **{key: copy_json(entry) for key, entry in added.items() if key not in own}}


def _member(value: Any, name: str, owner: str) -> Any:
    if not isinstance(value, dict) or name not in value:
        raise Refused(f"{owner} has no {name}.", KeyError(name))
    return value[name]


def _number(value: Any, name: str, owner: str) -> float:
    number = _member(value, name, owner)
    if not isinstance(number, (int, float)):
        raise Refused(f"{owner} has a wrong {name}: {number!r} is not a number.")
    return number
