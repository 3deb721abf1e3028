"""What a class of a backend may declare, and what it inherits."""

from __future__ import annotations

import asyncio
from typing import ClassVar

import pytest
from typing_extensions import TypedDict

from envs.backend import (
    Backend,
    NoConfig,
    find_mark,
    irreversible,
    random_stream,
    reads,
    writes,
    writes_even_refused,
)
from envs.errors import DataError
from envs.random_stream import RandomStream
from envs.registry import BACKENDS


class _StockConfig(TypedDict, total=False):
    items: dict[str, int]


class _OrdersConfig(TypedDict, total=False):
    orders: list[str]


class Stock(Backend):
    Config = _StockConfig
    unordered = frozenset({"names"})
    items: dict[str, int] = {}

    @writes
    def put(self, name: str) -> dict[str, int]:
        """Put an item."""
        self.items = {**self.items, name: 1}
        return self.items


class Orders(Backend):
    Config = _OrdersConfig
    orders: list[str] = []

    @reads
    async def list_orders(self) -> list[str]:
        """List the orders."""
        await asyncio.sleep(0)
        return self.orders


class Shop(Stock, Orders):
    open: bool = True

    @writes
    def order(self, name: str) -> bool:
        """Order an item."""
        self.orders = [*self.orders, name]
        return self.open


def test_a_subclass_inherits_fields_functions_and_declarations():
    assert list(Shop.FIELDS) == ["items", "orders", "open"]
    assert list(Shop.TOOLS) == ["put", "list_orders", "order"]
    assert {tool.backend for tool in Shop.TOOLS.values()} == {"Shop"}
    assert Shop.unordered == {"names"}
    assert set(Shop.Config.__annotations__) == {"items", "orders"}
    shop = Shop.load({"items": {"pen": 2}, "orders": ["ink"]})
    assert (shop.items, shop.orders) == ({"pen": 2}, ["ink"])
    assert Shop.check_config({"itms": {}})[0].message == "unknown key; did you mean items?"


def test_a_coroutine_function_returns_its_result_inside_and_outside_of_a_loop():
    shop = Shop.load({"orders": ["ink"]})
    called = Shop.TOOLS["list_orders"].function

    async def inside() -> object:
        return called(shop)

    assert called(shop) == asyncio.run(inside()) == ["ink"]


def define_load():
    class Truck(Backend):
        Config = NoConfig

        @writes
        def load(self) -> int:
            """Load."""
            return 1


def define_field():
    class Truck(Backend):
        Config = NoConfig
        references: list[str] = []


def define_function_of_field():
    class Truck(Stock):
        @reads
        def items(self) -> int:
            """Count items."""
            return 1


def define_property():
    class Truck(Backend):
        Config = NoConfig

        @reads
        @property
        def parts(self) -> int:
            """List parts."""
            return 1


def define_property_above():
    class Truck(Backend):
        Config = NoConfig

        @property
        @reads
        def parts(self) -> int:
            """List parts."""
            return 1


def define_generator():
    class Truck(Backend):
        Config = NoConfig

        @reads
        def parts(self) -> list[int]:
            """List parts."""
            yield 1


def define_static():
    class Truck(Backend):
        Config = NoConfig

        @reads
        @staticmethod
        def parts() -> int:
            """List parts."""
            return 1


def define_static_above():
    class Truck(Backend):
        Config = NoConfig

        @staticmethod
        @reads
        def parts() -> int:
            """List parts."""
            return 1


def define_two_marks():
    class Truck(Backend):
        Config = NoConfig

        @reads
        @writes
        def parts(self) -> int:
            """List parts."""
            return 1


def define_irreversible_alone():
    class Truck(Backend):
        Config = NoConfig

        @irreversible
        def scrap(self) -> int:
            """Scrap it."""
            return 1


def define_unmarked_override():
    class Truck(Stock):
        def put(self, name: str) -> dict[str, int]:
            return {}


def define_contradiction():
    class Other(Backend):
        Config = NoConfig
        items: list[str] = []

    class Truck(Stock, Other):
        pass


@pytest.mark.parametrize(
    ("define", "message"),
    [
        (define_load, "a function cannot have the reserved name load"),
        (define_field, "a state field cannot have the reserved name references"),
        (define_function_of_field, "Truck.items: a function cannot have the name of a state field"),
        (define_property, "Truck.parts: has the type property; apply the decorator to a plain"),
        (define_property_above, "Truck.parts: is a property; use a method with `self`"),
        (define_generator, "is a generator; return a list"),
        (define_static, "has the type staticmethod; apply the decorator to a plain function"),
        (define_static_above, "is a staticmethod; use a method with `self`"),
        (define_two_marks, "has two decorators; keep only @reads or @writes"),
        (define_irreversible_alone, "write @irreversible above @writes"),
        (define_unmarked_override, "overrides a marked method; add @reads or @writes"),
        (define_contradiction, "Stock and Other both define items; define it in Truck"),
    ],
)
def test_a_wrong_declaration_is_refused_with_its_line(define, message):
    with pytest.raises(TypeError, match=message) as caught:
        define()
    assert "test_backend.py:" in str(caught.value)


class Marked(Backend):
    Config = NoConfig
    count: int = 0
    total: ClassVar[int] = 5

    @reads
    def look(self) -> int:
        """Look."""
        return self.count

    @writes
    def add(self) -> None:
        """Add."""
        self.count += 1

    @irreversible
    @writes
    def drop(self) -> None:
        """Drop."""
        self.count = 0

    @writes_even_refused("logs the try")
    def enter(self) -> None:
        """Enter."""

    def help_out(self) -> None:
        """Help, but not the model."""


def test_marks_make_functions_for_the_model():
    marks = {
        name: (tool.backend, tool.writes, tool.keeps_on_refusal, tool.irreversible)
        for name, tool in Marked.TOOLS.items()
    }
    assert marks == {
        "look": ("Marked", False, None, False),
        "add": ("Marked", True, None, False),
        "drop": ("Marked", True, None, True),
        "enter": ("Marked", True, "logs the try", False),
    }
    assert Marked.FIELDS == {"count": 0}
    assert find_mark(Marked.help_out) is None
    assert find_mark(5) is None


def test_bases_add_up_and_later_ones_win():
    class First(Backend):
        Config = NoConfig
        RENAMED = {"a": "b"}
        unordered = frozenset({"x"})
        aliases = {"first.see": "see"}

        @reads
        def see(self) -> int:
            """See."""
            return 1

    class Second(Backend):
        Config = _OrdersConfig
        RENAMED = {"c": "orders"}
        unordered = frozenset({"y"})
        visible = frozenset({"see"})
        orders: list[str] = []

    class Both(First, Second):
        RENAMED = {"orders": "orders"}
        unordered = frozenset({"z"})

        @writes
        def see(self) -> int:
            """See more."""
            return 2

    assert Both.RENAMED == {"a": "b", "c": "orders", "orders": "orders"}
    assert (Both.unordered, Both.visible) == ({"x", "y", "z"}, {"see"})
    assert Both.aliases == {"first.see": "see"}
    assert Both.TOOLS["see"].writes
    assert Both.load({"orders": ["a"]}).orders == ["a"]
    assert Both.KEYS == {"orders": "orders"}


@pytest.mark.parametrize("seed", [5, True])
def test_a_random_seed_is_an_integer(seed):
    assert random_stream({"random_seed": seed}, 9) == RandomStream(seed)
    assert random_stream({}, 9) == RandomStream(9)
    with pytest.raises(TypeError, match=r"^random_seed must be an integer, not 1\.5$"):
        random_stream({"random_seed": 1.5}, 9)


def test_a_class_without_a_typed_config_is_refused():
    with pytest.raises(TypeError, match=r"Bare: needs Config, the TypedDict of its initial config"):
        type("Bare", (Backend,), {"__annotations__": {"count": "int"}, "count": 0})
    with pytest.raises(TypeError, match="needs Config"):
        type("Bare", (Backend,), {"Config": dict})


def test_a_state_field_without_a_default_is_refused():
    with pytest.raises(TypeError, match=r"Bare: the state field count needs a default value"):
        type("Bare", (Backend,), {"Config": NoConfig, "__annotations__": {"count": int}})


def test_a_config_that_is_no_object_is_refused():
    with pytest.raises(DataError, match=r"\$\.TicketAPI: must be an object, but is None"):
        BACKENDS["TicketAPI"].load(None)
