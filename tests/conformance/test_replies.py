from __future__ import annotations

import pytest

from envs.calls import Call
from envs.errors import MalformedCall
from tests.conformance.replies import random_replies, same


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (None, None),
        ([], []),
        (["f(a=1)"], [Call("f", (), {"a": 1})]),
        (["f(a={'k': g(b='x')})"], [Call("f", (), {"a": {"k": Call("g", (), {"b": "x"})}}, True)]),
        (["f(it's=1)"], [MalformedCall("broken")]),
    ],
)
def test_the_same_decoding(theirs: list[str] | None, ours: list | None) -> None:
    assert same(theirs, ours)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        (None, []),
        ([], None),
        (["f()"], []),
        (["f(a=1)"], [Call("f", (), {"a": True})]),
        (["f(a=1)"], [Call("f", (), {"a": 1.0})]),
        (["f()"], [MalformedCall("broken")]),
        (["f(a=1)", "g()"], [Call("g"), Call("f", (), {"a": 1})]),
    ],
)
def test_different_decodings(theirs: list[str] | None, ours: list | None) -> None:
    assert not same(theirs, ours)


def test_a_seed_gives_the_same_replies() -> None:
    assert list(random_replies(3, 50)) == list(random_replies(3, 50))
    assert len(set(random_replies(3, 50))) > 40
