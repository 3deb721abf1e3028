"""What families share that write each argument between tags of its own.

Values are text: of a string parameter as it is, of others JSON. The tag that ends a value is
written with an entity inside of one. There is no XML parser here, only ``find``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from envs.calls import Call, call_from_tool
from envs.errors import MalformedCall
from extensions.formats.reading import LONGEST_NAME, add, after_blanks, check_length, is_name
from extensions.formats.typed_texts import Quoting, text_of, value_of, wrapped
from runner.models.protocols.base import parameters_of
from runner.models.tools import Document


class Tags(NamedTuple):
    """How a call is written: ``<function=`` name ``>``, arguments, ``</function>``."""

    function: str
    """Up to the name."""
    after_name: str
    end: str
    parameter: str
    """Up to the name of an argument."""
    after_parameter: str
    end_parameter: str


class Tagged:
    """Writes and reads the calls of one such family.

    Args:
        tags: How a call is written.
    """

    def __init__(self, tags: Tags) -> None:
        self._tags = tags
        self._quoting = Quoting(tags.end_parameter)

    def call(self, call: Call, documents: Sequence[Document]) -> str:
        """Write one call."""
        tags, schemas = self._tags, parameters_of(call.name, documents)
        arguments = [
            f"{tags.parameter}{name}{tags.after_parameter}"
            f"{self._quoting.quoted(self.text_of(value, schemas.get(name)))}{tags.end_parameter}\n"
            for name, value in call.kwargs.items()
        ]
        return f"{tags.function}{call.name}{tags.after_name}\n{''.join(arguments)}{tags.end}"

    def text_of(self, value: Any, schema: Mapping[str, Any] | None) -> str:
        """Write a value."""
        return wrapped(text_of(value, schema))

    def value_of(self, text: str, schema: Mapping[str, Any] | None) -> Any:
        """Read a value.

        Raises:
            MalformedCall: It cannot be read.
        """
        return value_of(text, schema)

    def read(self, text: str, documents: Sequence[Document]) -> list[Call]:
        """Read all calls; what has no name in it is prose.

        Raises:
            MalformedCall: A tag is out of place or not closed.
        """
        check_length(text)
        tags = self._tags
        calls: list[Call] = []
        position = text.find(tags.function)
        while position >= 0:
            begin = position + len(tags.function)
            end = text.find(tags.after_name, begin, begin + LONGEST_NAME + 2)
            name = text[begin:end].strip() if end >= 0 else ""
            if is_name(name):
                arguments, begin = self._arguments(
                    text, end + len(tags.after_name), name, documents
                )
                add(calls, call_from_tool(name, arguments))
            position = text.find(tags.function, begin)
        return calls

    def _arguments(
        self, text: str, position: int, name: str, documents: Sequence[Document]
    ) -> tuple[dict[str, Any], int]:
        """Return the arguments of a call and where it ends.

        Raises:
            MalformedCall: A tag is out of place or not closed.
        """
        tags, schemas = self._tags, parameters_of(name, documents)
        arguments: dict[str, Any] = {}
        while True:
            position = after_blanks(text, position)
            if text.startswith(tags.end, position):
                return arguments, position + len(tags.end)
            if not text.startswith(tags.parameter, position):
                raise MalformedCall(f"The call of {name} is not closed by {tags.end}.")
            begin = position + len(tags.parameter)
            named = text.find(tags.after_parameter, begin)
            end = text.find(tags.end_parameter, named)
            if named < 0 or end < 0:
                raise MalformedCall(f"An argument of {name} is not closed by {tags.end_parameter}.")
            parameter = text[begin:named].strip()
            if parameter in arguments:
                raise MalformedCall(f"{name}: the argument {parameter[:100]} is given twice.")
            value = self._quoting.unquoted(text[named + len(tags.after_parameter) : end])
            arguments[parameter] = self.value_of(value, schemas.get(parameter))
            position = end + len(tags.end_parameter)
