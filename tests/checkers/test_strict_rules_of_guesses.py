"""Guesses where state and results show none, by a scene that says what it is told to."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from checkers.reasons import Reason
from checkers.strict_rules import check_untraced, check_waiting
from checkers.verdict import ExecutedTurn
from envs.calls import Call, parse_call
from envs.errors import UnknownFunction
from envs.results import Result
from envs.state import Snapshot


class Told:
    """A scene of which only words and parameters matter."""

    def __init__(self, *said: str, waiting: Collection[str] = (), ignored: Any = ()) -> None:
        self.said = said
        self.waits = waiting
        self.ignores = ignored
        self.asked = 0

    def words(self, turn: int) -> str:
        return self.said[turn]

    def arguments(self, call: Call) -> Any:
        return call.kwargs

    def only_asks(self, turn: int) -> bool:
        return False

    def waiting(self, turn: int, function: str) -> Collection[str]:
        self.asked += 1
        return self.waits

    def ignored(self, turn: int, position: int) -> Collection[str]:
        self.asked += 1
        return self.ignores


def outcome(*made: tuple[str, Result]) -> ExecutedTurn:
    calls = tuple(parse_call(text) for text, _ in made)
    results = tuple(result for _, result in made)
    return ExecutedTurn(results, Snapshot({}), bool(made), calls)


SENT = Result({"id": 1}, None, True)


def test_a_value_that_is_waited_for_and_that_nobody_told_is_a_guess() -> None:
    turn = outcome(("send(to='Bo', text='See you at seven')", SENT))
    scene: Any = Told("Write to Bo.", waiting={"text"})
    failure = check_waiting([turn], scene)
    assert failure is not None
    assert failure.reason is Reason.GUESSED_ARGUMENT
    assert check_waiting([turn], Told("Write to Bo.", waiting={"to"})) is None


def test_what_was_shown_before_is_no_guess() -> None:
    shown = ("read()", Result("See you at seven"))
    sent = ("send(to='Bo', text='See you at seven')", SENT)
    scene: Any = Told("Write to Bo.", waiting={"text"})
    assert check_waiting([outcome(shown, sent)], scene) is None
    assert check_waiting([outcome(sent, shown)], scene) is not None


def test_what_the_user_said_in_full_is_not_looked_into() -> None:
    scene: Any = Told("Write to Bo: hello", waiting={"text"})
    assert check_waiting([outcome(("send(to='Bo', text='hello')", SENT))], scene) is None
    assert scene.asked == 0


def test_a_function_that_is_not_there_fails_a_turn_that_waits_for_it() -> None:
    refused = Result.refused(UnknownFunction("There is no function 'send'."))
    scene: Any = Told("Write to Bo.")
    failure = check_waiting([outcome(("send(to='Bo')", refused))], scene)
    assert failure is not None
    assert failure.reason is Reason.ABSENT_FUNCTION


def test_an_argument_on_which_nothing_depends_must_be_told_too() -> None:
    truth = [outcome(("send(to='Bo', text='hello')", SENT))]
    made = [outcome(("send(to='Bo', text='goodbye')", SENT))]
    scene: Any = Told("Say hello to Bo.", ignored={"text"})
    failure = check_untraced(truth, made, scene)
    assert failure is not None
    assert failure.reason is Reason.GUESSED_ARGUMENT
    assert check_untraced(truth, made, Told("Say hello to Bo.", ignored={"to"})) is None


def test_only_the_last_turn_is_looked_into() -> None:
    class LastTurn(Told):
        def ignored(self, turn: int, position: int) -> Collection[str]:
            return self.ignores if turn == 1 else ()

    first = outcome(("read()", Result("noon")))
    truth = [first, outcome(("send(to='Bo', text='hello')", SENT))]
    made = [first, outcome(("send(to='Bo', text='goodbye')", SENT))]
    scene: Any = LastTurn("Read.", "Say hello to Bo.", ignored={"text"})
    assert check_untraced(truth, made, scene) is not None


def test_where_the_truth_makes_something_up_itself_the_model_may() -> None:
    truth = [outcome(("send(to='Bo', text='greetings')", SENT))]
    made = [outcome(("send(to='Bo', text='goodbye')", SENT))]
    assert check_untraced(truth, made, Told("Write to Bo.", ignored={"text"})) is None


def test_nothing_is_asked_of_calls_that_are_the_truth_s_or_change_nothing() -> None:
    scene: Any = Told("Write to Bo.", ignored={"text"})
    right = outcome(("send(to='Bo', text='hello')", SENT))
    other = outcome(("send(to='Bo', text='goodbye')", SENT))
    read = outcome(("send(to='Bo', text='hello')", Result({"id": 1})))
    assert check_untraced([right], [right], scene) is None
    assert check_untraced([read], [other], scene) is None
    assert scene.asked == 0


def test_a_call_of_another_function_stands_for_no_needed_call() -> None:
    truth = [outcome(("send(to='Bo', text='hello')", SENT))]
    made = [outcome(("post(to='Bo', text='goodbye')", SENT))]
    assert check_untraced(truth, made, Told("Say hello to Bo.", ignored={"text"})) is None
