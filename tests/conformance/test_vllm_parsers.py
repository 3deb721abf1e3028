"""The replies that vLLM's parsers are put have the calls that they were made of."""

from __future__ import annotations

import pytest

from tests.conformance.handlers import read_by_turnwise
from tests.conformance.vllm_parsers import FAMILIES, FUNCTIONS, KNOWN, Family, Question, questions


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.parser)
def test_replies_have_their_calls(family: Family) -> None:
    made = questions(family, 0, 100)
    assert made == questions(family, 0, 100)
    assert {len(question.calls) for question in made} == {0, 1, 2, 3}
    for question in made:
        found = read_by_turnwise(family.protocol, question.text, FUNCTIONS)
        assert repr(found) == repr(question.calls)


def test_a_plain_reply_is_excused_by_nothing() -> None:
    plain = Question("[f(count=5)]", [["f", {"count": 5}]])
    assert not any(known.applies(plain) for known in KNOWN)
