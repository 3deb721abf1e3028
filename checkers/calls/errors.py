"""Why an output gets no comparison: it cannot be read, or there can be no verdict."""

from __future__ import annotations

from checkers.verdict import Reason


class Unreadable(Exception):
    """A model's output that cannot be read as calls.

    Args:
        message: Why not.
        reason: Which of the two reasons it is when calls were expected.
        attempted: Whether it is an attempt at a call all the same.
    """

    def __init__(
        self, message: str, reason: Reason = Reason.DECODER_FAILED, *, attempted: bool = False
    ) -> None:
        super().__init__(message)
        self.reason = reason
        self.attempted = attempted


class CannotJudge(Exception):
    """An entry on which there is no verdict, through no fault of the model.

    Args:
        message: Why, such as a type that nobody knows.
    """


class MissingGrammar(Exception):
    """A library that reads Java or JavaScript is not installed.

    Args:
        library: Its name.
    """

    def __init__(self, library: str) -> None:
        super().__init__(f"{library} is not installed: pip install 'turnwise[languages]'")
