"""Bad input of the user's: one line that says what is wrong, where, and how to mend it."""

from __future__ import annotations


class DataError(Exception):
    """A data set, results file or option that cannot be used.

    Args:
        where: File with line, option or JSON path.
        message: What is wrong and how to mend it.
    """

    def __init__(self, where: str, message: str) -> None:
        super().__init__(f"{where}: {message}")
