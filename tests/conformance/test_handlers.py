"""The made-up replies of families are replies, and no difference is excused that should not be."""

from __future__ import annotations

import pytest

from extensions.formats.registry import PROTOCOLS
from tests.conformance.handlers import (
    FAMILIES,
    KNOWN,
    Family,
    Question,
    questions,
    read_by_turnwise,
)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.protocol)
def test_whole_replies_have_calls_and_words_have_none(family: Family) -> None:
    assert family.protocol in PROTOCOLS
    made = [*questions(family, 0, 300)]
    assert made == [*questions(family, 0, 300)]
    for question in made:
        found = read_by_turnwise(family.protocol, family.ours(question.text))
        if question.kind == "whole":
            assert found, question
        if question.kind == "words":
            assert not found, question


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.protocol)
def test_other_calls_than_bfcl_reads_in_a_whole_reply_are_a_difference(family: Family) -> None:
    question = Question("whatever", "whole")
    theirs, ours = [["cd", {"a": 1}]], [["ls", {"a": 1}]]
    mine = [each for each in KNOWN if family.handler in each.handlers]
    assert not any(each.applies(question, theirs, ours) for each in mine)
    assert not any(each.applies(question, theirs, None) for each in mine)
