"""Retail desk of a shop, with orders, changes, returns and exchanges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from typing_extensions import TypedDict

from envs.backend import irreversible, reads, writes, writes_even_refused
from envs.errors import InvalidArgument, NotFound, Refused
from envs.results import encode
from extensions.tau.desk import Desk, find, lower
from extensions.tau.field_types import (
    Fields,
    MappingField,
    VariantRecord,
    validate,
)

_ADDRESS: Fields = dict.fromkeys(("address1", "address2", "city", "country", "state", "zip"), str)
_VARIANT: Fields = {"item_id": str, "options": MappingField(str), "available": bool, "price": float}
_PRODUCT: Fields = {"name": str, "product_id": str, "variants": MappingField(_VARIANT)}
_METHOD = VariantRecord(
    "source",
    {
        "credit_card": dict.fromkeys(("source", "id", "brand", "last_four"), str),
        "paypal": dict.fromkeys(("source", "id"), str),
        "gift_card": {"source": str, "id": str, "balance": float},
    },
)
_USER: Fields = {
    "user_id": str,
    "name": {"first_name": str, "last_name": str},
    "address": _ADDRESS,
    "email": str,
    "payment_methods": MappingField(_METHOD),
    "orders": [str],
}
_ITEM: Fields = {
    "name": str,
    "product_id": str,
    "item_id": str,
    "price": float,
    "options": MappingField(str),
}
_PAYMENT: Fields = {"transaction_type": str, "amount": float, "payment_method_id": str}
_ORDER: Fields = {
    "order_id": str,
    "user_id": str,
    "address": _ADDRESS,
    "items": [_ITEM],
    "status": str,
    "fulfillments": [{"tracking_id": None, "item_ids": None}],
    "payment_history": [_PAYMENT],
    "cancel_reason": None,
    "exchange_items": None,
    "exchange_new_items": None,
    "exchange_payment_method_id": None,
    "exchange_price_difference": None,
    "return_items": None,
    "return_payment_method_id": None,
}


class RetailConfig(TypedDict, total=False):
    """Initial config of the shop."""

    products: dict[str, dict[str, Any]]
    """Maps a product id to the product with its variants."""
    users: dict[str, dict[str, Any]]
    """Customers by id."""
    orders: dict[str, dict[str, Any]]
    """Orders by id."""


class RetailDesk(Desk):
    """Service desk of a shop."""

    Config = RetailConfig
    DOMAIN: ClassVar[str] = "retail"
    CLASSES: ClassVar[Mapping[str, str]] = {"assistant": "RetailTools", "user": ""}
    RECORDS: ClassVar[Mapping[str, Fields]] = {
        "products": _PRODUCT,
        "users": _USER,
        "orders": _ORDER,
    }
    AGENT_TOOLS: ClassVar[tuple[str, ...]] = (
        "calculate",
        "cancel_pending_order",
        "exchange_delivered_order_items",
        "find_user_id_by_name_zip",
        "find_user_id_by_email",
        "get_order_details",
        "get_product_details",
        "get_item_details",
        "get_user_details",
        "list_all_product_types",
        "modify_pending_order_address",
        "modify_pending_order_items",
        "modify_pending_order_payment",
        "modify_user_address",
        "return_delivered_order_items",
        "transfer_to_human_agents",
    )

    products: dict[str, dict[str, Any]] = {}
    users: dict[str, dict[str, Any]] = {}
    orders: dict[str, dict[str, Any]] = {}

    @reads
    def find_user_id_by_email(self, email: str) -> str:
        """Find a customer by e-mail address.

        Args:
            email: E-mail address, ignoring case.

        Returns:
            Id of the customer.

        Examples:
            >>> find_user_id_by_email(email='ada.holm@example.org')
            ada_holm_1001
            >>> find_user_id_by_email(email='x@example.org')
            {"error": "User not found"}
        """
        return _find_smallest_id(
            id for id, user in self.users.items() if user["email"].lower() == lower(email)
        )

    @reads
    def find_user_id_by_name_zip(self, first_name: str, last_name: str, zip: str) -> str:
        """Find a customer by name and zip code.

        Args:
            first_name: First name, ignoring case.
            last_name: Last name, ignoring case.
            zip: Zip code of the customer's address.

        Returns:
            Id of the customer.

        Examples:
            >>> find_user_id_by_name_zip(first_name='Ben', last_name='Okoro', zip='74103')
            ben_okoro_1002
            >>> find_user_id_by_name_zip(first_name='Ben', last_name='Okoro', zip='1')
            {"error": "User not found"}
        """
        return _find_smallest_id(
            id
            for id, user in self.users.items()
            if user["name"]["first_name"].lower() == lower(first_name)
            and user["name"]["last_name"].lower() == lower(last_name)
            and user["address"]["zip"] == zip
        )

    @reads
    def get_user_details(self, user_id: str) -> dict[str, Any]:
        """Return a customer's profile.

        Args:
            user_id: Id of the customer.

        Returns:
            Profile with address, payment methods and order ids.

        Examples:
            >>> get_user_details(user_id='ben_okoro_1002')
            {"user_id": "ben_okoro_1002", "name": {"first_name": "Ben", "last_name": "Okoro"...
            >>> get_user_details(user_id='ben')
            {"error": "User not found"}
        """
        return self._user(user_id)

    @reads
    def get_order_details(self, order_id: str) -> dict[str, Any]:
        """Return an order.

        Args:
            order_id: Id of the order, including '#', such as '#W0000000'.

        Returns:
            Order with items, status and payments.

        Examples:
            >>> get_order_details(order_id='#W4')
            {"order_id": "#W4", "user_id": "ben_okoro_1002", "address": {"address1": "7 Harb...
            >>> get_order_details(order_id='W4')
            {"error": "Order not found"}
        """
        return self._order(order_id)

    @reads
    def get_product_details(self, product_id: str) -> dict[str, Any]:
        """Return a product with all its variants.

        Args:
            product_id: Id of the product, not of an item.

        Returns:
            Product with its variants.

        Examples:
            >>> get_product_details(product_id='1000000002')
            {"name": "Rain Jacket", "product_id": "1000000002", "variants": {"2000000011": {...
            >>> get_product_details(product_id='1')
            {"error": "Product not found"}
        """
        return find(self.products, product_id, "Product not found")

    @reads
    def get_item_details(self, item_id: str) -> dict[str, Any]:
        """Return an item, which is a variant of a product.

        Args:
            item_id: Id of the item, not of a product.

        Returns:
            Item with options, price and availability.

        Examples:
            >>> get_item_details(item_id='2000000011')
            {"item_id": "2000000011", "options": {"size": "M"}, "available": true, "price":...
            >>> get_item_details(item_id='1')
            {"error": "Item not found"}
        """
        for product in self.products.values():
            if item_id in product["variants"]:
                found: dict[str, Any] = product["variants"][item_id]
                return found
        raise NotFound("Item not found")

    @reads
    def list_all_product_types(self) -> str:
        """List the products of the shop.

        Returns:
            Product names with product ids, as JSON.

        Examples:
            >>> list_all_product_types()
            {"Desk Fan": "1000000001", "Rain Jacket": "1000000002"}
        """
        names = {product["name"]: product["product_id"] for product in self.products.values()}
        return encode(dict(sorted(names.items())))

    @irreversible
    @writes
    def cancel_pending_order(self, order_id: str, reason: str) -> dict[str, Any]:
        """Cancel a pending order, and refund its payments.

        Args:
            order_id: Id of the order.
            reason: Either 'no longer needed' or 'ordered by mistake'.

        Returns:
            Cancelled order.

        Examples:
            >>> cancel_pending_order(order_id='#W1', reason='no longer needed')
            {"order_id": "#W1", "user_id": "ada_holm_1001", "address": {"address1": "12 Harb...
            >>> cancel_pending_order(order_id='#W2', reason='no longer needed')
            {"error": "Non-pending order cannot be cancelled"}
        """
        order = self._order(order_id)
        if order["status"] != "pending":
            raise Refused("Non-pending order cannot be cancelled")
        if reason not in ("no longer needed", "ordered by mistake"):
            raise InvalidArgument("Invalid reason")
        refunds = []
        for payment in order["payment_history"]:
            id, amount = payment["payment_method_id"], payment["amount"]
            refunds.append(_make_payment("refund", amount, id))
            self._method(order, id)
            self._pay_in(order["user_id"], id, amount)
        return self._put(
            order,
            status="cancelled",
            cancel_reason=reason,
            payment_history=[*order["payment_history"], *refunds],
        )

    @irreversible
    @writes_even_refused("a used-up item is detected only after the payment was booked")
    def modify_pending_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> dict[str, Any]:
        """Replace items of a pending order with other variants of the same products.

        This can be done only once for each order.

        Args:
            order_id: Id of the order.
            item_ids: Ids of the items to replace. To replace two of an item, repeat its id.
            new_item_ids: Ids of the new variants, in the same order.
            payment_method_id: Payment method for the price difference.

        Returns:
            Changed order.

        Examples:
            >>> modify_pending_order_items(order_id='#W1', item_ids=['2000000001'],
            ...     new_item_ids=['2000000002'], payment_method_id='credit_card_1')
            {"order_id": "#W1", "user_id": "ada_holm_1001", "address": {"address1": "12 Harb...
            >>> modify_pending_order_items(order_id='#W2', item_ids=['2000000001'],
            ...     new_item_ids=['2000000002'], payment_method_id='credit_card_1')
            {"error": "Non-pending order cannot be modified"}
        """
        order = self._order(order_id)
        if order["status"] != "pending":
            raise Refused("Non-pending order cannot be modified")
        _check_counts(order, item_ids, "{} not found")
        if len(item_ids) != len(new_item_ids):
            raise InvalidArgument("The number of items to be exchanged should match")
        difference: float = 0
        variant = None
        for old, new in zip(item_ids, new_item_ids, strict=False):
            if old == new:
                text = "The new item id should be different from the old item id"
                raise InvalidArgument(text)
            variant, more = self._price_pair(order, old, new)
            difference += more
        method = self._method(order, payment_method_id)
        if method["source"] == "gift_card" and method["balance"] < difference:
            raise Refused("Insufficient gift card balance to pay for the new item")
        kind = "payment" if difference > 0 else "refund"
        payment = _make_payment(kind, abs(difference), payment_method_id)
        order = self._put(order, payment_history=[*order["payment_history"], payment])
        self._pay_in(order["user_id"], payment_method_id, -difference)
        for old, new in zip(item_ids, new_item_ids, strict=False):
            items = list(order["items"])
            place = _find_item(items, old)
            # As in upstream, every changed item gets the price and options of the last pair.
            assert variant is not None
            changes = {"item_id": new, "price": variant["price"], "options": variant["options"]}
            items[place] = {**items[place], **changes}
            order = self._put(order, items=items)
        return self._put(order, status="pending (item modified)")

    @writes
    def modify_pending_order_payment(self, order_id: str, payment_method_id: str) -> dict[str, Any]:
        """Change the payment method of a pending order.

        Args:
            order_id: Id of the order.
            payment_method_id: New payment method.

        Returns:
            Changed order.

        Examples:
            >>> modify_pending_order_payment(order_id='#W1', payment_method_id='gift_card_1')
            {"order_id": "#W1", "user_id": "ada_holm_1001", "address": {"address1": "12 Harb...
            >>> modify_pending_order_payment(order_id='#W4', payment_method_id='gift_card_1')
            {"error": "Payment method not found"}
        """
        order = self._order(order_id)
        if "pending" not in order["status"]:
            raise Refused("Non-pending order cannot be modified")
        method = self._method(order, payment_method_id)
        history = order["payment_history"]
        if len(history) != 1 or history[0]["transaction_type"] != "payment":
            raise Refused("There should be exactly one payment for a pending order")
        old, amount = history[0]["payment_method_id"], history[0]["amount"]
        if old == payment_method_id:
            text = "The new payment method should be different from the current one"
            raise InvalidArgument(text)
        if method["source"] == "gift_card" and method["balance"] < amount:
            raise Refused("Insufficient gift card balance to pay for the order")
        self._pay_in(order["user_id"], payment_method_id, -amount)
        self._pay_in(order["user_id"], old, amount)
        moved = [
            _make_payment("payment", amount, payment_method_id),
            _make_payment("refund", amount, old),
        ]
        return self._put(order, payment_history=[*history, *moved])

    @writes
    def modify_pending_order_address(
        self,
        order_id: str,
        address1: str,
        address2: str,
        city: str,
        state: str,
        country: str,
        zip: str,
    ) -> dict[str, Any]:
        """Change the shipping address of a pending order.

        Args:
            order_id: Id of the order.
            address1: Street and house number.
            address2: Second address line, such as 'Suite 3'; may be empty.
            city: City.
            state: State, such as 'TX'.
            country: Country, such as 'USA'.
            zip: Zip code.

        Returns:
            Changed order.

        Examples:
            >>> modify_pending_order_address(order_id='#W1', address1='1 Elm Street', address2='',
            ...     city='Tulsa', state='OK', country='USA', zip='74103')
            {"order_id": "#W1", "user_id": "ada_holm_1001", "address": {"address1": "1 Elm S...
            >>> modify_pending_order_address(order_id='#W2', address1='1 Elm Street', address2='',
            ...     city='Tulsa', state='OK', country='USA', zip='74103')
            {"error": "Non-pending order cannot be modified"}
        """
        order = self._order(order_id)
        if "pending" not in order["status"]:
            raise Refused("Non-pending order cannot be modified")
        return self._put(
            order, address=_make_address(address1, address2, city, state, country, zip)
        )

    @writes
    def modify_user_address(
        self,
        user_id: str,
        address1: str,
        address2: str,
        city: str,
        state: str,
        country: str,
        zip: str,
    ) -> dict[str, Any]:
        """Change the default address of a customer. Existing orders keep their address.

        Args:
            user_id: Id of the customer.
            address1: Street and house number.
            address2: Second address line, such as 'Suite 3'; may be empty.
            city: City.
            state: State, such as 'TX'.
            country: Country, such as 'USA'.
            zip: Zip code.

        Returns:
            Changed profile.

        Examples:
            >>> modify_user_address(user_id='ben_okoro_1002', address1='1 Elm Street', address2='',
            ...     city='Tulsa', state='OK', country='USA', zip='74103')
            {"user_id": "ben_okoro_1002", "name": {"first_name": "Ben", "last_name": "Okoro"...
            >>> modify_user_address(user_id='ben', address1='1 Elm Street', address2='',
            ...     city='Tulsa', state='OK', country='USA', zip='74103')
            {"error": "User not found"}
        """
        user = self._user(user_id)
        changed = {**user, "address": _make_address(address1, address2, city, state, country, zip)}
        self.users = {**self.users, user_id: changed}
        return changed

    @irreversible
    @writes
    def return_delivered_order_items(
        self, order_id: str, item_ids: list[str], payment_method_id: str
    ) -> dict[str, Any]:
        """Request the return of items of a delivered order.

        Args:
            order_id: Id of the order.
            item_ids: Ids of the items to return. To return two of an item, repeat its id.
            payment_method_id: Refund method: the original payment method, or a gift card.

        Returns:
            Changed order.

        Examples:
            >>> return_delivered_order_items(order_id='#W2', item_ids=['2000000011'],
            ...     payment_method_id='credit_card_1')
            {"order_id": "#W2", "user_id": "ada_holm_1001", "address": {"address1": "12 Harb...
            >>> return_delivered_order_items(order_id='#W1', item_ids=['2000000001'],
            ...     payment_method_id='credit_card_1')
            {"error": "Non-delivered order cannot be returned"}
        """
        order = self._order(order_id)
        if order["status"] != "delivered":
            raise Refused("Non-delivered order cannot be returned")
        method = self._method(order, payment_method_id)
        original = order["payment_history"][0]["payment_method_id"]
        if method["source"] != "gift_card" and payment_method_id != original:
            raise Refused("Payment method should be the original payment method")
        _check_counts(order, item_ids, "Some item not found")
        return self._put(
            order,
            status="return requested",
            return_items=sorted(item_ids),
            return_payment_method_id=payment_method_id,
        )

    @irreversible
    @writes
    def exchange_delivered_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> dict[str, Any]:
        """Request the exchange of items of a delivered order for other variants.

        This can be done only once for each order.

        Args:
            order_id: Id of the order.
            item_ids: Ids of the items to exchange. To exchange two of an item, repeat its id.
            new_item_ids: Ids of the new variants, in the same order.
            payment_method_id: Payment method for the price difference.

        Returns:
            Changed order.

        Examples:
            >>> exchange_delivered_order_items(order_id='#W2', item_ids=['2000000001'],
            ...     new_item_ids=['2000000002'], payment_method_id='credit_card_1')
            {"order_id": "#W2", "user_id": "ada_holm_1001", "address": {"address1": "12 Harb...
            >>> exchange_delivered_order_items(order_id='#W1', item_ids=['2000000001'],
            ...     new_item_ids=['2000000002'], payment_method_id='credit_card_1')
            {"error": "Non-delivered order cannot be exchanged"}
        """
        order = self._order(order_id)
        if order["status"] != "delivered":
            raise Refused("Non-delivered order cannot be exchanged")
        _check_counts(order, item_ids, "Number of {} not found.")
        if len(item_ids) != len(new_item_ids):
            raise InvalidArgument("The number of items to be exchanged should match.")
        difference: float = 0
        for old, new in zip(item_ids, new_item_ids, strict=False):
            difference += self._price_pair(order, old, new)[1]
        difference = round(difference, 2)
        method = self._method(order, payment_method_id)
        if method["source"] == "gift_card" and method["balance"] < difference:
            text = "Insufficient gift card balance to pay for the price difference"
            raise Refused(text)
        return self._put(
            order,
            status="exchange requested",
            exchange_items=sorted(item_ids),
            exchange_new_items=sorted(new_item_ids),
            exchange_payment_method_id=payment_method_id,
            exchange_price_difference=difference,
        )

    def _user(self, user_id: str) -> dict[str, Any]:
        return find(self.users, user_id, "User not found")

    def _order(self, order_id: str) -> dict[str, Any]:
        return find(self.orders, order_id, "Order not found")

    def _put(self, order: Mapping[str, Any], **changes: Any) -> dict[str, Any]:
        changed = {**order, **changes}
        self.orders = {**self.orders, changed["order_id"]: changed}
        return changed

    def _method(self, order: Mapping[str, Any], id: str) -> Mapping[str, Any]:
        methods = self._user(order["user_id"])["payment_methods"]
        return find(methods, id, "Payment method not found")

    def _pay_in(self, user_id: str, id: str, amount: float) -> None:
        """Add an amount to a gift card; other payment methods have no balance."""
        user = self.users[user_id]
        method = user["payment_methods"][id]
        if method["source"] == "gift_card":
            filled = {**method, "balance": round(method["balance"] + amount, 2)}
            changed = {**user, "payment_methods": {**user["payment_methods"], id: filled}}
            self.users = {**self.users, user_id: changed}

    def _price_pair(
        self, order: Mapping[str, Any], old: str, new: str
    ) -> tuple[Mapping[str, Any], float]:
        item = order["items"][_find_item(order["items"], old)]
        product = find(self.products, item["product_id"], "Product not found")
        variant = find(product["variants"], new, "Variant not found")
        if not variant["available"]:
            raise Refused(f"New item {new} not found or available")
        return variant, variant["price"] - item["price"]


def _find_smallest_id(ids: Iterable[str]) -> str:
    found = min(ids, default=None)
    if found is None:
        raise NotFound("User not found")
    return found


def _make_payment(kind: str, amount: float, method: str) -> dict[str, Any]:
    return {"transaction_type": kind, "amount": float(amount), "payment_method_id": method}


def _make_address(
    address1: str, address2: str, city: str, state: str, country: str, zip: str
) -> dict[str, Any]:
    given = {
        "address1": address1,
        "address2": address2,
        "city": city,
        "country": country,
        "state": state,
        "zip": zip,
    }
    return validate("UserAddress", _ADDRESS, given)


def _check_counts(order: Mapping[str, Any], item_ids: Sequence[str], message: str) -> None:
    """Raise NotFound if the order does not contain all of these items."""
    there = [item["item_id"] for item in order["items"]]
    for id in item_ids:
        if item_ids.count(id) > there.count(id):
            raise NotFound(message.format(id))


def _find_item(items: Sequence[Mapping[str, Any]], id: str) -> int:
    for place, item in enumerate(items):
        if item["item_id"] == id:
            return place
    raise NotFound(f"Item {id} not found")
