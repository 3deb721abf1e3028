"""The two families of error.

ToolError                 the model reads it, as the result of its call
├── MalformedCall         the text or the arguments are no call at all
├── UnknownFunction       no such function, or not offered in this turn
├── InvalidArgument       a missing, unknown, ill-typed or impossible argument
└── Refused               the call was fine, the state says no
    ├── NotFound          what the call names does not exist
    ├── AlreadyExists     what the call would make is there already
    └── AccessDenied      not logged in, wrong or expired token

SimulatorError            the person who runs the simulator reads it
├── ConfigError           an initial config that cannot be loaded
└── BackendFault          a bug in a backend
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class ToolError(Exception):
    """A call that did not succeed, worded so that a model can correct itself.

    Args:
        message: What was wrong, the offending value, and what would do; or what finds that out,
            where it takes long and often nobody asks.
        why: A word for what was wrong, where errors of one class come of different causes, or the
            exception that Python would have raised.
        values: What the error is about, where neither arguments nor state tell.
        fields: Further members of the result, in front of ``error``; used where a
            function reports a status flag in success and failure alike.

    Attributes:
        kind: A word for what was wrong: why it was, or the name of the class.
        cause: What Python raised or would have, where it was Python that refused; else None.
    """

    def __init__(
        self,
        message: str | Callable[[], str],
        why: str | BaseException | None = None,
        values: Mapping[str, object] | None = None,
        /,
        **fields: object,
    ) -> None:
        super().__init__()
        self._message = message
        # Its frames would keep the state alive.
        self.cause = why.with_traceback(None) if isinstance(why, BaseException) else None
        self.kind = why if isinstance(why, str) else type(self.cause or self).__name__
        self.values = values or {}
        self.fields = fields

    @property
    def message(self) -> str:
        """What was wrong, and what would do."""
        if not isinstance(self._message, str):
            self._message = self._message()
        return self._message

    def __str__(self) -> str:
        """Return the message."""
        return self.message


class MalformedCall(ToolError):
    """The model's text cannot be read as a call."""


class UnknownFunction(ToolError):
    """The function does not exist or is not offered."""


class InvalidArgument(ToolError):
    """An argument is missing, unknown, of the wrong type or out of range."""


class Refused(ToolError):
    """The arguments are fine, but the state forbids the call."""


class NotFound(Refused):
    """Something that the call names does not exist."""


class AlreadyExists(Refused):
    """Something that the call would create exists already."""


class AccessDenied(Refused):
    """The call needs a login or a valid token."""


class SimulatorError(Exception):
    """An error that is not the model's."""


class ConfigProblem(NamedTuple):
    """One defect of an initial config."""

    path: str
    """JSON path of the offending value, such as ``$.TicketAPI.ticket_queue[0].id``."""
    message: str
    """What is wrong and what would do."""

    def __str__(self) -> str:
        """Return the problem as one line."""
        return f"{self.path}: {self.message}"


class ConfigError(SimulatorError):
    """An initial config that cannot be loaded, with all its defects."""

    def __init__(self, problems: Sequence[ConfigProblem]) -> None:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(f"{problems[0]}{more}")
        self.problems = tuple(problems)


class BackendFault(SimulatorError):
    """A backend raised something else than a ToolError on a well-formed call."""

    def __init__(self, call: str, cause: BaseException) -> None:
        super().__init__(f"{call} broke with {type(cause).__name__}: {cause}")
