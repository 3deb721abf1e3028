"""Telecom desk with customers, lines and bills of a carrier, and with a customer's phone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from itertools import count
from typing import Any, ClassVar

from typing_extensions import TypedDict

from envs.backend import reads, writes
from envs.errors import InvalidArgument, NotFound, Refused
from envs.tool import Tool
from extensions.tau.desk import lower
from extensions.tau.field_types import Fields, arrange
from extensions.tau.phone import Phone

TODAY = "2025-02-25"
_CYCLE_END = "2025-02-28"

_PLAN: Fields = {
    "plan_id": str,
    "name": str,
    "data_limit_gb": float,
    "price_per_month": float,
    "data_refueling_price_per_gb": float,
}
_CUSTOMER: Fields = {
    "customer_id": str,
    "full_name": str,
    "date_of_birth": str,
    "email": str,
    "phone_number": str,
    "address": dict.fromkeys(("street", "city", "state", "zip_code"), str),
    "account_status": str,
    "payment_methods": [
        dict.fromkeys(("method_type", "account_number_last_4", "expiration_date"), str)
    ],
    "line_ids": [str],
    "bill_ids": [str],
    "created_at": str,
    "last_extension_date": None,
    "goodwill_credit_used_this_year": float,
}
_LINE: Fields = {
    "line_id": str,
    "phone_number": str,
    "status": str,
    "plan_id": str,
    "device_id": None,
    "data_used_gb": float,
    "data_refueling_gb": float,
    "roaming_enabled": bool,
    "contract_end_date": None,
    "last_plan_change_date": None,
    "last_sim_replacement_date": None,
    "suspension_start_date": None,
}
_BILL: Fields = {
    "bill_id": str,
    "customer_id": str,
    "period_start": str,
    "period_end": str,
    "issue_date": str,
    "total_due": float,
    "due_date": str,
    "line_items": [{"description": str, "amount": float, "date": str, "item_type": str}],
    "status": str,
}
_DEVICE: Fields = {
    "device_id": str,
    "device_type": str,
    "model": str,
    "imei": None,
    "is_esim_capable": bool,
    "activated": bool,
    "activation_date": None,
    "last_esim_transfer_date": None,
}
_TIMES = ("created_at", "activation_date", "last_esim_transfer_date")
"""Fields with date and time, such as "2025-01-10 00:00:00" (a space, no T)."""
_BY_LETTER = {
    "L": ("lines", "line_id", "Line"),
    "D": ("devices", "device_id", "Device"),
    "B": ("bills", "bill_id", "Bill"),
    "C": ("customers", "customer_id", "Customer"),
    "P": ("plans", "plan_id", "Plan"),
}


class TelecomConfig(TypedDict, total=False):
    """Initial config of carrier and phone."""

    plans: list[dict[str, Any]]
    """Plans with limits and prices."""
    customers: list[dict[str, Any]]
    """Customers with the ids of their lines and bills."""
    lines: list[dict[str, Any]]
    """Phone lines with status and used data."""
    bills: list[dict[str, Any]]
    """Bills with their items."""
    devices: list[dict[str, Any]]
    """Devices of the lines."""
    device: dict[str, Any]
    """The customer's phone."""
    surroundings: dict[str, Any]
    """Number, place and network of the phone."""
    vpn_profile: dict[str, Any]
    """VPN server that the phone connects to, with its properties."""


class TelecomDesk(Phone):
    """Service desk of a mobile carrier, and the phone of the customer who calls."""

    Config = TelecomConfig
    RENAMED = {"vpn_profile": "_vpn_profile"}
    DOMAIN: ClassVar[str] = "telecom"
    CLASSES: ClassVar[Mapping[str, str]] = {"assistant": "TelecomTools", "user": "TelecomUserTools"}
    RECORDS: ClassVar[Mapping[str, Fields]] = {
        "plans": _PLAN,
        "customers": _CUSTOMER,
        "lines": _LINE,
        "bills": _BILL,
        "devices": _DEVICE,
    }
    AGENT_TOOLS: ClassVar[tuple[str, ...]] = (
        "get_customer_by_phone",
        "get_customer_by_id",
        "get_customer_by_name",
        "get_details_by_id",
        "suspend_line",
        "resume_line",
        "get_bills_for_customer",
        "send_payment_request",
        "get_data_usage",
        "enable_roaming",
        "disable_roaming",
        "transfer_to_human_agents",
        "refuel_data",
    )

    plans: list[dict[str, Any]] = []
    customers: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    bills: list[dict[str, Any]] = []
    devices: list[dict[str, Any]] = []

    @classmethod
    def arrange(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Copy a database. Each record of the copy has its fields in the declared order."""
        arranged: dict[str, Any] = {
            name: [arrange(kind, each) for each in data[name]] for name, kind in cls.RECORDS.items()
        }
        for name in ("customers", "devices"):
            for record in arranged[name]:
                for field in _TIMES:
                    if isinstance(record.get(field), str):
                        record[field] = record[field].replace("T", " ")
        return arranged

    # Look-ups -----------------------------------------------------------------------------------

    def _get(self, table: str, key: str, id: Any) -> dict[str, Any] | None:
        return next((each for each in vars(self)[table] if each[key] == id), None)

    def find(self, letter: str, id: Any) -> dict[str, Any]:
        """Return a line, device, bill, customer or plan. Raises NotFound if no record exists."""
        table, key, title = _BY_LETTER[letter]
        found = self._get(table, key, id)
        if found is None:
            raise NotFound(f"{title} with ID {id} not found")
        return found

    def put(self, letter: str, record: dict[str, Any]) -> dict[str, Any]:
        """Store a changed record, or append a new record."""
        table, key, _ = _BY_LETTER[letter]
        records: list[dict[str, Any]] = vars(self)[table]
        if self._get(table, key, record[key]) is None:
            setattr(self, table, [*records, record])
            return record
        place = next(i for i, each in enumerate(records) if each[key] == record[key])
        setattr(self, table, [*records[:place], record, *records[place + 1 :]])
        return record

    def _line(self, customer_id: str, line_id: str) -> dict[str, Any]:
        customer = self.find("C", customer_id)
        if line_id not in customer["line_ids"]:
            raise NotFound(f"Line {line_id} not found for customer {customer_id}")
        return self.find("L", line_id)

    def _bills_of(self, customer: Mapping[str, Any]) -> list[dict[str, Any]]:
        return [bill for bill in self.bills if bill["bill_id"] in customer["bill_ids"]]

    def add_bill(self, bill: dict[str, Any]) -> dict[str, Any]:
        """Store a bill, and add its id to the customer's bills."""
        customer = self.find("C", bill["customer_id"])
        self.put("C", {**customer, "bill_ids": [*customer["bill_ids"], bill["bill_id"]]})
        return self.put("B", bill)

    # Functions ----------------------------------------------------------------------------------

    @reads
    def get_customer_by_phone(self, phone_number: str) -> dict[str, Any]:
        """Find a customer by phone number.

        Args:
            phone_number: Number of the customer, or of one of the customer's lines.

        Returns:
            Customer.

        Examples:
            >>> get_customer_by_phone(phone_number='555-010-2001')
            {"customer_id": "C1", "full_name": "Ines Vega", "date_of_birth": "1979-11-30", "...
            >>> get_customer_by_phone(phone_number='555')
            {"error": "Customer with phone number 555 not found"}
        """
        numbers = {line["line_id"]: line["phone_number"] for line in self.lines}
        for customer in self.customers:
            lines = [numbers.get(id) for id in customer["line_ids"]]
            if phone_number in (customer["phone_number"], *lines):
                return customer
        raise NotFound(f"Customer with phone number {phone_number} not found")

    @reads
    def get_customer_by_id(self, customer_id: str) -> dict[str, Any]:
        """Return a customer.

        Args:
            customer_id: Id of the customer.

        Returns:
            Customer.

        Examples:
            >>> get_customer_by_id(customer_id='C1')
            {"customer_id": "C1", "full_name": "Ines Vega", "date_of_birth": "1979-11-30", "...
            >>> get_customer_by_id(customer_id='C2')
            {"error": "Customer with ID C2 not found"}
        """
        return self.find("C", customer_id)

    @reads
    def get_customer_by_name(self, full_name: str, dob: str) -> list[dict[str, Any]]:
        """Find customers by name and date of birth.

        Args:
            full_name: First and last name, ignoring case.
            dob: Date of birth as YYYY-MM-DD.

        Returns:
            All customers with this name and date of birth.

        Examples:
            >>> get_customer_by_name(full_name='Ines Vega', dob='1979-11-30')
            [{'customer_id': 'C1', 'full_name': 'Ines Vega', 'date_of_birth': '1979-11-30',...
        """
        return [
            customer
            for customer in self.customers
            if customer["full_name"].lower() == lower(full_name)
            and customer["date_of_birth"] == dob
        ]

    @reads
    def get_details_by_id(self, id: str) -> dict[str, Any]:
        """Return a line, device, bill, customer or plan.

        Args:
            id: Id of the record. The first letter must be L, D, B, C or P.

        Returns:
            Record.

        Examples:
            >>> get_details_by_id(id='P1')
            {"plan_id": "P1", "name": "Small", "data_limit_gb": 4.0, "price_per_month": 25.0...
            >>> get_details_by_id(id='X1')
            {"error": "Unknown ID format or type: X1"}
        """
        if not isinstance(id, str):
            raise InvalidArgument(f"'{type(id).__name__}' object has no attribute 'startswith'")
        if id[:1] not in _BY_LETTER:
            raise InvalidArgument(f"Unknown ID format or type: {id}")
        return self.find(id[:1], id)

    @writes
    def suspend_line(self, customer_id: str, line_id: str, reason: str) -> dict[str, Any]:
        """Suspend an active line.

        Args:
            customer_id: Id of the customer.
            line_id: Id of the line.
            reason: Reason for the suspension.

        Returns:
            Message and line.

        Examples:
            >>> suspend_line(customer_id='C1', line_id='L1', reason='Lost phone')
            {"message": "Line suspended successfully. $5/month holding fee will apply.", "li...
            >>> suspend_line(customer_id='C1', line_id='L2', reason='Lost phone')
            {"error": "Line must be active to suspend"}
        """
        line = self._line(customer_id, line_id)
        if line["status"] != "Active":
            raise Refused("Line must be active to suspend")
        changes = {"status": "Suspended", "suspension_start_date": TODAY}
        message = "Line suspended successfully. $5/month holding fee will apply."
        return {"message": message, "line": self.put("L", {**line, **changes})}

    @writes
    def resume_line(self, customer_id: str, line_id: str) -> dict[str, Any]:
        """Resume a suspended line.

        Args:
            customer_id: Id of the customer.
            line_id: Id of the line.

        Returns:
            Message and line.

        Examples:
            >>> resume_line(customer_id='C1', line_id='L2')
            {"message": "Line resumed successfully", "line": {"line_id": "L2", "phone_number...
            >>> resume_line(customer_id='C1', line_id='L1')
            {"error": "Line must be suspended to resume"}
        """
        line = self._line(customer_id, line_id)
        if line["status"] not in ("Suspended", "Pending Activation"):
            raise Refused("Line must be suspended to resume")
        changes = {"status": "Active", "suspension_start_date": None}
        message = "Line resumed successfully"
        return {"message": message, "line": self.put("L", {**line, **changes})}

    @reads
    def get_bills_for_customer(self, customer_id: str, limit: int = 12) -> list[dict[str, Any]]:
        """List the bills of a customer, latest first.

        Args:
            customer_id: Id of the customer.
            limit: Maximum number of bills.

        Returns:
            Bills.

        Examples:
            >>> get_bills_for_customer(customer_id='C1', limit=1)
            [{'bill_id': 'B2', 'customer_id': 'C1', 'period_start': '2025-02-01', 'period_en...
            >>> get_bills_for_customer(customer_id='C2')
            {"error": "Customer with ID C2 not found"}
        """
        bills = self._bills_of(self.find("C", customer_id))
        return sorted(bills, key=lambda bill: str(bill["issue_date"]), reverse=True)[:limit]

    @writes
    def send_payment_request(self, customer_id: str, bill_id: str) -> str:
        """Send a payment request for a bill to the customer's phone.

        Args:
            customer_id: Id of the customer.
            bill_id: Id of the bill.

        Returns:
            Confirmation.

        Examples:
            >>> send_payment_request(customer_id='C1', bill_id='B1')
            Payment request sent to the customer for bill B1
            >>> send_payment_request(customer_id='C1', bill_id='B9')
            {"error": "A bill is already awaiting payment for this customer"}
        """
        customer = self.find("C", customer_id)
        if any(bill["status"] == "Awaiting Payment" for bill in self._bills_of(customer)):
            raise Refused("A bill is already awaiting payment for this customer")
        if bill_id not in customer["bill_ids"]:
            raise NotFound(f"Bill {bill_id} not found for customer {customer_id}")
        self.put("B", {**self.find("B", bill_id), "status": "Awaiting Payment"})
        return f"Payment request sent to the customer for bill {bill_id}"

    @reads
    def get_data_usage(self, customer_id: str, line_id: str) -> dict[str, Any]:
        """Return the data usage of a line in the current billing cycle.

        Args:
            customer_id: Id of the customer.
            line_id: Id of the line.

        Returns:
            Used, included and added gigabytes, and the end of the cycle.

        Examples:
            >>> get_data_usage(customer_id='C1', line_id='L1')
            {"line_id": "L1", "data_used_gb": "4.6", "data_limit_gb": "4.0", "data_refueling...
            >>> get_data_usage(customer_id='C1', line_id='L9')
            {"error": "Line L9 not found for customer C1"}
        """
        line = self._line(customer_id, line_id)
        plan = self.find("P", line["plan_id"])
        return {
            "line_id": line_id,
            "data_used_gb": str(line["data_used_gb"]),
            "data_limit_gb": str(plan["data_limit_gb"]),
            "data_refueling_gb": str(line["data_refueling_gb"]),
            "cycle_end_date": _CYCLE_END,
        }

    @writes
    def enable_roaming(self, customer_id: str, line_id: str) -> str:
        """Enable roaming on a line.

        Args:
            customer_id: Id of the customer.
            line_id: Id of the line.

        Returns:
            Confirmation.

        Examples:
            >>> enable_roaming(customer_id='C1', line_id='L1')
            Roaming enabled successfully
            >>> enable_roaming(customer_id='C1', line_id='L9')
            {"error": "Line L9 not found for customer C1"}
        """
        return self._set_roaming(customer_id, line_id, on=True)

    @writes
    def disable_roaming(self, customer_id: str, line_id: str) -> str:
        """Disable roaming on a line.

        Args:
            customer_id: Id of the customer.
            line_id: Id of the line.

        Returns:
            Confirmation.

        Examples:
            >>> disable_roaming(customer_id='C1', line_id='L1')
            Roaming was already disabled
            >>> disable_roaming(customer_id='C1', line_id='L9')
            {"error": "Line L9 not found for customer C1"}
        """
        return self._set_roaming(customer_id, line_id, on=False)

    def _set_roaming(self, customer_id: str, line_id: str, *, on: bool) -> str:
        line = self._line(customer_id, line_id)
        word = "enabled" if on else "disabled"
        if line["roaming_enabled"] is on:
            return f"Roaming was already {word}"
        self.put("L", {**line, "roaming_enabled": on})
        return f"Roaming {word} successfully"

    @writes
    def refuel_data(self, customer_id: str, line_id: str, gb_amount: float) -> dict[str, Any]:
        """Add data to a line at the price of its plan.

        Args:
            customer_id: Id of the customer.
            line_id: Id of the line.
            gb_amount: Gigabytes to add.

        Returns:
            Message, added data of the line, and charge.

        Examples:
            >>> refuel_data(customer_id='C1', line_id='L1', gb_amount=2)
            {"message": "Successfully added 2 GB of data for line L1 for $6.00", "new_data_r...
            >>> refuel_data(customer_id='C1', line_id='L1', gb_amount=0)
            {"error": "Refuel amount must be positive"}
        """
        line = self._line(customer_id, line_id)
        if gb_amount <= 0:
            raise InvalidArgument("Refuel amount must be positive")
        price = self.find("P", line["plan_id"])["data_refueling_price_per_gb"]
        charge = gb_amount * price
        refueled = line["data_refueling_gb"] + gb_amount
        self.put("L", {**line, "data_refueling_gb": refueled})
        self._charge(customer_id, charge, f"Data refueling: {gb_amount} GB at ${price}/GB")
        added = f"Successfully added {gb_amount} GB of data for line {line_id} for ${charge:.2f}"
        return {
            "message": added,
            "new_data_refueling_gb": str(refueled),
            "charge": str(charge),
        }

    def _charge(self, customer_id: str, amount: float, description: str) -> None:
        """Add an item to the customer's draft bill; create the bill if necessary."""
        customer = self.find("C", customer_id)
        drafts = [bill for bill in self._bills_of(customer) if bill["status"] == "Draft"]
        if not drafts:
            ids = (f"B{number:08d}" for number in count(1))
            bill = {
                "bill_id": next(id for id in ids if self._get("bills", "bill_id", id) is None),
                "customer_id": customer_id,
                "period_start": "2025-03-01",
                "period_end": "2025-03-31",
                "issue_date": "2025-03-01",
                "total_due": 0.0,
                "due_date": "2025-03-15",
                "line_items": [],
                "status": "Draft",
            }
            drafts = [self.add_bill(bill)]
        item = make_item(description, amount)
        changes = {
            "line_items": [*drafts[0]["line_items"], item],
            "total_due": drafts[0]["total_due"] + amount,
        }
        self.put("B", {**drafts[0], **changes})

    # Sync ---------------------------------------------------------------------------------------

    def sync(self) -> None:
        """Copy the line's state to the phone, and mark the bills paid by phone as paid.

        Raises NotFound if no line has the phone's number.
        """
        number = self.surroundings["phone_number"]
        if number is None:
            return
        line = self._get("lines", "phone_number", number)
        if line is None:
            raise NotFound(f"Line with phone number {number} not found")
        limit = self.find("P", line["plan_id"])["data_limit_gb"]
        request = self.surroundings["payment_request"]
        if request is not None and request["paid"]:
            self.put("B", {**self.find("B", request["bill_id"]), "status": "Paid"})
            request = None
        if request is None:
            customer = self.get_customer_by_phone(number)
            request = next(
                (
                    {"bill_id": b["bill_id"], "amount_due": b["total_due"], "paid": False}
                    for b in self._bills_of(customer)
                    if b["status"] == "Awaiting Payment"
                ),
                None,
            )
        changed = {
            "line_active": line["status"] == "Active",
            "roaming_allowed": line["roaming_enabled"],
            "mobile_data_usage_exceeded": line["data_used_gb"] >= limit + line["data_refueling_gb"],
            "payment_request": request,
        }
        if any(self.surroundings[name] != value for name, value in changed.items()):
            self.set_surroundings(**changed)


def make_item(description: str, amount: float) -> dict[str, Any]:
    """Return an item of a bill."""
    return {
        "description": description,
        "amount": float(amount),
        "date": TODAY,
        "item_type": "Charge",
    }


def _synced(tool: Tool) -> Tool:
    """Let a writing function call ``sync`` at its end; return other functions unchanged."""
    if not tool.writes:
        return tool
    function: Callable[..., Any] = tool.function

    @wraps(function)
    def call(desk: TelecomDesk, *args: Any, **kwargs: Any) -> Any:
        value = function(desk, *args, **kwargs)
        desk.sync()
        return value

    return tool._replace(function=call)


TelecomDesk.TOOLS = {name: _synced(tool) for name, tool in TelecomDesk.TOOLS.items()}
