"""Interface through which checkers ask for information about an entry."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Protocol

from checkers.verdict import ExecutedTurn, Made, ObservedCall, PositionAfterCall
from envs.calls import Call
from envs.results import Result


class EntryQueries(Protocol):
    """Queries about an entry; some queries replay calls in a copy of the session.

    ``turn`` and ``position`` (the index within the turn) identify a ground-truth call.
    """

    def words(self, turn: int) -> str:
        """Return the user's message of a turn."""

    def backend(self, call: Made) -> str | None:
        """Return the backend of the called function; None if the function is unknown."""

    def offered(self, turn: int) -> Collection[str]:
        """Return the functions that the model may call in a turn."""

    def withheld(self, turn: int) -> Collection[str]:
        """Return the functions of the entry that are not offered in a turn.

        If a function is offered in a turn, the function is also offered in all later turns.
        """

    def parameters(self, function: str) -> Collection[str]:
        """Return the names of a function's parameters; the function must exist."""

    def unordered(self, backend: str | None) -> frozenset[str]:
        """Return the names of a backend's fields that hold unordered lists."""

    def arguments(self, call: Made) -> Mapping[str, Any]:
        """Return a call's arguments by parameter name; unknown arguments are left out."""

    def filled(self, call: Made) -> Mapping[str, Any]:
        """Return a call's arguments by name, including the defaults of omitted arguments."""

    @property
    def irreversible(self) -> Collection[str]:
        """Functions with an effect that no call of another function can undo."""

    @property
    def visible(self) -> Collection[str]:
        """Functions with an effect that other people see, such as a booking."""

    def right_calls(self, functions: Collection[str]) -> list[Call]:
        """Return all successful ground-truth calls of some functions."""

    def deed(self, call: Call) -> object:
        """Return a key for the effect of a call; two calls with the same effect have equal keys."""

    def asks_about(self, call: Made) -> Collection[str | int | float]:
        """Return the arguments that identify a call's object, such as ids; skip enum values."""

    def acts(self, turn: int, position: int) -> bool:
        """Tell whether a ground-truth call changes state or shows something to the user."""

    def ends_alike(self, turns: Sequence[ExecutedTurn], left_out: frozenset[int]) -> bool:
        """Tell whether the final state stays the same if the calls ``left_out`` are omitted."""

    def instead(self, turn: int, position: int) -> Sequence[Sequence[ObservedCall]]:
        """Return the accepted alternatives to a ground-truth call, with their results."""

    def ignored(self, turn: int, position: int) -> Collection[str]:
        """Return string parameters that affect neither the call's result nor the state."""

    def prohibited(self, turn: int) -> Sequence[Call]:
        """Return the calls that the user has prohibited in this turn or an earlier turn.

        If a prohibited call omits an argument, every value of this argument is prohibited.
        """

    def ordered(self, turn: int) -> Sequence[Sequence[Call]]:
        """Return groups of ground-truth calls; the user dictates the order within each group.

        If a group has one call, the order of its list items matters.
        """

    def stays(self, turn: int) -> bool:
        """Tell whether the user specifies the final working directory of a turn."""

    def only_asks(self, turn: int) -> bool:
        """Tell whether a turn only asks about earlier results."""

    def waiting(self, turn: int, function: str) -> Collection[str]:
        """Return the parameters whose values the user gives only in a later turn."""

    def again(
        self, call: Made, turn: int, position: int, model: Sequence[ExecutedTurn]
    ) -> Iterator[tuple[PositionAfterCall, Result]]:
        """Make a call at the start of an episode and after every change; yield the results."""
