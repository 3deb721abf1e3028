from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from envs.random_stream import RandomStream

seeds = st.integers(-(2**70), 2**70)
floats = st.floats(-1e9, 1e9)
uniform = st.tuples(st.just("uniform"), floats, floats)
randint = st.tuples(st.just("randint"), st.integers(-(2**40), 2**40), st.integers(0, 2**100)).map(
    lambda draw: (draw[0], draw[1], draw[1] + draw[2])
)
draws = st.lists(uniform | randint, max_size=80)


@given(seeds, draws)
def test_draws_are_those_of_random(seed, draws):
    stream, random = RandomStream(seed), Random(seed)
    for method, low, high in draws:
        value, stream = getattr(stream, method)(low, high)
        expected = getattr(random, method)(low, high)
        assert (value, type(value)) == (expected, type(expected))


@given(seeds, draws, draws)
def test_a_stream_is_a_value_that_can_be_drawn_from_again(seed, before, after):
    def play(stream, draws):
        values = []
        for method, low, high in draws:
            value, stream = getattr(stream, method)(low, high)
            values.append(value)
        return values, stream

    _, middle = play(RandomStream(seed), before)
    assert play(middle, after) == play(middle, after)
    assert (
        play(RandomStream(*middle), after)[0]
        == play(RandomStream(seed), [*before, *after])[0][len(before) :]
    )


@pytest.mark.parametrize("span", [0, 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**64 - 1, 2**64])
def test_spans_around_whole_words(span):
    stream, random = RandomStream(7), Random(7)
    for _ in range(50):
        value, stream = stream.randint(-3, span - 3)
        assert value == random.randint(-3, span - 3)


def test_an_empty_range_is_an_error():
    with pytest.raises(ValueError, match="no integer from 5 to 4"):
        RandomStream(1).randint(5, 4)


def test_equal_positions_are_equal_streams():
    _, left = RandomStream(5).randint(0, 9)
    _, right = RandomStream(5).randint(10, 19)
    assert left == right == RandomStream(5, 1)
    assert left != RandomStream(6, 1)


def test_streams_of_one_seed_share_nothing_between_threads():
    def play(_):
        stream, values = RandomStream(20260101), []
        for _ in range(500):
            value, stream = stream.randint(0, 10**6)
            values.append(value)
        return values

    random = Random(20260101)
    expected = [random.randint(0, 10**6) for _ in range(500)]
    with ThreadPoolExecutor(8) as pool:
        assert all(values == expected for values in pool.map(play, range(32)))


def test_far_positions_need_no_draws_before_them():
    random = Random(3)
    words = [random.getrandbits(32) for _ in range(10_001)]
    value, _ = RandomStream(3, 10_000).randint(0, 2**32 - 1)
    # A span of 2**32 needs 33 bits, hence two words, of which the first is the low one.
    assert value & 0xFFFFFFFF == words[10_000]
