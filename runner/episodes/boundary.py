"""One episode cannot take a run down: what kept one from its verdict is an error of that one."""

from __future__ import annotations

from checkers.calls.documents import CannotJudge
from envs.errors import SimulatorError
from envs.state import cut
from trajectories.errors import DataError


def fault_of(error: Exception) -> str:
    """Return what to say of an exception that kept an entry from its verdict.

    Raises:
        DataError: That is what it is: the user's input is wrong, and the run ends.
    """
    if isinstance(error, DataError):
        raise error
    if isinstance(error, (SimulatorError, CannotJudge)):
        return str(error)
    if isinstance(error, MemoryError):
        return "there was not enough memory to judge it"
    try:
        said = cut(str(error), 500)
    except ValueError:  # it names a number that cannot be written
        said = "it cannot be shown"
    return f"{type(error).__name__}: {said}: a fault of Turnwise or of an environment"
