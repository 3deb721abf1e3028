"""The made-up conversations have all that a prompt may, and no other prompt passes for the same."""

from __future__ import annotations

import pytest

from tests.conformance.prompts import FAMILIES, Family, conversations, rendered, same


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.handler)
def test_conversations_are_made_again_and_have_calls_and_results(family: Family) -> None:
    made = conversations(family, 0, 50)
    assert made == conversations(family, 0, 50)
    assert {message["role"] for each in made for message in each.theirs} == {
        *("user", "assistant", "tool")
    }
    for each in made:
        text = rendered(family, each)
        assert all(message["content"] in text for message in each.ours)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.handler)
def test_another_prompt_is_a_difference(family: Family) -> None:
    [asked] = conversations(family, 0, 1)
    ours = rendered(family, asked)
    assert not same(family, None, ours)
    assert not same(family, ours.replace("user", "human", 1)[:-1], ours)
    assert not same(family, ours[1:], ours)
