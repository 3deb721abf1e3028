"""Base class of the service desks, with common functions and look-ups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, TypeVar

from envs.backend import Backend, NoConfig, reads
from envs.errors import InvalidArgument, NotFound
from extensions.tau import arithmetic
from extensions.tau.field_types import Fields, arrange, find_incomplete

Record = TypeVar("Record")


class Desk(Backend):
    """A customer-service desk."""

    Config = NoConfig
    DOMAIN: ClassVar[str] = ""
    """Name of the domain in tau2-bench."""
    CLASSES: ClassVar[Mapping[str, str]] = {}
    """Maps a role to the class name that appears in messages about wrong arguments."""
    AGENT_TOOLS: ClassVar[tuple[str, ...]] = ()
    """Functions of the agent, in order."""
    USER_TOOLS: ClassVar[tuple[str, ...]] = ()
    """Functions of the user, in order."""
    RECORDS: ClassVar[Mapping[str, Fields]] = {}
    """Fields of the records of each table."""

    @classmethod
    def references(cls, config: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Yield a JSON path and a message for each record that lacks a required field."""
        return find_incomplete(config, cls.RECORDS)

    @classmethod
    def arrange(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Copy a database. Each record of the copy has its fields in the declared order."""
        return {
            name: {key: arrange(kind, each) for key, each in data[name].items()}
            for name, kind in cls.RECORDS.items()
        }

    @reads
    def calculate(self, expression: str) -> str:
        """Calculate the value of an arithmetic expression.

        Args:
            expression: Expression of digits, + - * / ( ) . and spaces, such as '(198 + 50) * 2'.

        Returns:
            Value, rounded to two decimal places.

        Examples:
            >>> calculate(expression='(39.5 + 42.25) * 2')
            163.5
            >>> calculate(expression='two')
            {"error": "Invalid characters in expression"}
        """
        return arithmetic.calculate(expression)

    @reads
    def transfer_to_human_agents(self, summary: str) -> str:
        """Transfer the customer to a human agent.

        Args:
            summary: Summary of the customer's request and of the steps taken so far.

        Returns:
            Confirmation.

        Examples:
            >>> transfer_to_human_agents(summary='Wants a refund in cash.')
            Transfer successful
        """
        return "Transfer successful"


def find(records: Mapping[str, Record], key: Any, message: str) -> Record:
    """Return a record by its key.

    Raises NotFound with the message if the record does not exist.
    """
    if isinstance(key, (list, dict)):
        raise InvalidArgument(f"unhashable type: '{type(key).__name__}'")
    if key not in records:
        raise NotFound(message)
    return records[key]


def lower(text: Any) -> str:
    """Return a text in lower case.

    Raises InvalidArgument if the value is not a string.
    """
    if not isinstance(text, str):
        raise InvalidArgument(f"'{type(text).__name__}' object has no attribute 'lower'")
    return text.lower()
