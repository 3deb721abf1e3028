from __future__ import annotations

import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from envs.bounds import (
    BOUNDS,
    UNCOUNTED,
    UNMEASURED,
    SessionSizes,
    check_arguments,
    measure_growth,
    measure_size,
)
from envs.calls import Call, parse_calls
from envs.errors import MalformedCall, Refused
from envs.session import Session

ROOT = Path(__file__).parents[2]
MOST = 10**9
STEPS = 75_000
"""Functions of Python that thirty doubling calls may call; without bounds it were 2**30."""


def tickets(*, tolerant: bool = True) -> Session:
    ticket = {
        "id": 1,
        "title": "a",
        "description": "b",
        "status": "Open",
        "priority": 1,
        "created_by": "u",
    }
    state = {"ticket_queue": [ticket], "ticket_counter": 2, "current_user": "u"}
    return Session.load(["TicketAPI"], {"TicketAPI": state}, tolerant=tolerant)


def files() -> Session:
    return Session.load(["GorillaFileSystem"], {}, tolerant=True)


def doubled(count: int) -> list[Call]:
    """Return calls of which each puts what the one before made into its own twice."""
    texts = [
        f"create_ticket(title=get_ticket(ticket_id={k}), description=get_ticket(ticket_id={k}))"
        for k in range(1, count + 1)
    ]
    return parse_calls(f"[{', '.join(texts)}]")


def nested(depth: int) -> Any:
    value: Any = "x"
    for _ in range(depth):
        value = [value]
    return value


def shared(doublings: int) -> Any:
    value: Any = "x"
    for _ in range(doublings):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("abc", 11),
        ("eight__8", 16),
        (7, 8),
        (None, 8),
        (1.5, 8),
        ([], 8),
        (["ab", 1], 26),
        ({"a": "bc"}, 27),
    ],
)
def test_a_value_has_the_size_of_its_texts_and_some_for_each_member(value, size):
    assert measure_size(value, MOST) == size


def test_what_is_shared_counts_each_time_that_it_is_written_out():
    assert measure_size(shared(10), MOST) == 2**10 * measure_size("x", MOST) + 8 * (2**10 - 1)


def test_a_value_that_is_too_large_is_not_gone_through_to_its_end():
    assert measure_size(shared(200), 1000) > 1000


def test_a_value_that_is_nested_too_deep_counts_as_too_large():
    assert measure_size(nested(5), MOST, depth=5) < MOST
    assert measure_size(nested(6), MOST, depth=5) > MOST


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"a": "b"}),
        ({"a": ["b", "c"]}, {"a": ["b", "c", "def"]}),
        ({"a": ["b", "c"], "d": "e"}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "cc", "d": ["e"]}}),
        ({"a": "b"}, {"a": ["b"]}),
    ],
)
def test_growth_is_the_difference_of_sizes(before, after):
    assert measure_growth(before, after, MOST) == measure_size(after, MOST) - measure_size(
        before, MOST
    )


def test_values_nest_250_levels_deep_wherever_they_are_added():
    assert measure_size(nested(250), MOST) < MOST < measure_size(nested(251), MOST)
    for before, after in [([], [nested(249)]), ({}, {"a": nested(249)})]:
        assert measure_growth(before, after, MOST) < MOST < measure_growth([before], [after], MOST)
    for before, after in [([], [nested(250)]), ({}, {"a": nested(250)})]:
        assert measure_growth(before, after, MOST) > MOST


def test_growth_does_not_look_at_what_is_shared():
    large = shared(200)
    assert measure_growth({"a": large}, {"a": large, "b": "c"}, MOST) == measure_size(
        "b", 99
    ) + measure_size("c", 99)


def test_an_argument_may_be_nested_as_deep_as_a_value_in_a_call():
    check_arguments((nested(BOUNDS.nesting),))
    with pytest.raises(MalformedCall, match=f"more than {BOUNDS.nesting} levels of nesting"):
        check_arguments((nested(BOUNDS.nesting + 1),))


def test_results_put_into_calls_do_not_double_without_end():
    tracemalloc.start()
    session = tickets()
    results = session.play(doubled(30))
    texts = [result.text for result in results]
    state = session.snapshot()
    shown = str(state.to_json())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    refused = next(result for result in results if not result.ok)
    assert isinstance(refused.error, MalformedCall)
    assert f"more than {BOUNDS.value} characters" in refused.text
    assert results[3].ok
    assert max(map(len, texts)) < BOUNDS.result
    assert len(shown) < BOUNDS.state
    assert peak < 20 * 2**20


def steps_of(session: Session, count: int) -> int:
    """Return how many functions of Python are called while doubling calls are made and shown."""
    calls, steps = doubled(count), 0

    def count_one(frame: object, event: str, _: object) -> None:
        nonlocal steps
        steps += event == "call"

    sys.setprofile(count_one)
    try:
        for result in session.play(calls):
            assert len(result.text) <= BOUNDS.result
        str(session.snapshot().to_json())
    finally:
        sys.setprofile(None)
    return steps


@pytest.mark.parametrize("tolerant", [True, False])
def test_thirty_doubling_calls_take_few_steps_and_as_many_more_for_each_more(tolerant):
    taken = [steps_of(tickets(tolerant=tolerant), count) for count in (30, 60, 120)]
    assert taken[0] < STEPS
    assert taken[1] < 2 * STEPS
    assert taken[2] < 4 * STEPS


def test_results_put_into_calls_do_not_nest_without_end():
    again = "echo(content=cat(file_name='f'), file_name='f')"
    text = f"[touch(file_name='f'), echo(content='x', file_name='f'), {', '.join([again] * 200)}]"
    session = files()
    results = session.play(parse_calls(text))
    assert results[5].ok
    assert not results[-1].ok
    assert f"more than {BOUNDS.nesting} levels of nesting" in results[60].text
    assert session.snapshot().to_json()
    assert session.snapshot() == session.fork().snapshot()


def test_a_refused_call_leaves_the_state_as_it_was():
    session = tickets()
    calls = doubled(30)
    before = session.snapshot()
    for call in calls:
        if not session.call(call).ok:
            break
        before = session.snapshot()
    assert session.snapshot() == before


def filled(session: Session) -> int:
    """Write files of a tenth of the bound until one is refused; return how many there are."""
    content = "x" * (BOUNDS.state // 10)
    for number in range(UNCOUNTED // 2):
        session.call(Call("touch", (), {"file_name": f"f{number}"}))
        before = session.snapshot()
        written = Call("echo", (), {"content": content, "file_name": f"f{number}"})
        result = session.call(written)
        if not result.ok:
            assert isinstance(result.error, Refused)
            assert "state would have more than" in result.text
            assert session.snapshot() == before
            assert not result.changed
            return number
    pytest.fail("nothing was refused")


def test_a_state_is_bounded_and_the_episode_goes_on():
    session = files()
    kept = filled(session)
    # Each file is two changes, and every 16th change is measured.
    assert kept == UNMEASURED - 1
    assert session.call(Call("ls")).ok


def test_a_state_above_its_bound_does_not_grow_by_one_character():
    def write(content):
        return session.call(Call("echo", (), {"content": content, "file_name": "note"})).ok

    session = files()
    assert session.call(Call("touch", (), {"file_name": "note"})).ok
    assert write("ab")
    filled(session)
    assert [write("abc"), write("ba"), write("b"), write("ab")] == [False, True, True, False]


def test_removing_makes_room_again():
    session = files()
    kept = filled(session)
    for number in range(kept):
        assert session.call(Call("rm", (), {"file_name": f"f{number}"})).ok
    assert session.call(Call("echo", (), {"content": "y", "file_name": f"f{kept}"})).ok


def test_a_fork_has_an_account_of_its_own():
    session = files()
    fork = session.fork()
    filled(fork)
    assert filled(session) == filled(files())


def test_an_episode_makes_no_more_calls_than_its_bound():
    session = files()
    results = session.play([Call("pwd")] * (BOUNDS.calls + 2))
    assert all(result.ok for result in results[: BOUNDS.calls])
    assert [result.ok for result in results[BOUNDS.calls :]] == [False, False]
    assert f"{BOUNDS.calls} calls were made" in results[-1].text


def test_calls_inside_of_calls_count():
    session = files()
    touched = Call("touch", (), {"file_name": Call("pwd")}, nested=True)
    results = session.play([touched] * (BOUNDS.calls // 2 + 1))
    assert "calls were made" in results[-1].text


def test_to_restore_a_state_begins_a_new_count():
    session = files()
    start = session.snapshot()
    session.play([Call("pwd")] * (BOUNDS.calls + 1))
    session.restore(start)
    again = session.play([Call("pwd")] * (BOUNDS.calls + 1))
    assert [result.ok for result in again[-2:]] == [True, False]


def test_an_integer_has_as_many_digits_as_python_can_write():
    assert sys.int_info.default_max_str_digits == BOUNDS.digits


def test_the_documentation_states_the_limits_of_an_answer():
    words = " ".join((ROOT / "docs/calling_formats.md").read_text(encoding="utf-8").split())
    limits = f"{BOUNDS.text:,} characters, {BOUNDS.nesting} levels of nesting and {BOUNDS.calls:,}"
    assert f"The limits of an answer are {limits} calls." in words


def test_limits_are_the_last_sizes_that_are_allowed():
    sizes = SessionSizes()
    assert sizes.refusal(BOUNDS.calls) is None
    assert sizes.refusal(BOUNDS.calls + 1) is not None
    assert sizes._replace(results=BOUNDS.results).refusal(1) is None
    assert sizes._replace(results=BOUNDS.results + 1).refusal(1) is not None


@pytest.mark.slow
def test_the_results_of_an_episode_are_bounded():
    session = files()
    session.call(Call("touch", (), {"file_name": "f"}))
    lines = "x\n" * (BOUNDS.result // 4)
    session.call(Call("echo", (), {"content": lines, "file_name": "f"}))
    results = session.play([Call("sort", (), {"file_name": "f"})] * (BOUNDS.calls - 2))
    held = sum(measure_size(result.value, MOST) for result in results)
    assert "have reached their maximum total size" in results[-1].text
    assert held < BOUNDS.results + (UNCOUNTED + 1) * BOUNDS.result


def test_a_result_that_is_too_long_says_so():
    session = files()
    session.call(Call("touch", (), {"file_name": "f"}))
    session.call(Call("echo", (), {"content": "x" * BOUNDS.result, "file_name": "f"}))
    text = session.call(Call("cat", (), {"file_name": "f"})).text
    assert f"at most {BOUNDS.result} are shown" in text
    assert len(text) < 200
