"""What the judge may ask of an entry beyond what happened in an episode of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from checkers.verdict import TurnOutcome
from envs.calls import Call
from envs.errors import MalformedCall
from envs.results import Result

Made = Call | MalformedCall


class Point(NamedTuple):
    """Right after a call of an episode; position -1 is the start of the turn."""

    turn: int
    position: int


class Given(NamedTuple):
    """A call and what it gave."""

    call: Made
    result: Result


class Scene(Protocol):
    """An entry, as the judge asks about it; what has to be played for that is played in copies.

    A ground-truth call is named by its turn and its position in it.
    """

    def words(self, turn: int) -> str:
        """Return what the user says in a turn."""

    def backend(self, call: Made) -> str | None:
        """Return whose function a call names; None where there is none of the name."""

    def offered(self, turn: int) -> Collection[str]:
        """Return the functions that the model may call in a turn."""

    def withheld(self, turn: int) -> Collection[str]:
        """Return the functions that there are and that the model may not call in a turn.

        In no turn are there more than in the first.
        """

    def parameters(self, function: str) -> Collection[str]:
        """Return the parameters of a function that there is."""

    def unordered(self, backend: str | None) -> frozenset[str]:
        """Return the members of a backend's results and state whose order means nothing."""

    def arguments(self, call: Made) -> Mapping[str, Any]:
        """Return a call's arguments by name, as far as they fit the function."""

    def filled(self, call: Made) -> Mapping[str, Any]:
        """Return a call's arguments by name, with the function's defaults for those left out."""

    @property
    def irreversible(self) -> Collection[str]:
        """The functions whose deeds no other one takes back."""

    def right_calls(self, functions: Collection[str]) -> list[Call]:
        """Return the ground-truth calls of some functions that succeed, in all turns."""

    def deed(self, call: Call) -> object:
        """Return what tells what a call does from what others of the same function do."""

    def asks_about(self, call: Made) -> Collection[str | int | float]:
        """Return the values that say what a call asks about; choices of a closed set do not."""

    def acts(self, turn: int, position: int) -> bool:
        """Tell whether a ground-truth call changes or shows something for the user to see.

        What it changes may be compared or not.
        """

    def ends_alike(self, turn: int, left_out: frozenset[int]) -> bool:
        """Tell whether the ground truth of a turn ends in its state without some of its calls."""

    def instead(self, turn: int, position: int) -> Sequence[Sequence[Given]]:
        """Return what does as well as a ground-truth call, executed where that is."""

    def ignored(self, turn: int, position: int) -> Collection[str]:
        """Return the parameters with a text in a ground-truth call on which nothing depends."""

    def only_asks(self, turn: int) -> bool:
        """Tell whether a turn asks for nothing but an answer from what was seen."""

    def waiting(self, turn: int, function: str) -> Collection[str]:
        """Return the parameters of a function that wait in a turn for a value to be told."""

    def again(
        self, call: Made, turn: int, position: int, model: Sequence[TurnOutcome]
    ) -> Iterator[tuple[Point, Result]]:
        """Yield what a call would give at the start of an episode and after every change since.

        Args:
            call: Any call.
            turn: From where in the ground truth it is asked, say from which folder.
            position: Where in the turn.
            model: The turns to play, up to the moment of interest.

        Yields:
            From where on, and the result; only changes of the backend that the call asks count.
        """
