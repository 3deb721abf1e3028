"""Online shop; its storefront and its back office share a stockroom.

The stockroom owns products and stock. Prices are in cents. Orders are paid, shipped and returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from envs.backend import Backend, irreversible, reads, writes
from envs.errors import NotFound, Refused
from envs.worlds import World
from extensions.worlds.items import FIRST_ADDED, find_item, find_reused_ids
from extensions.worlds.world_clock import WorldClock
from trajectories.vocabulary import ItemSettings, Vocabulary

Cents = Annotated[int, Field(ge=0, le=10_000_000)]
Quantity = Annotated[int, Field(ge=1, le=100)]
RETURN_DAYS = 14
"""An order can be returned for this many days after the payment."""


class ShopProduct(TypedDict):
    """One product."""

    name: str
    price: Cents
    stock: Annotated[int, Field(ge=0)]
    review: NotRequired[str]
    """Latest review by a customer."""


class StockroomConfig(TypedDict, total=False):
    """Initial config of the stockroom."""

    products: dict[str, ShopProduct]
    """Products by product code."""


class Stockroom(World):
    """Products and their stock; storefront and back office share them."""

    Config = StockroomConfig
    untrusted = frozenset({"products.*.review"})

    products: Mapping[str, Mapping[str, Any]] = {}

    @classmethod
    def _add_bulk(
        cls, config: dict[str, Any], whole: Mapping[str, Any], words: Vocabulary, bulk: ItemSettings
    ) -> None:
        """Add generated products."""
        added = {
            f"X{number}": {
                "name": f"{words.one('goods').capitalize()} from {words.one('firm')}",
                "price": words.number(300, 90_000),
                "stock": words.number(1, 400),
            }
            for number in range(FIRST_ADDED, FIRST_ADDED + bulk.count("stocks"))
        }
        config["products"] = dict(words.mix(added.items(), whole["products"].items()))

    def get_product(self, code: str) -> Mapping[str, Any]:
        """Return a product.

        Raises NotFound if the product does not exist.
        """
        return find_item(self.products, "product", code)

    def move_stock(self, code: str, number: int) -> None:
        """Change the stock by a number.

        Raises Refused if the stock is too low.
        """
        product = self.get_product(code)
        stock = product["stock"] + number
        if stock < 0:
            raise Refused(f"Only {product['stock']} of {code} are in stock.")
        self.products = {**self.products, code: {**product, "stock": stock}}


class ShopOrder(TypedDict):
    """One order."""

    items: dict[str, int]
    """Number of items by product code."""
    total: int
    """Cents."""
    status: Literal["open", "paid", "cancelled", "returned"]
    paid_on: str
    """Day of the payment; empty before the payment."""
    note: NotRequired[str]
    """What the carrier wrote."""


class StorefrontConfig(TypedDict, total=False):
    """Initial config of the storefront."""

    cart: dict[str, int]
    orders: dict[str, ShopOrder]
    next_order: int
    credit: int
    """Store credit of the customer in cents."""


class Storefront(Backend):
    """Functions of the shop for its customers."""

    Config = StorefrontConfig
    untrusted = frozenset({"orders.*.note"})
    uses = [Stockroom, WorldClock]

    cart: Mapping[str, int] = {}
    orders: Mapping[str, Mapping[str, Any]] = {}
    next_order: int = 1
    credit: int = 0

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield an error for each order number at or above the counter."""
        yield from find_reused_ids(config, "orders", "next_order")

    @classmethod
    def _add_bulk(
        cls, config: dict[str, Any], whole: Mapping[str, Any], words: Vocabulary, bulk: ItemSettings
    ) -> None:
        """Add generated cancelled orders."""
        added = {
            f"A-{number}": {
                "items": {},
                "total": words.number(300, 90_000),
                "status": "cancelled",
                "paid_on": "",
            }
            for number in range(FIRST_ADDED, FIRST_ADDED + bulk.count("orders"))
        }
        config["orders"] = dict(words.mix(added.items(), whole["orders"].items()))

    def _put_order(self, number: str, order: Mapping[str, Any]) -> None:
        self.orders = {**self.orders, number: order}

    @reads
    def find_products(self, text: str) -> dict[str, Any]:
        """Find products by part of their name.

        Args:
            text: Part of the name, ignoring case; empty for all products.

        Returns:
            products: Products by code: name, price in cents, number in stock, latest review if any.

        Examples:
            >>> find_products(text='tea')
            {"products": {"T1": {"name": "Green tea", "price": 450, "stock": 3}}}
        """
        found = self.world(Stockroom).products
        wanted = text.casefold()
        return {
            "products": {c: dict(p) for c, p in found.items() if wanted in p["name"].casefold()}
        }

    @writes
    def add_to_cart(self, product: str, number: Quantity) -> dict[str, Any]:
        """Add a product to the cart. The cart does not reserve products.

        Args:
            product: Product code, such as T1.
            number: Number to add, from 1 to 100.

        Returns:
            cart: Number of each product, by product code.

        Examples:
            >>> add_to_cart(product='T1', number=2)
            {"cart": {"T1": 2}}
            >>> add_to_cart(product='T9', number=1)
            {"error": "There is no product 'T9'."}
        """
        self.world(Stockroom).get_product(product)
        self.cart = {**self.cart, product: self.cart.get(product, 0) + number}
        return {"cart": dict(self.cart)}

    @writes
    def remove_from_cart(self, product: str) -> dict[str, Any]:
        """Remove a product from the cart.

        Args:
            product: Product code, such as T1.

        Returns:
            cart: Number of each product, by product code.

        Examples:
            >>> remove_from_cart(product='C1')
            {"error": "'C1' is not in the cart."}
            >>> add_to_cart(product='T1', number=2)
            {"cart": {"T1": 2}}
            >>> remove_from_cart(product='T1')
            {"cart": {}}
        """
        if product not in self.cart:
            raise NotFound(f"{product!r:.40} is not in the cart.")
        self.cart = {code: number for code, number in self.cart.items() if code != product}
        return {"cart": dict(self.cart)}

    @writes
    def order_cart(self) -> dict[str, Any]:
        """Order all products in the cart. They are removed from stock.

        Returns:
            order: Order number.
            total: Total price in cents. To pay it, call pay_order.

        Examples:
            >>> order_cart()
            {"error": "The cart is empty."}
            >>> add_to_cart(product='T1', number=2)
            {"cart": {"T1": 2}}
            >>> order_cart()
            {"order": "2", "total": 900}
        """
        if not self.cart:
            raise Refused("The cart is empty.")
        room = self.world(Stockroom)
        for code, count in self.cart.items():
            room.move_stock(code, -count)
        total = sum(room.get_product(code)["price"] * count for code, count in self.cart.items())
        number = str(self.next_order)
        order = {"items": dict(self.cart), "total": total, "status": "open", "paid_on": ""}
        self._put_order(number, order)
        self.next_order += 1
        self.cart = {}
        return {"order": number, "total": total}

    @irreversible
    @writes
    def pay_order(self, order: str, amount: int) -> dict[str, Any]:
        """Pay an open order. A payment cannot be undone.

        Args:
            order: Order number.
            amount: Total of the order in cents, as a confirmation.

        Returns:
            status: New status of the order.
            from_credit: Amount in cents that was paid with store credit.

        Examples:
            >>> pay_order(order='1', amount=700)
            {"error": "The total of order 1 is 800 cents."}
            >>> pay_order(order='1', amount=800)
            {"status": "paid", "from_credit": 500}
        """
        found = find_item(self.orders, "order", order, "open")
        if amount != found["total"]:
            raise Refused(f"The total of order {order} is {found['total']} cents.")
        used = min(self.credit, amount)
        self.credit -= used
        today = self.world(WorldClock).now[:10]
        self._put_order(order, {**found, "status": "paid", "paid_on": today})
        return {"status": "paid", "from_credit": used}

    @writes
    def call_off_order(self, order: str) -> dict[str, Any]:
        """Cancel an unpaid order. The products return to stock.

        Args:
            order: Order number.

        Returns:
            status: New status of the order.

        Examples:
            >>> call_off_order(order='1')
            {"status": "cancelled"}
            >>> call_off_order(order='1')
            {"error": "Order 1 is cancelled, not open."}
        """
        self._give_back(order, find_item(self.orders, "order", order, "open"), "cancelled")
        return {"status": "cancelled"}

    @writes
    def return_order(self, order: str) -> dict[str, Any]:
        """Return a paid order within 14 days. The total becomes store credit.

        Args:
            order: Order number.

        Returns:
            credit: Store credit in cents.

        Examples:
            >>> return_order(order='1')
            {"error": "Order 1 is open, not paid."}
            >>> pay_order(order='1', amount=800)
            {"status": "paid", "from_credit": 500}
            >>> return_order(order='1')
            {"credit": 800}
        """
        found = find_item(self.orders, "order", order, "paid")
        if self.world(WorldClock).count_days_since(found["paid_on"]) > RETURN_DAYS:
            raise Refused(f"Order {order} was paid more than {RETURN_DAYS} days ago.")
        self._give_back(order, found, "returned")
        self.credit += found["total"]
        return {"credit": self.credit}

    @reads
    def get_order(self, order: str) -> dict[str, Any]:
        """Return an order.

        Args:
            order: Order number.

        Returns:
            items: Number of each product, by product code.
            total: Total price in cents.
            status: One of open, paid, cancelled and returned.
            paid_on: Day of the payment; empty before the payment.
            note: Note of the carrier, if any.

        Examples:
            >>> get_order(order='1')
            {"items": {"C1": 1}, "total": 800, "status": "open", "paid_on": ""}
            >>> get_order(order='7')
            {"error": "There is no order '7'."}
        """
        return dict(find_item(self.orders, "order", order))

    @reads
    def list_orders(self) -> dict[str, Any]:
        """List all orders of the customer.

        Returns:
            orders: Orders by number: total in cents, status and day of the payment.

        Examples:
            >>> list_orders()
            {"orders": {"1": {"total": 800, "status": "open", "paid_on": ""}}}
        """
        return {
            "orders": {
                number: {name: order[name] for name in ("total", "status", "paid_on")}
                for number, order in self.orders.items()
            }
        }

    def _give_back(self, number: str, order: Mapping[str, Any], status: str) -> None:
        room = self.world(Stockroom)
        for code, count in order["items"].items():
            if code in room.products:
                room.move_stock(code, count)
        self._put_order(number, {**order, "status": status})


class NoBackOfficeConfig(TypedDict, total=False):
    """Empty initial config of ``BackOffice``; the state is in ``Stockroom``."""


class BackOffice(Backend):
    """Functions of the shop for its staff."""

    Config = NoBackOfficeConfig
    uses = [Stockroom]

    @reads
    def count_stock(self, product: str) -> dict[str, Any]:
        """Return the stock of a product.

        Args:
            product: Product code, such as T1.

        Returns:
            stock: Number in stock.

        Examples:
            >>> count_stock(product='T1')
            {"stock": 3}
            >>> count_stock(product='T9')
            {"error": "There is no product 'T9'."}
        """
        return {"stock": self.world(Stockroom).get_product(product)["stock"]}

    @writes
    def receive_delivery(self, product: str, number: Quantity) -> dict[str, Any]:
        """Add delivered products to the stock.

        Args:
            product: Product code, such as T1.
            number: Number of delivered products, from 1 to 100.

        Returns:
            stock: Number in stock.

        Examples:
            >>> receive_delivery(product='T1', number=5)
            {"stock": 8}
            >>> receive_delivery(product='T9', number=5)
            {"error": "There is no product 'T9'."}
        """
        room = self.world(Stockroom)
        room.move_stock(product, number)
        return {"stock": room.get_product(product)["stock"]}

    @writes
    def set_price(
        self, product: str, price: Annotated[int, Field(ge=0, le=10_000_000)]
    ) -> dict[str, Any]:
        """Change the price of a product. Existing orders keep their total.

        Args:
            product: Product code, such as T1.
            price: New price in cents.

        Returns:
            old_price: Previous price in cents.

        Examples:
            >>> set_price(product='T1', price=500)
            {"old_price": 450}
            >>> set_price(product='T9', price=500)
            {"error": "There is no product 'T9'."}
        """
        room = self.world(Stockroom)
        old = room.get_product(product)
        room.products = {**room.products, product: {**old, "price": price}}
        return {"old_price": old["price"]}
