"""Error classes: ``ToolError`` is for the model, and all other errors are for the user.

ToolError:                a call failed; the model sees the error as the call's result
├── MalformedCall:        the text or the arguments cannot be parsed as a call
├── UnknownFunction:      the function is unknown, or is not offered in this turn
├── InvalidArgument:      an argument is missing, unknown, ill-typed or impossible
└── Refused:              the call is valid, but the state forbids it
    ├── NotFound:         the named object does not exist
    ├── AlreadyExists:    the object to create already exists
    └── AccessDenied:     nobody is logged in, or the token is wrong or expired

SimulatorError:           the simulator failed; the user sees the error
├── ConfigError:          the initial config cannot be loaded; also a DataError
└── BackendFault:         a backend has a bug

DataError:                the user's data, result files, options or parameters are wrong
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    import difflib
else:
    # Only needed for errors.
    difflib = lazy_module("difflib")


class ToolError(Exception):
    """A failed call, with a message that lets the model correct itself.

    Args:
        message: Error, wrong value and advice, or a function that computes this message lazily.
        why: Word for the kind of error, or the exception that Python would have raised.
        values: Values in the message that neither arguments nor state contain.
        fields: Fields of the result before ``error``, such as a status flag.
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
        # Frames would keep the state alive.
        self.cause = why.with_traceback(None) if isinstance(why, BaseException) else None
        """Python exception, if any."""
        self.kind = why if isinstance(why, str) else type(self.cause or self).__name__
        """Kind of the error; by default, the name of its class."""
        self.values = values or {}
        self.fields = fields

    @property
    def message(self) -> str:
        """Text of the error, with advice."""
        if not isinstance(self._message, str):
            self._message = self._message()
        return self._message

    def __str__(self) -> str:
        """Return the message."""
        return self.message


class MalformedCall(ToolError):
    """The model's text cannot be parsed as a call."""


class UnknownFunction(ToolError):
    """The function does not exist or is not offered."""


class InvalidArgument(ToolError):
    """An argument is missing, unknown, of the wrong type or out of range."""


class Refused(ToolError):
    """The arguments are fine, but the state forbids the call."""


class NotFound(Refused):
    """The object that the call names does not exist."""


class AlreadyExists(Refused):
    """The object that the call would create already exists."""


class AccessDenied(Refused):
    """The call needs a login or a valid token."""


class DataError(Exception):
    """A data set, results file, option or parameter that cannot be used.

    ``where`` is a file and line, an option, a parameter or a JSON path.
    """

    def __init__(self, where: str, message: str) -> None:
        super().__init__(where, message)

    def __str__(self) -> str:
        """Return place and message in one line."""
        return ": ".join(map(str, self.args))


class SimulatorError(Exception):
    """An error that the model did not cause."""


class ConfigProblem(NamedTuple):
    """One error in an initial config."""

    path: str
    """JSON path of the wrong value, such as ``$.TicketAPI.ticket_queue[0].id``."""
    message: str

    def __str__(self) -> str:
        """Return path and message in one line."""
        return f"{self.path}: {self.message}"


class ConfigError(SimulatorError, DataError):
    """Error for an initial config that cannot be loaded; contains all errors of the config."""

    def __init__(self, problems: Sequence[ConfigProblem]) -> None:
        more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        super().__init__(problems[0].path, f"{problems[0].message}{more}")
        self.problems = tuple(problems)


class BackendFault(SimulatorError):
    """A backend raised an exception other than ToolError on a valid call."""

    def __init__(self, call: str, cause: BaseException) -> None:
        super().__init__(f"{call} raised {describe_exception(cause)}")


def describe_exception(error: BaseException) -> str:
    """Return type and message of an exception in one line."""
    try:
        message = str(error)
    except Exception:
        message = "its message cannot be shown"
    return " ".join(f"{type(error).__name__}: {message}".split()).removesuffix(":")


def require_type(name: str, value: object, *kinds: type | None, described: str) -> None:
    """Raise DataError if a value has none of the types."""
    if type(value) in kinds:
        return
    known = tuple([type(None) if kind is None else kind for kind in kinds])
    if not isinstance(value, known) or (isinstance(value, bool) and bool not in kinds):
        raise DataError(name, f"must be {described}, but is {value!r:.60}")


def find_nearest(name: str, known: Iterable[str], *, least: float = 0.6) -> str | None:
    """Return the most similar known name; None if all similarities (0 to 1) are below ``least``."""
    close = difflib.get_close_matches(name, list(known), cutoff=least)
    # Two swapped letters are more likely than a surplus letter.
    return min(close, key=lambda other: sorted(other) != sorted(name), default=None)


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean NAME?" for an error message, or "" if no known name is similar."""
    close = find_nearest(name, known)
    return f"; did you mean {close}?" if close else ""


@contextmanager
def require_extra(extra: str, purpose: str) -> Iterator[None]:
    """In this context, a failed import raises a DataError that names the extra to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        advice = f"{error.name} is missing: pip install 'turnwise[{extra}]'"
        raise DataError(purpose, advice) from None
