"""Small bank with accounts, payments and standing orders: a world with irreversible actions.

A payment is first prepared, and then confirmed with its amount. A confirmed payment cannot be
cancelled. Large payments to new receivers are held for a day. Amounts are in cents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from envs.backend import Backend, irreversible, reads, writes
from envs.errors import Refused
from envs.worlds import World
from extensions.worlds.events import reaction
from extensions.worlds.items import FIRST_ADDED, find_item, find_reused_ids
from extensions.worlds.timestamps import Moment, is_moment, read_moment, shift
from extensions.worlds.world_clock import WorldClock
from trajectories.vocabulary import ItemSettings, Vocabulary

Amount = Annotated[int, Field(ge=1, le=100_000_000)]
Reference = Annotated[str, Field(max_length=140)]
Days = Annotated[int, Field(ge=1, le=366)]
HOLD_ABOVE = 100_000
"""A payment to a new receiver is held if it exceeds this amount in cents."""
HOLD_MINUTES = LIMIT_MINUTES = 24 * 60
"""Delay of held payments and higher limits."""
_MINUTES_PER_DAY = 24 * 60


class BankAccount(TypedDict):
    """One account of the bank."""

    owner: str
    balance: Annotated[int, Field(ge=0)]
    daily_limit: Annotated[int, Field(ge=0, le=100_000_000)]
    """Maximum amount in cents that may leave the account in a day."""


class Payment(TypedDict):
    """One payment."""

    source: str
    target: str
    amount: Amount
    reference: str
    status: Literal["prepared", "made", "held", "rejected", "discarded"]
    made_on: str
    """Day of the confirmation; empty before the confirmation."""


class StandingOrder(TypedDict):
    """One standing order."""

    source: str
    target: str
    amount: Amount
    reference: str
    days: Days
    """Days between two payments."""
    next: Moment
    """Time of the next payment."""


class BankBookConfig(TypedDict, total=False):
    """Initial config of the bank book."""

    accounts: dict[str, BankAccount]
    payments: dict[str, Payment]
    next_payment: int
    standing_orders: dict[str, StandingOrder]
    next_order: int


class BankBook(World):
    """Accounts, payments and standing orders."""

    Config = BankBookConfig
    untrusted = frozenset(
        {"accounts.*.owner", "payments.*.reference", "standing_orders.*.reference"}
    )
    uses = [WorldClock]

    accounts: Mapping[str, Mapping[str, Any]] = {}
    payments: Mapping[str, Mapping[str, Any]] = {}
    next_payment: int = 1
    standing_orders: Mapping[str, Mapping[str, Any]] = {}
    next_order: int = 1

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield errors: unknown accounts, invalid times, and ids that would be assigned again."""
        accounts = config.get("accounts", {})
        for name, counter, prefix in (
            ("payments", "next_payment", "P"),
            ("standing_orders", "next_order", "S"),
        ):
            yield from find_reused_ids(config, name, counter, prefix)
            for id, item in config.get(name, {}).items():
                for side in ("source", "target"):
                    if item[side] not in accounts:
                        yield f".{name}[{id!r}].{side}", f"there is no account {item[side]!r:.40}"
                if "next" in item and not is_moment(item["next"]):
                    yield f".{name}[{id!r}].next", f"{item['next']} is not a real date and time"

    @classmethod
    def _add_bulk(
        cls, config: dict[str, Any], whole: Mapping[str, Any], words: Vocabulary, bulk: ItemSettings
    ) -> None:
        """Add generated accounts, and payments between these and the existing accounts."""
        owners = [*dict.fromkeys(words.one("firm") for _ in range(bulk.count("users")))]
        others = {
            f"B{number}": {"owner": owner, "balance": 1_000_000, "daily_limit": 1_000_000}
            for number, owner in enumerate(owners, FIRST_ADDED)
        }
        known = [*whole["accounts"]]
        payments = {}
        for number in range(
            FIRST_ADDED, FIRST_ADDED + (bulk.count("transactions") if known and others else 0)
        ):
            sides = [words.choice(known), words.choice([*others])]
            source, target = sides if words.choice((True, False)) else sides[::-1]
            day = words.day()
            payments[f"P{day.year}-{number}"] = {
                "source": source,
                "target": target,
                "amount": words.number(500, 90_000),
                "reference": words.one("goods").capitalize(),
                "status": "made",
                "made_on": day.isoformat(),
            }
        config["accounts"] = dict(words.mix(others.items(), whole["accounts"].items()))
        config["payments"] = dict(words.mix(payments.items(), whole["payments"].items()))

    def get_account(self, id: str) -> Mapping[str, Any]:
        """Return an account.

        Raises NotFound if the account does not exist.
        """
        return find_item(self.accounts, "account", id)

    def get_payment(self, id: str, status: str) -> Mapping[str, Any]:
        """Return a payment.

        Raises NotFound if the id is unknown, and Refused if the status is wrong.
        """
        return find_item(self.payments, "payment", id, status)

    def put_payment(self, id: str, payment: Mapping[str, Any], **changes: Any) -> None:
        """Change fields of a payment."""
        self.payments = {**self.payments, id: {**payment, **changes}}

    def prepare(self, order: Mapping[str, Any]) -> str:
        """Store a new payment without executing it, and return its id."""
        self.get_account(order["source"])
        self.get_account(order["target"])
        if order["source"] == order["target"]:
            raise Refused("Source and target are the same account.")
        id = f"P{self.next_payment}"
        self.next_payment += 1
        kept = {name: order[name] for name in ("source", "target", "amount", "reference")}
        self.put_payment(id, kept, status="prepared", made_on="")
        return id

    def confirm(self, id: str) -> str:
        """Execute a prepared payment, or hold it; return its new status.

        Raises Refused if the balance or the daily limit is too low.
        """
        clock = self.world(WorldClock)
        payment, today = self.get_payment(id, "prepared"), clock.now[:10]
        source, amount = self.get_account(payment["source"]), payment["amount"]
        earlier = [p for p in self.payments.values() if p["source"] == payment["source"]]
        spent = sum(p["amount"] for p in earlier if p["made_on"] == today)
        if spent + amount > source["daily_limit"]:
            left = max(0, source["daily_limit"] - spent)
            raise Refused(f"The daily limit leaves {left} cents today.")
        self._add(payment["source"], -amount)
        is_known = any(p["target"] == payment["target"] and p["status"] == "made" for p in earlier)
        if amount > HOLD_ABOVE and not is_known:
            self.put_payment(id, payment, status="held", made_on=today)
            release = f"BankBook.release(payment={id!r})"
            at = shift(clock.now, HOLD_MINUTES)
            clock.schedule({"id": f"release {id}", "at": at, "does": [release]})
            return "held"
        self._add(payment["target"], amount)
        self.put_payment(id, payment, status="made", made_on=today)
        return "made"

    @reaction
    def release(self, payment: str) -> None:
        """Execute a held payment."""
        found = self.get_payment(payment, "held")
        self._add(found["target"], found["amount"])
        self.put_payment(payment, found, status="made")
        self.world(WorldClock).unschedule(f"release {payment}")

    def reject(self, payment: str) -> None:
        """Reject a held payment, and return its amount to the source account."""
        found = self.get_payment(payment, "held")
        self._add(found["source"], found["amount"])
        self.put_payment(payment, found, status="rejected", made_on="")
        self.world(WorldClock).unschedule(f"release {payment}")

    @reaction
    def pay_standing_order(self, order: str) -> None:
        """Execute the due payment of a standing order, and plan the next payment."""
        found = find_item(self.standing_orders, "standing order", order)
        following = shift(found["next"], found["days"] * _MINUTES_PER_DAY)
        # The calendar ends in the year 9999.
        if following > found["next"]:
            self.plan(order, {**found, "next": following})
        id = self.prepare(found)
        try:
            self.confirm(id)
        except Refused:
            self.put_payment(id, self.payments[id], status="rejected")

    def plan(self, id: str, order: Mapping[str, Any]) -> None:
        """Store a standing order, and plan its next payment."""
        self.standing_orders = {**self.standing_orders, id: order}
        pay = f"BankBook.pay_standing_order(order={id!r})"
        self.world(WorldClock).schedule({"id": f"pay {id}", "at": order["next"], "does": [pay]})

    @reaction
    def set_limit(self, account: str, limit: int) -> None:
        """Set the daily limit of an account."""
        found = self.get_account(account)
        self.accounts = {**self.accounts, account: {**found, "daily_limit": limit}}

    def _add(self, id: str, amount: int) -> None:
        account = self.get_account(id)
        balance = account["balance"] + amount
        if balance < 0:
            raise Refused(f"Account {id} has only {account['balance']} cents.")
        self.accounts = {**self.accounts, id: {**account, "balance": balance}}


class NoBankTellerConfig(TypedDict, total=False):
    """Empty initial config of ``BankTeller``; the state is in ``BankBook``."""


class BankTeller(Backend):
    """Functions of the bank for its customers."""

    Config = NoBankTellerConfig
    uses = [BankBook, WorldClock]

    @reads
    def find_accounts(self, owner: str) -> dict[str, Any]:
        """Find accounts by part of the owner's name.

        Args:
            owner: Part of the owner's name, ignoring case; empty for all accounts.

        Returns:
            accounts: Accounts with account id and owner.

        Examples:
            >>> find_accounts(owner='rent')
            {"accounts": [{"account": "A3", "owner": "Rent Ltd"}]}
        """
        found, wanted = self.world(BankBook).accounts, owner.casefold()
        return {
            "accounts": [
                {"account": id, "owner": each["owner"]}
                for id, each in found.items()
                if wanted in each["owner"].casefold()
            ]
        }

    @reads
    def get_balance(self, account: str) -> dict[str, Any]:
        """Return the balance and the daily limit of an account.

        Args:
            account: Id of the account, such as A1.

        Returns:
            balance: Balance in cents.
            daily_limit: Maximum of outgoing payments per day, in cents.

        Examples:
            >>> get_balance(account='A1')
            {"balance": 500000, "daily_limit": 200000}
            >>> get_balance(account='A9')
            {"error": "There is no account 'A9'."}
        """
        found = self.world(BankBook).get_account(account)
        return {"balance": found["balance"], "daily_limit": found["daily_limit"]}

    @reads
    def list_payments(self, account: str) -> dict[str, Any]:
        """List all payments from and to an account.

        Args:
            account: Id of the account, such as A1.

        Returns:
            payments: Payments by id: source, target, amount, reference, status and day.

        Examples:
            >>> list_payments(account='A2')
            {"payments": {"P1": {"source": "A2", "target": "A1", "amount": 1500, ...
            >>> list_payments(account='A9')
            {"error": "There is no account 'A9'."}
        """
        book = self.world(BankBook)
        book.get_account(account)
        return {
            "payments": {
                id: dict(each)
                for id, each in book.payments.items()
                if account in (each["source"], each["target"])
            }
        }

    @writes
    def prepare_payment(
        self, source: str, target: str, amount: Amount, reference: Reference
    ) -> dict[str, Any]:
        """Prepare a payment. To execute it, call confirm_payment.

        Args:
            source: Id of the account that pays.
            target: Id of the account that receives the payment.
            amount: Amount in cents, from 1 to 100000000.
            reference: Text for the recipient, at most 140 characters.

        Returns:
            payment: Id of the payment.

        Examples:
            >>> prepare_payment(source='A1', target='A2', amount=2500, reference='Tickets')
            {"payment": "P2"}
            >>> prepare_payment(source='A1', target='A1', amount=2500, reference='Tickets')
            {"error": "Source and target are the same account."}
        """
        order = {"source": source, "target": target, "amount": amount, "reference": reference}
        return {"payment": self.world(BankBook).prepare(order)}

    @irreversible
    @writes
    def confirm_payment(self, payment: str, amount: int) -> dict[str, Any]:
        """Confirm a prepared payment. A confirmed payment cannot be undone.

        Args:
            payment: Id of the payment.
            amount: Amount of the payment in cents, as a confirmation.

        Returns:
            status: made, or held for a day if a new receiver gets more than 100000 cents.

        Examples:
            >>> prepare_payment(source='A1', target='A2', amount=2500, reference='Tickets')
            {"payment": "P2"}
            >>> confirm_payment(payment='P2', amount=25)
            {"error": "The amount of payment P2 is 2500 cents."}
            >>> confirm_payment(payment='P2', amount=2500)
            {"status": "made"}
        """
        book = self.world(BankBook)
        found = book.get_payment(payment, "prepared")
        if found["amount"] != amount:
            raise Refused(f"The amount of payment {payment} is {found['amount']} cents.")
        return {"status": book.confirm(payment)}

    @writes
    def discard_payment(self, payment: str) -> dict[str, Any]:
        """Discard a prepared payment.

        Args:
            payment: Id of the payment.

        Returns:
            status: New status of the payment.

        Examples:
            >>> discard_payment(payment='P1')
            {"error": "Payment P1 is made, not prepared."}
            >>> prepare_payment(source='A1', target='A2', amount=2500, reference='Tickets')
            {"payment": "P2"}
            >>> discard_payment(payment='P2')
            {"status": "discarded"}
        """
        book = self.world(BankBook)
        book.put_payment(payment, book.get_payment(payment, "prepared"), status="discarded")
        return {"status": "discarded"}

    @writes
    def create_standing_order(
        self,
        source: str,
        target: str,
        amount: Amount,
        reference: Reference,
        first: Moment,
        days: Days,
    ) -> dict[str, Any]:
        """Create a standing order, which repeats a payment without confirmation.

        Args:
            source: Id of the account that pays.
            target: Id of the account that receives the payment.
            amount: Amount in cents, from 1 to 100000000.
            reference: Text for the recipient, at most 140 characters.
            first: Time of the first payment, such as 2026-03-03T08:00. It must not be in the past.
            days: Days from one payment to the next, from 1 to 366.

        Returns:
            order: Id of the standing order.

        Examples:
            >>> create_standing_order('A1', 'A3', 80000, 'Rent', '2026-04-01T08:00', 30)
            {"order": "S1"}
            >>> create_standing_order('A1', 'A3', 80000, 'Rent', '2026-02-01T08:00', 30)
            {"error": "2026-02-01T08:00 is in the past (now: 2026-03-02T09:00)."}
        """
        book, now = self.world(BankBook), self.world(WorldClock).now
        read_moment(first)
        if first < now:
            raise Refused(f"{first} is in the past (now: {now}).")
        book.get_account(source)
        book.get_account(target)
        if source == target:
            raise Refused("Source and target are the same account.")
        id = f"S{book.next_order}"
        book.next_order += 1
        order = {"source": source, "target": target, "amount": amount, "reference": reference}
        book.plan(id, {**order, "days": days, "next": first})
        return {"order": id}

    @reads
    def list_standing_orders(self, account: str) -> dict[str, Any]:
        """List the standing orders for payments from an account.

        Args:
            account: Id of the account, such as A1.

        Returns:
            orders: Standing orders by id: source, target, amount, reference, days and next time.

        Examples:
            >>> list_standing_orders(account='A1')
            {"orders": {}}
            >>> list_standing_orders(account='A9')
            {"error": "There is no account 'A9'."}
        """
        book = self.world(BankBook)
        book.get_account(account)
        orders = book.standing_orders
        return {"orders": {id: dict(o) for id, o in orders.items() if o["source"] == account}}

    @writes
    def stop_standing_order(self, order: str) -> dict[str, Any]:
        """Stop a standing order.

        Args:
            order: Id of the standing order.

        Returns:
            left: Number of remaining standing orders of all accounts.

        Examples:
            >>> create_standing_order('A1', 'A3', 80000, 'Rent', '2026-04-01T08:00', 30)
            {"order": "S1"}
            >>> stop_standing_order(order='S1')
            {"left": 0}
            >>> stop_standing_order(order='S1')
            {"error": "There is no standing order 'S1'."}
        """
        book = self.world(BankBook)
        find_item(book.standing_orders, "standing order", order)
        left = {id: each for id, each in book.standing_orders.items() if id != order}
        book.standing_orders = left
        self.world(WorldClock).unschedule(f"pay {order}")
        return {"left": len(left)}

    @writes
    def set_daily_limit(
        self, account: str, limit: Annotated[int, Field(ge=0, le=100_000_000)]
    ) -> dict[str, Any]:
        """Set the daily limit of an account. A higher limit takes effect after one day.

        Args:
            account: Id of the account, such as A1.
            limit: Maximum of outgoing payments per day in cents, from 0 to 100000000.

        Returns:
            counts_from: Time at which the limit takes effect.

        Examples:
            >>> set_daily_limit(account='A1', limit=300000)
            {"counts_from": "2026-03-03T09:00"}
            >>> set_daily_limit(account='A1', limit=100000)
            {"counts_from": "2026-03-02T09:00"}
            >>> set_daily_limit(account='A9', limit=100000)
            {"error": "There is no account 'A9'."}
        """
        book, clock = self.world(BankBook), self.world(WorldClock)
        id = f"limit {account}"
        if limit <= book.get_account(account)["daily_limit"]:
            clock.unschedule(id)
            book.set_limit(account, limit)
            return {"counts_from": clock.now}
        at = shift(clock.now, LIMIT_MINUTES)
        does = f"BankBook.set_limit(account={account!r}, limit={limit})"
        clock.schedule({"id": id, "at": at, "does": [does]})
        return {"counts_from": at}


class NoFraudDeskConfig(TypedDict, total=False):
    """Empty initial config of ``FraudDesk``; the state is in ``BankBook``."""


class FraudDesk(Backend):
    """Functions of the bank's staff, who execute or reject held payments."""

    Config = NoFraudDeskConfig
    uses = [BankBook]

    @reads
    def list_held_payments(self) -> dict[str, Any]:
        """List all held payments.

        Returns:
            payments: Payments by id: source, target, amount, reference, status and day.

        Examples:
            >>> list_held_payments()
            {"payments": {"P2": {"source": "A1", "target": "A3", "amount": 150000, ...
        """
        found = self.world(BankBook).payments
        return {"payments": {id: dict(p) for id, p in found.items() if p["status"] == "held"}}

    @irreversible
    @writes
    def release_payment(self, payment: str) -> dict[str, Any]:
        """Execute a held payment immediately.

        Args:
            payment: Id of the payment.

        Returns:
            status: New status of the payment.

        Examples:
            >>> release_payment(payment='P2')
            {"status": "made"}
            >>> release_payment(payment='P2')
            {"error": "Payment P2 is made, not held."}
        """
        self.world(BankBook).release(payment)
        return {"status": "made"}

    @irreversible
    @writes
    def reject_payment(self, payment: str) -> dict[str, Any]:
        """Reject a held payment, and return the amount to the source account.

        Args:
            payment: Id of the payment.

        Returns:
            status: New status of the payment.

        Examples:
            >>> reject_payment(payment='P2')
            {"status": "rejected"}
            >>> reject_payment(payment='P1')
            {"error": "Payment P1 is made, not held."}
        """
        self.world(BankBook).reject(payment)
        return {"status": "rejected"}
